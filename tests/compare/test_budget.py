"""The limit on the messages of one time: long schedules are skipped before they are made, and formulas are not limited."""

from __future__ import annotations

import pytest

from collectives import CATALOGUE, Case, find
from collectives.catalogue import message_count
from collectives.trials.cases import make_case
from fakempi import CostModel, Hockney, LogGP, TwoLevel
from fakempi.apps.compare import link_simulation, timing
from fakempi.apps.compare.budget import TooManyMessages, count_messages
from fakempi.apps.compare.simulation import simulated_makespan
from fakempi.apps.compare.sweep import contenders, sweep
from fakempi.apps.compare.timing import case_time
from fakempi.extensions.fused import programs

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


def test_the_number_of_messages_in_equal_rounds_is_known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 65,536 ranks after 32 rounds of 131,070; in small cases it is that of the whole schedule."""
    assert count_messages(find("allreduce", "ring"), Case(1 << 16, 1 << 20), 10**7) == 2 * 65535 << 16
    monkeypatch.setattr(message_count, "EQUAL_ROUNDS", 6)
    found = 0
    for algorithm in CATALOGUE:
        case = make_case(algorithm.operation, 12, 0, 1 << 10) if algorithm.kind == "intra" else None
        if case is None or algorithm.why_unsupported(case):
            continue
        lengths = [len(transfers) for transfers in algorithm.schedule_for(case) or ()]
        expected = message_count.expected_messages(algorithm, case, lengths[:6])
        assert expected <= sum(lengths), algorithm
        found += expected == sum(lengths) > 0
    assert found > 20


@pytest.mark.parametrize("cost", [TwoLevel(4), LogGP(), Hockney(ports=2)], ids=repr)
def test_a_schedule_that_would_be_stored_is_limited(cost: CostModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether its messages are simulated by instants, on links or step by step; with a larger limit it is simulated."""
    ring, case = find("allgather", "ring"), Case(16, 64)
    seconds = case_time(ring, case, cost).seconds
    assert seconds is not None
    monkeypatch.setattr(timing, "MOST_SIMULATED", 200)
    assert case_time(ring, case, cost).skipped > 200
    assert case_time(ring, case, cost, max_messages=10**6).seconds == seconds
    with pytest.raises(TooManyMessages):
        simulated_makespan(ring, case, cost, 239)
    assert simulated_makespan(ring, case, cost, 240) == seconds


def test_arrays_and_formulas_store_no_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not limited; code that runs, algorithms without a schedule and costs of combining are."""
    monkeypatch.setattr(timing, "MOST_SIMULATED", 200)
    ring, case = find("allgather", "ring"), Case(16, 64)
    for cost in (Hockney(), COST):
        assert case_time(ring, case, cost).seconds is not None
        measured = case_time(ring, case, cost, measure=True)
        assert measured.skipped > 200
        assert (measured.claimed is None) == (cost is not COST)
        assert case_time(ring, case, cost, timing=timing.OSU).skipped > 200
    assert case_time(find("alltoall", "linear"), Case(12, 64), Hockney()).skipped == 132
    assert case_time(find("alltoall", "linear"), Case(10, 64), Hockney()).seconds is not None
    combining = Hockney(compute_per_byte=1e-9)
    assert case_time(find("allreduce", "ring"), Case(16, 64), combining).skipped > 200


def test_a_long_schedule_of_short_rounds_is_simulated_with_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message of two elements takes a round on each rank, and arrays and lists have an entry for each rank."""
    ring, case = find("allreduce", "ring"), Case(24, 8, itemsize=4)
    expected = [simulated_makespan(ring, case, cost) for cost in (Hockney(), TwoLevel(4))]
    monkeypatch.setattr(programs, "MOST_ENTRIES", 100)
    assert [simulated_makespan(ring, case, cost) for cost in (Hockney(), TwoLevel(4))] == expected
    monkeypatch.setattr(link_simulation, "LARGEST_TABLE", 100)
    assert simulated_makespan(ring, case, TwoLevel(4)) == expected[1]
