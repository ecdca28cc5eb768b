"""The allgather that changes from Bruck's algorithm to a ring as blocks grow (Träff 2006)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectives import Algorithm, Case, UnsupportedCaseError, find
from fakempi import Hockney
from tests.collectives.traced import allgatherv, gathered, messages
from tests.helpers.breadth import examples

BOTH, BOTH_V = find("allgather", "bruck_ring"), find("allgatherv", "bruck_ring")
BRUCK, RING = find("allgather", "bruck"), find("allgather", "ring")
COST = Hockney(t_s=7, t_w=1, eager_limit=0)


@pytest.mark.parametrize("p", [1, 2, 3, 7, 8, 13])
def test_with_long_runs_it_is_brucks_algorithm(p: int, backend: Any) -> None:
    """The same messages at the same times."""
    case = Case(p, 12, itemsize=4)
    runs = gathered(BOTH, case, trace=True, cost=COST, backend=backend), gathered(BRUCK, case, trace=True, cost=COST)
    assert messages(runs[0]) == messages(runs[1])


@pytest.mark.parametrize("p", [1, 2, 3, 7, 8, 13])
def test_with_blocks_longer_than_runs_it_is_the_ring(p: int) -> None:
    """The ring to the left: with ranks mirrored, the messages are the ring's."""
    case = Case(p, 12, itemsize=4, parameters={"run_bytes": 23})
    left, right = gathered(BOTH, case, trace=True, cost=COST), gathered(RING, Case(p, 12, itemsize=4), trace=True, cost=COST)
    mirrored = [(-source % p, -dest % p, *rest) for source, dest, *rest in messages(left)]
    assert sorted(mirrored) == sorted(map(tuple, messages(right)))
    assert not any(BOTH.scratch(case, rank) for rank in range(p))


def test_the_number_of_rounds_grows_with_the_block_size() -> None:
    """From ceil(log2 p) to p - 1 rounds on the emulator."""
    cost = Hockney(t_s=1, t_w=0, eager_limit=0)
    cases = [Case(24, m, parameters={"run_bytes": 24}) for m in (1, 2, 3, 4, 5, 6, 8, 12, 13)]
    rounds = [gathered(BOTH, case, cost=cost).time for case in cases]
    assert rounds == [5, 5, 5, 6, 7, 7, 9, 12, 23]
    assert rounds == [BOTH.rounds(case) for case in cases]


@given(p=st.integers(1, 200), m=st.integers(1, 5000), run_bytes=st.integers(1, 100_000), t_s=st.integers(0, 1000))
def test_the_time_is_within_the_bound_of_the_card(p: int, m: int, run_bytes: int, t_s: int) -> None:
    """At most 1 + 2 t_s / (t_w run_bytes) times the time of Bruck's algorithm, and never slower than the ring."""
    case = Case(p, m, parameters={"run_bytes": run_bytes})
    time, least, most = (each.time(case, t_s, 1) for each in (BOTH, BRUCK, RING))
    assert least is not None
    assert most is not None
    assert time is not None
    assert least <= time <= min(most, least * (1 + Fraction(2 * t_s, run_bytes)))


@given(counts=st.lists(st.integers(0, 20), min_size=1, max_size=40), run_bytes=st.integers(1, 200))
def test_scratch_is_never_more_than_a_run(counts: list[int], run_bytes: int) -> None:
    """And none on rank 0, whose run starts at the start of the buffer."""
    case = Case(len(counts), counts=tuple(counts), parameters={"run_bytes": run_bytes})
    taken = [BOTH_V.scratch(case, rank) for rank in range(len(counts))]
    assert taken[0] == 0
    assert max(taken) <= min(run_bytes, sum(counts))


@given(counts=st.lists(st.integers(0, 9), min_size=1, max_size=12), run_bytes=st.integers(1, 40))
@settings(max_examples=examples(60), deadline=None)
def test_any_sizes_arrive_at_the_claimed_time(counts: list[int], run_bytes: int) -> None:
    """Including empty blocks."""
    run = allgatherv(BOTH_V, counts, t_s=5, run_bytes=run_bytes)
    assert run.time == BOTH_V.time(Case(len(counts), counts=tuple(counts), parameters={"run_bytes": run_bytes}), 5, 1)


@pytest.mark.parametrize("algorithm", [BOTH, BOTH_V], ids=repr)
def test_run_bytes_must_be_positive(algorithm: Algorithm) -> None:
    """The error is raised before any message is sent."""
    with pytest.raises(UnsupportedCaseError, match=f"^{algorithm.operation} bruck_ring: run_bytes = 0 is not positive$"):
        algorithm.check(Case(3, parameters={"run_bytes": 0}))
