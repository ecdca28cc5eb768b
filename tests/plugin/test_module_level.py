"""COMM_WORLD at module level, in fixtures and in marks: each rank has its own values, without an option."""

from __future__ import annotations

from typing import Any

import pytest
from _pytest import runner

from tests.plugin.harness import run_pytest

pytest_plugins = ["pytester"]

PACKAGE = """
import enum
from mpi4py import MPI
size = MPI.COMM_WORLD.Get_size()

class Color(enum.Enum):
    RED = 1
    BLUE = 2

class PackageError(Exception):
    pass

def fail():
    raise PackageError("always")
"""

CONFTEST = """
import pytest
from package import Color

class Thing:
    color = Color.RED

@pytest.fixture(scope="session")
def thing():
    return Thing()

def pytest_addoption(parser):
    parser.addoption("--speed", default="slow")

@pytest.fixture
def speed(request):
    return request.config.getoption("--speed")
"""

SOURCE = """
import unittest
from mpi4py import MPI
from package import size, Color, PackageError, fail
from conftest import Thing

rank = MPI.COMM_WORLD.Get_rank()
parameters = [Color.RED, {"kind": Color.BLUE}]
pytestmark = pytest.mark.mpi(ranks=[2, 3])
ENDED = []

def test_values_of_modules(comm):
    assert (rank, size) == (comm.rank, comm.size)

@pytest.mark.parametrize("value", parameters)
def test_values_of_parameters(comm, value):
    assert any(value is parameter for parameter in parameters)
    assert value is Color.RED or value["kind"] in Color

@pytest.mark.parametrize("cls", [Thing, PackageError], ids=["thing", "error"])
def test_classes(comm, cls, thing, speed):
    assert isinstance(thing, Thing) and thing.color is Color.RED
    assert speed == "fast"
    with pytest.raises(PackageError):
        fail()

class TestMethods:
    here = MPI.COMM_WORLD.rank

    @classmethod
    def setup_class(cls):
        cls.total = MPI.COMM_WORLD.allreduce(1)

    def setup_method(self):
        self.rank = MPI.COMM_WORLD.rank

    def test_method(self, comm):
        assert self.here == self.rank == comm.rank and self.total == comm.size

class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rank = MPI.COMM_WORLD.rank

    def test_case(self):
        assert self.rank == rank and size in (2, 3)

@pytest.mark.skipif(size != 2, reason="two")
def test_skipped(comm):
    assert size == 2

@pytest.mark.xfail(size == 2, reason="not two", strict=True)
def test_expected(comm):
    assert size == 3
"""


def test_modules_and_marks_have_the_values_of_each_rank(pytester: pytest.Pytester) -> None:
    """Enums, classes, parameters, fixtures of conftest and its options are those of the rank, too."""
    pytester.makepyfile(package=PACKAGE)
    pytester.makeconftest(CONFTEST)
    result, text = run_pytest(pytester, SOURCE, "--mpi4py=emulated", "--speed=fast", "-rA")
    result.assert_outcomes(passed=2 + 4 + 4 + 2 + 1 + 1 + 1, skipped=1, xfailed=1)
    assert "test_skipped[ranks2]" in text.partition("short test summary")[2]


def test_a_failure_names_its_rank_and_keeps_the_rewritten_assertion(pytester: pytest.Pytester) -> None:
    """The report is that of a test with shared modules; the last lines repeat the test."""
    source = """
from mpi4py import MPI
rank = MPI.COMM_WORLD.rank

@pytest.mark.mpi(ranks=3)
def test_it(comm):
    assert [rank] == [0]
"""
    result, text = run_pytest(pytester, source, "--mpi4py=emulated")
    result.assert_outcomes(failed=1)
    assert "E       assert [1] == [0]" in text
    assert "ranks 1-2 of 3 failed; above is rank 1's traceback\n  rank 2: AssertionError: assert [2] == [0]" in text
    assert "_pytest" not in text.partition("FAILURES")[2]


def test_fixtures_that_use_the_world_are_set_up_on_each_rank(pytester: pytest.Pytester) -> None:
    """Also a fixture that fails or skips on one rank, and one that an earlier test without a marker has set up."""
    source = """
from mpi4py import MPI

@pytest.fixture(scope="session")
def size():
    return MPI.COMM_WORLD.Get_size()

@pytest.fixture
def several():
    if MPI.COMM_WORLD.size == 1:
        pytest.skip("one rank")
    return MPI.COMM_WORLD.size

def test_alone(size):
    assert size == 1

@pytest.mark.mpi(ranks=2)
def test_together(size, comm):
    assert size == comm.size

@pytest.mark.mpi(ranks=3)
def test_several(several):
    assert several == 3
"""
    result, _ = run_pytest(pytester, source, "--mpi4py=emulated")
    result.assert_outcomes(passed=3)


