"""`.ci/run` ends, whatever hangs, and its last lines name what failed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are found by /proc, or not at all")

PLANTED = """
import subprocess, sys, threading
from pathlib import Path
import pytest

def test_that_passes():
    pass

@pytest.mark.timeout(3)
def test_that_waits_for_a_lock():
    threading.Lock().acquire() and threading.Semaphore(0).acquire()

@pytest.mark.timeout(3)
def test_with_a_child_that_does_not_end():
    subprocess.run([sys.executable, "-c", "import time; time.sleep(1000)"])

def test_of_long_lists():
    assert list(range(10_000)) == list(range(1, 10_001))

def test_that_passes_the_second_time():
    seen = Path("seen").exists()
    Path("seen").touch()
    assert seen

def test_with_a_pytest_of_its_own(tmp_path):  # whose tests are not counted
    (tmp_path / "test_other.py").write_text("def test_it(): assert False")
    assert subprocess.run([sys.executable, "-m", "pytest", tmp_path], timeout=200).returncode == 1
"""


@pytest.fixture
def steps(ci: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that runs steps, in a directory with tests of which some fail."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    Path("pytest.ini").write_text("[pytest]\ntimeout = 250\ntimeout_method = thread\nmarkers = slow\n")
    Path("test_planted.py").write_text(PLANTED)
    Path("scratch").mkdir()
    return ci.script


@pytest.mark.slow
def test_every_test_that_failed_is_named_with_a_reason(steps: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Also one that never ends, alone or in a child process; and one that passes when it is run again is called flaky."""
    script = steps.Script(Path("scratch").resolve())
    Path("test_broken.py").write_text("import absent_module")
    script.step("planted", "here", {"python -m pytest -n 2 -p no:fakempi": 250})
    lines: list[str] = script.report.text("a machine").splitlines()
    assert len(lines) <= 40
    assert lines[-1] == "3 passed, 4 failed"

    def line(test: str) -> str:
        (found,) = [line for line in lines if test in line]
        return found

    assert line("test_that_waits_for_a_lock").startswith("FAILED test_planted.py::")
    assert re.search(r"its process ended after \d+ s: it crashed, or the time limit", line("waits_for_a_lock"))
    assert line("test_with_a_child_that_does_not_end").startswith("FAILED test_planted.py::")
    assert line("test_of_long_lists").startswith("FAILED test_planted.py::test_of_long_lists - ")
    assert "assert [0, 1, 2, 3, 4, 5, ...] == [1, 2, 3, 4, 5, 6, ...]" in line("test_of_long_lists")
    assert "No module named 'absent_module'" in line("FAILED test_broken.py - ")
    assert line("FLAKY").startswith("FLAKY test_planted.py::test_that_passes_the_second_time - passed when run again")
    log = capfd.readouterr().out
    assert re.search(r"test_planted.py\", line \d+ in test_that_waits_for_a_lock", log)  # where it waits
    assert len(log.splitlines()) < 900  # so a reader of the whole log finds what matters


@pytest.mark.slow
def test_a_test_that_xdist_has_lost_is_run(steps: Any) -> None:
    """Else a run might pass without it."""
    script = steps.Script(Path("scratch").resolve())
    names = ("passes", "passes_the_second_time", "waits_for_a_lock")
    fine, lost, crashed = (f"test_planted.py::test_that_{name}" for name in names)
    record = [
        {"test": fine, "outcome": "passed", "reason": ""},
        {"test": lost, "outcome": "collected", "reason": ""},
        {"test": crashed, "outcome": "failed", "reason": "its process ended after 3 s"},
    ]
    Path("seen").touch()
    Path("record").write_text("\n".join(map(json.dumps, record)))
    script.step("planted", "here", {"cp record $CI_RECORD; exit 1": 60})
    *_, failed, last = script.report.text("").splitlines()
    assert failed == f"FAILED {crashed} - its process ended after 3 s"
    assert last == "2 passed, 1 failed"


@pytest.mark.slow
def test_a_step_that_does_not_end_is_ended_with_all_that_it_started(steps: Any) -> None:
    """Processes in sessions of their own too."""
    script = steps.Script(Path("scratch").resolve())
    detached = "import subprocess, sys; subprocess.Popen(['sleep', '998'], start_new_session=True); print('started')"
    assert not script.step("endless", "here", {f'python -c "{detached}" && sleep 999': 8})
    assert re.search(r"^STEP FAILED endless - no end after \d+ s: started$", script.report.text(""), re.MULTILINE)
    if Path("/proc").is_dir():
        found = subprocess.run(["pgrep", "-f", "sleep 998"], capture_output=True, timeout=60, check=False).stdout
        assert found == b""


