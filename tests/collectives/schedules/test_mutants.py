"""Changed schedules: a change of the meaning is found, and a change that keeps it is accepted."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectives.schedules import Schedule
from tests.collectives.schedules.interleavings import Failure, outputs
from tests.collectives.schedules.mutants import mutant, same_meaning
from tests.collectives.schedules.samples import small
from tests.helpers.breadth import breadth

DETERMINISTIC = {"missing", "extra", "duplicate", "wrong", "overwritten", "unmatched", "size", "deadlock"}
"""Kinds of faults that show in every execution."""


def deviations(changed: Schedule, expected: object, runs: int, ordered: bool) -> int:
    """In how many random interleavings the schedule fails or has other results."""
    count = 0
    for seed in range(runs):
        try:
            count += outputs(changed, seed, ordered) != expected
        except Failure:
            count += 1
    return count


def check(number: int, seed: int, runs: int) -> Counter[str]:
    """Compare the verdicts on random mutants with executions; returns how many mutants had which verdict."""
    random, found = Random(seed), Counter[str]()
    samples = small()
    while found.total() < number:
        original = random.choice(samples)
        changed = mutant(original, random)
        if changed is None:
            continue
        faults = changed.verify()
        ordered = not original.commutative
        deviating = deviations(changed, outputs(original, 0, ordered), runs, ordered)
        kind = faults[0].kind if faults else "accepted"
        assert kind != "accepted" or not deviating, (original.name, changed)
        assert kind not in DETERMINISTIC or deviating == runs, (original.name, faults[0], changed)
        found["same" if kind == "accepted" else "changed" if deviating else "suspect"] += 1
    return found


@pytest.mark.sample
@pytest.mark.slow
def test_mutants_that_change_the_meaning_are_rejected() -> None:
    """As found by executing them with concrete data; faults of contents show in every execution."""
    found = check(number=60, seed=1, runs=5)
    assert found["changed"] > 30


@pytest.mark.slow
def test_more_mutants_that_change_the_meaning_are_rejected() -> None:
    number = breadth(400, 1600)
    found = check(number, seed=2, runs=10)
    assert found["changed"] >= number * 5 // 8


NUMBERS = st.deferred(lambda: st.integers(0, len(small()) - 1))
"""Positions in `small()`, which takes half a second: not while tests are collected."""


@given(NUMBERS, st.integers(0, 2**32))
def test_mutants_that_keep_the_meaning_are_accepted(number: int, seed: int) -> None:
    """Renamed tags and scratch memory, redundant dependencies, and steps in another order."""
    assert same_meaning(small()[number], Random(seed)).verify() == []


def test_the_oracle_accepts_all_originals() -> None:
    for schedule in small():
        ordered = not schedule.commutative
        assert deviations(schedule, outputs(schedule, 0, ordered), 2, ordered) == 0
