"""Bugs of the classic programs with races are found for any timing, and the fixed versions are clean."""

from typing import Any

import pytest

import fakempi
from fakempi.modelcheck.search.exploration import failure_key
from tests.modelcheck.classics import CLASSICS

TIMINGS = [None, 1, 2]
BACKENDS: list[Any] = ["greenlets", "threads"]


@pytest.mark.quick(10)
@pytest.mark.parametrize("late", TIMINGS)
@pytest.mark.parametrize("program", CLASSICS)
def test_the_bug_is_found_and_its_token_replays(program: Any, late: int | None) -> None:
    """With equal clocks, and with either message later than the other."""
    found = fakempi.explore(program, 3, late, False)
    assert found.failures, found
    assert found.exhausted
    for failure in found.failures:
        with pytest.raises(fakempi.RunError) as raised:
            fakempi.run(program, 3, late, False, schedule=failure.schedule, strict=True)
        assert failure_key(raised.value) == failure_key(failure.error)
        assert str(raised.value) == str(failure.error)
        assert failure.passes is not None
        fakempi.run(program, 3, late, False, schedule=failure.passes, strict=True)


@pytest.mark.quick(10)
@pytest.mark.parametrize("late", TIMINGS)
@pytest.mark.parametrize("program", CLASSICS)
def test_the_fixed_version_is_exhausted_and_clean(program: Any, late: int | None) -> None:
    """In all schedules."""
    found = fakempi.explore(program, 3, late, True)
    assert found.exhausted, found
    assert found.failures == []


@pytest.mark.quick(2)
@pytest.mark.parametrize("program", CLASSICS)
def test_both_backends_find_the_same_failures(program: Any) -> None:
    """With the same tokens and the same number of runs."""
    one, two = (fakempi.explore(program, 3, None, False, backend=backend) for backend in BACKENDS)
    assert one.runs == two.runs
    assert [(each.schedule, each.why) for each in one.failures] == [(each.schedule, each.why) for each in two.failures]


@pytest.mark.parametrize("late", TIMINGS)
def test_a_thousand_seeds_do_not_find_the_bug(late: int | None) -> None:
    """A seed breaks ties of time; the slower message is never first."""
    if late == 2:
        for seed in range(20):
            fakempi.run(CLASSICS[0], 3, late, False, seed=seed)
    assert fakempi.explore(CLASSICS[0], 3, late, False).failures
