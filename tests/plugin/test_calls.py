"""Calls of marked tests on ranks: instances and fixtures per rank, unittest, time limits, coverage, shared objects."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import fakempi
from fakempi.apps.testing import calls
from fakempi.core.arguments import BackendName
from tests.plugin.harness import INSTALLED, LATE, run_pytest

pytest_plugins = ["pytester"]


def test_every_rank_has_its_own_instance_and_autouse_fixtures(pytester: pytest.Pytester) -> None:
    """As a process would."""
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


def test_a_mark_on_a_module_or_class_applies_to_all_its_tests(pytester: pytest.Pytester) -> None:
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
    def directory(self, tmp_path):
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
    """Each rank has its own instance; unsupported features are rejected in a sentence."""
    result, text = run_pytest(pytester, CASE)
    result.assert_outcomes(passed=2, failed=4, skipped=2)
    assert "in a TestCase each rank would draw different values: use a plain class" in text
    assert "rank 1 of 3 failed; above is rank 1's traceback" in text
    assert "rank 2 of 3 failed; above is rank 2's traceback" in text
    assert "AssertionError: 2 == 2" in text
    assert "unittest.expectedFailure is not supported on ranks: use pytest.mark.xfail" in text


ENDLESS = f"""
@pytest.mark.mpi(ranks=3OPTIONS)
def test_endless(comm):
    if comm.rank != 2:
        comm.recv(source=0)
    {LATE}
    while True:
        pass
"""


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("marked", "option", "who"),
    [
        (", timeout=0.2", "--mpi-timeout=50", "0.2 s (@pytest.mark.mpi(timeout=0.2))"),
        ("", "--mpi-timeout=0.2", "0.2 s (--mpi-timeout=0.2)"),
    ],
)
@pytest.mark.usefixtures("late")
def test_a_test_that_exceeds_its_time_limit_is_ended_on_all_ranks(
    pytester: pytest.Pytester, marked: str, option: str, who: str
) -> None:
    """The report says where each rank was, and the option is part of the replay."""
    result, text = run_pytest(pytester, ENDLESS.replace("OPTIONS", marked), option)
    result.assert_outcomes(failed=1)
    assert f"not done after {who}, at t = 0 s: 0 of 3 ranks have ended." in text
    assert "ranks 0-1: recv(source=0, tag=ANY) at test_a_test_that_exceeds_its_time_limit_is_ended_on_all_ranks.py" in text
    assert option in text.partition("replay:")[2]
    assert "_drive" not in text


def test_lazy_imports_do_not_count_against_a_time_limit(pytester: pytest.Pytester) -> None:
    """For example algorithms at the first collective call, which takes half a second in a new process."""
    calls.load_algorithms.cache_clear()
    result, _ = run_pytest(pytester, "@pytest.mark.mpi(ranks=2, timeout=50)\ndef test_it(comm): comm.barrier()\n")
    result.assert_outcomes(passed=1)
    assert calls.load_algorithms.cache_info().currsize == 1


@pytest.mark.quick(1)
@pytest.mark.usefixtures("late")
@pytest.mark.parametrize("method", ["signal", "thread"])
def test_pytest_timeout_ends_all_ranks_with_the_report_of_fakempi(pytester: pytest.Pytester, method: str) -> None:
    """Its timer would end one rank and leave the others, or end the whole process."""
    options = ("--timeout=60", f"--timeout-method={method}")  # a short one would end pytest while it formats the report
    result, text = run_pytest(pytester, ENDLESS.replace("OPTIONS", ""), *options)
    result.assert_outcomes(failed=1)
    assert "not done after 60 s (pytest-timeout), at t = 0 s: 0 of 3 ranks have ended." in text


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
def test_an_invalid_limit_is_rejected(pytester: pytest.Pytester, given: str) -> None:
    """Before any test runs."""
    _, text = run_pytest(pytester, f"@pytest.mark.mpi(ranks=2, timeout={given})\ndef test_it(comm):\n    pass\n")
    assert "the time limit must be a positive number; units are s, m, h" in text


def test_changed_shared_objects_are_reported_with_a_failure(pytester: pytest.Pytester) -> None:
    """A list in a fixture grows once for each rank; so do globals, attributes of a class, and contents of an object."""
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
    assert "fixture 'table' is one list shared by all 4 ranks, which changed it: 0 items before, 4 items after" in text
    assert "fixture 'array' is one ndarray shared by all 4 ranks, which changed it\n" in text
    assert "fixture 'holder' is one Holder shared by all 4 ranks, which changed it\n" in text
    assert "global SEEN is one list shared by all 4 ranks, which changed it: 0 items before, 4 items after" in text
    assert "TestIt.count is one dict shared by all 4 ranks" in text
    assert "QUIET" not in text.partition(" MPI ")[2]
    assert "fixtures that use comm are created on each rank; with --mpi-isolation=module all fixtures" in text


class Coverage:
    """A stand-in for the coverage package and its configuration."""

    concurrency: tuple[str, ...] | None = ("thread",)

    @classmethod
    def current(cls) -> Coverage:
        return cls()

    def get_option(self, name: str) -> tuple[str, ...] | None:
        return self.concurrency if name == "run:concurrency" else None


def test_ranks_run_on_threads_if_coverage_does_not_support_greenlets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coverage follows threads by default, greenlets if configured; impossible combinations report what to add."""

    class Module:
        Coverage = Coverage

    monkeypatch.setitem(sys.modules, "coverage", Module)
    assert calls._backend("auto", 5) == "threads"
    assert calls._backend("threads", 5) == "threads"
    impossible: tuple[tuple[BackendName, int], ...] = (("greenlets", 5), ("auto", 5000))
    for requested, size in impossible:
        with pytest.raises(pytest.fail.Exception, match=r'concurrency = \["thread", "greenlet"\]'):
            calls._backend(requested, size)
    monkeypatch.setattr(Coverage, "concurrency", ("thread", "greenlet"))
    assert calls._backend("auto", 5000) == "auto"
    monkeypatch.delitem(sys.modules, "coverage")
    assert calls._backend("auto", 5) == "auto"


