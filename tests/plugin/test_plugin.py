"""The pytest plugin as users see it: each test writes a test file and runs pytest on it."""

from __future__ import annotations

import os
import re

import pytest

import fakempi
from tests.helpers.packages import needs
from tests.plugin.harness import INSTALLED, run_pytest

pytest_plugins = ["pytester"]

def test_a_marked_test_runs_on_each_number_of_ranks(pytester: pytest.Pytester) -> None:
    result, text = run_pytest(
        pytester,
        """
@pytest.mark.mpi(ranks=[1, 3, 1000])
def test_sum(comm, mpi_ranks):
    assert comm.size == mpi_ranks == MPI.COMM_WORLD.Get_size()
    assert comm.allreduce(comm.rank) == comm.size * (comm.size - 1) // 2
""",
        "-v",
    )
    result.assert_outcomes(passed=3)
    assert "test_sum[ranks1] PASSED" in text
    assert "test_sum[ranks1000] PASSED" in text


def test_the_markers_of_other_plugins_work_unchanged(pytester: pytest.Pytester) -> None:
    result, _ = run_pytest(
        pytester,
        """
@pytest.mark.parallel
def test_three_by_default(comm):
    assert comm.size == 3

@pytest.mark.parallel(5)
def test_a_bare_number(comm):
    assert comm.size == 5

@pytest.mark.parallel(nprocs=[1, 2])
def test_a_list(comm):
    assert comm.size in (1, 2)

@pytest.mark.mpiexec(n=4)
def test_mpiexec(comm):
    assert comm.size == 4

@pytest.mark.mpiexec
@pytest.mark.parametrize("mpiexec_n", [1, 2, 6])
def test_mpiexec_n(comm, mpiexec_n):
    assert comm.size == mpiexec_n

@pytest.mark.mpi(min_size=3)
def test_pytest_mpi(comm):
    assert comm.size == 3
""",
    )
    result.assert_outcomes(passed=9)


def test_fixtures_and_parametrize_work_as_usual(pytester: pytest.Pytester) -> None:
    result, _ = run_pytest(
        pytester,
        """
@pytest.fixture(scope="module")
def table():
    return {"answer": 42}

@pytest.mark.mpi(ranks=[2, 3])
@pytest.mark.parametrize("root", [0, 1])
class TestBcast:
    def test_every_rank_has_it(self, comm, table, root, tmp_path):
        assert tmp_path.exists()
        assert comm.bcast(table if comm.rank == root else None, root=root) == {"answer": 42}
""",
    )
    result.assert_outcomes(passed=4)


def test_every_rank_creates_fixtures_that_depend_on_the_communicator(pytester: pytest.Pytester) -> None:
    result, text = run_pytest(
        pytester,
        """
@pytest.fixture
def half(comm):
    made = comm.Split(comm.rank % 2, comm.rank)
    yield made
    made.Free()
    print("freed", comm.rank)

@pytest.fixture
def mine(half):
    return half.allgather(half.rank)

@pytest.mark.mpi(ranks=5)
def test_halves(comm, half, mine):
    assert half.size == len(mine) == (3 if comm.rank % 2 == 0 else 2)
""",
        "-s",
    )
    result.assert_outcomes(passed=1)
    assert all(f"freed {rank}" in text for rank in range(5))


def test_a_failure_is_reported_once_with_all_its_ranks(pytester: pytest.Pytester) -> None:
    result, text = run_pytest(
        pytester,
        """
@pytest.mark.mpi(ranks=1000)
def test_some_fail(comm):
    print("rank", comm.rank, "was here")
    assert comm.rank not in (3, 7, 8, 9), "a bad rank"
    comm.Barrier()
""",
    )
    result.assert_outcomes(failed=1)
    assert text.count("def test_some_fail") == 1
    assert "assert 3 not in (3, 7, 8, 9)" in text, "plain assert with introspection"
    assert "ranks 3 and 7-9 of 1000 failed; above is rank 3's traceback" in text
    assert "rank 3 was here\n(999 other ranks wrote output: pytest -s shows it)" in text
    assert "rank 4 was here" not in text
    assert "Barrier(" in text, "the call in which the other ranks wait"
    assert f"replay: pytest {pytester.path}/test_a_failure_is_reported_once_with_all_its_ranks.py::test_some_fail" in text


