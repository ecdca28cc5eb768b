"""A channel: the k-th partitioned send from one process to another with a tag, and the k-th receive.

It has a hidden context of the two alone. A partition is a message there, whose tag is its number: it travels when it is
ready, as any message of its size does. The two sides may cut the data differently; what the receiver asks is whether all
messages have come that reach into a partition of its own.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from fakempi.error_classes import ERR_ARG, ERR_REQUEST, ERR_TRUNCATE
from fakempi.errors import MPIError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.waiting import Completion, Reason
from fakempi.mpi.buffers.payload import payload_of
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.buffers.span import Span, parse
from fakempi.mpi.failures.failure import Failure
from fakempi.mpi.point.arrival import secure
from fakempi.mpi.point.handle import NullOperation
from fakempi.mpi.point.many import let_others_run
from fakempi.wire.envelope import Envelope, Pattern

NO_PARTITION = 1 << 62
"""A tag that no partition has."""


class Channel:
    """What both halves share. It does not hold them, or each pair were a circle that only the garbage collector can open."""

    __slots__ = ("early", "parts", "side")

    def __init__(self, universe: Any, source: int, dest: int) -> None:
        members = Members.of((source, dest) if source != dest else (source,))
        self.side = Context(universe, members).sides[0]
        self.parts: int | None = None  # of the send, once that is known
        self.early: PartitionedReceive | None = None  # a receive that was started before


class Half(Reason):
    """One side of a partitioned operation: its buffer, in so many partitions, and the operation that is under way."""

    __slots__ = ("buffer", "channel", "done", "latest", "open", "partitions", "peer", "pins", "process")

    def __init__(self, process: Any, channel: Channel | None, buffer: Any, partitions: int, peer: int) -> None:
        self.process, self.channel, self.buffer, self.partitions = process, channel, buffer, partitions
        self.peer = peer  # the number of the other process
        self.done: Any = None  # what the request waits for
        self.open = 0  # messages that have not ended
        self.latest: Any = 0
        self.pins: Any = None  # what of the buffer is in use, if that is watched

    def pinned(self, parts: Any) -> None:
        """A new round has begun, and its memory is watched."""
        self.pins = parts

    def begin(self, messages: int) -> Any:
        """A new round, of so many messages."""
        self.done, self.open, self.latest = Completion(self), messages, self.process.loop.now
        return self.done

    def settled(self, end: Any) -> None:
        """One of the messages will have ended then."""
        self.open -= 1
        if end > self.latest:
            self.latest = end
        if not self.open:
            self.done.complete(self.latest)

    def check(self, partition: Any) -> int:
        """The number of a partition of an operation that is under way."""
        number = integer("partition", partition)
        if self.done is None:
            raise complaint(ERR_REQUEST, "the request is inactive: Start comes first.")
        if not 0 <= number < self.partitions:
            raise complaint(ERR_ARG, f"partition {number} is not in 0..{self.partitions - 1}.")
        return number

    def secure(self) -> None:
        """The program may use its buffer: nothing is to be done about that."""

    def retire(self) -> None:
        """The round is over, and its messages, which know this half, are forgotten."""
        self.done = self.pins = None

    def ready(self, partition: Any) -> None:
        """A partition may go."""
        raise complaint(ERR_REQUEST, "the request is a receive: the sender says what is ready.")

    def has_arrived(self, partition: Any) -> bool:
        """Whether a partition is there."""
        raise complaint(ERR_REQUEST, "the request is a send: the receiver sees what arrives.")

    def awaits(self) -> tuple[int, ...]:
        """The other process."""
        return (self.peer,)


class PartitionedSend(Half):
    """Sends partitions as they become ready."""

    __slots__ = ("envelopes", "span")

    def start(self) -> Any:
        """A new round: nothing is ready."""
        if self.channel is None:
            self.done = NullOperation(self.process.loop.now)
            return self.done
        self.span: Any = parse(self.buffer, blocks=self.partitions)
        self.envelopes: dict[int, Envelope] = {}
        return self.begin(self.partitions)

    def ready(self, partition: Any) -> None:
        """It goes, as a message of its size does."""
        number = self.check(partition)
        channel = self.channel
        if channel is None:
            return
        if number in self.envelopes:
            raise complaint(ERR_ARG, f"partition {number} is ready already.")
        part = _part(self.span, number, self.partitions)
        box = channel.side.box(len(channel.side.members) - 1)
        eager = part.nbytes <= self.process.eager_limit
        envelope = Envelope(self.process.out, 0, number, part.nbytes, box, payload_of(part), eager)
        self.envelopes[number] = envelope
        if self.pins is not None:
            self.pins.send(number, envelope.content)
        self.process.wire.send(envelope)
        if envelope.end is None:
            envelope.waiter = self
        else:
            self.settled(envelope.end)

    def secure(self) -> None:
        """The program may change its buffer: what nobody has received yet is kept."""
        if self.channel is not None:
            for envelope in self.envelopes.values():
                secure(envelope)

    def retire(self) -> None:
        """The round is over."""
        super().retire()
        if self.channel is not None:
            for envelope in self.envelopes.values():
                envelope.waiter = None
            self.envelopes, self.span = {}, None

    def in_words(self) -> str:
        """Which partitions have not been ready, or that the receiver has not started."""
        late = [str(number) for number in range(self.partitions) if number not in self.envelopes]
        name = self.process.universe.names.name(self.peer)
        if not late:
            return f"waits for {name} to receive"
        return f"waits for Pready of {_listed(late)}"

    def awaits(self) -> tuple[int, ...]:
        """The receiver, if it is its turn."""
        return (self.peer,) if len(self.envelopes) == self.partitions else ()


class PartitionedReceive(Half):
    """Receives partitions, in whatever order they come."""

    __slots__ = ("patterns", "span")

    def start(self) -> Any:
        """A new round, which awaits as many messages as the send has partitions, once that is known."""
        channel = self.channel
        if channel is None:
            self.done = NullOperation(self.process.loop.now)
            return self.done
        self.span: Any = parse(self.buffer, writable=True, blocks=self.partitions)
        self.patterns: list[Pattern] = []
        done = self.begin(1)
        if channel.parts is None:
            channel.early = self
            self._expect(NO_PARTITION, None, 0)
        else:
            self.expect(channel.parts)
        return done

    def pinned(self, parts: Any) -> None:
        """A new round has begun, and its memory is watched."""
        super().pinned(parts)
        if self.channel.parts is not None:  # type: ignore[union-attr]
            self._watch()

    def _watch(self) -> None:
        for pattern in self.patterns:
            self.pins.receive(pattern.tag, pattern)

    def expect(self, parts: int) -> None:
        """The send has so many partitions: await them."""
        for pattern in self.patterns:
            pattern.box.withdraw(pattern)
        self.patterns.clear()  # who asks for a partition of this round has the list
        self.open = parts
        for number in range(parts):
            place = _piece(self.span, number, parts)
            self._expect(number, place, place.nbytes)
        if self.pins is not None:
            self._watch()

    def _expect(self, number: int, place: Any, capacity: int) -> None:
        """Await a message; before it is known how many come, one that never does, which ends if the sender dies."""
        side = self.channel.side  # type: ignore[union-attr]
        pattern = Pattern(0, number, side.box(len(side.members) - 1), place, capacity)
        self.patterns.append(pattern)
        self.process.wire.expect(pattern)
        if pattern.end is None:
            pattern.waiter = self
        else:
            self.settled(pattern.end)

    def settled(self, end: Any) -> None:
        """One of the messages will have come then."""
        if self.open == 1:  # the last one
            for one in self.patterns:
                if type(one.envelope.content) is Failure:
                    why: Failure = one.envelope.content
                    self.done.error = MPIError(why.code, f"Wait on {self.process.name}: {why.sentence}")
                    break
                if one.envelope.nbytes > one.capacity:
                    words = f"partition {one.tag} has {one.envelope.nbytes} bytes but the buffer holds {one.capacity}."
                    self.done.error = complaint(ERR_TRUNCATE, f"message truncated, {words}")
                    break
        super().settled(end)

    def has_arrived(self, partition: Any) -> bool:
        """Whether all messages are there that reach into a partition; if not, others run before this returns."""
        number = self.check(partition)
        if self.channel is None:
            return True
        choices = self.process.universe.choices
        if choices is not None:
            arrived = choices.all_there(partial(_reaching, self.patterns, number, self.partitions))
        elif not (arrived := self._is_there(number)):
            let_others_run(self.process.loop, (self.done,), *(one.end for one in self._reaching(number)))
            arrived = self._is_there(number)
        if self.done.error is not None:
            raise complaint(self.done.error.ierr, str(self.done.error).partition(": ")[2])
        if arrived and self.pins is not None:
            for pattern in self._reaching(number):
                self.pins.arrived(pattern.tag)
        return bool(arrived)

    def retire(self) -> None:
        """The round is over."""
        super().retire()
        if self.channel is not None:
            for pattern in self.patterns:
                pattern.waiter = pattern.place = None
            self.patterns, self.span = [], None

    def _reaching(self, number: int) -> list[Pattern]:
        """The messages that reach into a partition."""
        return _reaching(self.patterns, number, self.partitions)

    def _is_there(self, number: int) -> bool:
        now = self.process.loop.now
        reaching = self._reaching(number)
        return bool(reaching) and all(one.end is not None and one.end <= now for one in reaching)

    def in_words(self) -> str:
        """Which partitions have not come."""
        name = self.process.universe.names.name(self.peer)
        late = [str(one.tag) for one in self.patterns if one.end is None and one.tag != NO_PARTITION]
        return f"waits for {_listed(late) if late else 'Psend_init'} of {name}"


def _reaching(patterns: list[Pattern], number: int, partitions: int) -> list[Pattern]:
    """Of a round's messages, those that reach into one of so many partitions."""
    parts = len(patterns)
    return patterns[number * parts // partitions : -(-(number + 1) * parts // partitions)]


def _listed(numbers: list[str]) -> str:
    """Partitions by their numbers, of which not all need be told."""
    return f"partition{'s' * (len(numbers) > 1)} {', '.join(numbers[:6])}{', ...' * (len(numbers) > 6)}"


def _part(span: Span, number: int, parts: int) -> Span:
    """One of so many equal parts of a span."""
    count = span.count // parts
    return Span(span.memory, span.offset + number * count * span.datatype._extent, count, span.datatype)


def _piece(span: Span, number: int, parts: int) -> Any:
    """The place of one of so many parts, which need not be whole elements where there are no holes between these."""
    if span.count % parts == 0:
        return payload_of(_part(span, number, parts))
    whole = payload_of(span)
    if type(whole) is Span:
        words = f"{span.count} elements of {span.datatype._definition.describe()} cannot be cut in {parts} partitions."
        raise complaint(ERR_ARG, words)
    low, high = (span.nbytes * one // parts for one in (number, number + 1))
    return Phantom(high - low) if type(whole) is Phantom else flat(whole)[low:high]
