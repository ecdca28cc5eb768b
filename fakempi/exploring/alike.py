"""What need not be tried: messages that nobody can tell apart, and choices that never meet.

Two messages of different senders are alike if tag and content are. To receive the one or the other first makes no difference
as long as the program does not ask who sent what: until both are gone, only receives from any source look at that mailbox,
none is told the source (`status`), and no other message of the two senders comes there, then or later. Senders that wait
for their receive must do nothing more afterwards, for one of them would do it sooner.
That is looked at in every run behind the one, before the other is left out.

Two choices never meet if, in all runs, no process may have been influenced by both. Then what the one leads to is seen
beside any value of the other, and to try all pairs of values shows nothing new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fakempi.choices.choices import Choices, Option
from fakempi.choices.points import Receive
from fakempi.choices.told import content_of
from fakempi.exploring.tree import Branch, Edge, Node
from fakempi.wire.envelope import Envelope


def alike(options: Sequence[Option]) -> dict[int, list[int]]:
    """By index: options that receive, in the same place, the same from others."""
    found: dict[Any, list[int]] = {}
    for i, option in enumerate(options):
        if isinstance(option.point, Receive):
            message = option.value
            found.setdefault((option.point.key, message.tag, message.eager, content_of(message)), []).append(i)
    return {i: [j for j in group if j != i] for group in found.values() if len(group) > 1 for i in group}


def told_apart(choices: Choices, nodes: Sequence[Node], is_whole: bool) -> Iterator[tuple[Node, tuple[int, int]]]:
    """Of messages that are alike: those that a run could tell apart from what it took; all, if it is not whole."""
    for step, node in zip(choices.steps, nodes, strict=False):
        for other in node.alike.get(step.which, ()):
            pair = (step.which, other)
            if pair not in node.refused and (not is_whole or _differ(choices, step.taken, step.options[other].value)):
                yield node, pair


def _differ(choices: Choices, taken: Option, other: Envelope) -> bool:
    point, sources = taken.point, (taken.value.source, other.source)
    assert isinstance(point, Receive)
    log = choices.log[point.box]
    start = log.index(("go", taken.value))
    if told(point.pattern):
        return True
    if not taken.value.eager and not all(choices.was_last(envelope) for envelope in (taken.value, other)):
        return True  # the one whose send is over goes on, and the other does not
    gone = False
    for what, item in [*_left(log[:start], taken.value, other), *log[start + 1 :]]:
        if what == "come":  # also when both are gone: unless it hangs on that, it could have come before
            if item.source in sources:
                return True
        elif what == "go":
            gone |= item is other
        elif gone or not (item.fits(other) or item.fits(taken.value)):
            continue
        elif what == "look" or item.source >= 0 or told(item):
            return True
    return not (gone or taken.value.eager)  # if the other one waits for ever here, who knows what it would do


def told(pattern: Any) -> bool:
    """Whether somebody was told who sent what it got."""
    return getattr(pattern, "told", False)


def _left(log: Sequence[tuple[str, Any]], *but: Envelope) -> Iterator[tuple[str, Any]]:
    """Receives that have got nothing by then, and messages that nobody has received, but for those."""
    gone = {id(item) for what, item in log if what == "go"}
    for what, item in log:
        got = item.envelope if what == "post" else item
        if what in ("post", "come") and id(got) not in gone and item not in but:
            yield what, item


def never_meets(edge: Edge, known: Mapping[frozenset[Any], Branch | None]) -> bool:
    """Whether a choice that was made on the way here and this one have no influence on any process in common."""
    branch, point = edge.node.branch, edge.key[0]
    first = next(iter(edge.node.edges.values()))
    if first.key[0] != point:
        return False  # it is to be done before another one, and concerns both
    for left in branch.left:
        (way,) = left.ways - (left.parent.ways if left.parent is not None else frozenset())
        beside = known.get((branch.ways - {way}) | {edge.key})
        if not left.pure or beside is None or beside is branch:
            continue
        here, there = branch.reach, beside.reach
        mine, other = here.get(way[0], 0), there.get(point, 0)
        if mine and other and not (mine & other or mine & here.get(point, 0) or other & there.get(way[0], 0)):
            return True
    return False
