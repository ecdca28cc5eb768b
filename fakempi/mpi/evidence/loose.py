"""Loose ends: what was begun in a run that has ended well, and never came to its end.

Messages that nobody received, receives for which nothing came, collective calls to which some ranks never came, requests
that nobody looked after, and what a process owes (`fakempi.mpi.base.duties`). All is read off what is left over: mailboxes,
the roll of each communicator, and the notes and duties of each process. Messages of our own, on a communicator's twin, are
part of the collective call that was left, and are not told again. Nor is what was left by, or for, a process that has died.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fakempi.checks.ranks import runs_in_words
from fakempi.mpi.base.agreement import Entry, Starts
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.meeting import Meeting
from fakempi.mpi.base.process import Universe
from fakempi.mpi.evidence.waits import other_side, where
from fakempi.wire.matching import Mailbox


def look(universe: Universe) -> None:
    """Tell the run's ledger of all loose ends; what is said first is what has the lower number."""
    contexts = {side.context for side in universe.sides} | set(universe.remains)
    shown = sorted((one for one in contexts if one.sides[0].original is None), key=lambda one: one.number)
    sides = (side for context in shown for side in context.sides)
    boxes = [box for side in sides for box in side.boxes if box is not None and not box.is_empty()]
    boxes = [box for box in boxes if box.owner not in universe.dead]
    _messages(universe, boxes)
    _receives(universe, boxes)
    for context in shown:
        _collectives(universe, context)
    for process in (one for one in universe.processes if one.number not in universe.dead):
        for origin in (process.notes or {}).values():
            if origin.open > 0:
                sentence = "nobody waited for it, nor tested, cancelled or freed it"
                universe.found(
                    "missing-wait", process.number, sentence, call=origin.call, place=origin.place, times=origin.open
                )
        for (kind, _), duties in (process.duties or {}).items():
            for duty in duties:
                universe.found(kind, process.number, duty.sentence, call=duty.call, place=duty.place)


def _messages(universe: Universe, boxes: list[Mailbox]) -> None:
    """What lies in mailboxes. Messages that one line has sent are told together, however many tags and sizes it has."""
    left = ((box, [one for one in box.envelopes() if one.out.number not in universe.dead]) for box in boxes)
    for call, place, words, group in _by_origin(left):
        tags, sizes = {one.tag for one in group}, {one.nbytes for one in group}
        size = f"{min(sizes)} to {max(sizes)}" if len(sizes) > 1 else str(*sizes)
        sentence = f"{{others}} never received it: {_tags(tags)}, {size} bytes{words}"
        for one in group:
            universe.found("message-lost", one.out.number, sentence, (one.box.owner,), call=call, place=place)


def _receives(universe: Universe, boxes: list[Mailbox]) -> None:
    """What is awaited there. That nobody waited for it either is part of it."""
    for call, place, words, group in _by_origin((box, box.patterns()) for box in boxes):
        tags = {one.tag for one in group}
        for one in group:
            if one.origin.open:
                one.origin.open -= 1
            senders = () if one.source < 0 else (other_side(one.box.name).members[one.source],)
            source = "{others}" if senders else "anybody"
            sentence = f"no message came from {source}: {_tags(tags)}{words}; and nobody waited for it"
            universe.found("receive-unmatched", one.box.owner, sentence, senders, call=call, place=place)


def _by_origin(contents: Iterable[tuple[Mailbox, Iterable[Any]]]) -> Iterator[tuple[str, str, str, list[Any]]]:
    """What lies in mailboxes by call and place, with the communicator in words.

    What has no origin is of a thread that was in a blocking call when its rank ended, and has been told of then.
    """
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for box, items in contents:
        for one in items:
            origin = getattr(one, "origin", None)
            if origin is not None:
                groups.setdefault((origin.call, origin.place, where(box.name)), []).append(one)
    for key, group in groups.items():
        yield *key, group


def _tags(tags: set[int]) -> str:
    if min(tags) < 0:
        return "any tag"
    return f"tag {min(tags)}" if len(tags) == 1 else f"tags {runs_in_words(tags, 6)}"


def _collectives(universe: Universe, context: Context) -> None:
    """Those who came to a call, or freed the communicator, and those who did not."""

    def tell(call: str, places: dict[int, str], never: str, numbers: list[int]) -> None:
        away = [number for place, number in enumerate(numbers) if place not in places and number not in universe.dead]
        if not away:
            return
        sentence = f"{{others}} never {never}{where(context.sides[0])}"
        for place, site in sorted(places.items()):
            universe.found("collective-unfinished", numbers[place], sentence, away, call=call, place=site)

    everybody = list(context.everybody())
    for one in context.meetings.values():
        if isinstance(one, Entry):
            tell(one.plan, one.places, "came to it", everybody)
        elif isinstance(one, Meeting):
            tell(one.plan, dict.fromkeys(one.values, one.site), "came to it", list(one.awaits))
        elif isinstance(one, Starts) and one.differ(context):
            most = max(one.values())
            ahead = {place: one.sites[place] for place, times in one.items() if times == most}
            tell(one.call, ahead, "started it as often", everybody)
    parents = (process.parent for process in universe.processes if process.parent is not None)
    if context.freed and all(parent._context is not context for parent in parents):  # which nobody has asked the child for
        tell("Free", context.freed, "freed it", everybody)
