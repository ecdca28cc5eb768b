"""How a marked test is called on ranks: instances and fixtures of each, unittest, limits, coverage, what ranks share."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import fakempi
from fakempi.testing import calls
from tests.plugin.harness import INSTALLED, LATE, run_pytest

pytest_plugins = ["pytester"]


def test_every_rank_has_its_own_instance_and_its_autouse_fixtures(pytester: pytest.Pytester) -> None:
    """As every process would."""
    result, _ = run_pytest(
        pytester,
        """
class TestIt:
    @pytest.fixture(autouse=True)
    def prepared(self, comm):
        self.mine = comm.rank
        self.half = comm.Split(comm.rank % 2)
        comm.barrier()

    @pytest.mark.mpi(ranks=4)
    def test_self(self, comm):
        assert self.mine == comm.rank
        assert self.half.size == 2
""",
    )
    result.assert_outcomes(passed=1)


def test_a_mark_on_a_module_or_class_serves_all_in_it(pytester: pytest.Pytester) -> None:
    """The closest one counts."""
    result, _ = run_pytest(
        pytester,
        """
import unittest
pytestmark = pytest.mark.mpi(ranks=[2, 3])

def test_module(comm, mpi_ranks):
    assert comm.size == mpi_ranks in (2, 3)

@pytest.mark.mpi(ranks=4)
class TestClass:
    def test_class(self, comm):
        assert comm.size == 4

    @pytest.mark.mpi(ranks=5)
    def test_own(self, comm):
        assert comm.size == 5

class Case(unittest.TestCase):
    def test_case(self):
        assert MPI.COMM_WORLD.Get_size() in (2, 3)
""",
    )
    result.assert_outcomes(passed=5)


CASE = """
import unittest
from hypothesis import given, strategies as st

@pytest.mark.mpi(ranks=3)
class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.once = 7

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path):
        self.path = tmp_path

    def setUp(self):
        self.comm = MPI.COMM_WORLD.Dup()
        self.addCleanup(self.comm.Free)

    def test_sum(self):
        self.assertEqual(self.comm.allreduce(self.comm.rank), 3)
        self.assertEqual(self.once, 7)
        self.assertEqual(len(set(self.comm.allgather(str(self.path)))), 1)

    def test_fails(self):
        with self.subTest(rank=self.comm.rank):
            self.assertNotEqual(self.comm.rank, 2)

    def test_skips(self):
        self.skipTest("not now")

    @unittest.skip("never")
    def test_is_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    @given(x=st.integers())
    def test_drawn(self, x):
        pass

    def test_one_skips_and_one_fails(self):
        if self.comm.rank == 0:
            self.skipTest("not here")
        self.assertNotEqual(self.comm.rank, 1)

    def tearDown(self):
        self.comm.Get_name()

@pytest.mark.mpi(ranks=3)
class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_it(self):
        pass
"""


def test_methods_of_a_unittest_case_run_on_ranks(pytester: pytest.Pytester) -> None:
    """Each rank has its own instance; what cannot be is refused in a sentence."""
    result, text = run_pytest(pytester, CASE)
    result.assert_outcomes(passed=1, failed=5, skipped=2)
    assert "in a TestCase each rank would draw values of its own: put it into a plain class" in text
    assert "rank 1 of 3 failed; above is rank 1's traceback" in text
    assert "rank 2 of 3 failed; above is rank 2's traceback" in text
    assert "AssertionError: 2 == 2" in text
    assert "unittest.expectedFailure means nothing on ranks: mark it with pytest.mark.xfail" in text
    assert "test_it is a coroutine function, which ranks cannot run" in text


ENDLESS = f"""
@pytest.mark.mpi(ranks=3OPTIONS)
def test_endless(comm):
    if comm.rank != 2:
        comm.recv(source=0)
    {LATE}
    while True:
        pass
