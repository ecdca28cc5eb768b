"""The eight settings of Kang et al. (2019) in the model: root gathering as in MPICH against full_duplex.

The published limits follow from Eq. 5, (M + 3 p k_A + 3 q k_B) / M. In settings 2 to 4 the received parts are unequal: 56
ranks receive 3 or 4 blocks of the 200, and the 200 a third or a fourth of a block. A plain ring pays the largest part at
every hop, and so does Bruck's algorithm, whose runs of neighbours are all of the larger kind for the first ranks: both
stay 12 to 20 % above M. The blocked ring (Träff et al. 2008) moves equal blocks and comes within 1.3 %. The paper hides
this in "without having significant completion time overhead".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from collectives import Case, find
from tests.collectives.inter.harness import modelled
from tests.collectives.inter.test_kang_claims import FULL_DUPLEX_V, MPICH_V, PARTS, claimed, least

PUBLISHED = {1: 7.00, 2: 4.84, 3: 4.21, 4: 6.68, 5: 7.00, 6: 7.00, 7: 4.84, 8: 4.84}
K = 3 * 65536  # of the default blocks of the blocked ring, thirds and fourths of 4 K come out even


def setting(number: int, ranks: int) -> Case:
    """A setting on so many ranks: half and half, or 25 : 7."""
    half, p, q = ranks // 2, ranks * 25 // 32, ranks * 7 // 32
    rising = tuple(K * i // (half - 1) for i in range(half))
    return {
        1: Case(half, K, q=half, m_b=K),
        2: Case(p, K, q=q, m_b=K),
        3: Case(p, 4 * K, q=q, m_b=K),
        4: Case(p, K, q=q, m_b=4 * K),
        5: Case(half, counts=(K,) * half, q=half, counts_b=(K,) * half),
        6: Case(half, counts=rising, q=half, counts_b=rising),
        7: Case(p, counts=(K,) * p, q=q, counts_b=(K,) * q),
        8: Case(
            p,
            counts=tuple(K * i // (p - 1) for i in range(p)),
            q=q,
            counts_b=tuple(K * i // (q - 1) for i in range(q)),
        ),
    }[number]


@cache
def times(number: int, ranks: int, parts: str, emulated: bool = False) -> tuple[float, float, int]:
    """Root gathering, full_duplex, and the lower bound."""
    case = setting(number, ranks)
    operation = "allgather" if number < 5 else "allgatherv"
    measure = modelled if emulated else claimed
    turns = Case(**{**vars(case), "parameters": {"first": True}})
    duplex = Case(**{**vars(case), "parameters": PARTS[parts]})
    old = measure(find(operation, "root_gathering_mpich", kind="inter"), turns)
    new = measure(find(operation, "full_duplex", kind="inter"), duplex)
    return old, new, least(case)


def below(number: int) -> Iterator[float]:
    """The modelled ratio on 64, 128 and 256 ranks."""
    for ranks in (64, 128, 256):
        old, new, _ = times(number, ranks, "blocked_ring")
        yield old / new


@pytest.mark.slow
@pytest.mark.parametrize("number", PUBLISHED)
def test_the_ratio_at_256_ranks_is_within_5_per_cent(number: int) -> None:
    """On the emulator, phantom payloads, with the best gathering within the groups; and no better than published."""
    old, new, _ = times(number, 256, "blocked_ring", emulated=True)
    assert 0.95 * PUBLISHED[number] <= old / new <= PUBLISHED[number] + 0.005


@pytest.mark.parametrize("number", PUBLISHED)
def test_the_ratio_tends_to_what_is_published(number: int) -> None:
    """From below, as p + q grows: claimed times, which are the emulator's."""
    ratios = list(below(number))
    assert ratios == sorted(ratios)
    assert ratios[-1] <= PUBLISHED[number] + 0.005


def limit(number: int, ranks: int) -> float:
    """Eq. 5 for the setting as it is on so many ranks."""
    a, b = setting(number, ranks).groups
    totals = a.layout.size(0, a.p), b.layout.size(0, b.p)
    return (max(totals) + 3 * sum(totals)) / max(totals)


@pytest.mark.parametrize("number", PUBLISHED)
def test_the_distance_to_the_limit_shrinks_with_the_ranks(number: int) -> None:
    """Eq. 5 gives what is published, to two digits; four times the ranks, at most 0.3 of the distance."""
    assert limit(number, 256) == pytest.approx(PUBLISHED[number], abs=0.01)
    at_64, _, at_256 = below(number)
    assert 0 <= limit(number, 256) - at_256 <= 0.3 * (limit(number, 64) - at_64)


@pytest.mark.parametrize(("number", "plain"), [(2, 1.12), (3, 1.12), (4, 1.20)])
def test_unequal_parts_need_the_blocked_ring(number: int, plain: float) -> None:
    """full_duplex to M at 256 ranks: ring and Bruck pay the larger part at every hop, the blocked ring does not."""
    ratios = {}
    for parts in PARTS:
        _, new, bound = times(number, 256, parts)
        ratios[parts] = new / bound
    assert ratios["ring"] == pytest.approx(plain, abs=0.005)
    assert ratios["bruck"] == pytest.approx(plain, abs=0.005)
    assert 1 <= ratios["blocked_ring"] < 1.015


def test_a_ring_to_the_root_explains_part_of_what_was_measured() -> None:
    """Setting 6 with MPICH's ring: 7.9 in the model. The paper's 23.67 needs unequal links besides, as it says itself."""
    case = setting(6, 256)
    turns = Case(**{**vars(case), "parameters": {"first": True}})
    ring = claimed(find("allgatherv", "root_gathering_ring", kind="inter"), turns)
    new = claimed(find("allgatherv", "full_duplex", kind="inter"), case)
    assert 7.8 < ring / new < 8.0


@pytest.mark.parametrize(("number", "linear", "binomial"), [(6, 6.92, 7.57), (8, 4.80, 5.07)])
def test_a_tree_to_the_root_costs_more_where_blocks_rise_with_the_rank(
    number: int, linear: float, binomial: float
) -> None:
    """Why `root_gathering_mpich` gathers linearly by default: the root takes in the total, no more.

    In a binomial tree the last to arrive is the subtree of the upper half of the ranks, which has three quarters of the
    bytes where block i is proportional to i, and the root waits while they are collected. A yardstick should not be worse
    than Eq. 2 says, so the tree's figures, above what is published, are kept here and not in the table.
    """
    case = replace(setting(number, 256), parameters={"first": True})
    new = claimed(FULL_DUPLEX_V, replace(case, parameters=PARTS["blocked_ring"]))
    ratios = []
    for name in ("linear", "binomial"):
        turns = replace(case, parameters={"first": True, "gatherv": find("gatherv", name)})
        ratios.append(claimed(MPICH_V, turns) / new)
    assert ratios == pytest.approx([linear, binomial], abs=0.006)
    assert ratios[0] < PUBLISHED[number] < ratios[1]
