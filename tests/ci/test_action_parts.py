"""Parts of the action's steps: inputs, time limits, records, names of pages, and text for GitHub."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from fakempi.apps.ci.command import CommandEnd, run_command
from fakempi.apps.ci.github import error, escaped
from fakempi.apps.ci.inputs import InputError, StepInputs
from fakempi.apps.ci.record import SuiteRecord
from fakempi.apps.ci.scripts import page_name
from fakempi.apps.ci.suite import SuiteResults, commands, result_of
from fakempi.apps.testing.markers import without_size


def test_arguments_with_quotes_are_kept_as_one() -> None:
    """As in a shell, but nothing is expanded."""
    inputs = StepInputs.read({"TESTS": """tests -k "a or b" '$HOME' it\\'s""", "RANKS": "1, 3\n7 3"})
    assert inputs.tests == ["tests", "-k", "a or b", "$HOME", "it's"]
    assert inputs.ranks == [1, 3, 7]
    assert inputs.plain
    assert not inputs.strict


def test_scripts_may_have_arguments() -> None:
    """Each may have its own, in quotes; `check-arguments` are arguments of all."""
    inputs = StepInputs.read({"CHECK": "ring.py\n'halo.py --name \"a b\"' '-m pkg.run'", "CHECK_ARGUMENTS": "--size '8 9'"})
    extra = ["--size", "8 9"]
    assert inputs.scripts == [["ring.py", *extra], ["halo.py", "--name", "a b", *extra], ["-m", "pkg.run", *extra]]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "nothing to run: set the input tests .*, or check"),
        ({"TESTS": "-k 'a"}, "tests: no closing quotation in: -k 'a"),
        ({"TESTS": "t", "RANKS": "1 x"}, "ranks: 'x' is not a number of ranks"),
        ({"TESTS": "t", "RANKS": "0"}, "ranks: '0' is not"),
        ({"TESTS": "t", "STRICT": "maybe"}, "strict: 'maybe' must be true or false"),
        ({"TESTS": "t", "TIMEOUT": "nan"}, "timeout: 'nan' is not a number of seconds"),
        ({"TESTS": "t", "RANKS": " ", "PLAIN_PYTEST": "no"}, "nothing to run: plain-pytest is false, and ranks is empty"),
        ({"CHECK": "halo.py --size 8"}, "check: '--size' is not a script. Quote a script with its arguments"),
    ],
)
def test_inputs_without_a_meaning_are_errors(variables: dict[str, str], message: str) -> None:
    """The message names the input."""
    with pytest.raises(InputError, match=message):
        StepInputs.read(variables)


def test_each_number_of_ranks_is_one_command() -> None:
    """With the options of `fakempi run` that the inputs request."""
    given = {"TESTS": "tests", "RANKS": "3", "TIMEOUT": "9", "STRICT": "true", "PROCESSES": "1", "JUNIT": "out"}
    plain, on_ranks = commands(StepInputs.read(given), Path("f.json"))
    options = ["--mpi4py=emulated", "--mpi-strict", f"--junitxml={Path('out', 'pytest.xml')}"]
    assert plain == ("pytest", 0, [sys.executable, "-m", "pytest", *options, "tests"])
    assert on_ranks[2][2:] == [
        "fakempi", "run", "-n", "3", "--timeout", "9", "--strict", "--processes", "--findings", "json:f.json",
        "-m", "pytest", f"--junitxml={Path('out', 'pytest-3-ranks.xml')}", "tests",
    ]  # fmt: skip


def test_pages_have_different_names(tmp_path: Path) -> None:
    """Also those of one script with different arguments, and of an earlier step of the job."""
    used: set[str] = set()
    (tmp_path / "old.html").touch()
    scripts = ["a/main.py", "b/main.py", "a-main.py", "A/main.py", "../main.py", "old.py", str(Path.cwd() / "c" / "main.py")]
    names = [page_name([script], 0, tmp_path, used) for script in scripts]
    assert names == [
        "a-main.html", "b-main.html", "a-main-2.html", "A-main-3.html", "main.html", "old-2.html", "c-main.html",
    ]  # fmt: skip
    assert page_name(["-m", "pkg.run"], 3, tmp_path, used) == "pkg.run-3-ranks.html"


def test_names_of_tests_do_not_depend_on_the_number_of_ranks() -> None:
    """Other parameters are part of the name."""
    assert without_size("t.py::test_it[ranks3]") == without_size("t.py::test_it[ranks7]") == "t.py::test_it"
    assert without_size("[d]/t.py::C::test_it[a-b-nprocs3]") == "[d]/t.py::C::test_it[a-b]"
    assert without_size("t.py::test_it") == "t.py::test_it"


