"""Trees whose subtrees are runs: Bine and k-nomial trees for every p, and the negabinary definition of Bine."""

from __future__ import annotations

from collectives.patterns.knomial import knomial_tree
from collectives.patterns.plans.negabinary import BINE, negabinary_distance
from collectives.patterns.run_trees import PlacedTree, RunTree
from collectives.tools.numbers import ceil_log2
from tests.helpers.loops import for_each


def rounds(tree: RunTree, p: int) -> int:
    """Check the structure of a tree; returns the rounds of a broadcast."""
    done = {tree.root(p): 0}
    for parent, child in PlacedTree(tree, 0, p).edges():
        node = tree.node(child.position, p)
        assert (node.parent, node.first, node.size) == (parent, child.first, child.size)
        done[parent] += 1
        assert child.position not in done
        done[child.position] = done[parent]
    assert sorted(done) == list(range(p))
    for position in range(p):
        node, first, end = tree.node(position, p), position, position + 1
        for child in reversed(node.children):
            assert end == child.first or child.first + child.size == first
            first, end = min(first, child.first), max(end, child.first + child.size)
        assert (first, end - first) == (node.first, node.size)
    return max(done.values())


@for_each("p", range(1, 70))
def test_subtrees_are_runs_that_join_without_gaps(p: int) -> None:
    """A broadcast by Bine has ceil(log2 p) rounds."""
    assert rounds(BINE, p) == ceil_log2(p)
    assert rounds(knomial_tree(2), p) == ceil_log2(p)
    for k in (3, 4, 7):
        rounds(knomial_tree(k), p)


@for_each("s", range(1, 8))
def test_the_bine_tree_is_that_of_the_paper_for_powers_of_two(s: int) -> None:
    """Distances from the root in base -2: the parent differs in the lowest digits that are equal."""
    p = 1 << s
    for position in range(p):
        value = rest = position - BINE.root(p)
        digits = []
        for _ in range(s):
            digits.append(rest % 2)
            rest = -((rest - rest % 2) // 2)
        assert sum(digit * (-2) ** i for i, digit in enumerate(digits)) == value
        equal = next((i for i, digit in enumerate(digits) if digit != digits[0]), s)
        step = negabinary_distance(equal)
        parent = BINE.node(position, p).parent
        expected = value - step if digits[0] else value + step
        assert (None if parent is None else parent - BINE.root(p)) == (expected if value else None)
