"""pytest itself on every rank, by `fakempi run -n 4 -m pytest`: failures of any rank are shown."""

from __future__ import annotations

import re
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest
from _pytest.assertion.rewrite import AssertionRewriter

import collectives
import fakempi
from fakempi.isolation import Program
from fakempi.processes.program import ProcessProgram
from tests.plugin.harness import LATE

pytest_plugins = ["pytester"]

QUICK = ("-p", "fakempi", "-p", "no:cacheprovider", "-p", "no:faulthandler")
START = "import pytest\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\n"


def on_ranks(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], ranks: int, source: str, *options: str,
    kind: Any = Program,
) -> str:  # fmt: skip
    """Run pytest on every rank; return the output and the exit codes."""
    pytester.makepyfile(test_it=START + dedent(source))
    script = kind(["-m", "pytest", *QUICK, *options])
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # each rank would import the plugins of this environment
        try:
            fakempi.run(script, ranks)
            last = f"codes {[script.codes[rank] for rank in range(ranks)]}"
        except fakempi.RunError as error:
            last = str(error)
    return "\n".join([*capsys.readouterr(), last])


@pytest.mark.sample
@pytest.mark.slow
@pytest.mark.parametrize("kind", [Program, ProcessProgram])
def test_failures_of_every_rank_are_shown_under_the_default_capture(
    kind: Any, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rank 0's session passes, the others fail; equal failures are shown once."""
    text = on_ranks(
        pytester,
        capsys,
        3,
        """
        def test_alike():
            assert comm.allreduce(1) == 3

        def test_not_here():
            print("hello from", comm.rank)
            assert comm.rank == 0

        @pytest.mark.mpi(ranks=[3, 4])
        def test_marked(comm):
            assert len(set(comm.allgather(comm.rank))) == 3
        """,
        kind=kind,
    )
    assert text.count("test session starts") == 1, "rank 0's alone"
    assert "test_it.py::test_not_here on rank 2 of 3 _" in text or "test_it.py::test_not_here on rank 1 of 3 _" in text
    assert len(re.findall(r"^>  +assert comm.rank", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^hello from [12]$", text, re.MULTILINE)) == 1
    for rank in (1, 2):
        assert f"FAILED test_it.py::test_not_here on rank {rank} - assert {rank} == 0\n" in text
    assert "= rank 0 of 3: 3 passed, 1 skipped =" in text
    assert "= ranks 1-2 of 3: 1 failed, 2 passed, 1 skipped =" in text
    assert "codes [0, 1, 1]" in text


@pytest.mark.slow
def test_a_failure_is_shown_if_its_rank_deadlocks_later(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run ends in a deadlock, and each session ends without another test."""
    text = on_ranks(
        pytester,
        capsys,
        3,
        """
        def test_left_alone():
            assert comm.rank != 1, "gone"
            comm.barrier()

        def test_next():
            comm.recv(source=0)

        def test_never():
            pass
        """,
    )
    assert "FAILED test_it.py::test_left_alone on rank 1 - AssertionError: gone" in text
    assert "ENDED test_it.py::test_left_alone on ranks 0 and 2 - the run ended while this rank was in the test" in text
    assert "ENDED test_it.py::test_next on rank 1 - the run ended while this rank was in the test" in text
    assert "passed" not in text
    assert "deadlock at" in text


@pytest.mark.slow
def test_fixtures_may_communicate_in_teardown(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ranks switch in the middle of a teardown, and share the environment variable that pytest sets."""
    text = on_ranks(
        pytester,
        capsys,
        3,
        """
        @pytest.fixture
        def half():
            yield comm.Split(comm.rank % 2)
            comm.barrier()

        def test_it(half):
            assert half.size < 3
        """,
        "-W",
        "error",  # pytest does not warn either
    )
    assert "= all 3 ranks: 1 passed =" in text
    assert text.count("test_it.py .") == 1


@pytest.mark.slow
def test_modules_that_cannot_be_imported_on_a_rank_are_reported(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test module may differ between ranks."""
    text = on_ranks(pytester, capsys, 3, "assert comm.Get_rank() != 1\ndef test_it():\n    pass\n")
    assert "collection of test_it.py on rank 1 of 3" in text
    assert "= rank 1 of 3: 1 error =" in text


@pytest.mark.sample
@pytest.mark.slow
def test_marked_tests_run_on_the_existing_ranks(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not on virtual ranks of each; a number that does not fit is a skip with a reason."""
    text = on_ranks(
        pytester,
        capsys,
        3,
        """
        @pytest.mark.mpi(ranks=[2, 3])
        def test_numbers(comm, mpi_ranks):
            assert comm.allreduce(1) == mpi_ranks == 3 == MPI.COMM_WORLD.Get_size()

        @pytest.mark.mpi(min_size=4)
        def test_at_least():
            pass

        @pytest.mark.mpi
        def test_any(comm):
            assert comm.size == 3

        @pytest.mark.mpi_skip
        def test_serial():
            assert comm.size == 1

        @pytest.mark.mpi_xfail
        def test_fails():
            assert comm.size == 1

        def test_directory(mpi_tmp_path, mpi_tmpdir, mpi_file_name):
            for name in (mpi_tmp_path, mpi_tmpdir, mpi_file_name):
                assert len(set(comm.allgather(str(name)))) == 1

        import unittest

        class TestCase(unittest.TestCase):
            @pytest.mark.mpi(ranks=[1, 3])
            def test_one_of_its_numbers_fits(self):
                assert MPI.COMM_WORLD.Get_size() == 3

            @pytest.mark.mpi(ranks=[1, 2])
            def test_none_of_its_numbers_fits(self):
                pass
        """,
        "-rs",
    )
    assert "fakempi: inactive: marked tests run on the 3 ranks of fakempi run" in text
    assert "= all 3 ranks: 4 passed, 4 skipped, 1 xfailed =" in text
    assert "needs 1 or 2 ranks, but pytest runs on 3" in text
    assert "needs 2 ranks, but pytest runs on 3" in text
    assert "needs at least 4 ranks, but pytest runs on 3" in text


@pytest.mark.parametrize("package", [collectives, fakempi])
def test_pytest_does_not_warn_about_packages_of_fakempi(package: ModuleType) -> None:
    """They are imported before it, so it cannot rewrite their assertions."""
    assert AssertionRewriter.is_rewrite_disabled(package.__doc__ or "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mark", "options", "wait"),
    [("@pytest.mark.mpi(timeout=0.2)", [], "comm.barrier()"), ("", ["--mpi-timeout=0.2"], "pass")],
)
@pytest.mark.usefixtures("late")
def test_a_test_that_exceeds_its_time_limit_ends_the_run(
    mark: str, options: list[str], wait: str, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a report of all ranks: none can continue with the next test while others are in the middle of this one."""
    source = f"""
        @pytest.mark.mpi(timeout=100)
        def test_quick():
            comm.barrier()

        {mark}
        def test_slow():
            {LATE}
            while True: {wait}

        def test_never():
            pass
        """
    text = on_ranks(pytester, capsys, 2, source, *options)
    assert f"test_it.py::test_slow, {mark or options[0]}: not done after 0.2 s, at t = " in text
    assert re.search(r"^  rank.* at test_it.py:1[12]", text, re.MULTILINE)
    assert "ENDED test_it.py::test_slow on rank" in text
    assert "F." not in text


@pytest.mark.slow
@pytest.mark.parametrize(("mark", "options"), [("@pytest.mark.mpi(timeout=0.001)", []), ("", ["--mpi-timeout=0.001"])])
def test_a_time_limit_in_processes_is_a_warning(
    mark: str, options: list[str], pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would end the run, and has no effect there; the test passes."""
    source = f"""
        {mark}
        def test_it():
            for _ in range(10): comm.barrier()
        """
    text = on_ranks(pytester, capsys, 2, source, *options, kind=ProcessProgram)
    assert "PytestWarning: time limits of marked tests have no effect with fakempi run --processes: use " in text
    assert "= all 2 ranks: 1 passed, 1 warning =" in text
    assert "codes [0, 0]" in text


@pytest.mark.slow
def test_the_summary_is_short_if_every_rank_reports_another_message(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five messages of one line, and the ranks with others; the code keeps its indentation."""
    text = on_ranks(pytester, capsys, 7, "def test_it():\n    rank = comm.rank\n    assert rank == 99")
    assert "\n    def test_it():\n        rank = comm.rank\n>       assert rank == 99\n" in text
    assert "FAILED test_it.py::test_it on rank 4 - assert 4 == 99\n" in text
    assert "FAILED test_it.py::test_it on ranks 5-6 - other messages\n" in text


@pytest.mark.slow
def test_a_failure_of_all_ranks_is_shown_once(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    """Also if another rank fails first and ends its session before rank 0."""
    source = """
        def test_it():
            if comm.rank == 0:
                comm.recv(source=2)
            print("output of rank", comm.rank)
            assert comm.size > 3

        def test_next():
            if comm.rank == 2:
                comm.send(1, 0)
        """
    text = on_ranks(pytester, capsys, 3, source)
    assert text.count("E       assert 3 > 3") == 1
    assert text.count("output of rank 0") == 1
    assert "output of rank 2" not in text
    assert "on rank 2 of 3" not in text
    assert "FAILED test_it.py::test_it on ranks 0-2 - assert 3 > 3\n" in text
