"""The end of a rank whose threads sleep, log and call MPI: the outcome is the program's, and nothing waits for a thread."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.processes.ends_with_threads import ENDS, THREADS, problem
from tests.processes.harness import HEAD, observe


@pytest.mark.parametrize(("threads", "name"), [(["sends", "sleeps"], "returns"), (["probes"], "fails")])
def test_daemon_threads_do_not_change_the_outcome(tmp_path: Path, threads: list[str], name: str) -> None:
    """Two of the programs that `ends_with_threads` makes."""
    assert problem(tmp_path, threads, True, ENDS[name]) == ""


@pytest.mark.slow
@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.sample] * (name in ("exits", "is interrupted", "is killed"))) for name in ENDS
])  # fmt: skip
def test_each_end_with_all_threads(tmp_path: Path, name: str, waits: bool) -> None:
    """With and without a thread that waits in a call. The usual test has other ends."""
    assert problem(tmp_path, sorted(THREADS), waits, ENDS[name]) == ""


def test_other_threads_sleep_in_real_time_and_do_not_delay_a_failed_run(tmp_path: Path) -> None:
    """The clock is the main thread's; a process that a rank forks sleeps, too; a thread without end is left behind."""
    script = tmp_path / "work.py"
    script.write_text(
        HEAD + "import os, threading, time\n"
        "beat = threading.Thread(target=lambda: [time.sleep(0.001) for _ in range(10)])\n"
        "beat.start(); time.sleep(5); beat.join()\n"
        "if os.fork() == 0:\n"
        "    time.sleep(0.001)\n"
        "    os._exit(7)\n"
        "print(rank, MPI.Wtime(), os.waitstatus_to_exitcode(os.wait()[1]))\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "assert rank != 1\n"
        "comm.recv()\n",
        encoding="utf-8",
    )
    found = observe([str(script)], 2, True, timeout=200)
    assert sorted(found.out.splitlines()) == ["0 5.0 7", "1 5.0 7"]
    assert found.error.startswith("RankError: rank 1 failed with AssertionError")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 and later, if there are threads
def test_no_process_of_a_rank_outlives_a_run_that_ends_early(tmp_path: Path) -> None:
    """A worker of multiprocessing ends, whether its rank fails, waits or is killed. In one process, too."""
    script = tmp_path / "work.py"
    script.write_text(
        HEAD + "import multiprocessing, os, select, signal, sys\n"
        "context = multiprocessing.get_context('fork')\n"
        "with context.Pool(1) as pool:\n"
        "    assert pool.map(abs, [-1]) == [1]\n"
        "worker = context.Process(target=select.select, args=([], [], []))\n"
        "worker.start()\n"
        "print(worker.pid)\n"
        "comm.Barrier()\n"
        "if rank == 2 and sys.argv[1:]: os.kill(os.getpid(), signal.SIGKILL)\n"
        "assert rank != 1\n"
        "comm.recv()\n",
        encoding="utf-8",
    )
    for processes, args in ((False, []), (True, ["kill"])):
        found = observe([str(script), *args], 3, processes, timeout=200)
        assert found.error.startswith("RankError: rank ")
        pids = [int(line) for line in found.out.splitlines()]
        assert len(pids) == 3
        for pid in pids:
            assert has_ended(pid)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_workers_that_are_other_programs_end_with_a_killed_rank(tmp_path: Path) -> None:
    """The start methods are spawn and forkserver."""
    script = tmp_path / "work.py"
    script.write_text(
        "import multiprocessing, os, select, signal\n"
        "if __name__ == '__main__':\n"
        "    from mpi4py import MPI\n"
        "    for method in ('spawn', 'forkserver'):\n"
        "        context = multiprocessing.get_context(method)\n"
        "        ready = context.Event()\n"
        "        context.Process(target=ready.set).start()\n"
        "        assert ready.wait(100)\n"
        "        worker = context.Process(target=select.select, args=([], [], []))\n"
        "        worker.start()\n"
        "        print(worker.pid)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n",
        encoding="utf-8",
    )
    found = observe([str(script)], 1, True, timeout=200)
    assert found.error.startswith("RankError: rank 0 failed with Killed")
    pids = [int(line) for line in found.out.splitlines()]
    assert len(pids) == 2
    for pid in pids:
        assert has_ended(pid)


def has_ended(pid: int) -> bool:
    """Wait until a process, which was sent a signal, has ended."""
    for _ in range(1000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False
