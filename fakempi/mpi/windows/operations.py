"""What travels between the ranks of a window, and what it does where it arrives.

A Put, or an Accumulate, goes one way. A Get goes there, takes what it finds, and comes back with it; so do those that both
take and change. Each has its effect at one moment, that of its arrival, so none sees half of another.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from numpy import ndarray

from fakempi.mpi.base.complain import public_call, site_of
from fakempi.mpi.base.waiting import Completion
from fakempi.mpi.buffers.payload import copy_into, snapshot
from fakempi.mpi.buffers.raw import U1, flat
from fakempi.mpi.windows.lane import Lane, Travelling


class Signal(Travelling):
    """A message without content, of the synchronization: a function is called where it arrives.

    `permit` is what it is meant for, if somebody has one and waits.
    """

    __slots__ = ("permit", "then")

    def __init__(self, part: Any, then: Callable[[], None], asked: Any = None, permit: Any = None) -> None:
        super().__init__(part, asked)
        self.then, self.permit = then, permit

    def awaited(self) -> tuple[Any, int]:
        """Since the Lock, or the Start."""
        return super().awaited() if self.permit is None else (self.permit.issued[0], self.permit.issued[2])

    def arrive(self) -> None:
        """It is there."""
        self.then()


class Answer(Signal):
    """What comes back to who has asked; that a fence's epoch can end, also to the dead."""

    __slots__ = ()
    outlives = True


class Operation(Travelling):
    """An operation of an epoch: that of a permit, or of a fence, which is a number, 0 or 1."""

    __slots__ = ("access", "content", "epoch", "nbytes", "pin", "place", "request", "way")

    returns = False
    """Whether it comes back."""

    pin: Any  # what of the origin's memory it uses, if that is watched

    way: Lane
    epoch: Any
    access: Any  # which bytes it reaches, if somebody looks what the target's own program does with them

    def __init__(self, part: Any, content: Any, nbytes: int, place: Any) -> None:
        self.envelope = self.end = None
        if part.recorder is not None:
            super().__init__(part)
        self.content = content  # of the origin: the program's own memory, until it may change that
        self.place = place  # at the target
        self.nbytes = nbytes  # that go there
        self.request: Completion | None = None  # who waits for its buffers

    @property
    def outlives(self) -> bool:  # type: ignore[override]
        """If the target does not come to the end of a fence's epoch, that fails anyway."""
        return self.epoch.__class__ is int

    def go(self, lane: Lane) -> None:
        """The epoch lets it go."""
        self.way = lane
        lane.depart(self, self.nbytes)

    def settled(self, end: Any) -> None:
        """It has started, and will be there then.

        In a fence's epoch nobody may look before its end, which only has to know when that is: nothing need be booked.
        """
        lane, epoch = self.lane, self.epoch
        if epoch.__class__ is int and not self.returns:
            self.take_effect()
            here, there = lane.here, lane.there
            if end > here.until[epoch]:
                here.until[epoch] = end
            if end > there.until[epoch]:
                there.until[epoch] = end
            here.leaving[epoch] -= 1  # `finish`, inlined: nearly every Put comes by here
            there.coming[epoch] -= 1
            if here.complete:
                here.look()
            if there.complete:
                there.look()
            return
        lane.flying.append(self)
        lane.here.loop.book(end, lane.land)
        if self.request is not None and not self.returns:
            self.content = snapshot(self.content)
            self.request.complete(self.sending().end)

    def locally(self) -> Completion:
        """What to wait for until the program may use the buffers again."""
        if self.request is None:
            self.request = Completion(self.epoch)
            left = self.sending()
            if not self.returns and left is not None and left.end is not None:
                self.content = snapshot(self.content)
                self.request.end = left.end
        return self.request

    def arrive(self) -> None:
        """It is there, and is over."""
        self.take_effect()
        self.finish()

    def take_effect(self) -> None:
        """Do at the target what it does there."""
        stores = self.way.there.stores
        if stores is None:
            self.apply()
        else:
            stores.around(self)

    def apply(self) -> None:
        """The same, and nobody looks."""
        raise NotImplementedError

    def finish(self) -> None:
        """All that it does has been done."""
        epoch, here, there = self.epoch, self.way.here, self.way.there
        if epoch.__class__ is not int:
            epoch.finished(self)
            return
        here.leaving[epoch] -= 1
        there.coming[epoch] -= 1
        if here.complete:
            here.look()
        if there.complete:
            there.look()


class Put(Operation):
    """Bytes to a target."""

    __slots__ = ()

    def apply(self) -> None:
        """They are there."""
        content, place = self.content, self.place
        if type(content) is ndarray and type(place) is ndarray:
            (place if place.dtype is U1 else flat(place))[...] = flat(content)
        else:
            copy_into(content, place, self.nbytes)


class Accumulate(Operation):
    """Elements to a target, combined with what is there; `combine(source, target)` does it."""

    __slots__ = ("combine", "site")

    def __init__(self, part: Any, content: Any, nbytes: int, place: Any, combine: Callable[[Any, Any], None]) -> None:
        super().__init__(part, content, nbytes, place)
        self.combine = combine
        self.site = _site(part)

    def go(self, lane: Lane) -> None:
        """When its turn has come."""
        in_turn(self, super().go, lane)

    def apply(self) -> None:
        """They are combined."""
        self.combine(self.content, self.place)


class RoundTrip(Operation):
    """An operation that comes back with what it found: `result` is where that goes, of so many bytes.

    `change(content, place)`, if there is one, is what it does once it has taken it.
    """

    __slots__ = ("change", "found", "result", "site", "size")

    returns = True

    def __init__(
        self, part: Any, content: Any, nbytes: int, place: Any, result: Any, size: int,
        change: Callable[[Any, Any], None] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(part, content, nbytes, place)
        self.result, self.size, self.change = result, size, change
        self.site = None if change is None else _site(part)

    def go(self, lane: Lane) -> None:
        """If it changes anything, when its turn has come."""
        in_turn(self, super().go, lane)

    def apply(self) -> None:
        """It takes what it finds, and changes it."""
        self.found = snapshot(self.place)
        if self.change is not None:
            self.change(self.content, self.place)

    def arrive(self) -> None:
        """It is there, and goes back."""
        self.take_effect()
        there = self.way.there
        there.lane(self.way.here.rank).depart(Answer(there, self.come_back, self), self.size)

    def come_back(self) -> None:
        """What it found is in its place."""
        if self.way.here.process.pins is None:
            copy_into(self.found, self.result, self.size)
        else:
            self.pin.around(partial(copy_into, self.found, self.result, self.size))()
        if self.request is not None:
            self.request.complete(self.way.here.loop.now)
        self.finish()


def _site(part: Any) -> tuple[str, str] | None:
    """What the program called, and where, if choices are made by somebody in this run."""
    if part.process.universe.choices is None:
        return None
    call, frame = public_call(sys._getframe(2))
    return call, site_of(frame)


def in_turn(operation: Any, go: Callable[[Lane], None], lane: Lane) -> None:
    """Let an atomic operation go: at once, unless others' may come before it and that is a choice."""
    if operation.site is None or getattr(operation.epoch, "exclusive", False):
        return go(lane)
    operation.way = lane
    lane.here.process.universe.choices.atomic(operation, operation.site, partial(go, lane))
