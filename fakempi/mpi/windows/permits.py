"""Permits: what lets the operations of an epoch go to one target, a lock there or its Post.

An operation that is begun before the permit is there waits for it, and the end of the epoch for them all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.errors import MPIError
from fakempi.mpi.base.complain import call_site
from fakempi.mpi.base.waiting import Completion, Reason, wait_all, wait_one
from fakempi.mpi.windows.lane import Lane
from fakempi.mpi.windows.operations import Signal
from fakempi.mpi.windows.races import Stretch


class Permit(Reason):
    """One origin's leave to go to one target."""

    awaits_post = False

    __slots__ = ("held", "is_open", "issued", "lane", "lost", "site", "stretch", "under_way", "waiting")

    def __init__(self, lane: Lane, site: str) -> None:
        self.lane, self.site = lane, site
        self.is_open = False
        self.lost: Any = None  # the part of who has died, so that it will not come or is worth nothing any more
        self.held: list[tuple[Any, tuple[Any, ...]]] = []  # operations that wait for it, and which bytes they reach
        self.under_way: dict[Any, None] = {}  # operations that have not ended, in the order in which they were begun
        self.waiting: list[Completion] = []
        self.stretch = Stretch()
        if lane.here.recorder is not None:
            self.issued = (lane.here.loop.now, *lane.here.recorder.here())

    def begin(self, operation: Any, *access: Any) -> None:
        """An operation of the epoch: it goes now, or when the permit is there, and only then can it clash with others."""
        self.under_way[operation] = None
        if self.is_open:
            self.lane.there.accesses.note(*access, self)
            operation.go(self.lane)
        else:
            self.held.append((operation, access))

    def open(self) -> None:
        """The permit is there: what waits for it goes."""
        self.is_open = True
        held, self.held = self.held, []
        for operation, access in held:
            self.lane.there.accesses.note(*access, self)
            operation.go(self.lane)
        self._look()

    def finished(self, operation: Any) -> None:
        """An operation has ended."""
        self.under_way.pop(operation, None)
        self._look()

    def _look(self) -> None:
        if self.waiting and not self.under_way:
            waiting, self.waiting = self.waiting, []
            for one in waiting:
                one.complete(self.lane.here.loop.now)

    def wait(self) -> None:
        """Until it is there and all operations so far have ended; complains if they cannot."""
        if self.lost is None and (not self.is_open or self.under_way):
            waits = Completion(self)
            self.waiting.append(waits)
            wait_one(self.lane.here.loop, waits)
        self.stretch.close()
        self.check()

    def wait_locally(self) -> None:
        """Until it is there and the program may use the buffers of all operations so far."""
        if not self.under_way:
            self.wait()
        else:
            wait_all(self.lane.here.loop, [operation.locally() for operation in self.under_way])
            self.check()

    def check(self) -> None:
        """Complain if a process has died on which it depends."""
        if self.lost is not None:
            raise self.lane.here.failure(self.lost).complaint()

    def fail(self, lost: Any) -> None:
        """It will not come, or its target has died: nobody need wait any more."""
        here = self.lane.here
        self.lost, now = lost, here.loop.now
        under_way, self.under_way = list(self.under_way), {}
        self.held.clear()
        for operation in under_way:
            if operation.request is not None and operation.request.end is None:
                failure = here.failure(lost)
                operation.request.error = MPIError(failure.code, f"Wait on {here.process.name}: {failure.sentence}")
                operation.request.complete(now)
        waiting, self.waiting = self.waiting, []
        for one in waiting:
            if one.end is None:
                one.complete(now)

    def in_words(self) -> str:
        """What it waits for, for a report."""
        raise NotImplementedError

    def awaits(self) -> tuple[int, ...]:
        """The process on which it depends."""
        raise NotImplementedError


class LockPermit(Permit):
    """A lock at a target, asked for when it is made."""

    __slots__ = ("exclusive", "unchecked")

    def __init__(self, lane: Lane, site: str, exclusive: bool, unchecked: bool) -> None:
        super().__init__(lane, site)
        self.exclusive = exclusive
        self.unchecked = self.is_open = unchecked  # the program says that nobody else wants it
        if not unchecked:
            lock = lane.there.target_lock()
            lane.depart(Signal(lane.here, lambda: lock.ask(self)), 0)

    def release(self) -> Completion:
        """Give it back; what to wait for until it is."""
        done = Completion(self)
        self.waiting.append(done)
        if self.unchecked:
            done.end = self.lane.here.loop.now
            return done
        lock, rank, loop = self.lane.there.target_lock(), self.lane.here.rank, self.lane.here.loop

        def there() -> None:
            lock.give_back(rank)
            done.complete(loop.now)

        self.lane.depart(Signal(self.lane.here, there), 0)
        return done

    def in_words(self) -> str:
        """Who has the lock."""
        there = self.lane.there
        holders = there.target_lock().holders
        if self.is_open or not holders or self.lane.here.rank in holders:
            return f"rank={there.rank}"
        names = there.process.universe.names
        who = names.words([holder.lane.here.process.number for holder in holders.values()], 6)
        since = ", ".join(dict.fromkeys(holder.site for holder in holders.values()))
        return f"rank={there.rank}; {who} {'holds' if len(holders) == 1 else 'hold'} the lock since {since}"

    def awaits(self) -> tuple[int, ...]:
        """The first of those that have the lock."""
        holders = self.lane.there.target_lock().holders
        return tuple(holder.lane.here.process.number for holder in holders.values())[:1]


