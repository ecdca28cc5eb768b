"""pytest itself on every rank, as `fakempi run -n 4 -m pytest` has it: whatever fails on any rank is shown."""

from __future__ import annotations

import re
from textwrap import dedent
from types import ModuleType

import pytest
from _pytest.assertion.rewrite import AssertionRewriter

import collectives
import fakempi
from fakempi.script import program
from tests.plugin.harness import LATE

pytest_plugins = ["pytester"]

QUICK = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", "-p", "no:faulthandler")
START = "import pytest\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\n"


def on_ranks(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], ranks: int, source: str, *options: str) -> str:
    """Run pytest on every rank; what came out, and the exit codes."""
    pytester.makepyfile(test_it=START + dedent(source))
    script = program(["-m", "pytest", *QUICK, *options])
    capsys.readouterr()
    try:
        fakempi.run(script, ranks)
        last = f"codes {[script.codes[rank] for rank in range(ranks)]}"
    except fakempi.RunError as error:
        last = str(error)
    return "\n".join([*capsys.readouterr(), last])


def test_every_ranks_failure_is_shown_under_the_default_capture(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rank 0's session passes, the others' do not; those that fail alike are shown once."""
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
        """,
    )
    assert text.count("test session starts") == 1, "rank 0's alone"
    assert "test_it.py::test_not_here on rank 2 of 3 _" in text or "test_it.py::test_not_here on rank 1 of 3 _" in text
    assert len(re.findall(r"^>  +assert comm.rank", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^hello from [12]$", text, re.MULTILINE)) == 1
    for rank in (1, 2):
        assert f"FAILED test_it.py::test_not_here on rank {rank} - assert {rank} == 0\n" in text
    assert "= rank 0 of 3: 2 passed =" in text
    assert "= ranks 1-2 of 3: 1 failed, 1 passed =" in text
    assert "codes [0, 1, 1]" in text


@pytest.mark.slow
def test_a_failure_is_shown_though_its_rank_waits_for_ever_later(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run ends in a deadlock, and so does each session, without another test."""
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
    assert "ENDED test_it.py::test_left_alone on ranks 0 and 2 - the run was over" in text
    assert "ENDED test_it.py::test_next on rank 1 - the run was over" in text
    assert "passed" not in text
    assert "deadlock at" in text


@pytest.mark.slow
def test_fixtures_may_communicate_when_they_are_taken_down(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ranks take turns in the middle of a teardown, and share the variable of the environment that pytest keeps."""
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
        "error",  # pytest has nothing to warn of either
    )
    assert "= all 3 ranks: 1 passed =" in text
    assert text.count("test_it.py .") == 1


@pytest.mark.slow
def test_modules_that_cannot_be_imported_on_a_rank_are_told(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """A test module may be another on each rank."""
    text = on_ranks(pytester, capsys, 3, "assert comm.Get_rank() != 1\ndef test_it():\n    pass\n")
    assert "collection of test_it.py on rank 1 of 3" in text
    assert "= rank 1 of 3: 1 error =" in text


def test_marked_tests_run_on_the_ranks_that_are_there(
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

        def test_folder(mpi_tmp_path, mpi_tmpdir, mpi_file_name):
            for name in (mpi_tmp_path, mpi_tmpdir, mpi_file_name):
                assert len(set(comm.allgather(str(name)))) == 1
        """,
        "-rs",
    )
    assert "fakempi: stands aside, marked tests run on the 3 ranks of fakempi run" in text
    assert "= all 3 ranks: 3 passed, 3 skipped, 1 xfailed =" in text
    assert "for 2 ranks, and here are 3" in text
    assert "for 4 ranks or more, and here are 3" in text


@pytest.mark.parametrize("package", [collectives, fakempi])
def test_pytest_does_not_warn_of_our_packages(package: ModuleType) -> None:
    """They are there before it, and it would like to change what they assert."""
    assert AssertionRewriter.is_rewrite_disabled(package.__doc__ or "")


@pytest.mark.parametrize(
    ("mark", "options", "wait"),
    [("@pytest.mark.mpi(timeout=0.2)", [], "comm.barrier()"), ("", ["--mpi-timeout=0.2"], "pass")],
)
@pytest.mark.usefixtures("late")
def test_a_test_that_takes_too_long_ends_the_run(
    mark: str, options: list[str], wait: str, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a report of where all ranks are: none can go on with the next test while others are in the middle of this."""
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
