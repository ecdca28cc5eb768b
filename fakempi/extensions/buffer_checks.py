"""Checks of memory that pending operations use: `run(check_buffers=True)`, strict runs, and tests.

From the start of an operation until the program knows that it is complete, the program may not write to a send buffer, and
may not read or write a receive buffer. A copy of the memory is compared with it when the operation completes and, for a
receive, also just before the emulator writes the message there. If two operations use overlapping memory and one of them
writes, this is found when the second one starts.

These checks make a nonblocking message of 8 bytes take twice as long (in strict runs seven times), and each request needs
a copy of its memory. Strict runs also make arrays read-only (`locks`) and fill receive buffers with conspicuous values.
Other runs do not, since a correct program could notice both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from numpy import ndarray

from fakempi.core.hooks import Layer, OnMatched
from fakempi.core.network.envelope import Envelope, Pattern
from fakempi.errors import text_of
from fakempi.mpi.base.call_site import Origin, call_and_site, frame_at, origin_here
from fakempi.mpi.base.child import ChildTask
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.base.waiting import AllOf, Completion, parts_of
from fakempi.mpi.buffers.flat import Flat, FlatVector
from fakempi.mpi.buffers.locks import Locks, read_only_arrays
from fakempi.mpi.buffers.payload import describe
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.regions import MemoryRegion, RegionIndex, root_of
from fakempi.mpi.buffers.span import Payload
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.interfaces.services import Closable, Exposed

VIEW_HINT = (
    " (perhaps because of fakempi: in a strict run arrays in use are read-only, and a view that is created meanwhile and"
    " kept inside other objects stays read-only; create it before or after the operation, or run without strict)"
)
"""This text is added to an error about a read-only array that no operation uses."""


class MemoryChecks(OnMatched[Envelope, Pattern]):
    """The checks of one run."""

    layer = Layer.MEMORY

    def __init__(self, universe: Universe) -> None:
        self.universe, self.strict = universe, universe.strict
        self.awaited: dict[Pattern, MemoryRegion] = {}
        self.locks = Locks() if universe.strict else None
        self.processes: list[MemoryInUse] = []
        self.grants = self.exclusive_grants = 0  # numbers of window locks that ranks have acquired

    def granted(self, exclusive: bool) -> None:
        """Count a window lock that a rank acquires: from then on it may know the accesses of previous holders."""
        self.grants += 1
        self.exclusive_grants += exclusive

    def add_process(self, process: Process) -> MemoryInUse:
        """Return the checks of a new process."""
        self.processes.append(MemoryInUse(self, process))
        return self.processes[-1]

    def matched(self, proceed: Callable[[Envelope, Pattern], None], envelope: Envelope, pattern: Pattern) -> None:
        """Compare the memory of a receive with its copy, just before the message is written there."""
        if not envelope.eager:  # its sender learns that the receive is posted
            self.universe.processes[pattern.box.owner].buffer_checks.informed += 1
        region = self.awaited.pop(pattern, None)
        if region is None:
            return proceed(envelope, pattern)
        region.check()
        region.restore()
        proceed(envelope, pattern)
        region.accept_contents()

    def end(self) -> None:
        """End all checks, since memory outlives the run: make it writable, and restore the values of pending receives."""
        for in_use in self.processes:
            for use in list(in_use.live):
                use.drop()
        for region in self.awaited.values():  # receives whose requests were freed
            region.restore()
        self.awaited.clear()


class OneSided(NamedTuple):
    """The origin of an operation on a window; such an operation has no request."""

    origin: Origin


class MemoryInUse:
    """Memory that pending operations of one process use."""

    def __init__(self, checks: MemoryChecks, process: Process) -> None:
        self.checks, self.process = checks, process
        self.live: dict[MemoryUse, None] = {}
        self.exposed: list[tuple[int, int, Exposed]] = []  # its memory in windows: start, end, part
        self.one_sided = 0  # messages that its port has sent for operations on windows
        self.released = [0, 0]  # locks of windows that it has released: shared, exclusive
        self.informed = 0  # the number of events, other than messages, by which other ranks may have learned of its progress
        self.roots: dict[int, MemoryRegion | RegionIndex] = {}  # id of the object that owns the memory -> regions in use

    def of(self, operation: Any, buffer: Any) -> MemoryUse | PartitionUses | None:
        """Return the use of a buffer by an operation that was just started, or of the buffers in a plan of a collective."""
        kind = operation.__class__
        if kind is Envelope:
            return MemoryUse(self, operation).using(describe(buffer)[0], False).locked()
        if kind is Pattern:
            return MemoryUse(self, operation).using(operation.target, True).awaiting(operation).locked()
        if kind is AllOf:  # a send and a receive; the send is of a copy if there is only one buffer
            (envelope, pattern), (sent, _), use = operation.operations, buffer, MemoryUse(self, operation)
            if envelope.__class__ is Envelope and sent is not None:
                use.using(describe(sent)[0], False)
            return (use.using(pattern.target, True).awaiting(pattern) if pattern.__class__ is Pattern else use).locked()
        if kind is not Completion:
            return None  # to or from PROC_NULL
        child = operation.why
        if hasattr(child, "partitions"):
            return PartitionUses(self, operation, child)
        use = MemoryUse(self, operation)
        if child is None:  # a buffered send
            return use.using(describe(buffer)[0], False).locked()
        reads, writes = getattr(buffer, "uses", ((), ()))
        for buffers, written in ((reads, False), (writes, True)):
            for payload in _payloads(buffers):
                use.using(payload, written)
        child.work = use.around(child.work)
        return use.locked(ours=True)

    def of_file(self, operation: Any, buffer: Any, writes: bool) -> MemoryUse | None:
        """Return the use of a buffer by an access to a file, which reads the buffer or writes to it."""
        if writes and any(isinstance(getattr(part, "why", None), ChildTask) for part in parts_of(operation)):
            return None  # a child task writes to it, when all ranks have made the call
        return MemoryUse(self, operation).using(describe(buffer)[0], writes).locked()

    def of_window(self, reads: Any, writes: Any, fence: object) -> MemoryUse:
        """Return the use of the origin's buffers by an operation on a window; a buffer may be None.

        `fence` is the part of the window and the number of the epoch, if a fence started the epoch.
        """
        use = MemoryUse(self, OneSided(origin_here()))
        use.fence = fence
        return use.using(reads, False).using(writes, True)

    def outgoing(self) -> tuple[int, int]:
        """Return numbers that change whenever other ranks may learn of this one's progress, except by locks of windows."""
        return self.process.out.sent - self.one_sided, self.informed

    def until_informed(self) -> Callable[[], bool]:
        """Return a function that returns True as long as no other rank can know of this rank's present progress.

        Messages and collective calls inform others. So do locks of windows that this rank releases and another rank gets
        afterwards, if at least one of the two ranks gets it exclusively.
        """
        checks, before, (shared, exclusive) = self.checks, self.outgoing(), self.released
        grants, exclusive_grants = checks.grants, checks.exclusive_grants

        def unknown() -> bool:
            return (
                before == self.outgoing()
                and (shared == self.released[False] or exclusive_grants == checks.exclusive_grants)
                and (exclusive == self.released[True] or grants == checks.grants)
            )

        return unknown

    def touch(self, region: MemoryRegion, user: tuple[str, str], fence: object = None) -> list[Closable]:
        """Record the use in the windows that contain the buffer; close the returned objects when the use ends."""
        region.locate()
        records = []
        for start, end, part in self.exposed:
            if region.low < end and start < region.high:
                pieces = region.pieces(max(region.low, start), min(region.high, end))
                records += [
                    part.record_buffer_use(first - start, last - start, region.writes, user, fence) for first, last in pieces
                ]
        return records

    def check_blocking_use(self, payload: Any, writes: bool) -> list[Closable]:
        """Check whether a buffer of a blocking call is in use; close the returned objects at the end of the call."""
        if payload is None or not payload.nbytes or type(payload) is Phantom or not (self.roots or self.exposed):
            return []
        call, site = call_and_site()
        region = MemoryRegion(payload, writes, None, keep=False)  # type: ignore[arg-type]  # not added, so its use is not read
        existing = self.roots.get(region.root)
        if existing is not None:
            index = RegionIndex(existing) if isinstance(existing, MemoryRegion) else existing
            other = index.conflict_of(region)
            if other is not None and not other.use.reported:
                other.use.reported = True
                sentence = f"its buffer overlaps with that of {other.use}, which is not complete"
                self.report("buffer-overlap", call, site, sentence)
        return self.touch(region, (call, site)) if self.exposed else []

    def add(self, region: MemoryRegion) -> None:
        """Add a region, and check whether another operation uses the memory."""
        existing = self.roots.setdefault(region.root, region)
        if existing is region:
            return  # the common case
        if isinstance(existing, MemoryRegion):
            existing = self.roots[region.root] = RegionIndex(existing)
        use, other = region.use, existing.add(region)
        if other is not None and not use.reported:
            use.reported = other.use.reported = True  # do not report the consequences, too
            sentence = f"its buffer overlaps with that of {other.use}, which is not complete"
            self.report("buffer-overlap", use.call, use.site, sentence)

    def remove(self, region: MemoryRegion) -> None:
        """Remove a region."""
        existing = self.roots[region.root]
        if isinstance(existing, MemoryRegion) or existing.remove(region):
            del self.roots[region.root]

    def writable_alias(self, array: Array) -> Array | None:
        """Return a writable alias of an array that these checks have made read-only; None for other arrays.

        Report an overlap, unless the call only prepares an operation, or another rank's operation uses the array.
        """
        alias = None if self.checks.locks is None else self.checks.locks.alias(array)
        if alias is not None:
            call, site = call_and_site()
            other = self._user(id(root_of(array)))
            if other is not None and not call.endswith("_init"):
                sentence = f"its buffer overlaps with that of {other}, which is not complete"
                self.report("buffer-overlap", call, site, sentence)
        return alias

    def explain(self, error: BaseException) -> None:
        """Report a finding if the program has failed because it wrote to an array that these checks made read-only."""
        if self.checks.locks is None or "read-only" not in text_of(error):
            return
        arrays, line, place = read_only_arrays(error)
        candidates = [self, *self.checks.processes]
        users = [next(filter(None, (in_use._user(id(root_of(array))) for in_use in candidates)), None) for array in arrays]
        use = users[0] if users and None not in users else None
        if use is None:  # another array, or a view that was not found when the array became writable again
            if self.checks.locks.may_have_locked(arrays):
                error.args = (f"{error}{VIEW_HINT}",)
            return
        whose = "" if use.in_use is self else f" of {use.in_use.process.name}, with which it shares the array"
        self.report("buffer-in-use", line, place, f"it writes to the buffer of {use}{whose}, which is not complete")
        verdict = self.checks.universe.verdict
        if verdict is not None and verdict.__cause__ is None:
            verdict.__cause__ = error

    def _user(self, root: int) -> MemoryUse | None:
        """Return the operation for which memory of an object is read-only, if there is one."""
        return next((use for use in self.live for region in use.regions if region.root == root and region.locked), None)

    def report(self, kind: str, call: str, place: str, sentence: str) -> None:
        """Report a finding, unless a strict run is already ending because of one."""
        universe = self.checks.universe
        if universe.verdict is None:
            universe.report(kind, self.process.number, sentence, call=call, place=place, at_once=True)


