"""The two trees are trees, each rank is inner in one of them, and the colors separate the transfers of a step."""

from __future__ import annotations

from collectives.patterns.two_trees import color, first_step, tree_children, tree_parent
from collectives.tools.numbers import ceil_log2
from tests.helpers.loops import for_each

SIZES = [*range(1, 36), *range(62, 68), *range(126, 132), 200]


@for_each("n", SIZES)
def test_parents_and_children_agree(n: int) -> None:
    """Both trees span all labels; a label has at most two children, and in one tree only."""
    for tree in (0, 1):
        below = {v: tree_children(v, tree, n) for v in range(n + 1)}
        assert sorted(child for children in below.values() for child in children) == list(range(1, n + 1))
        assert all(tree_parent(child, tree, n) == v for v, children in below.items() for child in children)
        assert max(map(len, below.values())) <= 2
    assert all(not tree_children(v, 0, n) or not tree_children(v, 1, n) for v in range(1, n + 1))


@for_each("n", SIZES)
def test_no_label_has_two_edges_of_one_color(n: int) -> None:
    """Of incoming or of outgoing edges; 0 sends to one tree in even steps and to the other in odd steps."""
    for v in range(n + 1):
        leaving = [color(child, tree, n) for tree in (0, 1) for child in tree_children(v, tree, n)]
        assert len(set(leaving)) == len(leaving)
        assert v == 0 or color(v, 0, n) != color(v, 1, n)


@for_each("n", SIZES)
def test_first_blocks_move_down_in_order(n: int) -> None:
    """After the parent's, in a step of the edge's color, at most two steps per level."""
    for tree in (0, 1):
        for v in range(1, n + 1):
            step, above = first_step(v, tree, n), tree_parent(v, tree, n)
            assert step % 2 == color(v, tree, n)
            assert 0 < step - (first_step(above, tree, n) if above else -1) <= 2
            assert step < 2 * ceil_log2(n + 1)
