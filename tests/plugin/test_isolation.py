"""Modules that are private to each rank: `--mpi-isolation=module`, and the marker's `isolation`."""

from __future__ import annotations

import pytest

from tests.plugin.harness import run_pytest

pytest_plugins = ["pytester"]

PACKAGE = """
from mpi4py import MPI
try:
    RANK = MPI.COMM_WORLD.Get_rank()
except MPI.Exception:
    RANK = None
CACHE = []
"""

CONFTEST = """
import pytest
MADE = []

@pytest.fixture(scope="session")
def table():
    MADE.append(1)
    yield MADE
    MADE.clear()

@pytest.fixture(params=["a", "b"])
def letter(request, tmp_path):
    assert tmp_path.exists()
    return request.param
"""

BELOW = """
import pytest
CALLS = []

@pytest.fixture(autouse=True)
def counted():
    CALLS.append(1)
    return CALLS
"""

SOURCE = """
import package.state

SEEN = []

def test_shared(table):
    assert package.state.CACHE == [] and SEEN == []
    table.append("shared")

class TestIt:
    items = []

    @pytest.mark.mpi(ranks=4, isolation="module")
    def test_private(self, comm, table, letter, counted):
        assert counted == [1]
        assert package.state.RANK == comm.rank
        for own in (SEEN, self.items, package.state.CACHE, table):
            own.append(comm.rank)
        comm.barrier()
        assert SEEN == self.items == package.state.CACHE == [comm.rank]
        assert table == [1, comm.rank]
        assert letter in "ab"
        assert type(self) is TestIt

def test_shared_again(table):
    assert package.state.CACHE == [] and SEEN == []
    assert table == [1, "shared"]
"""


@pytest.mark.quick(1)
@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_ranks_have_their_own_modules_and_fixtures(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """The test module, conftest and a package that calls Get_rank when imported; other tests do not see them."""
    pytester.makepyfile(**{"package/__init__": "", "package/state": PACKAGE})
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(**{"below/conftest": BELOW, "below/test_below": "import pytest\n" + SOURCE})
    monkeypatch.syspath_prepend(str(pytester.path))
    result, _ = run_pytest(pytester, "", "--mpi4py=emulated", f"--import-mode={mode}")
    result.assert_outcomes(passed=4)


@pytest.mark.slow
def test_the_option_applies_to_all_marked_tests(pytester: pytest.Pytester) -> None:
    """Including Hypothesis and unittest; a test may be excepted."""
    result, text = run_pytest(
        pytester,
        """
import unittest
from hypothesis import given, settings, strategies as st

SEEN = []

@pytest.mark.mpi(ranks=3)
@settings(max_examples=5, database=None, deadline=None)
@given(x=st.integers())
def test_drawn(comm, x):
    SEEN.append(x)
    assert comm.allreduce(len(SEEN)) == 3

@pytest.mark.mpi(ranks=3)
class Case(unittest.TestCase):
    def test_case(self):
        SEEN.append(1)
        assert MPI.COMM_WORLD.allreduce(len(SEEN)) == 3

@pytest.mark.mpi(ranks=3, isolation="none")
def test_excepted(comm):
    SEEN.append(1)
    comm.barrier()
    assert len(SEEN) == 3

@pytest.mark.mpi(ranks=3)
def test_fails(comm):
    assert comm.rank != 1
""",
        "--mpi-isolation=module",
    )
    result.assert_outcomes(passed=3, failed=1)
    assert "assert 1 != 1" in text
    assert "rank 1 of 3 failed" in text
    assert "--mpi-isolation=module" in text.partition("replay:")[2]


def test_an_unknown_isolation_is_rejected(pytester: pytest.Pytester) -> None:
    """With the valid values."""
    _, text = run_pytest(pytester, "@pytest.mark.mpi(ranks=2, isolation='process')\ndef test_it(comm):\n    pass\n")
    assert "@pytest.mark.mpi: isolation is 'process'; choose from auto, none, module" in text
