"""Memory that operations under way use, and what programs must not do with it until they have waited for them.

From the start of an operation until the program learns that it is over, nobody may write to what is sent, and nobody may
even look at what is received. Whoever asks for it gets this checked: what the memory held is kept, and compared when the
operation is over and, of what is received, just before the emulator itself writes there. Two operations of which one
writes where the other is at work are found when the second is started.

With this a nonblocking message of 8 bytes takes twice as long (strict: seven times), and a request needs a copy.
So it is done in strict runs and in tests only. Strict runs also make arrays read-only (`locks`), and fill what is to be
received with what nobody expects: neither is done where a program that is not strict could feel it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from numpy import ndarray

from fakempi.mpi.base.child import Child
from fakempi.mpi.base.complain import public_call, site_of
from fakempi.mpi.base.waiting import AllOf, Completion, parts_of
from fakempi.mpi.buffers.flat import Flat, FlatVector
from fakempi.mpi.buffers.locks import Locks, read_only_arrays
from fakempi.mpi.buffers.payload import Payload, describe
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.regions import Neighbours, Region, root_of
from fakempi.wire.envelope import Envelope, Pattern

LEFT = (
    " (perhaps by fakempi: in a strict run arrays in use are read-only, and a view that is taken meanwhile and kept deep"
    " inside other objects stays so; take it before or after, or run without strict)"
)
"""What may be the reason that an array is read-only that no operation uses."""


class Watch:
    """Of a run: who is told when memory is written to that a receive waits for, and the end of it all."""

    def __init__(self, universe: Any, matched: Callable[[Any, Any], None]) -> None:
        self.universe, self.strict = universe, universe.strict
        self._matched = matched  # what the wire calls if nobody watches
        self.awaited: dict[Pattern, Region] = {}
        self.locks = Locks() if universe.strict else None
        self.all: list[Pins] = []

    def of(self, process: Any) -> Pins:
        """What one process has under way."""
        self.all.append(Pins(self, process))
        return self.all[-1]

    def matched(self, envelope: Envelope, pattern: Pattern) -> None:
        """A message has met its receive: look at the memory, then let it be written to."""
        region = self.awaited.pop(pattern, None)
        if region is None:
            return self._matched(envelope, pattern)
        region.look()
        region.cure()
        self._matched(envelope, pattern)
        region.keep()

    def end(self) -> None:
        """The run is over: memory outlives it, and is the program's again."""
        for pins in self.all:
            for pin in list(pins.live):
                pin.drop()
        for region in self.awaited.values():  # of requests that were freed
            region.cure()
        self.awaited.clear()