def write(path: Path, *events: Mapping[str, object]) -> SuiteRecord:
    """Write a record whose last line is incomplete, and read it."""
    lines = [json.dumps({"rank": 0, "size": 3, **event}) + "\n" for event in events]
    path.write_text("".join(lines) + '{"event": "test", "te')
    return SuiteRecord.read(path)


def test_a_test_that_every_command_skips_for_its_number_of_ranks_never_ran(tmp_path: Path) -> None:
    """A test that ran once did run; one that the project skips is not counted."""
    collected = {"event": "collected", "root": "", "tests": ["f::skips", "f::never", "f::once", "f::ended"]}

    def outcome(name: str, outcome: str, wanted: str = "") -> dict[str, object]:
        return {"event": "test", "test": name, "name": name, "outcome": outcome, "wanted": wanted}

    skips = [outcome("f::never", "skipped", "4"), outcome("f::skips", "skipped")]
    first = write(tmp_path / "1", collected, *skips, outcome("f::once", "skipped", "2"))
    second = write(tmp_path / "2", collected, *skips, outcome("f::once", "passed"))
    assert SuiteResults(records=[first, second]).never_run() == {"f::never": "4", "f::ended": ""}


def test_totals_of_ranks_are_grouped_and_tests_that_did_not_end_are_named(tmp_path: Path) -> None:
    """Rank 1 was killed in a test."""
    ends = [{"event": "ended", "rank": rank, "total": "2 passed"} for rank in (0, 2)]
    started = [{"event": "started", "rank": rank, "test": "f::test"} for rank in range(3)]
    finished = [{"event": "finished", "rank": rank, "test": "f::test"} for rank in (0, 2)]
    record = write(tmp_path / "1", *started, *finished, *ends)
    assert record.summary() == "ranks 0 and 2 of 3: 2 passed; rank 1 of 3: not ended, in f::test"
    assert SuiteRecord.read(tmp_path / "none").summary() == ""


def test_a_command_without_a_complete_record_has_not_passed(tmp_path: Path) -> None:
    """It is unknown which tests ran if the plugin was not loaded, or if a session ended in the middle of a test."""
    end = CommandEnd(0, ["3 passed in 0.1s"], 1.0)
    totals = [{"event": "ended", "rank": rank, "total": "3 passed"} for rank in range(3)]
    assert result_of(end, write(tmp_path / "1"), 9.0) == "failed (no record)"
    assert result_of(end, write(tmp_path / "2", *totals[:2]), 9.0) == "failed (not ended)"
    assert result_of(end, write(tmp_path / "3", *totals), 9.0) == "passed"


def test_the_line_that_explains_a_failure_is_found() -> None:
    """A deadlock is reported before other lines, and pytest's own error after a summary."""
    assert CommandEnd(1, ["ERROR: of a test", "deadlock at t = 0 s: 2 of 2", "rank 0: recv"], 1.0).reason.endswith("2 of 2")
    lines = ["ERROR: usage: pytest", "pytest: error: unrecognized arguments: --x", "rootdir: /"]
    assert CommandEnd(4, lines, 1.0).usage_error == lines[1]


@pytest.mark.parametrize("workspace", ["", "sub"])
def test_annotations_name_files_of_the_repository(
    workspace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Special characters are escaped, and a file outside of the repository is not named."""
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / workspace))
    error("50%\nof ::it", "a: b, c", str(tmp_path / "sub" / "t.py"), 3)
    error("bad", file=str(tmp_path.parent / "t.py"), line=3)
    file = "t.py" if workspace else "sub/t.py"
    assert capsys.readouterr().out == (
        f"::error file={file},line=3,title=a%3A b%2C c::50%25%0Aof ::it\n::error title=fakempi::bad\n"
    )


def test_text_of_programs_does_not_change_the_table() -> None:
    """One row stays one row, and tags are text."""
    assert escaped("a|b\n*c* <img> \\") == r"a\|b \*c\* &lt;img> \\"


def test_a_command_is_ended_after_its_limit() -> None:
    """With all processes that it has started, which hold its output open."""
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(1000)'])"
    end = run_command([sys.executable, "-c", program], 0.5, {})
    assert end.code is None
    assert end.text(0.5) == "no end after 0.5 s"


def test_the_last_line_and_the_exit_code_are_kept(capfd: pytest.CaptureFixture[str]) -> None:
    """And the output is printed."""
    program = "import os, sys; print('= \\033[31m1 failed\\033[0m ='); print(); sys.exit(int(os.environ['CODE']))"
    end = run_command([sys.executable, "-c", program], 100.0, {"CODE": "3"})
    assert (end.code, end.last_line, end.text(100.0)) == (3, "1 failed", "failed (3)")
    assert "1 failed" in capfd.readouterr().out