def test_modules_are_shared_unless_one_of_them_uses_the_world(pytester: pytest.Pytester) -> None:
    """The communicator itself may be stored at module level; another test module does not matter."""
    pytester.makepyfile(test_other="from mpi4py import MPI\nrank = MPI.COMM_WORLD.rank\ndef test_nothing(): pass\n")
    source = """
from mpi4py import MPI
world, seen = MPI.COMM_WORLD, []

@pytest.mark.mpi(ranks=3)
def test_it(comm):
    seen.append(world.rank)
    comm.barrier()
    assert sorted(seen) == [0, 1, 2]
"""
    result, _ = run_pytest(pytester, source, "--mpi4py=emulated")
    result.assert_outcomes(passed=2)


def test_parameters_that_depend_on_the_number_of_ranks_are_a_failure(pytester: pytest.Pytester) -> None:
    """The message names what there is on the ranks, and the command that runs it."""
    source = """
from mpi4py import MPI

@pytest.mark.mpi(ranks=2)
@pytest.mark.parametrize("root", range(1, MPI.COMM_WORLD.size))
def test_it(comm, root):
    pass
"""
    result, text = run_pytest(pytester, source, "--mpi4py=emulated")
    result.assert_outcomes(failed=1)
    assert "on 2 ranks there is no test test_it[NOTSET]; there it is test_it[1]." in text
    assert "fakempi run -n 2 -m pytest" in text


def test_a_module_that_a_test_imports_first_is_imported_on_each_rank(pytester: pytest.Pytester) -> None:
    """Later tests, too, do not see the values of the rank that was first."""
    pytester.makepyfile(package=PACKAGE)
    source = """
@pytest.mark.mpi(ranks=3)
def test_first(comm):
    import package
    assert package.size == comm.size

@pytest.mark.mpi(ranks=2)
def test_second(comm):
    from package import size
    assert size == comm.size

def test_outside():
    from package import size
    assert size == 1
"""
    result, _ = run_pytest(pytester, source, "--mpi4py=emulated")
    result.assert_outcomes(passed=3)


def test_without_isolation_a_failure_names_the_module_and_the_line(pytester: pytest.Pytester) -> None:
    """Also the containers of the package under test that ranks have changed."""
    pytester.makepyfile(package=PACKAGE + "CACHE = []\n")
    source = """
import package

@pytest.mark.mpi(ranks=2, isolation="none")
def test_it(comm):
    package.CACHE.append(comm.rank)
    assert package.size == 2
"""
    result, text = run_pytest(pytester, source, "--mpi4py=emulated")
    result.assert_outcomes(failed=1)
    assert "global package.CACHE is one list shared by all 2 ranks, which changed it: 0 items before, 2 items after" in text
    assert "package.py:3 uses COMM_WORLD when it is imported, outside the ranks: rank 0 of 1" in text


def test_a_module_that_skips_itself_on_one_rank_is_named(pytester: pytest.Pytester) -> None:
    """Its marked tests are not collected."""
    source = """
from mpi4py import MPI
if MPI.COMM_WORLD.size < 2:
    pytest.skip("needs ranks", allow_module_level=True)

@pytest.mark.mpi(ranks=2)
def test_it(comm):
    pass
"""
    result, text = run_pytest(pytester, source, "--mpi4py=emulated", "-Wdefault")
    result.assert_outcomes(skipped=1, warnings=1)
    assert "skips itself when it is imported, and uses COMM_WORLD" in text
    result, text = run_pytest(pytester, source, "--mpi4py=emulated", "-Werror")
    result.assert_outcomes(errors=1)
    assert "its tests did not run" in text


class Flaky:
    """Does what the plugin flaky does: it replaces a function of pytest while a test of its session runs."""

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        original = runner.call_and_report

        def call_and_report(one: pytest.Item, *args: Any, **options: Any) -> Any:
            assert one is item, "not a test of this session"
            return original(one, *args, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runner, "call_and_report", call_and_report)
            return runner.pytest_runtest_protocol(item, nextitem)


def test_a_plugin_that_replaces_the_runner_of_its_session_is_not_called_on_ranks(pytester: pytest.Pytester) -> None:
    """Its tests are those of the session; each rank has another object for the test. flaky failed with a KeyError."""
    source = "size = MPI.COMM_WORLD.Get_size()\n@pytest.mark.mpi(ranks=2)\ndef test_it():\n    assert size == 2\n"
    result, text = run_pytest(pytester, source, plugins=[Flaky()])
    assert result.ret == 0, text