def test_the_first_failure_in_modeled_time_is_shown(pytester: pytest.Pytester) -> None:
    result, text = run_pytest(
        pytester,
        """
import fakempi

@pytest.mark.mpi(ranks=4)
def test_all_fail(comm):
    fakempi.compute(4 - comm.rank)
    assert comm.rank < 0
""",
    )
    result.assert_outcomes(failed=1)
    assert "all 4 ranks failed; above is rank 3's traceback" in text
    assert "rank 0: AssertionError: assert 0 < 0" in text


def test_a_deadlock_is_a_failure_with_its_report(pytester: pytest.Pytester) -> None:
    result, text = run_pytest(
        pytester,
        """
@pytest.mark.mpi(ranks=2)
def test_stuck(comm):
    comm.recv(source=1 - comm.rank, tag=5)
""",
        "--mpi-seed=7",
    )
    result.assert_outcomes(failed=1)
    assert "deadlock at t = 0 s: 2 of 2 ranks are blocked" in text
    assert "recv(source=1 - comm.rank (1), tag=5) at test_a_deadlock_is_a_failure_with_its_report.py:6" in text
    assert "_drive" not in text, "the emulator's frames are hidden"
    assert "--mpi-seed=7" in text


UNSAFE = """
import numpy as np

@pytest.mark.mpi(ranks=2)
def test_unsafe(comm):
    mine, other = np.zeros(NUMBERS), np.empty(NUMBERS)
    comm.Send(mine, dest=1 - comm.rank)
    comm.Recv(other, source=1 - comm.rank)
"""


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("numbers", "buffering", "passes"),
    [(1, "zero", False), (1, "eager", True), (100_000, "eager", False), (100_000, "infinite", True), (1, None, True)],
)
def test_unsafe_sends_deadlock_without_buffering(
    pytester: pytest.Pytester, numbers: int, buffering: str | None, passes: bool
) -> None:
    options = [f"--mpi-buffering={buffering}"] if buffering else []
    result, text = run_pytest(pytester, UNSAFE.replace("NUMBERS", str(numbers)), *options, "-W", "default")
    result.assert_outcomes(passed=passes, failed=not passes, warnings=passes)
    assert ("MPIFindingWarning: unsafe-send: ranks 0-1: Send at " in text) == passes


@pytest.mark.parametrize(
    ("mark", "options", "outcome"),
    [
        ("", [], {"passed": 1, "warnings": 1}),
        ("", ["--mpi-strict"], {"failed": 1}),
        (", strict=True", [], {"failed": 1}),
        (", strict=False", ["--mpi-strict"], {"passed": 1, "warnings": 1}),
    ],
)
def test_findings_are_warnings_unless_configured_as_failures(
    pytester: pytest.Pytester, mark: str, options: list[str], outcome: dict[str, int]
) -> None:
    """By an option, or by the marker, which takes precedence."""
    source = f"""
@pytest.mark.mpi(ranks=3{mark})
def test_loses_a_message(comm):
    if comm.rank:
        comm.send(1, 0)
"""
    result, text = run_pytest(pytester, source, *options, "-W", "default")
    result.assert_outcomes(**outcome)
    assert "message-lost: ranks 1-2: send at " in text
    if "failed" in outcome:
        assert "1 finding in a strict run:" in text
        assert "replay: pytest " in text


def test_notes_are_not_warnings(pytester: pytest.Pytester) -> None:
    """A wildcard receive with two candidates passes, in strict tests too."""
    source = """
@pytest.mark.mpi(ranks=3)
def test_wildcard_receive(comm):
    if comm.rank:
        comm.send(1, 0)
    else:
        assert comm.recv() == comm.recv() == 1
"""
    for options in ([], ["--mpi-strict"]):
        result, _ = run_pytest(pytester, source, *options)
        result.assert_outcomes(passed=1)


@pytest.mark.parametrize("strict", ["None", "1"])
def test_strict_is_true_or_false(pytester: pytest.Pytester, strict: str) -> None:
    """Other values are rejected in a sentence."""
    source = f"""
@pytest.mark.mpi(ranks=2, strict={strict})
def test_nothing(comm):
    pass
"""
    _, text = run_pytest(pytester, source)
    assert f"strict is {strict}; it must be True or False" in text


