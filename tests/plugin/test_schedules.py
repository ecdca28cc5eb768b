"""`mpi(explore=N)`, `--mpi-explore` and `--mpi-schedule`: a test in every schedule that can give a different result."""

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
    """By the marker and by the option; the replay line has all that is needed."""
    result, text = run_pytest(pytester, RACE.replace("{more}", more), option)
    result.assert_outcomes(failed=1)
    assert "assert 2 == 1" in text
    assert "with rank 1's message the run succeeds\n" in text
    assert "::test_race --mpi-schedule=z:1\n" in text


def test_a_token_is_replayed(pytester: pytest.Pytester) -> None:
    """The test fails in one schedule and passes in the other; a schedule that does not fit is reported."""
    for token, outcome in (("z:1", {"failed": 1}), ("z:0", {"passed": 1}), ("z:9", {"failed": 1})):
        result, text = run_pytest(pytester, RACE.replace("{more}", ", explore=20"), f"--mpi-schedule={token}")
        result.assert_outcomes(**outcome)
        assert ("does not fit the program" in text) == (token == "z:9")


def test_a_clean_test_passes_and_an_invalid_number_is_rejected(pytester: pytest.Pytester) -> None:
    """In all its schedules."""
    clean = RACE.replace("== 1", "in (1, 2)")
    run_pytest(pytester, clean.replace("{more}", ", explore=20"))[0].assert_outcomes(passed=1)
    _, text = run_pytest(pytester, clean.replace("{more}", ", explore='all'"))
    assert "@pytest.mark.mpi: explore is 'all'; it must be a number of runs" in text


def test_findings_of_a_test_that_passes_in_all_schedules_are_warnings(pytester: pytest.Pytester) -> None:
    """As those of a test that is not explored; in a strict run they are failures."""
    pair = RACE.replace("== 1", "in (1, 2)") + """
    if comm.rank == 1:
        comm.Send(bytearray(4), 2)
    if comm.rank == 2:
        comm.Recv([bytearray(4), 1, MPI.INT], 1)
"""
    for more, outcome in ((", explore=20", {"passed": 1, "warnings": 1}), (", explore=20, strict=True", {"failed": 1})):
        result, text = run_pytest(pytester, pair.replace("{more}", more), "-Wdefault")
        result.assert_outcomes(**outcome)
        assert "datatype-mismatch: rank 2: Recv at" in text


def test_an_explored_test_that_skips_itself_is_skipped(pytester: pytest.Pytester) -> None:
    """It was reported as passed."""
    source = "@pytest.mark.mpi(ranks=2, explore=5)\ndef test_it(comm):\n    pytest.skip('not here')\n"
    run_pytest(pytester, source)[0].assert_outcomes(skipped=1)


def first_of_two(comm: MPI.Intracomm) -> int | None:
    """Return which of two messages is received first."""
    if comm.rank == 0:
        first: int = comm.recv(source=MPI.ANY_SOURCE)
        comm.recv(source=MPI.ANY_SOURCE)
        return first
    comm.send(comm.rank, 0)
    return None


@settings(max_examples=20, deadline=None)
@given(strategies.schedules())
def test_drawn_schedules_fit_every_program(schedule: str) -> None:
    """Numbers that are too large wrap around, and surplus ones are ignored."""
    assert fakempi.run(first_of_two, 3, schedule=schedule).returns[0] in (1, 2)


def test_drawn_schedules_shrink_to_the_fewest_deviations() -> None:
    """The simplest schedule in which the second sender is first."""
    found = find(strategies.schedules(), lambda drawn: fakempi.run(first_of_two, 3, schedule=drawn).returns[0] == 2)
    assert found == "z:1?"


SHARED = """
import pytest
from fakempi import MPI

LAST = [0]

def note(last):
    LAST[0] = last

@pytest.mark.mpi(ranks=4, explore=200)
def test_it(comm):
    if comm.rank == 0:
        note(0)
    if comm.rank < 2:
        last = [comm.recv(source=MPI.ANY_SOURCE) for _ in range(2)][-1]
        if comm.rank == 0:
            note(last)
        else:
            assert LAST[0] != 2 or last != 2
    else:
        for dest in range(2):
            comm.send(comm.rank, dest)
"""


@pytest.mark.slow
def test_communication_through_a_global_variable_is_found(pytester: pytest.Pytester) -> None:
    """The ranks share the test's module, so independent choices are tried in both orders."""
    run_pytest(pytester, SHARED)[0].assert_outcomes(failed=1)
    run_pytest(pytester, SHARED, "--mpi-isolation=module")[0].assert_outcomes(passed=1)
