"""A channel: the k-th partitioned send from one process to another with a tag, and the k-th receive.

It has a context with only these two processes. Each partition of the send is a message there whose tag is its number. It is
sent when it is ready, like any message of its size. The receiver may have another number of partitions: one of its
partitions has arrived when all messages that overlap it have arrived.
"""

from __future__ import annotations

from functools import partial
from typing import Any, SupportsIndex

from fakempi.core.kernel.agenda import Time
from fakempi.core.network.envelope import Envelope, PostedReceive, new_envelope, new_receive
from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_ARG, ERR_REQUEST, ERR_TRUNCATE
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.base.waiting import Completion, Reason
from fakempi.mpi.buffers.payload import payload_of
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.buffers.span import Payload, Span, span_of
from fakempi.mpi.buffers.typing import BufSpec
from fakempi.mpi.failures.failure import FailedPayload
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.interfaces.services import PartUses
from fakempi.mpi.point.arrival import copy_unreceived
from fakempi.mpi.point.handle import NullOperation
from fakempi.mpi.point.request_lists import let_others_run

NO_PARTITION = 1 << 62
"""A tag that no partition has."""


class PartitionedChannel:
    """The state that both sides share. It does not refer to them, which avoids a reference cycle."""

    __slots__ = ("early", "parts", "side")

    def __init__(self, universe: Universe, source: int, dest: int) -> None:
        members = Members.of((source, dest) if source != dest else (source,))
        self.side = Context(universe, members).sides[0]
        self.side.context.partitioned = True
        self.parts: int | None = None  # number of partitions of the send, once known
        self.early: PartitionedReceive | None = None  # a receive that was started before Psend_init


class PartitionedSide(Reason):
    """One side of a partitioned operation: its buffer, its number of partitions, and the operation in progress."""

    __slots__ = ("buffer", "channel", "done", "latest", "open", "partitions", "peer", "process", "uses")

    def __init__(
        self, process: Process, channel: PartitionedChannel | None, buffer: BufSpec, partitions: int, peer: int
    ) -> None:
        self.process, self.channel, self.buffer, self.partitions = process, channel, buffer, partitions
        self.peer = peer  # the number of the other process
        self.done: Any = None  # a Completion or NullOperation for which the request waits; None if inactive
        self.open = 0  # messages that have not ended
        self.latest: Time = 0
        self.uses: PartUses | None = None  # None if buffers are not checked

    def watch_buffer(self, parts: PartUses) -> None:
        """Use buffer checks for the round that has started."""
        self.uses = parts

    def begin(self, messages: int) -> Completion:
        """Start a round with that number of messages."""
        self.done = done = Completion(self)
        self.open, self.latest = messages, self.process.loop.now
        return done

    def settled(self, end: Time) -> None:
        """Record the end of one of the messages."""
        self.open -= 1
        if end > self.latest:
            self.latest = end
        if not self.open:
            self.done.complete(self.latest)

    def check(self, partition: SupportsIndex) -> int:
        """Return the number of a partition; raise an error if it does not exist or the request is inactive."""
        number = integer("partition", partition)
        if self.done is None:
            raise mpi_error(ERR_REQUEST, "the request is inactive: call Start first.")
        if not 0 <= number < self.partitions:
            raise mpi_error(ERR_ARG, f"partition {number} is not in 0..{self.partitions - 1}.")
        return number

    def secure(self) -> None:
        """Copy data that is still needed, before the program may change its buffer; for a receive, do nothing."""

    def retire(self) -> None:
        """End the round, and drop its messages, which refer to this side."""
        self.done = self.uses = None

    def ready(self, partition: SupportsIndex) -> None:
        """Send a partition."""
        raise mpi_error(ERR_REQUEST, "the request is a receive: only the sender calls Pready.")

    def has_arrived(self, partition: SupportsIndex) -> bool:
        """Whether a partition has arrived."""
        raise mpi_error(ERR_REQUEST, "the request is a send: only the receiver calls Parrived.")

    def awaits(self) -> tuple[int, ...]:
        """Return the number of the other process."""
        return (self.peer,)

    def arrived(self) -> tuple[int, int, int] | None:
        """Return source, tag and bytes for the status of the round; None for a send, whose status is empty."""
        return None


