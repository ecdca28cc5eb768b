"""Disconnect: what ranks have under way on a communicator, and how they wait for that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakempi.mpi.child import Child
from fakempi.mpi.comm_state import CommState
from fakempi.mpi.waiting import wait_all
from fakempi.wire.matching import Mailbox


def quiet_at(comm: CommState) -> Any:
    """When all that travels on it is there; None if something has not begun to travel. Once for all ranks, who have met."""
    if next(_unfinished(comm), None) is not None:
        return None
    return max((comm._wire.clear_at(box) for box in _boxes(comm)), default=0)


def wait_until_quiet(comm: CommState, at: Any) -> None:
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
    for envelope in comm._wire.ports.waiting():
        if envelope.box in known:
            if whose in (None, envelope.out.number):
                yield envelope
            if whose == envelope.box.owner and envelope.pattern is not None:
                yield envelope.pattern


def _boxes(comm: CommState) -> list[Mailbox]:
    """All mailboxes of the communicator and of its hidden twin."""
    context = comm._local().context
    sides = [*context.sides, *(context.twin.sides if context.twin is not None else ())]
    return [box for side in sides for box in side.boxes if box is not None]