def give_back(loop: Any, permits: list[LockPermit]) -> MPIError | None:
    """Wait until all is done that locks have let happen, and give back those that can be; what went wrong, if anything."""
    errors = [error for permit in permits if (error := told(permit.wait)) is not None]
    sound = [permit for permit in permits if permit.lost is None]
    wait_all(loop, [permit.release() for permit in sound])
    errors += [error for permit in sound if (error := told(permit.check)) is not None]
    return errors[0] if errors else None


def told(call: Callable[[], None]) -> MPIError | None:
    """What a call complains of, if it does."""
    try:
        call()
    except MPIError as error:
        return error
    return None


class Everywhere:
    """The epoch of a Lock_all: a shared lock at each target, asked for with the first operation that goes there."""

    __slots__ = ("permits", "site", "unchecked")

    def __init__(self, site: str, unchecked: bool) -> None:
        self.site, self.unchecked = site, unchecked
        self.permits: dict[int, LockPermit] = {}

    def permit(self, part: Any, target: int) -> LockPermit:
        """For this target."""
        found = self.permits.get(target)
        if found is None:
            found = self.permits[target] = LockPermit(part.lane(target), self.site, False, self.unchecked)
        return found


class PostPermit(Permit):
    """A target's Post."""

    awaits_post = True

    __slots__ = ()

    def in_words(self) -> str:
        """Who has to call Post."""
        name = self.lane.there.process.name
        return f"waits for {name} to call Post" if not self.is_open else f"rank={self.lane.there.rank}"

    def awaits(self) -> tuple[int, ...]:
        """The target."""
        return (self.lane.there.process.number,)


class Started:
    """The epoch of a Start: a permit for each target of the group."""

    __slots__ = ("permits", "site")

    def __init__(self, part: Any, targets: list[int]) -> None:
        self.site = call_site()
        self.permits = {target: PostPermit(part.lane(target), self.site) for target in targets}
        for target in targets:
            if part.posts and part.posts.get(target):
                part.posts[target] -= 1
                self.permits[target].open()


class Exposure(Reason):
    """The epoch of a Post: the origins that have not called Complete."""

    __slots__ = ("lost", "missing", "part", "site", "waits")

    def __init__(self, part: Any, origins: list[int]) -> None:
        self.part, self.site = part, call_site()
        self.missing = dict.fromkeys(origins)
        self.waits = Completion(self)
        self.lost: Any = None  # the part of an origin that has died
        for origin in origins:
            lane = part.lane(origin)
            started = lane.there.started
            permit = None if started is None else started.permits.get(part.rank)
            lane.depart(Signal(part, partial(posted, lane.there, part.rank), permit=permit), 0)
        if not origins:
            self.waits.complete(part.loop.now)

    def completed(self, origin: int) -> None:
        """An origin has done with it."""
        if self.missing.pop(origin, self) is None and not self.missing and self.lost is None:
            self.waits.complete(self.part.loop.now)

    def fail(self, lost: Any) -> None:
        """An origin has died and will not call Complete."""
        if self.lost is None:
            self.lost = lost
            self.waits.complete(self.part.loop.now)

    def _numbers(self) -> list[int]:
        parts = self.part.window.parts
        return [parts[origin].process.number for origin in self.missing]

    def in_words(self) -> str:
        """Who has to call Complete."""
        return f"waits for {self.part.process.universe.names.words(self._numbers(), 6)} to call Complete"

    def awaits(self) -> tuple[int, ...]:
        """The first of them."""
        return tuple(self._numbers()[:1])


def posted(part: Any, target: int) -> None:
    """A Post has come to an origin: its Start is there already, or finds it."""
    started = part.started
    if started is not None and target in started.permits and not started.permits[target].is_open:
        started.permits[target].open()
    else:
        if part.posts is None:
            part.posts = {}
        part.posts[target] = part.posts.get(target, 0) + 1


def leave(part: Any, started: Started) -> None:
    """Tell all targets of an epoch that it is over, and wait until that is on its way."""
    signals = []
    for target, permit in started.permits.items():
        exposure = part.window.parts[target].exposure
        if permit.lost is not None or exposure is None:  # the target has died, or has given up because another has
            continue
        signal = Signal(part, partial(exposure.completed, part.rank))
        permit.lane.depart(signal, 0)
        signals.append(signal.sending())
    wait_all(part.loop, signals)
