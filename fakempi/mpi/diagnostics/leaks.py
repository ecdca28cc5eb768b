"""Leaks: operations that were started in a run and never completed, and resources that were not freed.

Leaks are unreceived messages, receives without a message, collective calls that some ranks did not make, requests that were
never completed, and tracked resources (mpi/base/resource_tracker.py). They are found at the end of the run in the mailboxes,
in the table of registered calls of each communicator, and in the requests and tracked resources of each process. Messages
on a collective context belong to their collective call and are not reported. Leaks of, or caused by, a process that has
died are not reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fakempi.core.network.matching import Mailbox
from fakempi.core.reports.ranks import ranges_text
from fakempi.mpi.base.call_matching import CallEntry, Starts
from fakempi.mpi.base.context import Context, Contexts
from fakempi.mpi.base.freed_requests import is_open
from fakempi.mpi.base.process import Universe
from fakempi.mpi.base.rendezvous import Rendezvous
from fakempi.mpi.diagnostics.waits import where
from fakempi.mpi.failures.state import FailureState


def report_leaks(universe: Universe) -> None:
    """Record all leaks in the run's ledger, in order of communicator numbers."""
    dead, known = universe.state(FailureState).dead, universe.state(Contexts)
    contexts = {side.context for side in known.sides} | set(known.unfinished)
    shown = sorted((item for item in contexts if item.sides[0].original is None), key=lambda item: item.number)
    sides = (side for context in shown for side in context.sides)
    boxes = [box for side in sides for box in side.boxes if box is not None and not box.is_empty()]
    boxes = [box for box in boxes if box.owner not in dead]
    _messages(universe, boxes)
    unmatched = _receives(universe, boxes)
    for context in shown:
        if context.open_calls or context.freed:
            _collectives(universe, context)
    for process in universe.processes:
        if not (process.call_sites or process.tracked) or process.number in dead:
            continue
        for call_site in (process.call_sites or {}).values():
            if call_site.open > 0:
                sentence = "the request was never waited for, tested, canceled or freed"
                call, place, times = call_site.call, call_site.place, call_site.open
                universe.report("missing-wait", process.number, sentence, call=call, place=place, times=times)
        for (kind, _), resources in (process.tracked or {}).items():
            for resource in resources:
                reported = (process.number, resource.call, resource.place) in unmatched
                if kind == "request-freed" and (reported or not is_open(process, resource)):
                    continue
                universe.report(kind, process.number, resource.sentence, call=resource.call, place=resource.place)


def _messages(universe: Universe, boxes: list[Mailbox]) -> None:
    """Report unreceived messages. Messages sent by one line are one finding, whatever their tags and sizes."""
    dead = universe.state(FailureState).dead
    unreceived = ((box, [message for message in box.envelopes() if message.out.number not in dead]) for box in boxes)
    for call, place, comm_name, group in _by_call_site(unreceived):
        tags, sizes = {message.tag for message in group}, {message.nbytes for message in group}
        size = f"{min(sizes)} to {max(sizes)}" if len(sizes) > 1 else str(*sizes)
        numbers = _partitions(tags) if group[0].box.name.context.partitioned else _tags(tags)
        sentence = f"{{others}} never received it: {numbers}, {size} bytes{comm_name}"
        for message in group:
            universe.report("message-lost", message.out.number, sentence, (message.box.owner,), call=call, place=place)


def _receives(universe: Universe, boxes: list[Mailbox]) -> set[tuple[int, str, str]]:
    """Report receives without a message; return their processes, calls and lines, so that they are not reported twice."""
    reported = set()
    for call, place, comm_name, group in _by_call_site((box, box.receives()) for box in boxes):
        tags = {receive.tag for receive in group}
        for receive in group:
            if receive.call_site.open:
                receive.call_site.open -= 1
            senders = () if receive.source < 0 else (receive.box.name.peer.members[receive.source],)
            source = "{others}" if senders else "any source"
            sentence = f"no message arrived from {source}: {_tags(tags)}{comm_name}; the request was never waited for"
            universe.report("receive-unmatched", receive.box.owner, sentence, senders, call=call, place=place)
            reported.add((receive.box.owner, call, place))
    return reported


def _by_call_site(contents: Iterable[tuple[Mailbox, Iterable[Any]]]) -> Iterator[tuple[str, str, str, list[Any]]]:
    """Yield the contents of mailboxes grouped by call, line and communicator.

    Items without a call site belong to a thread that was in a blocking call when its rank ended, and are reported there.
    """
    groups: dict[tuple[str, ...], list[Any]] = {}
    for box, items in contents:
        for item in items:
            call_site = getattr(item, "call_site", None)
            if call_site is not None:
                comm_name = "" if box.name.context.partitioned else where(box.name)
                file = getattr(call_site.place, "file", "")  # files may have the same name
                groups.setdefault((call_site.call, call_site.place, comm_name, file), []).append(item)
    for (call, place, comm_name, _), group in groups.items():
        yield call, place, comm_name, group


def _partitions(numbers: set[int]) -> str:
    return f"partition {min(numbers)}" if len(numbers) == 1 else f"partitions {ranges_text(numbers, 6)}"


def _tags(tags: set[int]) -> str:
    if min(tags) < 0:
        return "any tag"
    return f"tag {min(tags)}" if len(tags) == 1 else f"tags {ranges_text(tags, 6)}"


def _collectives(universe: Universe, context: Context) -> None:
    """Report collective calls that some ranks did not make, and communicators that some ranks did not free."""

    dead = universe.state(FailureState).dead

    def report(call: str, places: dict[int, str], never: str, numbers: list[int]) -> None:
        missing = [number for slot, number in enumerate(numbers) if slot not in places and number not in dead]
        if not missing:
            return
        sentence = f"{{others}} never {never}{where(context.sides[0])}"
        for slot, place in sorted(places.items()):
            universe.report("collective-unfinished", numbers[slot], sentence, missing, call=call, place=place)

    numbers = list(context.process_numbers())
    for entry in context.open_calls.values():
        if isinstance(entry, CallEntry):
            report(entry.call, entry.places, "called it", numbers)
        elif isinstance(entry, Rendezvous):
            report(entry.call, dict.fromkeys(entry.values, entry.place), "called it", list(entry.expected))
        elif isinstance(entry, Starts) and entry.differ(context):
            max_starts = max(entry.values())
            ahead = {slot: entry.places[slot] for slot, times in entry.items() if times == max_starts}
            report(entry.call, ahead, "started it equally often", numbers)
    parents = (process.parent for process in universe.processes if process.parent is not None)
    if context.freed and all(parent._context is not context for parent in parents):  # the child has not queried its parent
        report("Free", context.freed, "freed it", numbers)
