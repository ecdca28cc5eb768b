"""A process that a rank forks is no rank: it does not call MPI, and it ends without running other ranks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_mpi.processes import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

WAYS = {"greenlets": ["--backend", "greenlets"], "threads": ["--backend", "threads"], "processes": ["--processes"]}

PROGRAM = """
import atexit, os, sys, threading
from mpi4py import MPI

comm = MPI.COMM_WORLD
atexit.register(lambda: None)

def fork(work):
    child = os.fork()
    if child == 0:
        work()
        return "in the child"
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def rejected():
    try:
        comm.send(1, dest=comm.rank)
    except MPI.Exception as error:
        print("rejected:", "a process that a rank has forked called MPI" in str(error))

def in_thread(work, found):
    found.append(fork(work))

def main():
    works = {
        "returns": lambda: None, "waits": comm.barrier, "sends": rejected, "duplicates": comm.Dup, "begins": comm.Ibarrier,
        "probes": comm.Iprobe, "exits": lambda: sys.exit(5), "_exits": lambda: os._exit(6), "fails": lambda: 1 / 0,
    }
    for name, work in works.items():
        print(f"rank {comm.rank} {name}")
        comm.barrier()  # the output of all ranks is in the same buffer
        found = fork(work)
        if found == "in the child":
            print("the child of", comm.rank, "ends")
            return
        print(comm.rank, name, found)
    found = []
    thread = threading.Thread(target=in_thread, args=(works["returns"], found))
    thread.start()
    thread.join()
    print(comm.rank, "in a thread", *found)
    comm.barrier()

main()
"""

CODES = {
    "returns": 0, "waits": 1, "sends": 0, "duplicates": 1, "begins": 1, "probes": 1, "exits": 5, "_exits": 6, "fails": 1,
}  # fmt: skip


@pytest.mark.quick(1)
@pytest.mark.parametrize("way", WAYS)
def test_a_process_that_a_rank_has_forked_ends_alone(way: str, tmp_path: Path) -> None:
    """With the exit code of its program, 1 and a sentence after an MPI call, and without the output of ranks."""
    (tmp_path / "work.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "fakempi", "run", "-q", "-n", "2", *WAYS[way], "work.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100, check=False)
    expected = [
        line for rank in range(2)
        for name, code in CODES.items() for line in (f"rank {rank} {name}", f"{rank} {name} {code}")
    ]  # fmt: skip
    expected += ["rejected: True"] * 2 + [f"the child of {rank} ends" for rank in (0, 0, 1, 1)]
    expected += [f"{rank} in a thread 0" for rank in range(2)]
    assert (sorted(done.stdout.splitlines()), done.returncode) == (sorted(expected), 0), done.stderr
    assert done.stderr.count("a process that a rank has forked called MPI") == 8
    assert done.stderr.count("ZeroDivisionError") == 2


ABORTING = """
import multiprocessing, os
from mpi4py import MPI
comm = MPI.COMM_WORLD
comm.Barrier()
def work(number):
    MPI.COMM_{comm}.Abort(7)
def fork():
    pid = os.fork()
    if not pid:
        work(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
def process():
    worker = multiprocessing.get_context("fork").Process(target=work, args=(0,))
    worker.start()
    worker.join()
def pool():
    with multiprocessing.get_context("fork").Pool(1) as workers:
        workers.map(work, [0])
found = {start}() if comm.rank == 0 else comm.recv(source=0)
{rest}
if comm.rank == 0:
    print("exit code", found)
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--processes"]], ids=["one process", "processes"])
@pytest.mark.parametrize("start", ["fork", "process", "pool"])
def test_abort_in_a_forked_process_ends_the_run(start: str, options: list[str], tmp_path: Path) -> None:
    """As under mpiexec, where the job ends with the code. Rank 0 waits for the process, and rank 1 for rank 0."""
    (tmp_path / "work.py").write_text(ABORTING.format(comm="WORLD", start=start, rest="comm.recv()"))
    command = [sys.executable, "-m", "fakempi", "run", "-q", *options, "-n", "2", "work.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 7, done
    assert done.stderr == "fakempi: rank 0 called Abort(7)\n"


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--processes"]], ids=["one process", "processes"])
def test_abort_on_comm_self_ends_the_forked_process_only(options: list[str], tmp_path: Path) -> None:
    """It exits with the code."""
    script = ABORTING.format(comm="SELF", start="fork", rest="comm.rank == 1 or comm.send(1, 1)")
    (tmp_path / "work.py").write_text(script)
    command = [sys.executable, "-m", "fakempi", "run", "-q", *options, "-n", "2", "work.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout, done.stderr) == (0, "exit code 7\n", "")
