"""Grants: permission for the operations of an epoch to access one target, given by a lock or by the target's Post.

Operations that are called before the grant arrives wait for the grant. The end of the epoch waits for all operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.core.kernel.loop import Loop
from fakempi.errors import MPIError
from fakempi.mpi.base.call_site import place_of_call
from fakempi.mpi.base.region import wait_region
from fakempi.mpi.base.waiting import Completion, Reason, wait_all, wait_one
from fakempi.mpi.windows.channel import WindowChannel
from fakempi.mpi.windows.operations import Signal, WindowOperation
from fakempi.mpi.windows.races import AccessPeriod


class AccessGrant(Reason):
    """Permission of one origin to access one target, and the operations of that epoch."""

    awaits_post = False
    opened_by = "Lock"

    __slots__ = ("channel", "is_open", "issued", "lost", "pending", "period", "place", "queued", "waiting")

    def __init__(self, channel: WindowChannel, place: str) -> None:
        self.channel, self.place = channel, place
        self.is_open = False
        self.lost: Any = None  # the part of a dead rank; the grant never arrives or is void
        self.queued: list[tuple[Any, tuple[Any, ...]]] = []  # operations that wait for the grant, and their accesses
        self.pending: dict[Any, None] = {}  # incomplete operations, in the order of their calls
        self.waiting: list[Completion] = []
        self.period = AccessPeriod()
        if channel.sender.recorder is not None:
            self.issued = (channel.sender.loop.now, *channel.sender.recorder.region_and_call())

    def begin(self, operation: WindowOperation, *access: Any) -> None:
        """Start an operation of the epoch now, or queue it until the grant arrives; record its access when it starts."""
        self.pending[operation] = None
        if self.is_open:
            self.channel.receiver.accesses.note(*access, self)
            operation.start(self.channel)
        else:
            self.queued.append((operation, access))

    def open(self) -> None:
        """Record that the grant has arrived, and start the queued operations."""
        self.is_open = True
        queued, self.queued = self.queued, []
        for operation, access in queued:
            self.channel.receiver.accesses.note(*access, self)
            operation.start(self.channel)
        self._complete_waits()

    def finished(self, operation: WindowOperation) -> None:
        """Record that an operation is complete."""
        self.pending.pop(operation, None)
        self._complete_waits()

    def _complete_waits(self) -> None:
        if self.waiting and not self.pending:
            waiting, self.waiting = self.waiting, []
            for completion in waiting:
                completion.complete(self.channel.sender.loop.now)

    def wait(self) -> None:
        """Wait for the grant and for all operations so far; raise an error if a rank that the grant depends on has died."""
        if self.lost is None and (not self.is_open or self.pending):
            completion = Completion(self)
            self.waiting.append(completion)
            with wait_region(self.channel.sender.process, "window accesses"):
                wait_one(self.channel.sender.loop, completion)
        self.period.close()
        self.check()

    def wait_local(self) -> None:
        """Wait for the grant, and until the program may reuse the buffers of all operations so far."""
        if not self.pending:
            self.wait()
        else:
            with wait_region(self.channel.sender.process, "window accesses"):
                wait_all(self.channel.sender.loop, [operation.local_completion() for operation in self.pending])
            self.check()

    def check(self) -> None:
        """Raise an error if a process that the grant depends on has died."""
        if self.lost is not None:
            raise self.channel.sender.failure(self.lost).mpi_error()

    def fail(self, lost: Any) -> None:
        """End all waits with an error: the grant will not arrive, or its target has died."""
        sender = self.channel.sender
        self.lost, now = lost, sender.loop.now
        pending, self.pending = list(self.pending), {}
        self.queued.clear()
        for operation in pending:
            if operation.request is not None and operation.request.end is None:
                failure = sender.failure(lost)
                operation.request.error = MPIError(failure.code, f"Wait on {sender.process.name}: {failure.sentence}")
                operation.request.complete(now)
        waiting, self.waiting = self.waiting, []
        for completion in waiting:
            if completion.end is None:
                completion.complete(now)

    def describe(self) -> str:
        """Describe the event that the epoch waits for, for a report."""
        raise NotImplementedError

    def awaits(self) -> tuple[int, ...]:
        """Return the number of the process that the epoch waits for, in a tuple."""
        raise NotImplementedError


class LockGrant(AccessGrant):
    """A lock at a target, requested when the object is created."""

    __slots__ = ("exclusive", "unchecked")

    def __init__(self, channel: WindowChannel, place: str, exclusive: bool, unchecked: bool) -> None:
        super().__init__(channel, place)
        self.exclusive = exclusive
        self.unchecked = self.is_open = unchecked  # MODE_NOCHECK: no other rank requests a conflicting lock
        if channel.sender.process.buffer_checks is not None:
            self.period.outlast, self.period.by_lock = channel.sender.process.buffer_checks.until_informed, True
        if not unchecked:
            lock = channel.receiver.target_lock()
            channel.send(Signal(channel.sender, lambda: lock.request(self)), 0)

    def release(self) -> Completion:
        """Start to release the lock; return the completion to wait for."""
        done = Completion(self)
        self.waiting.append(done)
        if self.unchecked:
            done.end = self.channel.sender.loop.now
            return done
        lock, rank, loop = self.channel.receiver.target_lock(), self.channel.sender.rank, self.channel.sender.loop
        if self.channel.sender.process.buffer_checks is not None:
            self.channel.sender.process.buffer_checks.released[self.exclusive] += 1

        def release_on_arrival() -> None:
            lock.release(rank)
            done.complete(loop.now)

        self.channel.send(Signal(self.channel.sender, release_on_arrival), 0)
        return done

    def describe(self) -> str:
        """Return the target, and the holders of the lock if it is not granted yet."""
        receiver = self.channel.receiver
        holders = receiver.target_lock().holders
        if self.is_open or not holders or self.channel.sender.rank in holders:
            return f"rank={receiver.rank}"
        names = receiver.process.universe.names
        ranks = names.text([holder.channel.sender.process.number for holder in holders.values()], 6)
        since = ", ".join(dict.fromkeys(holder.place for holder in holders.values()))
        return f"rank={receiver.rank}; {ranks} {'holds' if len(holders) == 1 else 'hold'} the lock since {since}"

    def awaits(self) -> tuple[int, ...]:
        """Return the first holder of the lock."""
        holders = self.channel.receiver.target_lock().holders
        return tuple(holder.channel.sender.process.number for holder in holders.values())[:1]


def release_locks(loop: Loop, grants: list[LockGrant]) -> MPIError | None:
    """Wait for the operations under some locks, and release the locks of living targets; return the first error, or None."""
    errors = [error for grant in grants if (error := error_from(grant.wait)) is not None]
    for grant in grants:  # before the release, which informs other ranks
        grant.channel.sender.end_uses(grant.channel.receiver.rank)
    valid = [grant for grant in grants if grant.lost is None]
    releases = [grant.release() for grant in valid]
    if releases:
        with wait_region(valid[0].channel.sender.process, "window accesses"):
            wait_all(loop, releases)
    errors += [error for grant in valid if (error := error_from(grant.check)) is not None]
    return errors[0] if errors else None


def error_from(call: Callable[[], None]) -> MPIError | None:
    """Return the MPI error that a call raises, or None."""
    try:
        call()
    except MPIError as error:
        return error
    return None


class LockAllEpoch:
    """The epoch of a Lock_all: a shared lock at each target, requested at the first operation on it."""

    __slots__ = ("grants", "place", "unchecked")

    def __init__(self, place: str, unchecked: bool) -> None:
        self.place, self.unchecked = place, unchecked
        self.grants: dict[int, LockGrant] = {}

    def grant(self, part: Any, target: int) -> LockGrant:
        """Return the grant for a target, and request its lock if there is none."""
        grant = self.grants.get(target)
        if grant is None:
            grant = self.grants[target] = LockGrant(part.channel(target), self.place, False, self.unchecked)
        return grant


class PostGrant(AccessGrant):
    """Permission by a target's Post."""

    awaits_post = True
    opened_by = "Start"

    __slots__ = ()

    def __init__(self, channel: WindowChannel, place: str) -> None:
        super().__init__(channel, place)
        if channel.sender.process.buffer_checks is not None:
            self.period.outlast = partial(_until_wait, channel.receiver)

    def describe(self) -> str:
        """Return the target, and whether its Post is missing."""
        name = self.channel.receiver.process.name
        return f"waits for {name} to call Post" if not self.is_open else f"rank={self.channel.receiver.rank}"

    def awaits(self) -> tuple[int, ...]:
        """Return the target's process."""
        return (self.channel.receiver.process.number,)


