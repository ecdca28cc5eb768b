"""The blocked ring of Träff et al. (2008): its rounds, closed forms and limits, analytic and on the emulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Case, UnsupportedCaseError, find
from collectives.block_sizes import BlockBytes, smallest, square_root
from collectives.distributions import DISTRIBUTIONS, Distribution, broadcast, regular
from collectives.tools.numbers import ceil_div
from tests.collectives.traced import allgatherv, messages
from tests.helpers.breadth import examples

RING, BLOCKED = find("allgatherv", "ring"), find("allgatherv", "blocked_ring")
T_S, T_W = 40, 1
BACKENDS = ["auto", "threads"]

counts_of_ranks = st.lists(st.sampled_from([0, 0, 1, 2, 3, 5, 8, 13, 40]), min_size=1, max_size=9).map(tuple)


def blocked(counts: tuple[int, ...], block_bytes: BlockBytes) -> Case:
    """A case of bytes."""
    return Case(len(counts), counts=counts, parameters={"block_bytes": block_bytes})


@pytest.mark.parametrize("backend", BACKENDS)
@given(counts=counts_of_ranks, block=st.integers(1, 30), itemsize=st.sampled_from([1, 2, 8]))
@settings(max_examples=examples(15), deadline=None)
def test_every_rank_receives_all_blocks_in_the_claimed_time(
    backend: Any, counts: tuple[int, ...], block: int, itemsize: int
) -> None:
    """numpy's result for any sizes, zeros included, and any block size; the time is an exact integer."""
    run = allgatherv(BLOCKED, counts, itemsize=itemsize, t_s=T_S, t_w=T_W, backend=backend, block_bytes=block)
    case = Case(len(counts), counts=counts, itemsize=itemsize, parameters={"block_bytes": block})
    assert run.time == BLOCKED.time(case, T_S, T_W)
    assert [nbytes for _, nbytes in run.sent] == [BLOCKED.sent(case, r) for r in range(case.p)]


