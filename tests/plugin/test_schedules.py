"""`mpi(explore=N)`, `--mpi-explore` and `--mpi-decisions`: a test in every schedule that can differ."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings

import fakempi
from fakempi import MPI, strategies
from tests.plugin.harness import run_pytest

pytest_plugins = ["pytester"]

RACE = """
@pytest.mark.mpi(ranks=3{more})
def test_race(comm):
    if comm.rank == 0:
        assert comm.recv(source=MPI.ANY_SOURCE) == 1
        comm.recv(source=MPI.ANY_SOURCE)
    else:
        comm.send(comm.rank, 0)
"""


@pytest.mark.parametrize(("more", "option"), [(", explore=20", "-q"), ("", "--mpi-explore=20")])
def test_a_failing_schedule_is_a_failure_with_its_token(pytester: pytest.Pytester, more: str, option: str) -> None:
    """By the marker and by the option; the replay line has what is needed."""
    result, text = run_pytest(pytester, RACE.replace("{more}", more), option)
    result.assert_outcomes(failed=1)
    assert "assert 2 == 1" in text
    assert "with rank 1's all went well\n" in text
    assert "::test_race --mpi-decisions=z:1\n" in text


def test_a_token_is_replayed(pytester: pytest.Pytester) -> None:
    """It fails in the one schedule, and passes in the other; one that does not fit is told."""
    for token, outcome in (("z:1", {"failed": 1}), ("z:0", {"passed": 1}), ("z:9", {"failed": 1})):
        result, text = run_pytest(pytester, RACE.replace("{more}", ", explore=20"), f"--mpi-decisions={token}")
        result.assert_outcomes(**outcome)
        assert ("do not fit the program" in text) == (token == "z:9")


def test_a_clean_test_passes_and_a_wrong_number_is_refused(pytester: pytest.Pytester) -> None:
    """All its schedules were run."""
    clean = RACE.replace("== 1", "in (1, 2)")
    run_pytest(pytester, clean.replace("{more}", ", explore=20"))[0].assert_outcomes(passed=1)
    _, text = run_pytest(pytester, clean.replace("{more}", ", explore='all'"))
    assert "@pytest.mark.mpi: explore is 'all'; it must be a number of runs" in text


def first_of_two(comm: MPI.Intracomm) -> int | None:
    """Which of two messages comes first."""
    if comm.rank == 0:
        first: int = comm.recv(source=MPI.ANY_SOURCE)
        comm.recv(source=MPI.ANY_SOURCE)
        return first
    comm.send(comm.rank, 0)
    return None


@settings(max_examples=20, deadline=None)
@given(strategies.decisions())
def test_drawn_decisions_fit_every_program(decisions: str) -> None:
    """Numbers that are too large count on from 0, and what is left over is not needed."""
    assert fakempi.run(first_of_two, 3, decisions=decisions).returns[0] in (1, 2)


def test_drawn_decisions_shrink_to_the_fewest_deviations() -> None:
    """The simplest schedule in which the second sender is first."""
    found = find(strategies.decisions(), lambda drawn: fakempi.run(first_of_two, 3, decisions=drawn).returns[0] == 2)
    assert found == "z:1?"
