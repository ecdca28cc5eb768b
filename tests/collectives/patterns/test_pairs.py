"""Pairs of ranks, remaining ranks after folding, and the ranges of pieces."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from collectives.patterns.folding import Fold
from collectives.patterns.halving import span
from collectives.patterns.pairs.rounds import pair_rounds, partner
from collectives.verification.reduction_ops import compose
from tests.helpers.loops import for_each


@for_each("p", range(1, 70))
def test_each_pair_of_ranks_is_formed_once(p: int) -> None:
    """In pairs, in the fewest possible rounds; a rank is idle only if p is odd, and once."""
    counts: Counter[tuple[int, int]] = Counter()
    for i in range(pair_rounds(p)):
        for rank in range(p):
            other = partner(rank, i, p)
            if other is None:
                assert p % 2
                continue
            assert other != rank
            assert partner(other, i, p) == rank
            counts[rank, other] += 1
    assert counts == Counter((r, s) for r in range(p) for s in range(p) if r != s)
    assert pair_rounds(p) == (0 if p == 1 else p if p % 2 else p - 1)


@given(st.integers(1, 300), st.data())
def test_folding_leaves_a_power_of_two_in_rank_order(p: int, data: st.DataObject) -> None:
    """The rank to keep remains, and each folded rank has a neighbor that remains."""
    keep = data.draw(st.integers(0, p - 1))
    fold = Fold(p, keep=keep)
    stay = [fold.rank(v) for v in range(fold.core)]
    assert stay == sorted(stay)
    assert [fold.index(r) for r in stay] == list(range(fold.core))
    assert fold.stays(keep)
    for rank in range(p):
        neighbor = fold.neighbor(rank)
        assert fold.stays(rank) == (rank in stay)
        assert fold.stays(rank) or (neighbor is not None and fold.stays(neighbor) and abs(neighbor - rank) == 1)


@for_each("d", range(7))
def test_halving_gives_each_rank_one_piece(d: int) -> None:
    """Partners split their common range."""
    assert sorted(span(v, d, d) for v in range(1 << d)) == [(i, i + 1) for i in range(1 << d)]
    for k in range(d):
        for v in range(1 << d):
            halves = sorted([span(v, k + 1, d), span(v ^ (1 << k), k + 1, d)])
            assert (halves[0][0], halves[1][1]) == span(v, k, d) == span(v ^ (1 << k), k, d)
            assert halves[0][1] == halves[1][0]


@given(st.lists(st.integers(13, 168), min_size=3, max_size=3))
def test_the_order_revealing_op_is_associative(maps: list[int]) -> None:
    """It must be associative, but not commutative."""
    a, b, c = (np.array([x]) for x in maps)
    assert compose(compose(a, b), c) == compose(a, compose(b, c))
    assert compose(np.array([27]), np.array([40])) != compose(np.array([40]), np.array([27]))