def _until_wait(part: Any) -> Callable[[], bool]:
    """Return a function that returns True until the target ends its epoch of Post, when Puts are complete at the target."""
    exposure = part.exposure
    return lambda: exposure is not None and part.exposure is exposure


class StartEpoch:
    """The epoch of a Start: a grant for each target of the group."""

    __slots__ = ("grants", "place")

    def __init__(self, part: Any, targets: list[int]) -> None:
        self.place = place_of_call()
        self.grants = {target: PostGrant(part.channel(target), self.place) for target in targets}
        for target in targets:
            if part.posts and part.posts.get(target):
                part.posts[target] -= 1
                self.grants[target].open()


class Exposure(Reason):
    """The epoch of a Post: the origins that have not called Complete."""

    __slots__ = ("lost", "missing", "part", "place", "waits")

    def __init__(self, part: Any, origins: list[int]) -> None:
        self.part, self.place = part, place_of_call()
        self.missing = dict.fromkeys(origins)
        self.waits = Completion(self)
        self.lost: Any = None  # the window part of an origin that has died
        for origin in origins:
            channel = part.channel(origin)
            started = channel.receiver.started
            grant = None if started is None else started.grants.get(part.rank)
            channel.send(Signal(part, partial(posted, channel.receiver, part.rank), grant=grant), 0)
        if not origins:
            self.waits.complete(part.loop.now)

    def completed(self, origin: int) -> None:
        """Note that an origin has called Complete."""
        if self.missing.pop(origin, self) is None and not self.missing and self.lost is None:
            self.waits.complete(self.part.loop.now)

    def fail(self, lost: Any) -> None:
        """End the wait: an origin has died and will not call Complete."""
        if self.lost is None:
            self.lost = lost
            self.waits.complete(self.part.loop.now)

    def _numbers(self) -> list[int]:
        parts = self.part.window.parts
        return [parts[origin].process.number for origin in self.missing]

    def describe(self) -> str:
        """Return the origins that have not called Complete."""
        return f"waits for {self.part.process.universe.names.text(self._numbers(), 6)} to call Complete"

    def awaits(self) -> tuple[int, ...]:
        """Return the first process that has not called Complete."""
        return tuple(self._numbers()[:1])


def posted(part: Any, target: int) -> None:
    """Note at an origin that a Post has arrived: open the grant of its Start, or count it for a later Start."""
    started = part.started
    if started is not None and target in started.grants and not started.grants[target].is_open:
        started.grants[target].open()
    else:
        if part.posts is None:
            part.posts = {}
        part.posts[target] = part.posts.get(target, 0) + 1


def send_complete(part: Any, started: StartEpoch) -> None:
    """Notify all targets of an epoch of Start that it is over, and wait until the notifications have left."""
    signals = []
    for target, grant in started.grants.items():
        exposure = part.window.parts[target].exposure
        if grant.lost is not None or exposure is None:  # the target has died, or its Wait failed because another rank died
            continue
        signal = Signal(part, partial(exposure.completed, part.rank))
        grant.channel.send(signal, 0)
        signals.append(signal.sending())
    wait_all(part.loop, signals)