class PartitionedSend(PartitionedSide):
    """Sends partitions as they become ready."""

    __slots__ = ("envelopes", "span")

    def start(self) -> Operation:
        """Start a round, in which no partition is ready."""
        if self.channel is None:
            self.done = nothing = NullOperation(self.process.loop.now)
            return nothing
        self.span: Span = span_of(self.buffer, blocks=self.partitions)
        self.envelopes: dict[int, Envelope] = {}
        return self.begin(self.partitions)

    def ready(self, partition: SupportsIndex) -> None:
        """Send a partition as a message."""
        number = self.check(partition)
        channel = self.channel
        if channel is None:
            return
        if number in self.envelopes:
            raise mpi_error(ERR_ARG, f"partition {number} is already ready: call Pready once for each partition.")
        part = _part(self.span, number, self.partitions)
        box = channel.side.box(len(channel.side.members) - 1)
        eager = self.process.is_eager(part.nbytes)
        envelope = new_envelope(self.process.out, 0, number, part.nbytes, box, payload_of(part), eager)
        self.envelopes[number] = envelope
        envelope.call_site = getattr(self.done, "call_site", None)  # for the report of a message that is never received
        if self.uses is not None:
            self.uses.send(number, envelope)
        self.process.network.send(envelope)
        if envelope.end is None:
            envelope.waiter = self
        else:
            self.settled(envelope.end)
        if self.uses is not None:
            self.process.buffer_checks.let_data_move()  # type: ignore[union-attr]  # buffers are checked

    def secure(self) -> None:
        """Copy partitions that have not been received, because the program may change its buffer."""
        if self.channel is not None:
            for envelope in self.envelopes.values():
                copy_unreceived(envelope)

    def retire(self) -> None:
        """End the round."""
        super().retire()
        if self.channel is not None:
            for envelope in self.envelopes.values():
                envelope.waiter = None
            self.envelopes, self.span = {}, None  # type: ignore[assignment]  # until the next start

    def describe(self) -> str:
        """Return a text: the partitions that are not ready, or that the receiver has not started."""
        late = [str(number) for number in range(self.partitions) if number not in self.envelopes]
        name = self.process.universe.names.name(self.peer)
        if not late:
            return f"waits for {name} to receive"
        return f"waits for Pready of {_listed(late)}"

    def awaits(self) -> tuple[int, ...]:
        """Return the number of the receiver if all partitions are ready."""
        return (self.peer,) if len(self.envelopes) == self.partitions else ()


