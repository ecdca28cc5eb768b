"""The two trees are trees, nobody works twice, and the colours keep all transfers of a step apart."""

from __future__ import annotations

import pytest

from collectives.shapes.two_trees import colour, first_step, tree_children, tree_parent
from collectives.tools.numbers import ceil_log2


@pytest.mark.parametrize("n", range(1, 300))
def test_parents_and_children_agree(n: int) -> None:
    """Both trees span all labels; a label has at most two children, and in one tree only."""
    for tree in (0, 1):
        below = {v: tree_children(v, tree, n) for v in range(n + 1)}
        assert sorted(child for children in below.values() for child in children) == list(range(1, n + 1))
        assert all(tree_parent(child, tree, n) == v for v, children in below.items() for child in children)
        assert max(map(len, below.values())) <= 2
    assert all(not tree_children(v, 0, n) or not tree_children(v, 1, n) for v in range(1, n + 1))


@pytest.mark.parametrize("n", range(1, 300))
def test_no_label_has_two_edges_of_one_colour(n: int) -> None:
    """Neither entering nor leaving; 0 feeds one tree in even steps and the other in odd ones."""
    for v in range(n + 1):
        leaving = [colour(child, tree, n) for tree in (0, 1) for child in tree_children(v, tree, n)]
        assert len(set(leaving)) == len(leaving)
        assert v == 0 or colour(v, 0, n) != colour(v, 1, n)


@pytest.mark.parametrize("n", range(1, 300))
def test_first_blocks_come_down_in_order(n: int) -> None:
    """After the parent's, in a step of the edge's colour, two steps a level at most."""
    for tree in (0, 1):
        for v in range(1, n + 1):
            step, above = first_step(v, tree, n), tree_parent(v, tree, n)
            assert step % 2 == colour(v, tree, n)
            assert 0 < step - (first_step(above, tree, n) if above else -1) <= 2
            assert step < 2 * ceil_log2(n + 1)