class MemoryUse:
    """The memory that one operation uses until it completes."""

    __slots__ = ("call", "fence", "in_use", "in_windows", "pattern", "regions", "reported", "site")

    def __init__(self, in_use: MemoryInUse, operation: Any) -> None:
        self.in_use, self.reported = in_use, False
        self.fence: object = None  # of a one-sided operation: see `MemoryInUse.of_window`
        self.in_windows: list[Closable] = []  # the records of this use in windows
        self.call, self.site = operation.origin.call, operation.origin.place
        self.regions: list[MemoryRegion] = []
        self.pattern: Pattern | None = None  # of a receive whose message has not arrived yet
        in_use.live[self] = None

    def __str__(self) -> str:
        return f"{self.call} at {self.site}"

    def using(self, payload: Payload | None, writes: bool) -> MemoryUse:
        """Add memory that the operation reads or writes; payloads without memory are ignored."""
        if payload is not None and payload.nbytes and type(payload) is not Phantom:
            self.regions.append(MemoryRegion(payload, writes, self))
            self.in_use.add(self.regions[-1])
            if self.in_use.exposed:
                self.in_windows += self.in_use.touch(self.regions[-1], (self.call, self.site), self.fence)
        return self

    def leave_windows(self) -> None:
        """End the records in windows: other ranks may know that the operation does not use their memory any more."""
        for record in self.in_windows:
            record.close()
        self.in_windows = []

    def awaiting(self, pattern: Pattern) -> MemoryUse:
        """Check the memory of a receive when its message arrives, unless the message has arrived already."""
        if pattern.envelope is None and self.regions and self.regions[-1].writes:
            region = self.regions[-1]
            self.pattern = pattern
            self.in_use.checks.awaited[pattern] = region
            if self.in_use.checks.strict:
                region.poison()
        return self

    def locked(self, ours: bool = False) -> MemoryUse:
        """In a strict run, make the program's arrays read-only; payloads that are `ours` are views of such arrays."""
        locks = self.in_use.checks.locks
        if locks is not None:
            for region in self.regions:
                array = region.payload
                if type(array) is ndarray:
                    region.payload = array.view()  # which stays writable
                    region.locked = locks.lock((array.base,) if ours else (array, array.base), array.nbytes)
            if self.pattern is not None:
                self.pattern.target = self.regions[-1].payload
        return self

    def around(self, work: Callable[[], object]) -> Callable[[], None]:
        """Return the body of a collective call, preceded by a check that the program has not written to its result."""

        def checked_work() -> None:
            written = [region for region in self.regions if region.writes]
            for region in written:
                region.check()
            work()
            for region in written:
                region.accept_contents()

        return checked_work

    def end(self) -> None:
        """End the use when the program learns that the operation is complete; report memory that changed before."""
        if self in self.in_use.live:
            self.drop()
            for region in self.regions:
                region.check()
            if self.pattern in self.in_use.checks.awaited:  # it was canceled
                self.in_use.checks.awaited.pop(self.pattern).restore()
            if not self.reported and any(region.changed for region in self.regions):
                call, site = call_and_site()
                sentence = f"its buffer was written to before {call} at {site} completed the operation"
                self.in_use.report("buffer-in-use", self.call, self.site, sentence)

    def drop(self) -> None:
        """End the use without a check: the program will not learn when the operation completes."""
        in_use = self.in_use
        if in_use.live.pop(self, self) is None:
            self.leave_windows()
            for region in self.regions:
                if in_use.checks.locks is not None:
                    in_use.checks.locks.unlock(region.locked, frame_at(1))
                in_use.remove(region)
                region.use = None  # type: ignore[assignment]  # break the reference cycle, so that the buffer is freed at once


