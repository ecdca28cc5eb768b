"""The checks of a run: which memory is in use, which operations overlap, and memory that changed too early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fakempi.core.hooks import Layer, OnMatched
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.errors import text_of
from fakempi.extensions.buffer_checks.timing import DataTiming
from fakempi.extensions.buffer_checks.use import MemoryUse, PartitionUses, payloads_of
from fakempi.mpi.base.call_site import RequestSite, call_and_place, new_call_site
from fakempi.mpi.base.child import ChildTask
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.base.waiting import AllOf, Completion, parts_of
from fakempi.mpi.buffers.locks import Locks, read_only_arrays
from fakempi.mpi.buffers.payload import describe, snapshot
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.regions import MemoryRegion, RegionIndex, root_of
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.interfaces.services import Closable, Exposed

VIEW_HINT = (
    " (perhaps because of fakempi: in a strict run arrays in use are read-only, and a view that is created meanwhile and"
    " kept inside other objects stays read-only; create it before or after the operation, or run without strict)"
)
"""This text is added to an error about a read-only array that no operation uses."""


class MemoryChecks(OnMatched[Envelope, PostedReceive]):
    """The checks of one run."""

    layer = Layer.MEMORY

    def __init__(self, universe: Universe, reports: bool) -> None:
        self.universe, self.strict = universe, universe.strict and reports
        self.reports = reports  # otherwise only the timing of data is wanted
        self.awaited: dict[PostedReceive, MemoryRegion] = {}
        self.locks = Locks() if self.strict else None
        self.timing = None if universe.choices is None else DataTiming(universe.choices, universe.loop)
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

    def matched(
        self, proceed: Callable[[Envelope, PostedReceive], None], envelope: Envelope, receive: PostedReceive
    ) -> None:
        """Compare the memory of a receive with its copy, just before the message is written there."""
        if not envelope.eager:  # its sender learns that the receive is posted
            self.universe.processes[receive.box.owner].buffer_checks.influences += 1
        if self.timing is not None and self.timing.late:
            return self.timing.matched(proceed, envelope, receive)
        region = self.awaited.pop(receive, None)
        if region is None:
            return proceed(envelope, receive)
        region.check()
        region.restore()
        proceed(envelope, receive)
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
    """The call site of an operation on a window; such an operation has no request."""

    call_site: RequestSite


class MemoryInUse:
    """Memory that pending operations of one process use."""

    def __init__(self, checks: MemoryChecks, process: Process) -> None:
        self.checks, self.process = checks, process
        self.live: dict[MemoryUse, None] = {}
        self.exposed: list[tuple[int, int, Exposed]] = []  # its memory in windows: start, end, part
        self.one_sided = 0  # messages that its port has sent for operations on windows
        self.released = [0, 0]  # locks of windows that it has released: shared, exclusive
        self.influences = 0  # the number of events, without messages, by which other ranks may have learned of its progress
        self.roots: dict[int, MemoryRegion | RegionIndex] = {}  # id of the object that owns the memory -> regions in use

    def of(self, operation: Any, buffer: Any) -> MemoryUse | PartitionUses | None:
        """Return the use of a buffer by an operation that was just started, or of the buffers in a plan of a collective."""
        use = self._of(operation, buffer)
        if isinstance(use, PartitionUses) or (use is not None and use.regions):
            self.let_data_move()
        return use

    def let_data_move(self) -> None:
        """In a run that follows a schedule, let data arrive that may arrive early, after a nonblocking call."""
        if self.checks.timing is not None:
            self.checks.timing.let_data_move()

    def _of(self, operation: Any, buffer: Any) -> MemoryUse | PartitionUses | None:
        kind = operation.__class__
        if kind is Envelope:
            return MemoryUse(self, operation).using(describe(buffer)[0], False).timed().sending(operation).locked()
        if kind is PostedReceive:
            return MemoryUse(self, operation).using(operation.target, True).timed().awaiting(operation).locked()
        if kind is AllOf:  # a send and a receive; the send is of a copy if there is only one buffer
            (envelope, receive), (sent, _), use = operation.operations, buffer, MemoryUse(self, operation)
            if envelope.__class__ is Envelope and sent is not None:
                use.using(describe(sent)[0], False).sending(envelope)
            if receive.__class__ is PostedReceive:
                use.using(receive.target, True).awaiting(receive)
            return use.timed().locked()
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
            for payload in payloads_of(buffers):
                use.using(payload, written)
        child.work = use.around_collective(reads, writes, child.work)
        return use.timed().locked(ours=True)

    def of_file(self, operation: Any, buffer: Any, writes: bool) -> MemoryUse | None:
        """Return the use of a buffer by an access to a file, which reads the buffer or writes to it."""
        if writes and any(isinstance(getattr(part, "why", None), ChildTask) for part in parts_of(operation)):
            return None  # a child task writes to it, when all ranks have made the call
        use = MemoryUse(self, operation).using(describe(buffer)[0], writes)
        return (use.timed().delivered_late() if writes else use).locked()

    def of_window(self, reads: Any, writes: Any, fence: object) -> MemoryUse:
        """Return the use of the origin's buffers by an operation on a window; a buffer may be None.

        The result is written by the function that `MemoryUse.around` returns.

        `fence` is the part of the window and the number of the epoch, if a fence started the epoch.
        """
        use = MemoryUse(self, OneSided(new_call_site()))
        use.fence = fence
        use.using(reads, False).using(writes, True).timed()
        if self.checks.strict or (self.checks.timing is not None and self.checks.timing.late):
            use.hide_contents()
        return use

    def read_early(self, payload: Any) -> Any:
        """Return the data of an operation on a window: a copy if the schedule requires that they are read at the call."""
        timing = self.checks.timing
        return payload if timing is None or timing.late or payload is None else snapshot(payload)

    def outgoing(self) -> tuple[int, int]:
        """Return numbers that change whenever other ranks may learn of this one's progress, except by locks of windows."""
        return self.process.out.sent - self.one_sided, self.influences

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
        call, place = call_and_place()
        region = MemoryRegion(payload, writes, None, keep=False)  # type: ignore[arg-type]  # not added, so its use is not read
        existing = self.roots.get(region.root)
        if existing is not None:
            index = RegionIndex(existing) if isinstance(existing, MemoryRegion) else existing
            other = index.conflict_of(region)
            if other is not None and not other.use.reported:
                other.use.reported = True
                sentence = f"its buffer overlaps with that of {other.use}, which is not complete"
                self.report("buffer-overlap", call, place, sentence)
        return self.touch(region, (call, place)) if self.exposed else []

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
            self.report("buffer-overlap", use.call, use.place, sentence)

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
            call, place = call_and_place()
            other = self._user(id(root_of(array)))
            if other is not None and not call.endswith("_init"):
                sentence = f"its buffer overlaps with that of {other}, which is not complete"
                self.report("buffer-overlap", call, place, sentence)
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
        if universe.verdict is None and self.checks.reports:
            universe.report(kind, self.process.number, sentence, call=call, place=place, wrong_data=True)


def register(universe: Universe) -> None:
    """Check all buffers of a run; if its options do not request that, only decide when data move."""
    universe.buffer_checks = checks = MemoryChecks(universe, bool(universe.options.checked_buffers))
    universe.network.subscribe(checks)
