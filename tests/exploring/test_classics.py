"""The classic racy programs are found, in whatever timing, and their repaired twins are clean."""

from typing import Any

import pytest

import fakempi
from fakempi.exploring.found import same
from tests.exploring.classics import CLASSICS

TIMINGS = [None, 1, 2]
CARRIERS = ["greenlets", "threads"]


@pytest.mark.parametrize("late", TIMINGS)
@pytest.mark.parametrize("program", CLASSICS)
def test_the_bug_is_found_and_its_token_replays(program: Any, late: int | None) -> None:
    """With equal clocks, and with either message later than the other."""
    found = fakempi.explore(program, 3, late, False)
    assert found.failures, found
    assert found.exhausted
    for failure in found.failures:
        with pytest.raises(fakempi.RunError) as raised:
            fakempi.run(program, 3, late, False, decisions=failure.decisions, strict=True)
        assert same(raised.value) == same(failure.error)
        assert str(raised.value) == str(failure.error)
        assert failure.passes is not None
        fakempi.run(program, 3, late, False, decisions=failure.passes, strict=True)


@pytest.mark.parametrize("late", TIMINGS)
@pytest.mark.parametrize("program", CLASSICS)
def test_the_repaired_twin_is_exhausted_and_clean(program: Any, late: int | None) -> None:
    """All its schedules."""
    found = fakempi.explore(program, 3, late, True)
    assert found.exhausted, found
    assert found.failures == []


@pytest.mark.parametrize("program", CLASSICS)
def test_both_carriers_find_the_same(program: Any) -> None:
    """The same failures, by the same tokens, in as many runs."""
    one, two = (fakempi.explore(program, 3, None, False, carrier=carrier) for carrier in CARRIERS)
    assert one.runs == two.runs
    assert [(each.decisions, each.why) for each in one.failures] == [(each.decisions, each.why) for each in two.failures]


@pytest.mark.parametrize("late", TIMINGS)
def test_a_thousand_seeds_do_not_find_it(late: int | None) -> None:
    """A seed breaks ties of time; the slower message is never first."""
    if late == 2:
        for seed in range(20):
            fakempi.run(CLASSICS[0], 3, late, False, seed=seed)
    assert fakempi.explore(CLASSICS[0], 3, late, False).failures
