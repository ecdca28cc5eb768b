"""Who meets whom, who stays when ranks are folded, and who works on which pieces."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectives.shapes.folding import Fold
from collectives.shapes.pairs import meetings, partner
from collectives.shapes.rabenseifner import span
from collectives.verification.ops import compose


@pytest.mark.parametrize("p", range(1, 70))
def test_everybody_meets_everybody_once(p: int) -> None:
    """In pairs, in as few rounds as there can be; a rank rests only if p is odd, and once."""
    met: Counter[tuple[int, int]] = Counter()
    for i in range(meetings(p)):
        for rank in range(p):
            other = partner(rank, i, p)
            if other is None:
                assert p % 2
                continue
            assert other != rank
            assert partner(other, i, p) == rank
            met[rank, other] += 1
    assert met == Counter((r, s) for r in range(p) for s in range(p) if r != s)
    assert meetings(p) == (0 if p == 1 else p if p % 2 else p - 1)


@given(st.integers(1, 300), st.data())
def test_folding_leaves_a_power_of_two_in_rank_order(p: int, data: st.DataObject) -> None:
    """The one to keep stays, and who leaves has a neighbour that stays."""
    keep = data.draw(st.integers(0, p - 1))
    fold = Fold(p, keep=keep)
    stay = [fold.rank(v) for v in range(fold.core)]
    assert stay == sorted(stay)
    assert [fold.index(r) for r in stay] == list(range(fold.core))
    assert fold.stays(keep)
    for rank in range(p):
        neighbour = fold.neighbour(rank)
        assert fold.stays(rank) == (rank in stay)
        assert fold.stays(rank) or (neighbour is not None and fold.stays(neighbour) and abs(neighbour - rank) == 1)


@pytest.mark.parametrize("d", range(7))
def test_halving_gives_everybody_one_piece(d: int) -> None:
    """And partners split between them what both had before."""
    assert sorted(span(v, d, d) for v in range(1 << d)) == [(i, i + 1) for i in range(1 << d)]
    for k in range(d):
        for v in range(1 << d):
            halves = sorted([span(v, k + 1, d), span(v ^ (1 << k), k + 1, d)])
            assert (halves[0][0], halves[1][1]) == span(v, k, d) == span(v ^ (1 << k), k, d)
            assert halves[0][1] == halves[1][0]


@given(st.lists(st.integers(13, 168), min_size=3, max_size=3))
def test_the_op_that_shows_the_order_is_associative(maps: list[int]) -> None:
    """Or no algorithm could be right; and it is not commutative."""
    a, b, c = (np.array([x]) for x in maps)
    assert compose(compose(a, b), c) == compose(a, compose(b, c))
    assert compose(np.array([27]), np.array([40])) != compose(np.array([40]), np.array([27]))
