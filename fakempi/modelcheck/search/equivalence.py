"""Redundant schedules: equivalent messages, and independent choices.

Two messages from different senders are equivalent if their tags and contents are equal. Receiving either one first leads to
the same results if the program cannot distinguish them:

* until both are received, only receives from any source access the mailbox, and none of them reads the source (`status`)
  or gets an error whose text names it (`PostedReceive.observed`);
* no other message from the two senders arrives at that mailbox, then or later;
* if the sends wait for their receive, the senders do nothing afterwards (one of them would do it earlier), and both sends
  complete at the same time.

If messages take time, no two messages are equivalent. These conditions are checked in every run that continues from the
first message, before the second one is skipped.

Two choices are independent if there is no run with a process that both may have influenced. The effects of one choice then
do not depend on the other, so it is not necessary to try all pairs of their values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fakempi.core.network.envelope import Envelope
from fakempi.modelcheck.search.tree import Branch, Edge
from fakempi.modelcheck.steering.choices import Choices, ChoiceStep, Option
from fakempi.modelcheck.steering.points import Receive
from fakempi.modelcheck.steering.state_hash import content_of


def equivalent(options: Sequence[Option]) -> dict[int, list[int]]:
    """Return, for each option's index, the indices of options that receive an equivalent message at the same point."""
    by_content: dict[Any, list[int]] = {}
    for i, option in enumerate(options):
        if isinstance(option.point, Receive):
            message = option.value
            by_content.setdefault((option.point.key, message.tag, message.eager, content_of(message)), []).append(i)
    return {i: [j for j in group if j != i] for group in by_content.values() if len(group) > 1 for i in group}


def is_distinguished(choices: Choices, step: ChoiceStep, other: int) -> bool:
    """Whether a complete run distinguishes the message received in a step from the equivalent message of another option."""
    taken, message = step.taken, step.options[other].value
    point, sources = taken.point, (taken.value.source, message.source)
    assert isinstance(point, Receive)
    log = choices.log[point.box]
    start = log.index(("match", taken.value))
    if source_was_read(point.receive) or choices.timed:
        return True
    if not taken.value.eager:
        if not all(choices.was_last(envelope) for envelope in (taken.value, message)):
            return True  # the sender whose send completed continues, and the other does not
        if taken.value.end != message.end:
            return True  # the senders can read the clock when their sends complete
    other_received = False
    for event, item in [*_unmatched_events(log[:start], taken.value, message), *log[start + 1 :]]:
        if event == "arrive":  # relevant even after both were received: it could have arrived earlier
            if item.source in sources:
                return True
        elif event == "match":
            other_received |= item is message
        elif other_received or not (item.matches(message) or item.matches(taken.value)):
            continue
        elif event == "probe" or item.source >= 0 or source_was_read(item):
            return True
    # If the other send never completes here, the next actions of its sender are unknown.
    return not (other_received or taken.value.eager)


def source_was_read(receive: Any) -> bool:
    """Whether the program read the source of the message that this receive got."""
    return getattr(receive, "observed", False)


def _unmatched_events(log: Sequence[tuple[str, Any]], *excluded: Envelope) -> Iterator[tuple[str, Any]]:
    """Yield pending receives, pending probes and unreceived messages, except the given messages.

    A probe is in the log twice: when it is called, and when it returns.
    """
    matched = {id(item) for event, item in log if event == "match"}
    probe_events = Counter(id(item) for event, item in log if event == "probe")
    for event, item in log:
        if event == "probe":
            if probe_events[id(item)] % 2:
                yield event, item
            continue
        message = item.envelope if event == "post" else item
        if event in ("post", "arrive") and id(message) not in matched and item not in excluded:
            yield event, item


def are_independent(edge: Edge, known: Mapping[frozenset[Any], Branch | None]) -> bool:
    """Whether this choice and one made on the path to it have influenced no process in common, in any run."""
    branch, point = edge.node.branch, edge.key[0]
    if edge.siblings is None:
        edge.siblings = edge.find_siblings()
    for earlier, deviations in edge.siblings:
        sibling = known.get(deviations)
        if sibling is None or sibling is branch:
            continue
        earlier_point, ours, theirs = earlier.deviation[0], branch.influence, sibling.influence
        by_earlier, by_edge = ours.get(earlier_point, 0), theirs.get(point, 0)  # influenced processes, as bits
        common = by_earlier & by_edge or by_earlier & ours.get(point, 0) or by_edge & theirs.get(earlier_point, 0)
        if by_earlier and by_edge and not common:
            return True
    return False
