"""The limit on the messages of one time: long schedules are skipped before they are made, and formulas are not limited."""

from __future__ import annotations

import pytest

from collectives import Case, find
from fakempi import Hockney
from fakempi.apps.compare.budget import count_messages
from fakempi.apps.compare.sweep import contenders, sweep
from fakempi.apps.compare.timing import case_time

COSTS = 1e-6, 1e-9
COST = Hockney(*COSTS, eager_limit=0)


def test_claims_from_a_schedule_are_limited_and_formulas_are_not() -> None:
    """`binary` has no formula; `ring` has one."""
    binary, case = find("bcast", "binary"), Case(8, 64)
    assert case_time(binary, case, COST, max_messages=7).seconds == binary.time(case, *COSTS)
    assert case_time(binary, case, COST, max_messages=6).skipped == 7
    ring = find("allgather", "ring")
    assert case_time(ring, Case(8, 64), COST, max_messages=1).skipped == 0


def test_the_schedules_of_parts_are_limited_too() -> None:
    """An algorithm has a formula if its parts have one."""
    among = contenders("allreduce", "intra", [("reduce_bcast", {"reduce": "binary", "bcast": "binary"})])
    for limit, is_skipped in ((100, False), (6, True)):
        (column,) = sweep("allreduce", [8], [64], cost=COST, among=among, max_messages=limit).columns
        (result,) = column.case_times.values()
        assert bool(result.skipped) == is_skipped == (result.seconds is None)


@pytest.mark.parametrize(("name", "rounds"), [("bine", 14), ("bruck", 14), ("k_ring", None)])
def test_messages_of_many_blocks_are_counted_without_a_list_of_the_blocks(name: str, rounds: int | None) -> None:
    """On 16,384 ranks the list has 268 million blocks; on 65,536 it needs more memory than most machines have."""
    found = count_messages(find("allgather", name), Case(1 << 14, 8), 400_000)
    assert found == rounds << 14 if rounds else found > 400_000


def test_rounds_with_few_messages_count_as_a_fraction_of_their_ranks() -> None:
    """A piece of two elements takes a round on each of 4,096 ranks, and arrays have an entry for each rank."""
    for name in ("ring", "k_ring"):
        assert count_messages(find("allreduce", name), Case(1 << 12, 8, itemsize=4), 10_000) > 10_000
        assert count_messages(find("allreduce", name), Case(1 << 5, 8, itemsize=4), 10_000) == 2 * 31 * 2