def test_steps_are_independent_but_for_what_they_need(steps: Any) -> None:
    """After a failure the next step runs; in an environment that could not be made, none does."""
    script = steps.Script(Path("scratch").resolve())
    assert not script.step("broken", "one", {"echo a reason; exit 3": 60, "echo never": 60})
    assert script.step("next", "one", {"true": 60})
    assert not script.step("install", "two", {"exit 1": 60}, makes=True)
    assert not script.step("test", "two", {"true": 60})
    *_, first, second, third, last = script.report.text("").splitlines()
    assert first == "STEP FAILED broken - exit status 3: a reason"
    assert second == "STEP FAILED install - exit status 1: no output"
    assert third == "STEP FAILED test - not run: its virtual environment could not be made"
    assert last == "0 passed, 3 failed"


def test_a_signal_ends_the_steps_and_the_report_is_still_printed(steps: Any) -> None:
    """So a CI system that ends the script sees what had failed by then."""
    script = steps.Script(Path("scratch").resolve())
    script.step("broken", "here", {"exit 3": 60})
    old = signal.signal(signal.SIGUSR1, script.stop)
    try:
        record = [
            {"test": "test_that_failed", "outcome": "failed", "reason": ""},
            {"test": "test_that_hangs", "outcome": "started", "reason": ""},
        ]
        Path("record").write_text("\n".join(map(json.dumps, record)))
        script.step("endless", "here", {f"cp record $CI_RECORD; kill -USR1 {os.getpid()}; sleep 999": 200})
    finally:
        signal.signal(signal.SIGUSR1, old)
    script.step("later", "here", {"true": 60})
    *_, first, second, failed, third, last = script.report.text("").splitlines()
    assert failed == "FAILED test_that_failed -  (not run again)"
    assert first == "STEP FAILED broken - exit status 3: no output"
    assert re.fullmatch(r"STEP FAILED endless - no end after \d+ s: no output \(running: test_that_hangs\)", second)
    assert third == "STEP FAILED later - not run: ended by SIGUSR1"
    assert last == "0 passed, 4 failed"


def test_other_steps_run_at_the_same_time(steps: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither ends the other's processes; the environment that the others could not make is known afterwards."""
    script = steps.Script(Path("scratch").resolve())

    def wait_for(name: str) -> str:
        return f"for i in $(seq 600); do test -e {name} && break; sleep 0.1; done; test -e {name}"

    def others(other: Any) -> None:
        other.step("first", "one", {"echo a word; touch first": 60})
        assert other.step("second", "one", {f"{wait_for('other')}; touch second": 90})
        other.step("install", "two", {"exit 3": 60}, makes=True)

    with script.meanwhile(others):
        assert script.step("needs the first", "one", {wait_for("first"): 90})
        assert script.step("ends before the second", "one", {"touch other": 60})
        assert script.step("needs the second", "one", {wait_for("second"): 90})
        assert "a word" not in capsys.readouterr().out
    assert "a word" in capsys.readouterr().out
    assert not script.step("test", "two", {"true": 60})
    lines = script.report.text("").splitlines()
    assert sum("(at the same time)" in line for line in lines) == 3
    assert lines[-3:] == [
        "STEP FAILED install - exit status 3: no output",
        "STEP FAILED test - not run: its virtual environment could not be made",
        "0 passed, 2 failed",
    ]


def test_a_signal_ends_steps_at_the_same_time_too(steps: Any) -> None:
    """Whichever step the main thread is in."""
    script = steps.Script(Path("scratch").resolve())
    old = signal.signal(signal.SIGUSR1, script.stop)
    try:
        with script.meanwhile(lambda other: other.step("endless", "one", {f"kill -USR1 {os.getpid()}; sleep 999": 200})):
            script.step("endless, too", "one", {"sleep 999": 200})
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert script.report.text("").splitlines()[-1] == "0 passed, 2 failed"


def test_a_signal_ends_a_command_whose_process_is_not_found(steps: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As while it is started, or while it calls exec: then /proc shows no variables."""
    script = steps.Script(Path("scratch").resolve())
    monkeypatch.setattr(script, "end_all", lambda: None)
    old = signal.signal(signal.SIGUSR1, script.stop)
    try:
        assert not script.step("endless", "one", {f"kill -USR1 {os.getpid()}; exec sleep 999": 200})
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert re.search(r"^STEP FAILED endless - no end after \d{1,2} s: no output$", script.report.text(""), re.MULTILINE)


def test_more_than_three_flaky_tests_fail_the_run(steps: Any) -> None:
    """Three do not; and however many tests fail, the report has at most 40 lines."""
    few, many = steps.Report(flaky=["FLAKY x"] * 3), steps.Report(flaky=["FLAKY x"] * 4, failed=["FAILED y"] * 50)
    assert few.text("").splitlines()[-1] == "0 passed, 0 failed"
    lines = many.text("").splitlines()
    assert len(lines) <= 40
    assert lines[-1] == "0 passed, 51 failed"
    assert "more, in the log above" in lines[-2]


def test_limits_stay_on_after_a_test_that_runs_pdb(pytestconfig: pytest.Config) -> None:
    """pytest-timeout switches them off for all later tests of the process. Its setting of that name is ignored (2.4.0)."""
    assert pytestconfig.getoption("timeout_disable_debugger_detection")
