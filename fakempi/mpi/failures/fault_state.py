"""The fault state of a communicator: members that have died, and whether it was revoked. Most communicators have none."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial
from typing import Any

from fakempi.core.kernel.agenda import Time
from fakempi.core.network.envelope import new_envelope
from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_PROC_FAILED, ERR_PROC_FAILED_PENDING, ERR_REVOKED
from fakempi.mpi.base.context import Context, Side
from fakempi.mpi.base.rendezvous import Rendezvous
from fakempi.mpi.failures.failure import FailedPayload
from fakempi.mpi.failures.state import FailureState
from fakempi.mpi.interfaces.operations import Operation

OVERSIZED = (1 << 62) + 1
"""More bytes than any buffer holds, so that a receive reports an error, as for a message that is too long."""


class FaultState:
    """The faults of a communicator and of its collective contexts; one object for all ranks."""

    __slots__ = ("acknowledged", "agreements", "calls", "context", "failed", "knows_revoked")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.failed: list[int] = []  # processes that are known to have died
        self.acknowledged: dict[int, int] = {}  # process -> the number of failed processes that it has acknowledged
        self.knows_revoked: set[int] = set()  # processes that know that the communicator is revoked
        self.calls: dict[Hashable, int] = {}  # (kind, process) -> the number of agreements that it has entered
        self.agreements: dict[Hashable, Any] = {}  # pending agreements

    @staticmethod
    def of(context: Context) -> FaultState:
        """Return the fault state of a communicator, shared with its collective contexts; make it if there is none."""
        if context.fault_state is None:
            context.fault_state = FaultState(context)
            for collective_context in _collective_contexts(context):
                collective_context.fault_state = context.fault_state
        state: FaultState = context.fault_state
        return state

    # -- at the start of an operation ----------------------------------------------------------------------------------

    def check(self, number: int, peer: int | None = None, collective: bool = False) -> None:
        """Raise an error if a process cannot communicate with a peer, with any peer (None), or with all of them together."""
        failure = self.failure(number, peer, collective)
        if failure is not None:
            raise failure.mpi_error()

    def failure(self, number: int, peer: int | None, collective: bool) -> FailedPayload | None:
        """Return the reason why an operation of a process cannot complete; None if it can."""
        universe, code = self.context.universe, ERR_PROC_FAILED
        if number in self.knows_revoked:
            return FailedPayload(ERR_REVOKED, "the communicator was revoked.")
        if collective:
            dead = self.failed
        elif peer is None:
            dead, code = self.failed[self.acknowledged.get(number, 0) :], ERR_PROC_FAILED_PENDING
        else:
            dead = [peer] if peer in self.failed else []
        if not dead:
            return None
        universe.state(FailureState).handled = True
        return FailedPayload(code, f"{universe.names.text(dead, 6)} {'has' if len(dead) == 1 else 'have'} died.")

    # -- pending operations ------------------------------------------------------------------------------

    def fail_pending_operations(self) -> None:
        """End all pending operations that cannot complete, with an error."""
        now = self.context.universe.loop.now
        self.context.universe.network.finish()  # so that messages that were sent at this time are in their mailboxes
        for context in (self.context, *_collective_contexts(self.context)):
            for side in context.sides:
                self._fail_messages(side, now)
            if context is self.context:
                for key, rendezvous in list(context.open_calls.items()):
                    if isinstance(rendezvous, Rendezvous):
                        self._fail_rendezvous(context, key, rendezvous, now)

    def _fail_messages(self, side: Side, now: Time) -> None:
        others, collective = side.peer.members, side.original is not None
        for box in side.boxes:
            if box is None:
                continue
            for receive in box.receives():
                peer = others[receive.source] if receive.source >= 0 else None
                failure = self.failure(box.owner, peer, collective)
                if failure is not None and box.withdraw(receive):
                    receive.envelope = new_envelope(None, receive.source, receive.tag, OVERSIZED, None, failure, True)
                    _end(receive, now)
            for probe in list(box.probes or ()):
                failure = self.failure(box.owner, others[probe.source] if probe.source >= 0 else None, collective)
                if failure is not None:
                    box.probes.remove(probe)  # type: ignore[union-attr]  # not None if it has a probe
                    probe.envelope = new_envelope(None, probe.source, probe.tag, OVERSIZED, None, failure, True)
                    _end(probe, now)
            for envelope in box.envelopes():
                if envelope.eager:
                    continue  # already sent: it can still be received
                sender = envelope.out.number
                failure = self.failure(sender, box.owner, collective)
                if (failure is not None or sender in self.failed) and box.withdraw(envelope):
                    envelope.payload = failure or FailedPayload(ERR_PROC_FAILED, "the sender has died.")
                    _end(envelope, now)

    def _fail_rendezvous(self, context: Context, key: Hashable, rendezvous: Rendezvous, now: Time) -> None:
        members = list(rendezvous.expected)
        lacks_members = any(number in self.failed for number in members)  # ranks that arrive later get an error
        for slot, arrival in list(zip(rendezvous.values, rendezvous.arrivals, strict=False)):
            failure = self.failure(members[slot], None, lacks_members)
            if failure is not None and (lacks_members or failure.code == ERR_REVOKED):
                name = context.universe.names.name(members[slot])
                arrival.error = MPIError(failure.code, f"{rendezvous.call} on {name}: {failure.sentence}")
                arrival.complete(now)
        if lacks_members or self.knows_revoked:
            context.open_calls.pop(key, None)

    # -- revoking -----------------------------------------------------------------------------------------------------

    def revoke(self, number: int) -> None:
        """Revoke the communicator: for the caller at once, for each other process after the latency of an empty message."""
        universe = self.context.universe
        self._learn(number)
        for side in self.context.sides:
            for other in side.members:
                if other != number:
                    latency = universe.network.price(number, other, 0)[2]
                    universe.loop.call_at(universe.loop.now + latency, partial(self._learn, other))

    def _learn(self, number: int) -> None:
        if number not in self.knows_revoked:
            self.knows_revoked.add(number)
            self.fail_pending_operations()


def _collective_contexts(context: Context) -> Iterator[Context]:
    """Yield the collective contexts of a communicator."""
    if context.collective_context is not None:
        yield context.collective_context
        yield from (side.local.context for side in context.sides if side.local is not None)


def _end(operation: Operation, now: Time) -> None:
    operation.end = now
    if operation.waiter is not None:
        operation.waiter.settled(now)