"""


@pytest.mark.parametrize(
    ("marked", "option", "who"),
    [
        (", timeout=0.2", "--mpi-timeout=50", "0.2 s (@pytest.mark.mpi(timeout=0.2))"),
        ("", "--mpi-timeout=0.2", "0.2 s (--mpi-timeout=0.2)"),
    ],
)
@pytest.mark.usefixtures("late")
def test_a_test_that_takes_too_long_is_ended_on_all_ranks(
    pytester: pytest.Pytester, marked: str, option: str, who: str
) -> None:
    """The report says where each rank was, and the option is part of the replay."""
    result, text = run_pytest(pytester, ENDLESS.replace("OPTIONS", marked), option)
    result.assert_outcomes(failed=1)
    assert f"not done after {who}, at t = 0 s: 0 of 3 ranks have ended." in text
    assert "ranks 0-1: recv(source=0, tag=ANY) at test_a_test_that_takes_too_long_is_ended_on_all_ranks.py" in text
    assert option in text.partition("replay:")[2]
    assert "_drive" not in text


def test_no_limit_is_spent_on_loading_what_we_load_late(pytester: pytest.Pytester) -> None:
    """Algorithms, when the first collective is called: in a new process that takes half a second."""
    calls.load_algorithms.cache_clear()
    result, _ = run_pytest(pytester, "@pytest.mark.mpi(ranks=2, timeout=50)\ndef test_it(comm): comm.barrier()\n")
    result.assert_outcomes(passed=1)
    assert calls.load_algorithms.cache_info().currsize == 1


@pytest.mark.usefixtures("late")
@pytest.mark.parametrize("method", ["signal", "thread"])
def test_pytest_timeout_ends_all_ranks_with_our_report(pytester: pytest.Pytester, method: str) -> None:
    """Its timer would end one rank and leave the others, or end the whole process."""
    options = ("--timeout=0.3", f"--timeout-method={method}")
    result, text = run_pytest(pytester, ENDLESS.replace("OPTIONS", ""), *options)
    result.assert_outcomes(failed=1)
    assert "not done after 0.3 s (pytest-timeout), at t = 0 s: 0 of 3 ranks have ended." in text


def test_the_timer_of_pytest_timeout_is_off_while_ranks_run(pytester: pytest.Pytester) -> None:
    """Before and after, while fixtures are set up and cleaned up, it is on."""
    pytester.makeconftest(
        """
import pytest

hooks = []

@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(item, settings):
    hooks.append("set")
    return (yield)

@pytest.hookimpl(wrapper=True)
def pytest_timeout_cancel_timer(item):
    hooks.append("cancel")
    return (yield)

@pytest.fixture
def around():
    assert hooks == ["set"]
    yield
    assert hooks == ["set", "cancel", "call", "set"]
"""
    )
    test = "@pytest.mark.mpi(ranks=1)\ndef test_it(comm, around): hooks.append('call')\n"
    result, _ = run_pytest(pytester, "from conftest import hooks\n" + test, "--timeout=500")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("given", ["0", "'long'", "True", "1, unit='d'"])
def test_a_senseless_limit_is_refused(pytester: pytest.Pytester, given: str) -> None:
    """Before anything runs."""
    _, text = run_pytest(pytester, f"@pytest.mark.mpi(ranks=2, timeout={given})\ndef test_it(comm):\n    pass\n")
    assert "a positive number of seconds, and for a unit one of s, m, h" in text


def test_what_ranks_share_and_have_changed_is_told_of_a_failure(pytester: pytest.Pytester) -> None:
    """A list that is a fixture grows once for each rank; so do globals, attributes of a class, and what an object holds."""
    result, text = run_pytest(
        pytester,
        """
import numpy as np
SEEN, QUIET = [], [1]

class Holder:
    def __init__(self):
        self.items = []

@pytest.fixture
def table():
    return []

@pytest.fixture
def array():
    return np.zeros(2)

@pytest.fixture
def holder():
    return Holder()

class TestIt:
    count = {}

    @pytest.mark.mpi(ranks=4)
    def test_grows(self, comm, table, array, holder):
        table.append(comm.rank)
        array[0] += 1
        holder.items.append(1)
        SEEN.append(0)
        self.count[comm.rank] = 1
        comm.barrier()
        assert len(table) == 1