class PartitionUses:
    """The memory that a partitioned operation uses, one use per partition.

    A partition that is sent is in use from Pready on, and one that is received until Parrived returns True or the operation
    completes. No array is made read-only: the program may write to one partition while another is being transferred.
    """

    __slots__ = ("in_use", "live", "operation")

    def __init__(self, in_use: MemoryInUse, operation: Any, half: Any) -> None:
        self.in_use, self.operation = in_use, operation
        self.live: dict[int, MemoryUse] = {}
        half.watch_buffer(self)

    def send(self, number: int, payload: Any) -> None:
        """Begin to use a partition that is sent."""
        self.live[number] = MemoryUse(self.in_use, self.operation).using(payload, False)

    def receive(self, number: int, pattern: Pattern) -> None:
        """Begin to use a partition that is received."""
        self.live[number] = MemoryUse(self.in_use, self.operation).using(pattern.target, True).awaiting(pattern)

    def arrived(self, number: int) -> None:
        """Check a partition: the program learns that it has arrived."""
        if number in self.live:
            self.live.pop(number).end()

    def end(self) -> None:
        """End all uses when the program learns that the operation is complete."""
        for number in list(self.live):
            self.arrived(number)

    def drop(self) -> None:
        """End all uses without a check."""
        for use in self.live.values():
            use.drop()


def _payloads(buffers: Iterable[Any]) -> Iterable[Payload]:
    """Return the payloads of the buffers that a plan uses, each once."""
    lists = (buffer.parts if isinstance(buffer, (Flat, FlatVector)) else [buffer] for buffer in buffers)
    return {id(payload): payload for payloads in lists for payload in payloads}.values()