@given(counts=counts_of_ranks, block=st.integers(1, 30))
@settings(max_examples=examples(25), deadline=None)
def test_messages_match_the_rounds_of_the_notes(counts: tuple[int, ...], block: int) -> None:
    """Computed independently from the notes: block s_i + b_i - 1 - k from i to i+1 in round k, unless empty or known."""
    p = len(counts)
    b_i = [max(1, ceil_div(m, block)) for m in counts]
    s_i = [sum(b_i[:i]) for i in range(p)]
    sizes = [min(block, m - j * block) for m, n in zip(counts, b_i, strict=True) for j in range(n)]
    owner = [i for i, n in enumerate(b_i) for _ in range(n)]
    expected: dict[tuple[int, int], list[int]] = {}
    for k in range(sum(b_i) - 1):
        for i in range(p):
            number = (s_i[i] + b_i[i] - 1 - k) % sum(b_i)
            right = (i + 1) % p
            assert number == (s_i[right] - 1 - k) % sum(b_i)  # i sends the block that i+1 receives
            if sizes[number] and owner[number] != right and k < sum(b_i) - b_i[right]:
                expected.setdefault((i, right), []).append(sizes[number])
    found: dict[tuple[int, int], list[int]] = {}
    for source, dest, nbytes, *_ in messages(allgatherv(BLOCKED, counts, trace=True, block_bytes=block)):
        found.setdefault((source, dest), []).append(nbytes)
    assert found == expected


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("p", "m"), [(1, 5), (2, 10), (5, 35), (8, 8), (13, 13 * 64)])
def test_equal_counts_with_one_block_each_give_the_ring(p: int, m: int, backend: Any) -> None:
    """For B = min m_i: the same messages at the same times, from the first to the last."""
    counts = regular(m, p)
    ring = allgatherv(RING, counts, t_s=T_S, t_w=T_W, backend=backend, trace=True)
    same = allgatherv(BLOCKED, counts, t_s=T_S, t_w=T_W, backend=backend, trace=True, block_bytes=smallest())
    assert messages(same) == messages(ring)
    assert same.time == ring.time == (p - 1) * (T_S + m // p * T_W)


@pytest.mark.parametrize("backend", BACKENDS)
@given(p=st.integers(2, 12), blocks=st.integers(1, 12), block=st.integers(1, 50))
@settings(max_examples=10, deadline=None)
def test_broadcast_is_a_pipeline(backend: Any, p: int, blocks: int, block: int) -> None:
    """(p-1)(t_s + m t_w) by the ring, (m/B + p - 2)(t_s + B t_w) by the blocked ring where B divides m."""
    m = blocks * block
    counts = broadcast(m, p)
    ring = allgatherv(RING, counts, t_s=T_S, t_w=T_W, backend=backend)
    pipeline = allgatherv(BLOCKED, counts, t_s=T_S, t_w=T_W, backend=backend, block_bytes=block)
    assert ring.time == (p - 1) * (T_S + m * T_W)
    assert pipeline.time == (ceil_div(m, block) + p - 2) * (T_S + block * T_W)


@given(counts=counts_of_ranks, block=st.integers(1, 30), t_s=st.integers(0, 50), t_w=st.integers(0, 3))
@settings(max_examples=examples(25), deadline=None)
def test_no_round_costs_more_than_a_block(counts: tuple[int, ...], block: int, t_s: int, t_w: int) -> None:
    """At most (b-1)(t_s + B t_w) for any sizes; at least the time to receive the data that the smallest rank lacks."""
    b = sum(max(1, ceil_div(m, block)) for m in counts)
    time = allgatherv(BLOCKED, counts, t_s=t_s, t_w=t_w, block_bytes=block).time
    assert (sum(counts) - min(counts)) * t_w <= time <= (b - 1) * (t_s + block * t_w)


@pytest.mark.parametrize("p", [8, 16, 32])
def test_six_distributions_take_about_the_same_time(p: int) -> None:
    """For large m within 1.1 of the bound (m - min m_i) t_w, which is p/(p-1) times lower for the regular one."""
    m, block, t_s = p * 2**20, 2**15, 800
    cases = {name: blocked(sizes(m, p), block) for name, sizes in DISTRIBUTIONS.items()}
    times = {name: BLOCKED.time(case, t_s, 1) or 0 for name, case in cases.items()}
    assert max(times.values()) < 1.1 * p / (p - 1) * min(times.values())
    for name, case in cases.items():
        least = m - min(case.counts or ())
        assert least <= times[name] < 1.1 * least


@pytest.mark.parametrize(("name", "factor"), [("broadcast", 1), ("spike", 0.5)])
def test_the_rings_factor_grows_with_p(name: str, factor: float) -> None:
    """One block of half of all data or more costs p-1 times in the ring; the blocked ring's factor is constant."""
    block, t_s, ring, pipeline = 2**15, 800, [], []
    for p in (4, 8, 16, 32, 64):
        counts = DISTRIBUTIONS[name](p * 2**18, p)
        least = sum(counts) - min(counts)
        ring.append((RING.time(blocked(counts, block), t_s, 1) or 0) / least)
        pipeline.append((BLOCKED.time(blocked(counts, block), t_s, 1) or 0) / least)
    assert all(1 < found / (factor * (p - 1)) < 1.3 for found, p in zip(ring, (4, 8, 16, 32, 64), strict=True))
    assert max(pipeline) < 1.2


@pytest.mark.quick(3)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_a_phantom_run_takes_the_claimed_time(distribution: Distribution) -> None:
    """48 ranks and 32 KB blocks, at an exact integer time."""
    counts = distribution(48 * 2**15 + 5, 48)
    run = allgatherv(BLOCKED, counts, t_s=1000, t_w=1, phantom=True, block_bytes=2**15)
    assert run.time == BLOCKED.time(blocked(counts, 2**15), 1000, 1)


def test_a_rule_receives_bytes_and_must_return_a_positive_size() -> None:
    """The rule receives the sizes of all ranks in bytes; an invalid result is rejected like a number."""
    seen = []

    def rule(sizes: Any) -> int:
        seen.append(tuple(sizes))
        return 0

    with pytest.raises(fakempi.RankError, match=r"allgatherv blocked_ring: block_bytes = 0 is not positive"):
        allgatherv(BLOCKED, (3, 0, 5), itemsize=8, block_bytes=rule)
    assert set(seen) == {(24, 0, 40)}
    with pytest.raises(UnsupportedCaseError, match=r"^allgatherv blocked_ring: block_bytes = -1 is not positive$"):
        BLOCKED.check(blocked((3, 0, 5), -1))


def test_a_rule_gives_the_same_run_as_its_number() -> None:
    """A rule gives the same messages as the number that it returns."""
    counts = (300, 0, 20, 0, 7)
    by_rule = allgatherv(BLOCKED, counts, t_s=50, t_w=1, trace=True, block_bytes=square_root(50, 1))
    by_number = allgatherv(BLOCKED, counts, t_s=50, t_w=1, trace=True, block_bytes=square_root(50, 1)(counts))
    assert messages(by_rule) == messages(by_number)


def test_memory_is_shared_by_all_ranks() -> None:
    """One pipeline of O(p) numbers for all ranks of the emulator, not one per rank."""
    from collectives.patterns.pipeline import pipeline

    pipeline.cache_clear()
    allgatherv(BLOCKED, (5,) * 50, block_bytes=3)
    assert pipeline.cache_info().misses == 1
    assert np.size(pipeline((5,) * 50, 3, 1).ranking.order) == 50
