"""Disconnect: wait for all ranks of a communicator, and for the pending operations on it.

A process that has ended counts as disconnected, because MPI libraries disconnect all communicators in Finalize.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fakempi.core.kernel.agenda import Time
from fakempi.core.network.matching import Mailbox
from fakempi.mpi.base.call_matching import OpenCalls
from fakempi.mpi.base.child import ChildTask
from fakempi.mpi.base.process import RunState, Universe
from fakempi.mpi.base.region import wait_region
from fakempi.mpi.base.rendezvous import Conclude, Rendezvous
from fakempi.mpi.base.waiting import Completion, wait_all, wait_one
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.point.handle import CommState


class Disconnects(RunState):
    """The pending disconnects of a run."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.pending: dict[Rendezvous, tuple[OpenCalls, int]] = {}  # rendezvous -> its table and key


def disconnect(comm: CommState, arrive: Callable[[str, object, Conclude], Completion]) -> None:
    """Wait until every rank has called Disconnect or ended, and until no operation on the communicator is pending."""
    universe, loop = comm._process.universe, comm._loop
    disconnects = universe.state(Disconnects).pending
    arrival = arrive("Disconnect", None, lambda values: _quiet_at(comm))
    rendezvous = arrival.why
    assert isinstance(rendezvous, Rendezvous)
    if arrival.end is None and rendezvous not in disconnects:  # the first rank
        disconnects[rendezvous] = comm._context.open_calls, comm._side.calls[comm._rank]
        for number in rendezvous.missing():
            if universe.processes[number].task.number not in loop.tasks:
                forget_process(universe, number)
    if arrival.end is not None:
        disconnects.pop(rendezvous, None)
    with wait_region(comm._process, "disconnect"):
        wait_one(loop, arrival)
    _wait_until_quiet(comm, arrival.result)


def forget_process(universe: Universe, number: int) -> None:
    """Remove a process that has ended from all pending disconnects."""
    disconnects = universe.state(Disconnects).pending
    for rendezvous, (table, key) in list(disconnects.items()):
        slot = next((slot for slot, other in enumerate(rendezvous.expected) if other == number), None)
        if slot is not None and slot not in rendezvous.values:
            rendezvous.join(slot, None, universe.loop.now)
            if not rendezvous.arrivals:
                del table[key], disconnects[rendezvous]


def _quiet_at(comm: CommState) -> Time | None:
    """Return the time at which all messages have arrived; None if an operation is unfinished. Computed once per call."""
    if next(_unfinished(comm), None) is not None or _is_in_transit(comm):
        return None
    return max((comm._network.all_arrived_at(box) for box in _boxes(comm)), default=0)


def _wait_until_quiet(comm: CommState, at: Time | None) -> None:
    """Wait until the time `at` or, if it is None, until this rank's sends and receives have completed.

    All ranks have called Disconnect, so operations that are unmatched now stay unmatched: a posted receive, or a send that
    waits for a receive, is a deadlock. Nonblocking collectives continue in the background, and wait for their own messages.
    """
    loop = comm._loop
    while at is None:
        mine = [operation for operation in _unfinished(comm, comm._process.number) if operation.waiter is None]
        wait_all(loop, mine)
        if not mine and _is_in_transit(comm):
            loop.sleep_until(loop.times[0])  # the message moves at a later time: there is an event
        elif not mine:
            at = max((comm._network.all_arrived_at(box) for box in _boxes(comm)), default=0)
    if at > loop.now:
        loop.sleep_until(at)


def _unfinished(comm: CommState, process: int | None = None) -> Iterator[Operation]:
    """Yield background collectives, posted receives, sends that wait for a receive, and messages queued for a port.

    Yield only the operations of `process`, or those of all processes if it is None.
    """
    for task in comm._loop.tasks.values():
        child = task.body
        if isinstance(child, ChildTask) and child.context is comm._context and process in (None, child.process.number):
            yield child.completion
    boxes = _boxes(comm)
    for box in boxes:
        if process in (None, box.owner):
            yield from box.receives()
        for envelope in box.envelopes():
            if process in (None, envelope.out.number) and envelope.end is None:
                yield envelope
    known = set(boxes)
    for envelope in comm._network.waiting(comm._local().context.process_numbers()):
        if envelope.box in known:
            if process in (None, envelope.out.number) and envelope.end is None:
                yield envelope
            if process == envelope.box.owner and envelope.receive is not None:
                yield envelope.receive


def _is_in_transit(comm: CommState) -> bool:
    """Whether a message has left its sender, and is on its way or waits in the network."""
    boxes, processes = set(_boxes(comm)), comm._local().context.process_numbers()
    return any(envelope.box in boxes and envelope.end is not None for envelope in comm._network.waiting(processes))


def _boxes(comm: CommState) -> list[Mailbox]:
    """Return all mailboxes of the communicator and of its collective contexts."""
    context = comm._local().context
    sides = [*context.sides, *(context.collective_context.sides if context.collective_context is not None else ())]
    sides += [side.local for side in context.sides if side.local is not None]
    return [box for side in sides for box in side.boxes if box is not None]