""",
    )
    result.assert_outcomes(failed=1)
    assert "fixture 'table' is one list for all 4 ranks, which have changed it: 0 items before, 4 items after" in text
    assert "fixture 'array' is one ndarray for all 4 ranks, which have changed it\n" in text
    assert "fixture 'holder' is one Holder for all 4 ranks, which have changed it\n" in text
    assert "global SEEN is one list for all 4 ranks, which have changed it: 0 items before, 4 items after" in text
    assert "TestIt.count is one dict for all 4 ranks" in text
    assert "QUIET" not in text.partition(" MPI ")[2]
    assert "a fixture that asks for comm is made on each rank; with --mpi-isolation=module all are" in text


class Coverage:
    """Stands for the package: what is measured, and how."""

    concurrency: tuple[str, ...] | None = ("thread",)

    @classmethod
    def current(cls) -> Coverage:
        return cls()

    def get_option(self, name: str) -> tuple[str, ...] | None:
        return self.concurrency if name == "run:concurrency" else None


def test_where_coverage_does_not_follow_greenlets_ranks_run_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """It follows threads by default; told of greenlets, it follows those; asked for what cannot be, it says what to add."""

    class Module:
        Coverage = Coverage

    monkeypatch.setitem(sys.modules, "coverage", Module)
    assert calls._carrier("auto", 5) == "threads"
    assert calls._carrier("threads", 5) == "threads"
    for asked, size in (("greenlets", 5), ("auto", 5000)):
        with pytest.raises(pytest.fail.Exception, match=r'concurrency = \["thread", "greenlet"\]'):
            calls._carrier(asked, size)
    monkeypatch.setattr(Coverage, "concurrency", ("thread", "greenlet"))
    assert calls._carrier("auto", 5000) == "auto"
    monkeypatch.delitem(sys.modules, "coverage")
    assert calls._carrier("auto", 5) == "auto"


def test_hypothesis_looks_at_the_clock_after_a_first_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That run is not an example of its."""
    runs: list[str] = []
    monkeypatch.setattr(calls, "_warm_up", lambda: runs.append("first"))
    monkeypatch.setattr(sys.modules[__name__], "RUNS", runs, raising=False)
    source = f"""
import sys
from hypothesis import given, settings, strategies as st

@pytest.mark.mpi(ranks=2)
@settings(max_examples=2, database=None, deadline=None)
@given(x=st.integers())
def test_it(comm, x):
    runs = sys.modules[{__name__!r}].RUNS
    assert runs[:2] == ["first", "first"]
    runs.append("example")
"""
    result, _ = run_pytest(pytester, source)
    result.assert_outcomes(passed=1)
    assert runs.count("first") == 2


@pytest.mark.slow  # a process that has imported nothing yet
def test_hypothesis_looks_at_the_clock_when_all_is_imported(pytester: pytest.Pytester) -> None:
    """In a process in which nothing of ours has run: its first example imports nothing of ours either."""
    pytester.makepyfile(
        """
import sys
import pytest
from hypothesis import given, settings, strategies as st

def ours():
    return {name for name in sys.modules if name.startswith(("fakempi", "collectives", "numpy"))}

SEEN = []

@pytest.mark.mpi(ranks=3)
@settings(max_examples=1, database=None)
@given(x=st.integers())
def test_it(comm, x):
    SEEN or SEEN.append(ours())
    comm.allreduce(x), comm.barrier(), comm.bcast(x)
    assert ours() == SEEN[0]
"""
    )
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(fakempi.__file__))}
    plugin = [] if INSTALLED else ["-p", "fakempi.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *plugin]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=pytester.path)
    assert "1 passed" in told.stdout, told.stdout


def test_the_replay_line_works_from_any_folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the whole path, also where pytest was started below its root."""
    pytester.makeini("[pytest]\n")
    below = pytester.mkdir("below it")
    text = "import pytest\n@pytest.mark.mpi(ranks=2)\n@pytest.mark.parametrize('x', ['a b'])\ndef test_it(x): assert 0\n"
    (below / "test_there.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(below)
    plugin = [] if INSTALLED else ["-p", "fakempi.pytest_plugin"]
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", *plugin, "--mpi4py=emulated")
    assert f"replay: pytest '{below}/test_there.py::test_it[a b]' --mpi4py=emulated" in result.stdout.str()


WRITES_TOO_EARLY = """
import numpy as np

@pytest.mark.mpi(ranks=2)
def test_early(comm):
    b = np.zeros(2)
    if comm.rank == 0:
        request = comm.Isend(b, 1)
        b[0] = 1
        request.Wait()
    else:
        comm.Recv(b, 0)
"""


def test_memory_that_is_in_use_is_looked_at_in_tests(pytester: pytest.Pytester) -> None:
    """Who writes to what is being sent is warned."""
    result, text = run_pytest(pytester, WRITES_TOO_EARLY, "-W", "default")
    result.assert_outcomes(passed=1, warnings=1)
    assert "MPIFindingWarning: buffer-in-use: rank 0: Isend at" in text


def test_a_strict_test_fails_at_the_line_that_writes_to_memory_in_use(pytester: pytest.Pytester) -> None:
    """With numpy's error there, and below it what was under way."""
    result, text = run_pytest(pytester, WRITES_TOO_EARLY.replace("ranks=2", "ranks=2, strict=True"))
    result.assert_outcomes(failed=1)
    assert "ValueError: assignment destination is read-only" in text
    assert "buffer-in-use: rank 0: b[0] = 1 at test_a_strict_test_fails" in text
