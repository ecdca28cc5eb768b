"""Races in a run, and the backtracking points that follow from them.

A choice races with a message (or another value) that arrives later and does not depend on the choice: if the choice had
waited, it could have taken that value. The value depends on some of the steps after the choice. At the choice's node, the
first of these steps is therefore explored as well, in place of the choice (a source set, as in the source-DPOR of Abdulla,
Aronis, Jonsson and Sagonas, POPL 2014). If the steps that lead to the value are unknown, all options of the node are
explored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fakempi.modelcheck.search.records import StepRecord
from fakempi.modelcheck.search.tree import Edge, SearchNode


def backtracking_edges(steps: Sequence[StepRecord], nodes: Sequence[SearchNode], cut_off: bool) -> Iterator[Edge]:
    """Add and yield edges for the races in a run through these nodes; all edges if the run was `cut_off`."""
    for k, (step, node) in enumerate(zip(steps, nodes, strict=False)):
        if len(node.keys) == 1:
            continue
        if step.has_blocked_value or cut_off:
            yield from node.add_all()
            continue
        for past in step.late:
            if past is None:
                yield from node.add_all()
            elif not past >> k & 1:
                yield from _add_edges_before(k, past >> k << k, steps, node)


def _add_edges_before(k: int, past: int, steps: Sequence[StepRecord], node: SearchNode) -> Iterator[Edge]:
    """Add and yield edges to take in place of step `k`, so that the value with this causal past arrives in time."""
    firsts = [j for j in range(k + 1, len(steps)) if past >> j & 1 and not steps[j].past & past]
    keys = {steps[j].key for j in firsts}
    enabled = [i for i, key in enumerate(node.keys) if key in keys]
    if not enabled:
        yield from node.add_all()
    elif not any(i in node.edges for i in enabled):
        yield from node.add_point(enabled[0])