class Pins:
    """What the operations of one process use that are under way."""

    def __init__(self, watch: Watch, process: Any) -> None:
        self.watch, self.process = watch, process
        self.live: dict[Pin, None] = {}
        self.gathered = 0  # to how many calls of all ranks of a window it has come
        self.roots: dict[int, Region | Neighbours] = {}  # by the identity of the object whose memory it is

    def of(self, operation: Any, buffer: Any) -> Pin | Parts | None:
        """For an operation that was just started on a buffer, or of a collective call, by a plan: what it uses."""
        kind = operation.__class__
        if kind is Envelope:
            return Pin(self, operation).using(describe(buffer)[0], False).locked()
        if kind is Pattern:
            return Pin(self, operation).using(operation.place, True).awaiting(operation).locked()
        if kind is AllOf:  # a send and a receive, of which the first is of a copy if there is but one buffer
            (envelope, pattern), (sent, _), pin = operation.operations, buffer, Pin(self, operation)
            if envelope.__class__ is Envelope and sent is not None:
                pin.using(describe(sent)[0], False)
            return (pin.using(pattern.place, True).awaiting(pattern) if pattern.__class__ is Pattern else pin).locked()
        if kind is not Completion:
            return None  # to or from nobody
        child = operation.why
        if hasattr(child, "partitions"):
            return Parts(self, operation, child)
        pin = Pin(self, operation)
        if child is None:  # a buffered send
            return pin.using(describe(buffer)[0], False).locked()
        reads, writes = getattr(buffer, "uses", ((), ()))
        for things, written in ((reads, False), (writes, True)):
            for payload in _payloads(things):
                pin.using(payload, written)
        child.work = pin.around(child.work)
        return pin.locked(ours=True)

    def of_file(self, operation: Any, buffer: Any, writes: bool) -> Pin | None:
        """The same for an access to a file, which reads the buffer or writes to it."""
        if writes and any(isinstance(getattr(part, "why", None), Child) for part in parts_of(operation)):
            return None  # a child writes to it, when all have come
        return Pin(self, operation).using(describe(buffer)[0], writes).locked()

    def add(self, region: Region) -> None:
        """The process has started to use it. Is it in use already?"""
        there = self.roots.setdefault(region.root, region)
        if there is region:
            return  # as most are
        if isinstance(there, Region):
            there = self.roots[region.root] = Neighbours(there)
        pin, other = region.pin, there.add(region)
        if other is not None and not pin.told:
            pin.told = other.pin.told = True  # what comes of it needs no more words
            words = f"its buffer overlaps with that of {other.pin}, which is not over"
            self.found("buffer-overlap", pin.call, pin.site, words)

    def remove(self, region: Region) -> None:
        """The process has it back."""
        there = self.roots[region.root]
        if isinstance(there, Region) or there.remove(region):
            del self.roots[region.root]

    def lend(self, array: Any) -> Any:
        """An array that we have made read-only, as one that a call can receive into; None if it was not us.

        That is wrong unless the call only prepares, or it is for another rank that the array is in use.
        """
        alias = None if self.watch.locks is None else self.watch.locks.alias(array)
        if alias is not None:
            call, frame = public_call(sys._getframe(1))
            other = self._user(id(root_of(array)))
            if other is not None and not call.endswith("_init"):
                words = f"its buffer overlaps with that of {other}, which is not over"
                self.found("buffer-overlap", call, site_of(frame), words)
        return alias

    def explain(self, error: BaseException) -> None:
        """The program has failed. Did it write to an array that we have made read-only? Then that is what is wrong."""
        if self.watch.locks is None or "read-only" not in str(error):
            return
        arrays, line, place = read_only_arrays(error)
        everybody = [self, *self.watch.all]
        users = [next(filter(None, (pins._user(id(root_of(array))) for pins in everybody)), None) for array in arrays]
        pin = users[0] if users and None not in users else None
        if pin is None:  # it may have been another array, or a view that we did not find again
            if self.watch.locks.may_have_left(arrays):
                error.args = (f"{error}{LEFT}",)
            return
        whose = "" if pin.pins is self else f" of {pin.pins.process.name}, with which it shares the array"
        self.found("buffer-in-use", line, place, f"it writes to the buffer of {pin}{whose}, which is not over")
        verdict = self.watch.universe.verdict
        if verdict is not None and verdict.__cause__ is None:
            verdict.__cause__ = error

    def _user(self, root: int) -> Pin | None:
        """The operation that has made memory of an object read-only, if there is one."""
        return next((pin for pin in self.live for one in pin.regions if one.root == root and one.locked), None)

    def found(self, kind: str, call: str, place: str, sentence: str) -> None:
        """Something is wrong with what an operation uses. Once a strict run is to end, there is no more to say."""
        universe = self.watch.universe
        if universe.verdict is None:
            universe.found(kind, self.process.number, sentence, call=call, place=place, at_once=True)