def test_the_cost_model_and_the_algorithms_are_options(pytester: pytest.Pytester) -> None:
    source = """
@pytest.mark.mpi(ranks=4)
def test_time(comm):
    comm.allgather(None)
    assert MPI.Wtime() == EXPECTED
"""
    chosen = ["--mpi-cost=hockney:t_s=1,t_w=0", "--mpi-algorithms=allgather=ring,allgatherv=ring"]
    result, _ = run_pytest(pytester, source.replace("EXPECTED", "6"), *chosen)  # sizes, then objects: 3 messages each
    result.assert_outcomes(passed=1)
    result, text = run_pytest(pytester, source.replace("EXPECTED", "0"), *chosen)
    result.assert_outcomes(failed=1)
    assert "--mpi-cost=hockney:t_s=1,t_w=0 --mpi-algorithms=allgather=ring,allgatherv=ring" in text.replace("'", "")


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--mpi-cost=hokney", "Did you mean hockney?"),
        ("--mpi-algorithms=bcast=chian", "bcast: there is no algorithm 'chian'; there are "),
        ("--mpi-algorithms=bcast=chain(segment_bytes=x)", "bcast: chain: segment_bytes must be an integer, not 'x'."),
        ("--mpi-algorithms=bcast=./gone.py", "gone.py cannot be loaded: no such file or directory."),
    ],
)
def test_invalid_options_are_rejected(pytester: pytest.Pytester, option: str, sentence: str) -> None:
    result, text = run_pytest(pytester, "def test_nothing(): ...", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert sentence in result.stderr.str()
    assert "Traceback" not in text + result.stderr.str()


def test_an_algorithm_can_be_a_file_in_any_working_directory(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mine="""
        from collectives import Algorithm, find
        def text(comm, buf, *, root=0, k=1, tag=0):
            for _ in range(k):
                find("bcast", "linear").run(comm, buf, root=root, tag=tag)
        ALGORITHM = Algorithm("bcast", "mine", text, None, parameters={"k": 1})
    """)
    source = """
import numpy
@pytest.mark.mpi(ranks=3)
def test_time(comm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    comm.Bcast(numpy.zeros(3))
    assert MPI.Wtime() == [8, 7, 8][comm.rank]
"""
    options = ["--mpi-cost=hockney:t_s=1,t_w=0,eager_limit=0", "--mpi-algorithms=bcast=./mine.py(k=4)"]
    result, _ = run_pytest(pytester, source, *options)
    result.assert_outcomes(passed=1)


def test_hypothesis_draws_once_for_all_ranks_and_shrinks(pytester: pytest.Pytester) -> None:
    result, text = run_pytest(
        pytester,
        """
from hypothesis import given, settings, strategies as st

@pytest.mark.mpi(ranks=3)
@settings(derandomize=True, database=None)
@given(x=st.integers(0, 1000))
def test_drawn(comm, x):
    assert comm.allgather(x) == [x] * 3
    assert x < 10
""",
    )
    result.assert_outcomes(failed=1)
    assert "x=10," in text
    assert "<comm of each rank>" in text


def test_skips_and_expected_failures_keep_their_meaning(pytester: pytest.Pytester) -> None:
    result, _ = run_pytest(
        pytester,
        """
from fakempi import DeadlockError

@pytest.mark.mpi(ranks=3)
def test_skipped_by_one(comm):
    if comm.rank == 1:
        pytest.skip("not here")

@pytest.mark.mpi(ranks=3)
@pytest.mark.xfail(raises=DeadlockError, strict=True)
def test_expected(comm):
    comm.recv(source=0)
""",
    )
    result.assert_outcomes(skipped=1, xfailed=1)


def test_a_test_with_a_communicator_needs_a_number_of_ranks(pytester: pytest.Pytester) -> None:
    result, text = run_pytest(pytester, "def test_unmarked(comm):\n    pass\n")
    result.assert_outcomes(failed=1)
    assert "comm needs a number of ranks: mark the test, such as @pytest.mark.mpi(ranks=3)" in text


@pytest.mark.quick(1)
@pytest.mark.parametrize("given", ["0", "'three'", "[]", "[2, -1]"])
def test_an_invalid_number_of_ranks_is_rejected(pytester: pytest.Pytester, given: str) -> None:
    result, text = run_pytest(pytester, f"@pytest.mark.mpi(ranks={given})\ndef test_it(comm):\n    pass\n")
    assert result.ret != 0
    assert "@pytest.mark.mpi: ranks" in text + result.stderr.str()


def test_a_misspelled_argument_of_a_marker_is_rejected(pytester: pytest.Pytester) -> None:
    """With a similar name; an argument for another plugin is accepted."""
    result, text = run_pytest(pytester, "@pytest.mark.mpi(rank=3)\ndef test_it(comm):\n    pass\n")
    assert result.ret != 0
    assert "@pytest.mark.mpi: rank is unknown; did you mean ranks?" in text + result.stderr.str()
    result, _ = run_pytest(pytester, "@pytest.mark.mpi(ranks=3, color='red')\ndef test_it(comm):\n    pass\n")
    result.assert_outcomes(passed=1)


def test_abort_fails_the_test(pytester: pytest.Pytester) -> None:
    source = "@pytest.mark.mpi(ranks=3)\ndef test_it(comm):\n    comm.rank < 2 or comm.Abort(5)\n    comm.Barrier()\n"
    result, text = run_pytest(pytester, source)
    result.assert_outcomes(failed=1)
    assert "rank 2 of 3 failed" in text


def test_a_spawned_process_that_fails_fails_the_test(pytester: pytest.Pytester) -> None:
    source = (
        "def child(comm):\n    print('I am', comm.rank)\n    assert comm.rank == 0\n\n"
        "@pytest.mark.mpi(ranks=2)\ndef test_it(comm):\n    comm.Spawn(child, maxprocs=2).recv()\n"
    )
    result, text = run_pytest(pytester, source)
    result.assert_outcomes(failed=1)
    assert re.search(r"\nrank 1 of the group spawned at \w+.py:\d+ failed; above is its traceback\n", text)
    assert re.search(r"\n\(rank 1 of the group spawned at \w+.py:\d+\)\nI am 1\n", text)


def test_stopping_at_the_first_failure_works(pytester: pytest.Pytester) -> None:
    source = "@pytest.mark.mpi(ranks=[2, 3, 4])\ndef test_it(comm):\n    assert comm.size == 2\n"
    result, _ = run_pytest(pytester, source, "-x")
    result.assert_outcomes(passed=1, failed=1)


def test_runs_without_marked_tests_import_nothing_of_fakempi(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(os.path.dirname(fakempi.__file__)))
    pytester.makepyfile(
        "import sys\ndef test_light():\n    assert not {'numpy', 'fakempi.core.world', 'fakempi.mpi'} & set(sys.modules)\n"
    )
    plugin = [] if INSTALLED else ["-p", "fakempi.apps.pytest_plugin"]
    result = pytester.runpytest_subprocess("-p", "no:hypothesispytest", "-p", "no:cacheprovider", *plugin, timeout=270)
    result.assert_outcomes(passed=1)


USES_MPI4PY = """
from mpi4py import MPI as installed
import numpy as np

@pytest.mark.mpi(ranks=3)
def test_mpi4py(comm):
    total = np.empty(1)
    installed.COMM_WORLD.Allreduce(np.ones(1), total, op=installed.SUM)
    assert total[0] == comm.size == installed.COMM_WORLD.size
"""


def test_code_that_imports_mpi4py_gets_the_emulator(pytester: pytest.Pytester) -> None:
    result, _ = run_pytest(pytester, USES_MPI4PY, "--mpi4py=emulated")
    result.assert_outcomes(passed=1)
    pytester.makeini("[pytest]\nmpi4py = emulated\n")
    result, _ = run_pytest(pytester, USES_MPI4PY)
    result.assert_outcomes(passed=1)


def test_a_conftest_that_imports_mpi4py_gets_the_emulator_too(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from mpi4py import MPI\nSIZE = lambda: MPI.COMM_WORLD.Get_size()")
    source = "import conftest\n@pytest.mark.mpi(ranks=3)\ndef test_size():\n    assert conftest.SIZE() == 3\n"
    result, _ = run_pytest(pytester, source, "--mpi4py=emulated")
    result.assert_outcomes(passed=1)


def test_an_unknown_value_for_mpi4py_is_rejected(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmpi4py = fake\n")
    result, text = run_pytest(pytester, "def test_it():\n    pass\n")
    assert result.ret != 0
    assert "mpi4py = fake in the ini file: choose from emulated, installed, auto" in text + result.stderr.str()


def test_after_a_failure_the_debugger_is_in_the_failing_rank(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
import pdb

class Look(pdb.Pdb):
    def cmdloop(self, intro=None):
        self.stdout.write(f"mine is {self.curframe.f_locals['mine']}\\n")
"""
    )
    source = "@pytest.mark.mpi(ranks=3)\ndef test_it(comm):\n    mine = comm.rank * 100\n    assert mine != 200\n"
    result, text = run_pytest(pytester, source, "--pdb", "--pdbcls=conftest:Look")
    result.assert_outcomes(failed=1)
    assert "mine is 200" in text


@pytest.mark.slow
def test_marked_tests_run_under_xdist(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("xdist")
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(os.path.dirname(fakempi.__file__)))
    pytester.makepyfile(
        "import pytest\n@pytest.mark.mpi(ranks=[2, 5, 9])\ndef test_it(comm):\n    assert comm.allreduce(1) != 5\n"
    )
    plugin = [] if INSTALLED else ["-p", "fakempi.apps.pytest_plugin"]
    result = pytester.runpytest_subprocess("-n", "2", "-p", "no:cacheprovider", *plugin, timeout=270)
    result.assert_outcomes(passed=2, failed=1)
    assert "all 5 ranks failed; above is rank" in result.stdout.str()


def test_a_wrong_call_is_shown_where_the_test_makes_it(pytester: pytest.Pytester) -> None:
    result, text = run_pytest(
        pytester,
        """
@pytest.mark.mpi(ranks=2)
def test_out_of_step(comm):
    comm.barrier() if comm.rank else comm.bcast(1)

@pytest.mark.mpi(ranks=2)
def test_abort(comm):
    comm.Abort(3)
""",
    )
    result.assert_outcomes(failed=2)
    assert "rank 0 of the same communicator called bcast" in text
    assert "Aborted: Abort(3) was called" in text
    assert f"fakempi{os.sep}mpi" not in text


def test_a_deadlock_shows_the_code_of_the_program(pytester: pytest.Pytester) -> None:
    """Each line once, with the lines above it, below the report; the summary has the report's first line."""
    result, text = run_pytest(
        pytester,
        """
def left(comm):
    other = 1 - comm.rank
    return comm.recv(source=other)

@pytest.mark.mpi(ranks=2)
def test_it(comm):
    left(comm)
""",
    )
    result.assert_outcomes(failed=1)
    assert text.count(">       return comm.recv(source=other)\n") == 1
    assert "        other = 1 - comm.rank\n>" in text
    assert "fakempi/" not in text.partition("FAILURES")[2]
    assert "::test_it - deadlock" in text


WARN = ["-W", "default::fakempi.MPIFindingWarning"]  # this session's filters make warnings errors
LOST = """
def lose(comm):
    if comm.rank == 0:
        comm.send(1, 1)

@pytest.mark.mpi(ranks=[2, 3])
def test_one(comm):
    lose(comm)

@pytest.mark.mpi(ranks=2)
def test_two(comm):
    lose(comm)
"""


def test_a_finding_is_a_warning_at_the_line_of_the_program(pytester: pytest.Pytester) -> None:
    """Once per line, with its code; as an error it fails every test that has it."""
    result, text = run_pytest(pytester, LOST, *WARN)
    result.assert_outcomes(passed=3, warnings=1)
    assert re.search(r"\.py:6: MPIFindingWarning: message-lost: rank 0: send at .*\n    comm\.send\(1, 1\)\n", text)
    assert "calls.py" not in text
    result, text = run_pytest(pytester, LOST, "-W", "error::fakempi.MPIFindingWarning")
    result.assert_outcomes(failed=3)
    assert text.count("\n>           comm.send(1, 1)\n") == 3


def test_numbers_of_ranks_can_be_selected_by_keyword(pytester: pytest.Pytester) -> None:
    """pytest's -k accepts no equals sign."""
    result, text = run_pytest(pytester, LOST, "-v", "-k", "ranks3", *WARN)
    result.assert_outcomes(passed=1, deselected=2, warnings=1)
    assert "test_one[ranks3] PASSED" in text
