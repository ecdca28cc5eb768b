"""`mpi(ranks="1..16")` and `--mpi-ranks`: one test on several numbers of ranks finds the smallest that fails."""

from __future__ import annotations

import pytest

from tests.plugin.harness import run_pytest

pytest_plugins = ["pytester"]

FAILS_FROM_3 = """
@pytest.mark.mpi(ranks={ranks}, timeout=60)
def test_it(comm, mpi_ranks, tmp_path):
    assert comm.size == mpi_ranks
    comm.Barrier()
    if comm.rank == 0:
        (tmp_path / "new").mkdir()
    assert comm.size < 3
"""


@pytest.mark.parametrize("ranks", ["range(1, 7)", "'1..6'", "range(6, 0, -1)"])
def test_the_smallest_number_that_fails_is_reported(pytester: pytest.Pytester, ranks: str) -> None:
    """Once, with the other numbers, a decorator to paste, and a command; each number has new fixtures."""
    result, text = run_pytest(pytester, FAILS_FROM_3.format(ranks=ranks))
    result.assert_outcomes(failed=1)
    assert "fails on 3 ranks; passes on 1,2 ranks; not run on 4..6 ranks\n" in text
    assert "decorator: @pytest.mark.mpi(ranks=3, timeout=60)\n" in text
    assert "all 3 ranks failed" in text
    assert "::test_it --mpi-ranks=3\n" in text


def test_a_list_is_one_test_per_number_as_before(pytester: pytest.Pytester) -> None:
    """Only a text or a range is one test; a text may name a single number."""
    run_pytest(pytester, FAILS_FROM_3.format(ranks="[1, 2, 3, 4]"))[0].assert_outcomes(passed=2, failed=2)
    run_pytest(pytester, FAILS_FROM_3.format(ranks="'1,2'"))[0].assert_outcomes(passed=1)


def test_mpi_ranks_replaces_the_numbers_of_all_markers(pytester: pytest.Pytester) -> None:
    """Of all kinds of marks and tests, also with parameters and private modules."""
    source = """
import unittest
SIZE = MPI.COMM_WORLD.Get_size()

@pytest.mark.mpi(ranks=[1, 2, 3])
def test_list(comm):
    assert comm.size == SIZE != 4

@pytest.mark.parallel(2)
@pytest.mark.parametrize("root", [0, 1])
def test_parameter(comm, root):
    assert comm.size in (4, 5)

@pytest.mark.mpi(min_size=5)
def test_minimum(comm):
    assert comm.size == 5

@pytest.mark.mpi
class TestCase(unittest.TestCase):
    def test_method(self):
        assert MPI.COMM_WORLD.size in (4, 5)
"""
    result, text = run_pytest(pytester, source, "--mpi-ranks=4..5")
    result.assert_outcomes(passed=4, failed=1)
    assert "fails on 4 ranks; not run on 5 ranks\n" in text


def test_skips_and_expected_failures_do_not_end_the_sequence(pytester: pytest.Pytester) -> None:
    """A test is skipped if it is on all numbers; an expected failure on one number is that of the test."""
    source = """
@pytest.mark.mpi(ranks="1..4")
def test_skips_some(comm):
    if comm.size < 3:
        pytest.skip("needs 3")

@pytest.mark.mpi(ranks="1..4")
def test_skips_all(comm):
    pytest.skip("never")

@pytest.mark.mpi(ranks="1..4")
@pytest.mark.xfail(strict=True)
def test_expected(comm):
    assert comm.size != 3

@pytest.mark.mpi(ranks="1..4")
def test_fails_later(comm):
    if comm.size == 2:
        pytest.xfail("known")
    assert comm.size != 3
"""
    result, text = run_pytest(pytester, source)
    result.assert_outcomes(passed=1, skipped=1, xfailed=1, failed=1)
    assert "fails on 3 ranks; passes on 1 rank; fails as expected on 2 ranks; not run on 4 ranks\n" in text