class Pin:
    """What one operation uses until it is over."""

    __slots__ = ("call", "pattern", "pins", "regions", "site", "told")

    def __init__(self, pins: Pins, operation: Any) -> None:
        self.pins, self.told = pins, False
        self.call, self.site = operation.origin.call, operation.origin.place
        self.regions: list[Region] = []
        self.pattern: Any = None  # of a receive whose message was yet to come
        pins.live[self] = None

    def __str__(self) -> str:
        return f"{self.call} at {self.site}"

    def using(self, payload: Payload, writes: bool) -> Pin:
        """It reads this, or writes it; what has no memory is nobody's business."""
        if payload is not None and payload.nbytes and type(payload) is not Phantom:
            self.regions.append(Region(payload, writes, self))
            self.pins.add(self.regions[-1])
        return self

    def awaiting(self, pattern: Any) -> Pin:
        """If the message of a receive is yet to come, be there when it does."""
        if pattern.envelope is None and self.regions and self.regions[-1].writes:
            region = self.regions[-1]
            self.pattern = pattern
            self.pins.watch.awaited[pattern] = region
            if self.pins.watch.strict:
                region.poison()
        return self

    def locked(self, ours: bool = False) -> Pin:
        """In a strict run, have the program's arrays refuse to be written to; payloads that are `ours` are none of these."""
        locks = self.pins.watch.locks
        if locks is not None:
            for region in self.regions:
                array = region.payload
                if type(array) is ndarray:
                    region.payload = array.view()  # which lets us write
                    region.locked = locks.put_on((array.base,) if ours else (array, array.base), array.nbytes)
            if self.pattern is not None:
                self.pattern.place = self.regions[-1].payload
        return self

    def around(self, work: Callable[[], Any]) -> Callable[[], Any]:
        """The work of a collective call: just before it, nobody may have written to what it writes."""

        def watched() -> Any:
            written = [region for region in self.regions if region.writes]
            for region in written:
                region.look()
            work()
            for region in written:
                region.keep()

        return watched

    def end(self) -> None:
        """The program learns that the operation is over: from now on it may do what it likes. Has it done so before?"""
        if self in self.pins.live:
            self.drop()
            for region in self.regions:
                region.look()
            if self.pattern in self.pins.watch.awaited:  # it was cancelled
                self.pins.watch.awaited.pop(self.pattern).cure()
            if not self.told and any(region.changed for region in self.regions):
                call, frame = public_call(sys._getframe(1))
                words = f"its buffer was written to before {call} at {site_of(frame)} said that it is over"
                self.pins.found("buffer-in-use", self.call, self.site, words)

    def drop(self) -> None:
        """The program will not be told when it is over: what it does with the memory is its own business."""
        pins = self.pins
        if pins.live.pop(self, self) is None:
            for region in self.regions:
                if pins.watch.locks is not None:
                    pins.watch.locks.take_off(region.locked, sys._getframe(1))
                pins.remove(region)
                region.pin = None  # or each were a circle that holds its buffer


class Parts:
    """What a partitioned operation uses: each part for a time of its own.

    A part that is sent is in use from Pready on, and one that is received until Parrived says that it is there, or all is
    over. No array is made read-only: the program may write to one part while another is under way.
    """

    __slots__ = ("live", "operation", "pins")

    def __init__(self, pins: Pins, operation: Any, half: Any) -> None:
        self.pins, self.operation = pins, operation
        self.live: dict[int, Pin] = {}
        half.pinned(self)

    def send(self, number: int, payload: Payload) -> None:
        """A part may go."""
        self.live[number] = Pin(self.pins, self.operation).using(payload, False)

    def receive(self, number: int, pattern: Any) -> None:
        """A part is awaited."""
        self.live[number] = Pin(self.pins, self.operation).using(pattern.place, True).awaiting(pattern)

    def arrived(self, number: int) -> None:
        """The program is told that it is there."""
        if number in self.live:
            self.live.pop(number).end()

    def end(self) -> None:
        """The program learns that all is over."""
        for number in list(self.live):
            self.arrived(number)

    def drop(self) -> None:
        """The program will not be told."""
        for pin in self.live.values():
            pin.drop()


def _payloads(things: Iterable[Any]) -> Iterable[Payload]:
    """Of all that a plan uses: buffers, described, or payloads; each once."""
    found = (thing.parts if isinstance(thing, (Flat, FlatVector)) else [thing] for thing in things)
    return {id(payload): payload for payloads in found for payload in payloads}.values()

