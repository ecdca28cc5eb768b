"""The limit on the messages of one time: long schedules are skipped before they are made, and formulas are not limited."""

from __future__ import annotations

import pytest

from collectives import CATALOGUE, Algorithm, Case, find
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


@pytest.mark.parametrize("algorithm", [each for each in CATALOGUE if each.listed_blocks(Case(8, 8))], ids=repr)
def test_lists_of_blocks_count_as_messages(algorithm: Algorithm) -> None:
    """On 65,536 ranks such a list would need more memory than most machines have."""
    assert count_messages(algorithm, Case(1 << 16, 8), 1_500_000) == (1 << 16) * ((1 << 16) - 1)


def test_the_known_lists_are_declared() -> None:
    """Schedules in which a message has the blocks of several ranks."""
    listed = {(each.operation, each.name) for each in CATALOGUE if each.listed_blocks(Case(8, 8))}
    assert {("allreduce", name) for name in ("bine", "k_ring", "swing", "trivance")} <= listed
    assert {("allgather", name) for name in ("bine", "k_ring", "pat", "recursive_multiplying", "sparbit", "swing")} <= listed
    assert ("allgather", "ring") not in listed