def test_fixtures_of_a_module_are_set_up_once_and_torn_down_before_the_next_module(pytester: pytest.Pytester) -> None:
    """Fixtures of the test are new on each number."""
    pytester.makepyfile(test_z="def test_after():\n    pass\n")
    source = """
@pytest.fixture(scope="module")
def once():
    print("module set up")
    yield
    print("module torn down")

@pytest.fixture
def each():
    print("test set up")

@pytest.mark.mpi(ranks="1..3")
def test_it(comm, once, each):
    pass
"""
    result, text = run_pytest(pytester, source, "-s")
    result.assert_outcomes(passed=2)
    assert (text.count("module set up"), text.count("module torn down"), text.count("test set up")) == (1, 1, 3)


def test_an_error_in_the_setup_of_one_number_is_reported_with_it(pytester: pytest.Pytester) -> None:
    """As is a setup that fails once the module is torn down."""
    source = """
@pytest.fixture
def small(mpi_ranks):
    assert mpi_ranks < 2

@pytest.mark.mpi(ranks="1..3")
def test_setup(comm, small):
    pass

@pytest.fixture(scope="module")
def late():
    yield
    raise RuntimeError("not closed")

@pytest.mark.mpi(ranks="1..2")
def test_teardown(comm, late):
    pass
"""
    result, text = run_pytest(pytester, source)
    result.assert_outcomes(passed=1, errors=2)
    assert "fails on 2 ranks; passes on 1 rank; not run on 3 ranks\n" in text
    assert "not closed" in text


def test_values_of_hypothesis_are_a_decorator_to_paste(pytester: pytest.Pytester) -> None:
    """Next to that with the number of ranks."""
    source = """
from hypothesis import Phase, given, settings, strategies as st

@pytest.mark.mpi(ranks="1..4")
@settings(database=None, max_examples=10, deadline=None, phases=[Phase.generate, Phase.shrink])
@given(value=st.sampled_from([0, 1, 2]))
def test_it(comm, value):
    assert comm.size < 2 or value < 1
"""
    result, text = run_pytest(pytester, source)
    result.assert_outcomes(failed=1)
    assert "decorator: @pytest.mark.mpi(ranks=2)\n" in text
    assert "decorator: @example(value=1)\n" in text


def test_results_that_depend_on_the_number_of_ranks_are_a_failure(pytester: pytest.Pytester) -> None:
    """By the fixture and by the function, within the tolerance."""
    source = """
import fakempi

@pytest.mark.mpi(ranks="2..6")
def test_lost(comm, mpi_result):
    mpi_result("total", comm.allreduce(12 // comm.size))

@pytest.mark.mpi(ranks="2..6")
def test_sum(comm):
    fakempi.result("sum", comm.allreduce(1 / comm.size))
    fakempi.result("rough", [1.0, 1 + comm.size / 1000], tolerance=0.01)
"""
    result, text = run_pytest(pytester, source)
    result.assert_outcomes(passed=1, failed=1)
    assert "result total depends on the number of ranks: 12 on 2 ranks, 10 on 5 ranks (difference 2)\n" in text
    assert "fails on 5 ranks; passes on 2..4 ranks; not run on 6 ranks\n" in text


@pytest.mark.parametrize(
    ("ranks", "sentence"),
    [("4..2", "'4..2' is an empty range"), ("some", "'some' is not a number of ranks"), ("0..2", "at least 1 rank")],
)
def test_numbers_that_are_wrong_are_rejected(pytester: pytest.Pytester, ranks: str, sentence: str) -> None:
    """In the marker when tests are collected, in the option at the start."""
    _, text = run_pytest(pytester, FAILS_FROM_3.format(ranks=repr(ranks)))
    assert "@pytest.mark.mpi: ranks = " in text
    assert sentence in text
    result, _ = run_pytest(pytester, FAILS_FROM_3.format(ranks=2), f"--mpi-ranks={ranks}")
    assert sentence in result.stderr.str()
