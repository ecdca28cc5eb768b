"""The eight settings of Kang et al. (2019) in the model: root gathering as in MPICH compared with full_duplex.

The published limits follow from Eq. 5, (M + 3 p k_A + 3 q k_B) / M. In settings 2 to 4 the received parts are unequal: 56
ranks receive 3 or 4 blocks of the 200, and the 200 a third or a fourth of a block. A plain ring pays for the largest part
at every hop. So does Bruck's algorithm, where for the first ranks all parts of a run are of the larger size: both stay 12
to 20 % above M. The blocked ring (Träff et al. 2008) moves equal blocks and is within 1.3 %. The paper covers this with
"without having significant completion time overhead".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from collectives import Case, find
from tests.collectives.inter.harness import modeled
from tests.collectives.inter.test_kang_claims import FULL_DUPLEX_V, MPICH_V, PARTS, claimed, lower_bound
from tests.helpers.breadth import breadth

PUBLISHED = {1: 7.00, 2: 4.84, 3: 4.21, 4: 6.68, 5: 7.00, 6: 7.00, 7: 4.84, 8: 4.84}
K = 3 * 65536  # thirds and fourths of 4 K are multiples of the blocked ring's default block


def setting(number: int, ranks: int) -> Case:
    """A setting on `ranks` ranks: half and half, or 25 : 7."""
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


def time_of(name: str, number: int, ranks: int, parameters: dict[str, Any], emulated: bool = False) -> float:
    """The time of an algorithm in a setting."""
    algorithm = find("allgather" if number < 5 else "allgatherv", name, kind="inter")
    return (modeled if emulated else claimed)(algorithm, replace(setting(number, ranks), parameters=parameters))


def ratio(number: int, ranks: int, emulated: bool = False) -> float:
    """Root gathering compared with full_duplex."""
    old = time_of("root_gathering_mpich", number, ranks, {"first": True}, emulated)
    return old / time_of("full_duplex", number, ranks, PARTS["blocked_ring"], emulated)


@pytest.mark.slow
@pytest.mark.parametrize("number", breadth([4, 8], list(PUBLISHED)))
def test_the_ratio_at_256_ranks_is_within_5_per_cent(number: int) -> None:
    """On the emulator with phantoms and the best gather within the groups; not above the published ratio."""
    assert 0.95 * PUBLISHED[number] <= ratio(number, 256, emulated=True) <= PUBLISHED[number] + 0.005


def limit(number: int, ranks: int) -> float:
    """Eq. 5 for the setting on `ranks` ranks."""
    a, b = setting(number, ranks).groups
    totals = a.layout.size(0, a.p), b.layout.size(0, b.p)
    return (max(totals) + 3 * sum(totals)) / max(totals)


@pytest.mark.quick(1)
@pytest.mark.parametrize("number", PUBLISHED)
def test_the_ratio_tends_to_the_published_one(number: int) -> None:
    """From below, as p + q grows; with claimed times, which equal the emulator's.

    Eq. 5 equals the published limit to two digits; with four times the ranks, the distance is at most 0.3 of it.
    """
    ratios = [ratio(number, ranks) for ranks in (32, 64, 128)]
    assert ratios == sorted(ratios)
    assert ratios[-1] <= PUBLISHED[number] + 0.005
    assert limit(number, 256) == pytest.approx(PUBLISHED[number], abs=0.01)
    assert 0 <= limit(number, 128) - ratios[-1] <= 0.3 * (limit(number, 32) - ratios[0])


@pytest.mark.quick(1)
@pytest.mark.parametrize(("number", "plain"), [(2, 1.12), (3, 1.12), (4, 1.20)])
def test_unequal_parts_need_the_blocked_ring(number: int, plain: float) -> None:
    """Ratio of full_duplex to M at 256 ranks.

    Ring and Bruck pay for the larger part at every hop, the blocked ring does not.
    """
    bound = lower_bound(setting(number, 256))
    ratios = {name: time_of("full_duplex", number, 256, parts) / bound for name, parts in PARTS.items()}
    assert ratios["ring"] == pytest.approx(plain, abs=0.005)
    assert ratios["bruck"] == pytest.approx(plain, abs=0.005)
    assert 1 <= ratios["blocked_ring"] < 1.015


def test_a_ring_to_the_root_explains_a_part_of_the_measured_ratio() -> None:
    """Setting 6 with MPICH's ring: 7.9 in the model. The paper attributes the rest of its 23.67 to unequal links."""
    case = setting(6, 256)
    turns = Case(**{**vars(case), "parameters": {"first": True}})
    ring = claimed(find("allgatherv", "root_gathering_ring", kind="inter"), turns)
    new = claimed(find("allgatherv", "full_duplex", kind="inter"), case)
    assert 7.8 < ring / new < 8.0


@pytest.mark.quick(1)
@pytest.mark.parametrize(("number", "linear", "binomial"), [(6, 6.92, 7.57), (8, 4.80, 5.07)])
def test_a_tree_to_the_root_is_slower_if_blocks_grow_with_the_rank(number: int, linear: float, binomial: float) -> None:
    """The reason why `root_gathering_mpich` gathers linearly by default: the root receives the total and never waits.

    In a binomial tree the last message comes from the subtree of the upper half of the ranks, which has three quarters of
    the bytes if block i is proportional to i, and the root waits while they are collected. A baseline should not be worse
    than Eq. 2, so the tree's figures, above the published ones, are here and not in the table.
    """
    case = replace(setting(number, 256), parameters={"first": True})
    new = claimed(FULL_DUPLEX_V, replace(case, parameters=PARTS["blocked_ring"]))
    ratios = []
    for name in ("linear", "binomial"):
        turns = replace(case, parameters={"first": True, "gatherv": find("gatherv", name)})
        ratios.append(claimed(MPICH_V, turns) / new)
    assert ratios == pytest.approx([linear, binomial], abs=0.006)
    assert ratios[0] < PUBLISHED[number] < ratios[1]
