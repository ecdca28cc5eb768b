"""Disconnect: ranks meet for the last time on a communicator, and wait for what they have under way on it.

A process that has ended has parted by that, as MPI libraries have it: they disconnect what is left in Finalize.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakempi.mpi.base.child import Child
from fakempi.mpi.base.meeting import Meeting
from fakempi.mpi.base.waiting import wait_all, wait_one
from fakempi.mpi.point.handle import CommState
from fakempi.wire.matching import Mailbox


def part(comm: Any) -> None:
    """Meet all ranks but those that have ended, and wait until nothing is under way."""
    universe, loop = comm._process.universe, comm._loop
    arrival = comm._arrive("Disconnect", None, lambda values: _quiet_at(comm))
    meeting: Meeting = arrival.why
    if arrival.end is None and meeting not in universe.partings:  # the first to come
        universe.partings[meeting] = comm._context.meetings, comm._side.calls[comm._rank]
        for number in meeting.missing():
            if universe.processes[number].task.number not in loop.tasks:
                excuse(universe, number)
    if arrival.end is not None:
        universe.partings.pop(meeting, None)
    wait_one(loop, arrival)
    _wait_until_quiet(comm, arrival.result)


def excuse(universe: Any, number: int) -> None:
    """A process has ended: nobody waits for it to part."""
    for meeting, (table, key) in list(universe.partings.items()):
        place = next((place for place, other in enumerate(meeting.awaits) if other == number), None)
        if place is not None and place not in meeting.values:
            meeting.join(place, None, universe.loop.now)
            if not meeting.came:
                del table[key], universe.partings[meeting]


def _quiet_at(comm: CommState) -> Any:
    """When all that travels on it is there; None if something has not begun to travel. Once for all ranks, who have met."""
    if next(_unfinished(comm), None) is not None:
        return None
    return max((comm._wire.clear_at(box) for box in _boxes(comm)), default=0)


def _wait_until_quiet(comm: CommState, at: Any) -> None:
    """Wait until then or, if that is not known, until my own sends and receives have ended.

    All ranks are here, so what nobody has matched by now nobody will: a receive that is still posted, or a send that waits
    for one, is a deadlock. But nonblocking collectives go on in the background, and what they wait for is theirs.
    """
    loop = comm._loop
    while at is None:
        mine = [operation for operation in _unfinished(comm, comm._process.number) if operation.waiter is None]
        wait_all(loop, mine)
        if not mine:
            at = max((comm._wire.clear_at(box) for box in _boxes(comm)), default=0)
    if at > loop.now:
        loop.sleep_until(at)


def _unfinished(comm: CommState, whose: int | None = None) -> Iterator[Any]:
    """Collectives in the background, receives that are posted, sends that wait for a receive, and what queues for a port.

    Of one process, or of all.
    """
    for task in comm._loop.tasks.values():
        child = task.body
        if isinstance(child, Child) and child.context is comm._context and whose in (None, child.process.number):
            yield child.completion
    boxes = _boxes(comm)
    for box in boxes:
        if whose in (None, box.owner):
            yield from box.patterns()
        for envelope in box.envelopes():
            if whose in (None, envelope.out.number) and envelope.end is None:
                yield envelope
    known = set(boxes)
    for envelope in comm._wire.ports.waiting(comm._local().context.everybody()):
        if envelope.box in known:
            if whose in (None, envelope.out.number):
                yield envelope
            if whose == envelope.box.owner and envelope.pattern is not None:
                yield envelope.pattern


def _boxes(comm: CommState) -> list[Mailbox]:
    """All mailboxes of the communicator, of its hidden twin, and of its groups' own."""
    context = comm._local().context
    sides = [*context.sides, *(context.twin.sides if context.twin is not None else ())]
    sides += [side.alone for side in context.sides if side.alone is not None]
    return [box for side in sides for box in side.boxes if box is not None]