def test_hypothesis_reads_the_clock_after_a_first_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That run is not one of its examples."""
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


@pytest.mark.slow  # a process without earlier imports
def test_hypothesis_reads_the_clock_after_all_imports(pytester: pytest.Pytester) -> None:
    """In a process in which no code of fakempi has run: the first example imports nothing either."""
    pytester.makepyfile(
        """
import sys
import pytest
from hypothesis import given, settings, strategies as st

def ours():
    return {name for name in sys.modules if name.startswith(("fakempi", "collectives", "numpy"))}

SEEN = []

@pytest.mark.mpi(ranks=3)
@settings(max_examples=1, database=None, deadline=None)
@given(x=st.integers())
def test_it(comm, x):
    SEEN or SEEN.append(ours())
    comm.allreduce(x), comm.barrier(), comm.bcast(x)
    assert ours() == SEEN[0]
"""
    )
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(fakempi.__file__))}
    plugin = [] if INSTALLED else ["-p", "fakempi.apps.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *plugin]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, cwd=pytester.path, timeout=270
    )
    assert "1 passed" in result.stdout, result.stdout


def test_the_replay_line_works_from_any_directory(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the full path, also if pytest was started below its root."""
    pytester.makeini("[pytest]\n")
    below = pytester.mkdir("below it")
    text = "import pytest\n@pytest.mark.mpi(ranks=2)\n@pytest.mark.parametrize('x', ['a b'])\ndef test_it(x): assert 0\n"
    (below / "test_there.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(below)
    plugin = [] if INSTALLED else ["-p", "fakempi.apps.pytest_plugin"]
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


def test_memory_in_use_is_checked_in_tests(pytester: pytest.Pytester) -> None:
    """Writing to a buffer that is being sent is a warning."""
    result, text = run_pytest(pytester, WRITES_TOO_EARLY, "-W", "default")
    result.assert_outcomes(passed=1, warnings=1)
    assert "MPIFindingWarning: buffer-in-use: rank 0: Isend at" in text


def test_a_strict_test_fails_at_the_line_that_writes_to_memory_in_use(pytester: pytest.Pytester) -> None:
    """With numpy's error there, and the pending operation below it."""
    result, text = run_pytest(pytester, WRITES_TOO_EARLY.replace("ranks=2", "ranks=2, strict=True"))
    result.assert_outcomes(failed=1)
    assert "ValueError: assignment destination is read-only" in text
    assert "buffer-in-use: rank 0: b[0] = 1 at test_a_strict_test_fails" in text


def test_the_report_names_ranks_in_log_messages_and_subtests(pytester: pytest.Pytester) -> None:
    """A failed part of a test does not end it; each rank reads its own output from `capsys`."""
    result, text = run_pytest(
        pytester,
        """
import logging, unittest

@pytest.mark.mpi(ranks=2)
def test_log(comm, caplog):
    logging.getLogger("x").warning("hello")
    assert "hello" in caplog.messages and comm.rank == 0

@pytest.mark.mpi(ranks=2)
class TestParts(unittest.TestCase):
    def test_parts(self):
        for number in range(3):
            with self.subTest("part", number=number):
                self.assertEqual(MPI.COMM_WORLD.rank, number)
            with self.subTest(number=number):
                self.skipTest("here")

@pytest.mark.mpi(ranks=2)
def test_capsys(comm, capsys):
    print("rank", comm.rank)
    comm.barrier()
    assert capsys.readouterr().out == f"rank {comm.rank}\\n"
    print("again")
    assert tuple(capsys.readouterr()) == ("again\\n", "")
""",
    )
    result.assert_outcomes(passed=1, failed=2)
    assert "[0] WARNING  x:" in text
    assert "[1] WARNING  x:" in text
    assert "AssertionError: 0 != 1, in subtest [part] (number=1) (2 of 6 subtests failed)" in text
    assert "AssertionError: 0 != 2, in subtest [part] (number=2)" in text
    assert "rank 1: AssertionError: 1 != 0, in subtest [part] (number=0) (2 of 6 subtests failed)" in text


def test_a_misspelled_marker_names_its_test(pytester: pytest.Pytester) -> None:
    """Whether its argument or its name is misspelled; frames of the plugin are not shown."""
    _, text = run_pytest(pytester, "@pytest.mark.mpi(rank=2)\ndef test_it(comm): pass")
    assert ".py::test_it: @pytest.mark.mpi: rank is unknown; did you mean ranks?" in text
    assert "markers.py" not in text
    _, text = run_pytest(pytester, "@pytest.mark.mip(ranks=2)\ndef test_it(comm): pass", "-Wignore")
    assert "did you mean mpi instead of mip?" in text


def test_the_options_of_pytest_mpi_are_accepted(pytester: pytest.Pytester) -> None:
    """`--with-mpi` has no effect; `--only-mpi` skips tests without a marker."""
    source = "@pytest.mark.mpi\ndef test_on_ranks(comm): assert comm.size == 2\ndef test_other(): pass"
    run_pytest(pytester, source, "--with-mpi")[0].assert_outcomes(passed=2)
    run_pytest(pytester, source, "--only-mpi")[0].assert_outcomes(passed=1, skipped=1)


def test_coroutine_functions_fail_before_other_plugins_run_them(pytester: pytest.Pytester) -> None:
    """If ranks share modules: a plugin such as anyio's would call them on one rank, with a placeholder for `comm`."""
    as_in_anyio = "@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(pyfuncitem): return True"
    pytester.makeconftest(f"import pytest\n{as_in_anyio}")
    source = "@pytest.mark.mpi\nasync def test_it(comm): assert 0"
    result, text = run_pytest(pytester, source, "--mpi-isolation=none")
    assert "test_it is a coroutine function, which is not supported on ranks that share modules (isolation='none')" in text
    result.assert_outcomes(failed=1)


def test_a_search_counts_the_modes_in_which_a_test_fails(pytester: pytest.Pytester) -> None:
    """Although it stops at the first failure."""
    source = "@pytest.mark.mpi\ndef test_it(comm):\n    comm.send(1, 1 - comm.rank)\n    comm.recv()"
    _, text = run_pytest(pytester, source, "--mpi-explore=20")
    assert "fails in 1 of 2 modes: with zero buffering every send waits for its receive; with infinite buffering" in text
    assert "of 2 modes" not in run_pytest(pytester, source, "--mpi-explore=20", "--mpi-buffering=zero")[1]


def test_code_in_reports_has_the_path_that_pytest_shows(pytester: pytest.Pytester) -> None:
    """Relative to the working directory, also for a deadlock, which has no traceback."""
    (pytester.path / "sub").mkdir()
    text = "import pytest\n@pytest.mark.mpi\ndef test_it(comm):\n    {}\n"
    (pytester.path / "sub" / "test_stuck.py").write_text(text.format("comm.recv()"))
    (pytester.path / "sub" / "test_failed.py").write_text(text.format("assert 0"))
    _, text = run_pytest(pytester, "")
    assert "\nsub/test_stuck.py:4:\n" in text
    assert "\nsub/test_failed.py:4: AssertionError" in text


def test_findings_and_blocked_ranks_have_paths_from_the_root(pytester: pytest.Pytester) -> None:
    """Also if files have the same name; a file elsewhere has its name alone."""
    text = "import pytest\n@pytest.mark.mpi\ndef test_it(comm):\n    {}\n"
    for directory in ("one", "two"):
        (pytester.path / directory).mkdir()
        (pytester.path / directory / "__init__.py").touch()
        lost = text.format("comm.rank or comm.send(1, 1)").replace("test_it", f"test_{directory}")
        (pytester.path / directory / "test_lost.py").write_text(lost)
    (pytester.path / "one" / "test_stuck.py").write_text(text.format("assert comm.rank\n    comm.recv()"))
    monitored = run_pytest(pytester, "", "-Wdefault", "one")[1]
    assert "message-lost: rank 0: send at one/test_lost.py:4:" in monitored
    assert "rank 1: recv(source=ANY, tag=ANY) at one/test_stuck.py:5" in monitored
    assert "message-lost: rank 0: send at two/test_lost.py:4:" in run_pytest(pytester, "", "--mpi-strict", "two")[1]


def test_a_failure_names_fixtures_of_the_process(pytester: pytest.Pytester) -> None:
    """They are fixtures that each process has under mpiexec; the environment variables are those of a process, too."""
    source = "import os\n@pytest.mark.mpi\ndef test_it(comm, caplog, monkeypatch):\n"
    source += "    os.environ['MY_RANK'] = str(comm.rank)\n    comm.barrier()\n"
    source += "    assert os.environ['MY_RANK'] == str(comm.rank)"
    result, text = run_pytest(pytester, source)
    result.assert_outcomes(failed=1)
    assert "caplog, monkeypatch are fixtures of the process, which all 2 ranks share" in text
    assert "os.environ is one dict shared by all 2 ranks, which changed it" in text
    os.environ.pop("MY_RANK", None)
    run_pytest(pytester, source, "--mpi-isolation=module")[0].assert_outcomes(passed=1)