class PartitionedReceive(PartitionedSide):
    """Receives partitions, in any order."""

    __slots__ = ("receives", "source", "span", "tag")

    def __init__(
        self, process: Process, channel: PartitionedChannel | None, buffer: BufSpec, partitions: int, peer: int,
        source: int, tag: int,
    ) -> None:  # fmt: skip
        super().__init__(process, channel, buffer, partitions, peer)
        self.source, self.tag = source, tag

    def arrived(self) -> tuple[int, int, int] | None:
        """Return source, tag, and the number of bytes of all partitions."""
        if self.channel is None:
            return None
        envelopes = [item.envelope for item in self.receives if item.envelope is not None]
        return self.source, self.tag, sum(item.nbytes for item in envelopes if type(item.payload) is not FailedPayload)

    def start(self) -> Operation:
        """Start a round, and expect one message for each partition of the send, once their number is known."""
        channel = self.channel
        if channel is None:
            self.done = nothing = NullOperation(self.process.loop.now)
            return nothing
        self.span: Span = span_of(self.buffer, writable=True, blocks=self.partitions)
        self.receives: list[PostedReceive] = []
        done = self.begin(1)
        if channel.parts is None:
            channel.early = self
            self._post_receive(NO_PARTITION, None, 0)
        else:
            self.post_receives(channel.parts)
        return done

    def watch_buffer(self, parts: PartUses) -> None:
        """Use buffer checks for the round that has started."""
        super().watch_buffer(parts)
        if self.channel.parts is not None:  # type: ignore[union-attr]  # not None while the request is active
            self._watch()

    def _watch(self) -> None:
        for receive in self.receives:
            self.uses.receive(receive.tag, receive)  # type: ignore[union-attr]  # it was just set

    def post_receives(self, parts: int) -> None:
        """Expect the messages of a send with that number of partitions."""
        for receive in self.receives:
            receive.box.withdraw(receive)
        self.receives.clear()  # the same list: a choice point may refer to it
        self.open = parts
        for number in range(parts):
            place = _piece(self.span, number, parts)
            self._post_receive(number, place, place.nbytes)
        if self.uses is not None:
            self._watch()

    def _post_receive(self, number: int, place: Payload | None, capacity: int) -> None:
        """Post a receive. While the number of messages is unknown, it matches none, and only ends if the sender dies."""
        side = self.channel.side  # type: ignore[union-attr]  # not None while the request is active
        receive = new_receive(0, number, side.box(len(side.members) - 1), place, capacity)
        self.receives.append(receive)
        self.process.network.post_receive(receive)
        if receive.end is None:
            receive.waiter = self
        else:
            self.settled(receive.end)

    def settled(self, end: Time) -> None:
        """Record the end of one of the messages; after the last one, record errors."""
        if self.open == 1:  # the last one
            for receive in self.receives:
                if type(receive.envelope.payload) is FailedPayload:
                    why: FailedPayload = receive.envelope.payload
                    self.done.error = MPIError(why.code, f"Wait on {self.process.name}: {why.sentence}")
                    break
                if receive.envelope.nbytes > receive.capacity:
                    nbytes = receive.envelope.nbytes
                    problem = f"partition {receive.tag} has {nbytes} bytes but the buffer holds {receive.capacity}."
                    self.done.error = mpi_error(ERR_TRUNCATE, f"message truncated, {problem}")
                    break
        super().settled(end)

    def has_arrived(self, partition: SupportsIndex) -> bool:
        """Whether all messages that overlap a partition have arrived; if not, other ranks run before this returns."""
        if self.done is None:
            return True  # MPI 4.1, 4.2.2: true for null and inactive requests
        number = self.check(partition)
        if self.channel is None:
            return True
        choices = self.process.universe.choices
        if choices is not None:
            awaited = partial(_overlapping, self.receives, number, self.partitions)
            arrived = choices.is_known(self.done) or choices.all_complete(awaited)
            if all(choices.is_known(receive) for receive in self.receives):
                choices.now_known(self.done)
        elif not (arrived := self._is_there(number)):
            let_others_run(self.process.loop, (self.done,), *(waiting.end for waiting in self._overlapping(number)))
            arrived = self._is_there(number)
        if self.done.error is not None:
            raise mpi_error(self.done.error.ierr, str(self.done.error).partition(": ")[2])
        if arrived and self.uses is not None:
            for receive in self._overlapping(number):
                self.uses.arrived(receive.tag)
        return bool(arrived)

    def retire(self) -> None:
        """End the round."""
        super().retire()
        if self.channel is not None:
            for receive in self.receives:
                receive.waiter = receive.target = None
            self.receives, self.span = [], None  # type: ignore[assignment]  # until the next start

    def _overlapping(self, number: int) -> list[PostedReceive]:
        """The messages that overlap a partition."""
        return _overlapping(self.receives, number, self.partitions)

    def _is_there(self, number: int) -> bool:
        now = self.process.loop.now
        overlapping = self._overlapping(number)
        return bool(overlapping) and all(receive.end is not None and receive.end <= now for receive in overlapping)

    def describe(self) -> str:
        """Return a text: the partitions that have not arrived."""
        name = self.process.universe.names.name(self.peer)
        late = [str(receive.tag) for receive in self.receives if receive.end is None and receive.tag != NO_PARTITION]
        return f"waits for {_listed(late) if late else 'Psend_init'} of {name}"


def _overlapping(receives: list[PostedReceive], number: int, partitions: int) -> list[PostedReceive]:
    """Return the messages of a round that overlap a partition of the receiver."""
    parts = len(receives)
    return receives[number * parts // partitions : -(-(number + 1) * parts // partitions)]


def _listed(numbers: list[str]) -> str:
    """Return the numbers of partitions as text, at most six of them."""
    return f"partition{'s' * (len(numbers) > 1)} {', '.join(numbers[:6])}{', ...' * (len(numbers) > 6)}"


def _part(span: Span, number: int, parts: int) -> Span:
    """Return one of `parts` equal parts of a span."""
    count = span.count // parts
    return Span(span.memory, span.offset + number * count * span.datatype._extent, count, span.datatype)


def _piece(span: Span, number: int, parts: int) -> Payload:
    """Return the memory of one of `parts` parts, which need not be whole elements if the elements are contiguous."""
    if span.count % parts == 0:
        return payload_of(_part(span, number, parts))
    whole = payload_of(span)
    if type(whole) is Span:
        sentence = (
            f"{span.count} elements of {span.datatype._definition.describe()} cannot be divided into {parts} partitions."
        )
        raise mpi_error(ERR_ARG, sentence)
    low, high = (span.nbytes * index // parts for index in (number, number + 1))
    return Phantom(high - low) if type(whole) is Phantom else flat(whole)[low:high]
