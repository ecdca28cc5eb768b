"""Coroutine functions, and fixtures of pytest that capture output or log messages, on ranks."""

from __future__ import annotations

import pytest

from tests.helpers.packages import needs
from tests.plugin.harness import run_pytest

pytest_plugins = ["pytester"]

COROUTINES = """
import asyncio, unittest
import hypothesis, hypothesis.strategies as st
from mpi4py import MPI

async def check():
    await asyncio.sleep(0)
    assert MPI.COMM_WORLD.size == 2
    return MPI.COMM_WORLD.allgather(MPI.COMM_WORLD.rank)

@pytest.mark.mpi
async def test_async(comm):
    assert await check() == [0, 1] and comm.size == 2

@pytest.mark.mpi
@hypothesis.settings(max_examples=1, database=None, phases=[hypothesis.Phase.generate])
@hypothesis.given(x=st.integers())
async def test_hypothesis(x):
    assert await check() == [0, 1] and False

class TestCase(unittest.IsolatedAsyncioTestCase):
    @pytest.mark.mpi
    async def test_case(self):
        self.assertEqual(await check(), [0, 1])
"""

RUNNER = """
import asyncio, pytest

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if pyfuncitem.name == "test_async":
        asyncio.run(pyfuncitem.obj(pyfuncitem.funcargs["comm"]))
        return True
"""


@pytest.mark.slow
def test_coroutine_functions_run_on_ranks_as_in_processes(pytester: pytest.Pytester) -> None:
    """A plugin, or the TestCase, runs the event loop of each rank; without one the test fails, as in pytest."""
    result, text = run_pytest(pytester, COROUTINES, "--mpi4py=emulated")
    result.assert_outcomes(passed=1, failed=2)
    assert "async def functions are not natively supported" in text
    assert "no plugin has run this coroutine function" in text
    pytester.makeconftest(RUNNER)
    run_pytest(pytester, COROUTINES, "--mpi4py=emulated")[0].assert_outcomes(passed=2, failed=1)


ANYIO = """
import anyio
from mpi4py import MPI
comm = MPI.COMM_WORLD

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.fixture
async def number():
    await anyio.sleep(0)
    yield comm.rank
    comm.Barrier()

@pytest.mark.anyio
@pytest.mark.mpi
async def test_async(number):
    assert comm.allgather(number) == [0, 1]
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 0)
    assert comm.allreduce(1) == 2
"""


def test_each_rank_has_its_own_event_loop_of_anyio(pytester: pytest.Pytester) -> None:
    needs("anyio")
    run_pytest(pytester, ANYIO, "--mpi4py=emulated")[0].assert_outcomes(passed=1)


CAPTURED = """
import sys

def check(comm, capture, name):
    for number in range(2):
        print("rank", comm.rank, number)
        sys.stderr.write("error")
        comm.barrier()
        expected = f"rank {comm.rank} {number}\\n", "error"
        assert tuple(capture.readouterr()) == tuple(text.encode() if "binary" in name else text for text in expected)
        comm.barrier()

""" + "".join(
    f"@pytest.mark.mpi(ranks=2)\ndef test_{name}(comm, {name}):\n    check(comm, {name}, '{name}')\n\n"
    for name in ("capsys", "capfd", "capsysbinary", "capfdbinary")
)

DESCRIPTORS = """
import os

@pytest.mark.mpi(ranks=2)
def test_descriptors(comm, capfd):
    os.write(1, b"from C")
    capfd.readouterr()
"""


@pytest.mark.parametrize("isolation", ["none", "module"])
def test_captured_output_is_that_of_the_rank(pytester: pytest.Pytester, isolation: str) -> None:
    """Text and bytes, also of the fixtures for file descriptors."""
    run_pytest(pytester, CAPTURED, f"--mpi-isolation={isolation}")[0].assert_outcomes(passed=4)


def test_output_without_a_rank_fails_with_a_sentence(pytester: pytest.Pytester) -> None:
    """Ranks share the file descriptors, which compiled code and subprocesses write to."""
    result, text = run_pytest(pytester, DESCRIPTORS)
    result.assert_outcomes(failed=1)
    assert "capfd: the ranks of this test share the file descriptors, and 6 characters were written" in text
