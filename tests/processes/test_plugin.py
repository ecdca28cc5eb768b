"""`mpi(processes=True)`: a test whose ranks are processes."""

from __future__ import annotations

import os
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


FIXTURES = """
import os, pytest, unittest
from pathlib import Path
from mpi4py import MPI

pytestmark = pytest.mark.mpi(ranks=2, processes=True)
SIZE = MPI.COMM_WORLD.Get_size()

def log(text):
    with open("log", "a") as file:
        print(text, os.getpid(), file=file)

@pytest.fixture(scope="session", autouse=True)
def of_session():
    log("session")
    yield
    log("end")

def setup_module():
    log("module")

@pytest.fixture
def option(request):
    return request.config.getoption("--speed"), request.config.getoption("--of-plugin")

def test_fixtures(option, tmp_path, request):
    assert option == ("fast", Path("x")) and "two: marks" in request.config.getini("markers")
    assert len(set(MPI.COMM_WORLD.allgather(str(tmp_path)))) == 2

@pytest.mark.skipif(SIZE == 1, reason="on one rank")
@pytest.mark.xfail(SIZE == 2, reason="on two ranks")
def test_expected():
    MPI.COMM_WORLD.Barrier()
    assert SIZE != 2

@pytest.mark.xfail(SIZE == 2, reason="on two ranks")
def test_unexpected():
    assert SIZE == 2

@pytest.mark.skipif(SIZE == 2, reason="not on two ranks")
def test_skipped():
    assert False

@pytest.mark.mpi_skip
def test_marked_for_pytest_mpi():
    assert False

class TestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        assert SIZE == 2
        log("class")

    def test_case(self):
        assert SIZE == 2
"""

CONFTEST = """
import os
def pytest_addoption(parser):
    parser.addoption("--speed", default="slow")
def pytest_configure(config):
    config.addinivalue_line("markers", "two: marks")
"""

PLUGIN = """
from pathlib import Path
def pytest_addoption(parser):
    parser.addoption("--of-plugin", type=Path)
def pytest_configure(config):
    with open("configured", "a") as file:
        print(config.getoption("--of-plugin"), file=file)
"""


@pytest.mark.slow  # processes for each test
def test_only_the_processes_of_ranks_set_up_fixtures(tmp_path: Path) -> None:
    """Marks are evaluated there, too. Options have their values, those of plugins only while the test runs."""
    (tmp_path / "test_it.py").write_text(FIXTURES)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "a_plugin.py").write_text(PLUGIN)
    options = ["-p", "a_plugin", "--of-plugin=x", "--speed=fast", "-p", "no:cacheprovider", "-p", "no:xdist", "-rA"]
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    environ = {**os.environ, "PYTEST_ADDOPTS": "--speed=slower", "PYTHONPATH": path}
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=270, env=environ)
    assert "2 passed, 2 skipped, 1 xfailed, 1 xpassed" in done.stdout, done.stdout
    assert all(line in done.stdout for line in ("not on two ranks", "mpi_skip: skipped on ranks", "XFAIL", "XPASS"))
    log = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    processes = {number for _, number in log}
    assert [sum(word == text for word, _ in log) for text in ("session", "end", "module", "class")] == [8, 8, 8, 2]
    assert len(processes) == 8, "four of the tests have two processes each that set something up"
    assert (tmp_path / "configured").read_text().split() == ["x", *["None"] * 12]
