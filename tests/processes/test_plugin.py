"""`mpi(processes=True)`: a test whose ranks are processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import os, pytest, unittest
import numpy as np
from hypothesis import given, strategies
from mpi4py import MPI
STATE = []

@pytest.fixture
def number(comm):
    return 10 * comm.rank

@pytest.mark.mpi(ranks=[1, 3], processes=True)
def test_ranks_are_processes(comm, number, mpi_ranks):
    STATE.append(comm.rank)
    assert STATE == [MPI.COMM_WORLD.rank] and number == 10 * comm.rank and mpi_ranks == comm.size
    assert len(set(comm.allgather(os.getpid()))) == comm.size

@pytest.mark.mpi(processes=True)
def test_failure(comm):
    print("printed on", comm.rank)
    assert comm.rank != 1, "a sentence"

@pytest.mark.mpi(processes=True)
def test_deadlock(comm):
    comm.recv()

@pytest.mark.mpi(processes=True)
def test_skip(comm):
    pytest.skip("not here")

@pytest.mark.mpi(processes=True)
def test_crash(comm):
    if comm.rank == 1:
        os.kill(os.getpid(), 9)
    comm.Barrier()

def send_floats(comm):
    if comm.rank == 0:
        comm.Send(np.zeros(1), 1)
    elif comm.rank == 1:
        comm.Recv(np.zeros(1, int), 0)

@pytest.mark.mpi(processes=True)
def test_finding(comm):
    send_floats(comm)

@pytest.mark.mpi(processes=True, strict=True)
def test_finding_in_a_strict_run(comm):
    send_floats(comm)

@pytest.mark.mpi(processes=True)
def test_failure_finding_and_deadlock(comm):
    send_floats(comm)
    assert comm.rank, "a failure"
    comm.recv(source=0)

@pytest.mark.mpi(processes=True, explore=10)
def test_schedules(comm):
    pass

@pytest.mark.mpi(processes=True)
def test_paths(comm, mpi_tmp_path, mpi_tmpdir, mpi_file_name):
    assert len(set(comm.allgather((str(mpi_tmp_path), str(mpi_tmpdir), mpi_file_name)))) == 1 and mpi_tmp_path.is_dir()

@pytest.mark.mpi(processes=True)
@given(x=strategies.integers())
def test_hypothesis(comm, x):
    pass

class TestCase(unittest.TestCase):
    @pytest.mark.mpi(ranks=[1, 3], processes=True)
    def test_case(self):
        assert len(set(MPI.COMM_WORLD.allgather(os.getpid()))) == MPI.COMM_WORLD.size
        assert MPI.COMM_WORLD.size < 3, "three processes"
"""


@pytest.mark.slow
def test_outcomes_are_those_of_ranks(tmp_path: Path) -> None:
    """Passes, failures with output, a deadlock, a skip, a crash, findings, a TestCase; and what processes cannot do."""
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=270)
    assert "8 failed, 4 passed, 1 skipped, 1 warning" in done.stdout, done.stdout
    for words in ("rank 1 of 2 failed:", "a sentence", "printed on 1", "2 of 2 ranks are blocked", "not here", "signal 9",
                  "MPIFindingWarning: datatype-mismatch: rank 1: Recv at test_it.py:", "1 finding in a strict run:\n  data",
                  "AssertionError: a failure", "1 of 2 ranks is blocked", "\n1 finding:\n  datatype-mismatch: rank 1",
                  "mpi: explore=10 does not work with processes=True", "AssertionError: three processes",
                  "values from Hypothesis"):  # fmt: skip
        assert words in done.stdout, done.stdout
