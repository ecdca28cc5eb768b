"""What else has to be tried, read off a run: the values that came too late for a choice which could have waited.

A choice and a value that does not hang on it race: had the choice waited for the others to go on, it could have taken that
value. So where it was made, the first of those steps is to be tried on which the value hangs (a source set, as in the
source-DPOR of Abdulla, Aronis, Jonsson and Sagonas, POPL 2014). Where it is not known what led to the value, all is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fakempi.choices.choices import Step
from fakempi.exploring.tree import Edge, Node


def to_be_tried(steps: Sequence[Step], nodes: Sequence[Node], cut_off: bool) -> Iterator[Edge]:
    """Edges that were not there, in a run through these nodes; of one that was `cut_off`, all."""
    for k, (step, node) in enumerate(zip(steps, nodes, strict=False)):
        if len(node.keys) == 1:
            continue
        if step.hides or cut_off:
            yield from node.add_all()
            continue
        for past in step.taken.point.late():
            if past is None:
                yield from node.add_all()
            elif not past >> k & 1:
                yield from _before(k, past >> k << k, steps, node)


def _before(k: int, past: int, steps: Sequence[Step], node: Node) -> Iterator[Edge]:
    """What is to be done in place of step `k`, so that what hangs on these later steps comes in time."""
    firsts = [j for j in range(k + 1, len(steps)) if past >> j & 1 and not steps[j].past & past]
    keys = {steps[j].taken.key for j in firsts}
    enabled = [i for i, key in enumerate(node.keys) if key in keys]
    if not enabled:
        yield from node.add_all()
    elif not any(i in node.edges for i in enabled):
        yield from node.add_point(enabled[0])
