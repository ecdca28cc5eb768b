"""What is wrong with a communicator: members that have died, and that it was revoked. Most have no such thing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fakempi.error_classes import ERR_PROC_FAILED, ERR_PROC_FAILED_PENDING, ERR_REVOKED
from fakempi.errors import MPIError
from fakempi.mpi.base.context import Context, Side
from fakempi.mpi.base.meeting import Meeting
from fakempi.mpi.failures.failure import Failure
from fakempi.wire.envelope import new_envelope

ENDLESS = (1 << 62) + 1
"""More bytes than any buffer holds: who receives a failure looks why, as with a message that is too long."""


class Trouble:
    """The troubles of a communicator and of its twins, one object for all ranks."""

    __slots__ = ("accords", "acknowledged", "calls", "context", "failed", "knows_revoked")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.failed: list[int] = []  # numbers of processes of which all know that they have died
        self.acknowledged: dict[int, int] = {}  # by process: how many of these it has taken note of
        self.knows_revoked: set[int] = set()  # processes that know that it was
        self.calls: dict[Any, int] = {}  # by process and what it is about: how many accords it has come to
        self.accords: dict[Any, Any] = {}  # that are under way

    @staticmethod
    def of(context: Context) -> Trouble:
        """That of a communicator, and of those that its collectives work on."""
        if context.trouble is None:
            context.trouble = Trouble(context)
            for twin in _twins(context):
                twin.trouble = context.trouble
        found: Trouble = context.trouble
        return found

    # -- where an operation begins ----------------------------------------------------------------------------------

    def check(self, number: int, peer: int | None = None, together: bool = False) -> None:
        """Complain if a process cannot deal with another one, with any (None), or with all of them together."""
        failure = self.failure(number, peer, together)
        if failure is not None:
            raise failure.complaint()

    def failure(self, number: int, peer: int | None, together: bool) -> Failure | None:
        """Why an operation of a process cannot be done; None if it can."""
        universe, code = self.context.universe, ERR_PROC_FAILED
        if number in self.knows_revoked:
            return Failure(ERR_REVOKED, "the communicator was revoked.")
        if together:
            dead = self.failed
        elif peer is None:
            dead, code = self.failed[self.acknowledged.get(number, 0) :], ERR_PROC_FAILED_PENDING
        else:
            dead = [peer] if peer in self.failed else []
        if not dead:
            return None
        universe.resilient = True
        return Failure(code, f"{universe.names.words(dead, 6)} {'has' if len(dead) == 1 else 'have'} died.")

    # -- operations that are under way ------------------------------------------------------------------------------

    def end_what_cannot_be(self) -> None:
        """End all operations under way that cannot be done any more, with an error."""
        now = self.context.universe.loop.now
        for context in (self.context, *_twins(self.context)):
            for side in context.sides:
                self._end_messages(side, now)
            if context is self.context:
                for key, meeting in list(context.meetings.items()):
                    if isinstance(meeting, Meeting):
                        self._end_meeting(context, key, meeting, now)

    def _end_messages(self, side: Side, now: Any) -> None:
        others, together = _other_side(side).members, side.original is not None
        for box in side.boxes:
            if box is None:
                continue
            for pattern in box.patterns():
                peer = others[pattern.source] if pattern.source >= 0 else None
                failure = self.failure(box.owner, peer, together)
                if failure is not None and box.withdraw(pattern):
                    pattern.envelope = new_envelope(None, pattern.source, pattern.tag, ENDLESS, None, failure, True)
                    _end(pattern, now)
            for probe in list(box.probes or ()):
                failure = self.failure(box.owner, others[probe.source] if probe.source >= 0 else None, together)
                if failure is not None:
                    box.probes.remove(probe)  # type: ignore[union-attr]
                    probe.envelope = new_envelope(None, probe.source, probe.tag, ENDLESS, None, failure, True)
                    _end(probe, now)
            for envelope in box.envelopes():
                if envelope.eager:
                    continue  # it has gone, and can be received
                sender = envelope.out.number
                failure = self.failure(sender, box.owner, together)
                if (failure is not None or sender in self.failed) and box.withdraw(envelope):
                    envelope.content = failure or Failure(ERR_PROC_FAILED, "the sender has died.")
                    _end(envelope, now)

    def _end_meeting(self, context: Context, key: Any, meeting: Meeting, now: Any) -> None:
        members = list(meeting.awaits)
        lacks = any(number in self.failed for number in members)  # if they had come: whoever comes now is refused
        for place, arrival in list(zip(meeting.values, meeting.came, strict=False)):
            failure = self.failure(members[place], None, lacks)
            if failure is not None and (lacks or failure.code == ERR_REVOKED):
                who = context.universe.names.name(members[place])
                arrival.error = MPIError(failure.code, f"{meeting.plan} on {who}: {failure.sentence}")
                arrival.complete(now)
        if lacks or self.knows_revoked:
            context.meetings.pop(key, None)

    # -- revoking -----------------------------------------------------------------------------------------------------

    def revoke(self, number: int) -> None:
        """A process revokes the communicator: it knows at once, the others when an empty message could be there."""
        universe = self.context.universe
        self._learn(number)
        for side in self.context.sides:
            for other in side.members:
                if other != number:
                    latency = universe.wire.price(number, other, 0)[2]
                    universe.loop.book(universe.loop.now + latency, partial(self._learn, other))

    def _learn(self, number: int) -> None:
        if number not in self.knows_revoked:
            self.knows_revoked.add(number)
            self.end_what_cannot_be()


def _twins(context: Context) -> Iterator[Context]:
    """What a communicator's collectives work on."""
    if context.twin is not None:
        yield context.twin
        yield from (side.alone.context for side in context.sides if side.alone is not None)


def _other_side(side: Side) -> Side:
    sides = side.context.sides
    return sides[-1 - sides.index(side)]


def _end(operation: Any, now: Any) -> None:
    operation.end = now
    if operation.waiter is not None:
        operation.waiter.settled(now)
