"""A window: the state that all its ranks share (`Window`), and the state of one rank (`WindowPart`).

State per pair of ranks is created when the pair first communicates (`WindowPart.channel`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy import ndarray

from fakempi.core.kernel.agenda import Time
from fakempi.mpi.base.call_site import place_of_call
from fakempi.mpi.base.constants import WIN_FLAVOR_SHARED
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.info import Info
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.mpi_errors import call_mismatch
from fakempi.mpi.base.process import Process, RunState, Universe
from fakempi.mpi.base.waiting import Completion, Reason, wait_one
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NO_BYTES, Memory, address_of
from fakempi.mpi.failures.state import FailureState
from fakempi.mpi.interfaces.services import WindowUse
from fakempi.mpi.windows.channel import WindowChannel
from fakempi.mpi.windows.locks import TargetLock
from fakempi.mpi.windows.operations import WindowOperation
from fakempi.mpi.windows.races import READ, WRITE, AccessPeriod, MemoryAccess, SourceLine, TargetAccesses, place_text
from fakempi.mpi.windows.stores import Stores


class WindowRendezvous(Reason):
    """The ranks that have made a collective call on a window: Fence or Free."""

    __slots__ = ("call_name", "description", "name", "number", "place", "waiting", "window")

    def __init__(self, window: Window, call_name: str, number: int, name: str) -> None:
        self.window, self.call_name, self.number = window, call_name, number
        self.place, self.name = place_of_call(), name  # of the first caller
        self.waiting: list[WindowPart] = []
        self.description: tuple[str, tuple[int, ...]] | None = None  # for a report, shared by all waiting ranks

    def _missing(self) -> tuple[str, tuple[int, ...]]:
        if self.description is None:
            missing = [part.process.number for part in self.window.parts if part.calls < self.number]
            ranks = self.window.context.universe.names.text(missing, 6) if missing else ""
            self.description = (f"waits for {ranks}" if missing else "waits for operations in transit"), tuple(missing)
        return self.description

    def describe(self) -> str:
        """Return the ranks that have not made the call."""
        return self._missing()[0]

    def awaits(self) -> tuple[int, ...]:
        """Return the number of the first process that has not made the call."""
        return self._missing()[1][:1]


class OpenWindows(RunState):
    """The windows of a run that have been created and not freed."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.windows: list[Window] = []
        universe.state(FailureState).on_failure.append(self.on_failure)
        universe.leak_checks.append(self.report_leaks)

    def on_failure(self, number: int) -> None:
        """End operations and calls that depend on a process that has died."""
        for window in list(self.windows):
            window.on_failure(number)

    def report_leaks(self) -> None:
        """Report windows that were not freed."""
        for window in self.windows:
            window.report_leak()


class Window:
    """The state that all ranks of a window share: members, parts, and collective calls in progress."""

    __slots__ = ("context", "created_by", "flavor", "freed", "members", "parts", "rendezvous", "side")

    def __init__(
        self, context: Context, members: Members, flavor: int, parts: list[WindowPart], created_by: tuple[str, str]
    ) -> None:
        self.context, self.members, self.flavor, self.parts = context, members, flavor, parts
        self.created_by = created_by  # the call that created it, and its location
        self.side = context.sides[0]
        self.rendezvous: dict[int, WindowRendezvous] = {}
        self.freed = 0  # number of ranks that have freed it

    def all_windows(self) -> list[Window]:
        """Return all windows of the run that have not been freed."""
        return self.context.universe.state(OpenWindows).windows

    def on_failure(self, number: int) -> None:
        """End operations and calls that depend on a dead process with an error, on all ranks."""
        rank = self.members.index(number)
        if rank is None:
            return
        dead = self.parts[rank]
        for rendezvous in self.rendezvous.values():
            # even if the dead rank had made the call, because ranks that call now get an error
            for part in rendezvous.waiting:
                part.fail_collective()
        self.rendezvous.clear()
        for part in self.parts:
            if part.window is not None and part is not dead:
                part.on_failure(dead)
        for grant in dead.grants():
            grant.period.close()

    def is_freed(self) -> bool:
        """Whether all living ranks have freed it."""
        if self.context.fault_state is None:
            return self.freed == len(self.parts)
        failed = self.context.fault_state.failed
        return all(part.window is None or part.process.number in failed for part in self.parts)

    def report_leak(self) -> None:
        """Report at the end of the run the ranks that have not freed it, and their open epochs."""
        call, place = self.created_by
        for part in self.parts:
            if part.window is not None and part.process.number not in self.context.universe.state(FailureState).dead:
                self.context.universe.report(
                    "window-leak", part.process.number, "it was never freed.", call=call, place=place
                )  # fmt: skip
                for opening, closing, place in part.open_epochs():
                    sentence = f"its epoch was never ended: {closing} is missing."
                    self.context.universe.report("epoch", part.process.number, sentence, call=opening, place=place)

    def arrive(self, part: WindowPart, call_name: str) -> WindowRendezvous:
        """Register a rank's next collective call; raise an error if other ranks have made a different call."""
        part.calls = number = part.calls + 1
        rendezvous = self.rendezvous.get(number)
        if rendezvous is None:
            rendezvous = self.rendezvous[number] = WindowRendezvous(self, call_name, number, part.process.name)
        elif rendezvous.call_name != call_name:
            part.calls -= 1
            raise call_mismatch(call_name, rendezvous.name, rendezvous.call_name, rendezvous.place, "window")
        rendezvous.waiting.append(part)
        if len(rendezvous.waiting) == len(self.parts):
            del self.rendezvous[number]
            for waiting in rendezvous.waiting:
                if waiting.process.buffer_checks is not None:
                    waiting.process.buffer_checks.influences += 1
                waiting.all_called = True
                waiting.try_complete()
        return rendezvous


class WindowPart:
    """The state of one rank in a window: its memory, its open epochs, and the window's properties.

    Operations in epochs of Fence are counted at origin and target, by the parity of the preceding fence's number: a rank may
    be one fence ahead of another, never two.
    """

    __slots__ = (
        "__weakref__", "accesses", "all_called", "attached", "attributes", "calls", "channels", "enclosed_epoch",
        "errhandler", "exposure", "fence_count", "fence_has_operations", "fence_place", "incoming", "info",
        "into", "keep_alive", "last_epochs", "latest_ends", "lock", "lock_all", "locks", "loop", "memory", "name",
        "network", "out", "outgoing", "pending_call", "posts", "process", "rank", "recorder", "started", "stores",
        "unit", "uses", "window",
    )  # fmt: skip

    window: Window | None

    def __init__(self, process: Process, rank: int, memory: Memory, unit: int, keep_alive: Any) -> None:
        self.process, self.rank, self.memory, self.unit = process, rank, memory, unit
        self.keep_alive = keep_alive  # the program's object that owns the memory
        self.loop, self.network, self.out = process.loop, process.network, process.out
        self.into = process.network.into[process.number]
        self.recorder = process.universe.recorder
        self.window = None  # during creation, and after Free
        self.channels: dict[int, WindowChannel] | None = None
        self.uses: list[tuple[int, WindowUse]] = []  # by target: uses of this rank's memory, if checked
        self.attached: dict[int, Any] | None = None  # memory by its address, if the window is dynamic
        # Properties.
        self.name: str | None = None
        self.info: Info | None = None
        self.errhandler: Errhandler | None = None
        self.attributes: Any = None
        # Collective calls.
        self.calls = 0  # number of collective calls made
        self.all_called = False  # whether this rank waits in a call that all ranks have made
        self.pending_call: Completion | None = None
        # Open epochs.
        self.fence_count = 0  # number of fences
        self.fence_place: SourceLine | None = None  # of the fence that opened the epoch; None if no epoch of Fence is open
        self.fence_has_operations = False  # whether that epoch has operations
        self.enclosed_epoch = ""  # the first lock or Start since that fence with operations: "Lock at ring.py:14"
        self.outgoing, self.incoming = [0, 0], [0, 0]  # operations whose end is unknown
        self.latest_ends: list[Time] = [0, 0]  # the latest end of the other operations
        self.locks: dict[int, Any] | None = None  # grants by target
        self.lock_all: Any = None  # the epoch of a Lock_all
        self.started: Any = None  # the epoch of a Start
        self.exposure: Any = None  # the epoch of a Post
        self.posts: dict[int, int] | None = None  # by target: number of Posts that arrived before their Start
        self.last_epochs: dict[int | None, str] | None = None  # by target: how its last epoch ended, for error messages
        # As a target.
        self.lock: TargetLock | None = None
        self.accesses: TargetAccesses | None = None
        self.stores: Stores | None = None  # if stores are checked

    def use_buffers(self, target: int, operation: WindowOperation) -> WindowUse:
        """Mark the buffers of an operation at the origin as in use until the program learns of its completion."""
        content = operation.content if operation.nbytes else None
        fence = (self, operation.epoch) if operation.epoch.__class__ is int else None
        assert self.process.buffer_checks is not None
        use = self.process.buffer_checks.of_window(content, getattr(operation, "result", None), fence)
        operation.content = self.process.buffer_checks.read_early(operation.content)
        self.uses.append((target, use))
        return use

    def end_uses(self, target: int | None = None) -> None:
        """Mark the buffers of operations on a target, or on all, as no longer in use."""
        ended = [use for rank, use in self.uses if target in (None, rank)]
        self.uses = [(rank, use) for rank, use in self.uses if target not in (None, rank)]
        for use in ended:
            use.end()

    def drop_references(self) -> None:
        """Break the reference cycles of a freed window, so that reference counting frees its memory."""
        self.end_uses()
        if self.process.buffer_checks is not None:
            exposed = self.process.buffer_checks.exposed
            exposed[:] = [entry for entry in exposed if entry[2] is not self]
        self.window = self.channels = self.lock = self.accesses = self.stores = self.keep_alive = self.attached = None
        self.memory = NO_BYTES

    @property
    def size(self) -> int:
        """Size of the memory in bytes."""
        return self.memory.nbytes if self.memory is not None else 0

    @property
    def base(self) -> int:
        """Address of the memory; 0 if there is none."""
        if isinstance(self.memory, Phantom) or self.memory is NO_BYTES or not len(self.memory):
            return 0
        return address_of(self.memory)

    def channel(self, target: int) -> WindowChannel:
        """Return the channel to another rank."""
        if self.channels is None:
            self.channels = {}
        channel = self.channels.get(target)
        if channel is None:
            channel = self.channels[target] = self._new_channel(target)
        return channel

    def _new_channel(self, target: int) -> WindowChannel:
        assert self.window is not None
        return WindowChannel(self, self.window.parts[target], self.window.side.box(target))

    def start_checks(self) -> None:
        """Start to check this rank's use of its memory; stores only if no other rank shares the memory."""
        assert self.window is not None
        if self.attached is not None or type(self.memory) is not ndarray or not self.size:
            return
        assert self.process.buffer_checks is not None
        self.process.buffer_checks.exposed.append((self.base, self.base + self.size, self))
        if self.window.flavor != WIN_FLAVOR_SHARED:
            self.stores = Stores(self)

    def record_buffer_use(self, low: int, high: int, writes: bool, user: tuple[str, str], fence: Any) -> AccessPeriod:
        """Record that an MPI call of this rank begins to use these bytes as a buffer, until `close` of the returned period.

        `user` is the call and its location. `fence` is the part and the epoch for a one-sided operation after a Fence.
        """
        process = self.process
        if self.accesses is None:
            self.accesses = TargetAccesses(self)
        assert process.buffer_checks is not None
        period = AccessPeriod(process.buffer_checks.until_informed)
        kind, (call, place) = WRITE if writes else READ, user
        epoch = fence[1] if fence is not None and fence[0] is self else None
        self.accesses.note_local(MemoryAccess(low, high, kind, process.number, place, period, call), epoch)
        return period

    def target_lock(self) -> TargetLock:
        """Return the lock of this rank's memory."""
        if self.lock is None:
            self.lock = TargetLock(self)
        return self.lock

    # -- collective calls ---------------------------------------------------------------------------------------------

    def synchronize(self, call_name: str) -> None:
        """Make a collective call: wait until all ranks have made it, and operations from and to this rank are complete."""
        assert self.window is not None
        self.check_all()
        self.pending_call = waits = Completion()
        try:
            waits.why = self.window.arrive(self, call_name)
        except BaseException:
            self.pending_call = None
            raise
        wait_one(self.loop, waits)
        if waits.error is not None:
            raise waits.error.mpi_error()

    # -- ranks that have died -----------------------------------------------------------------------------------------

    def failure(self, other: WindowPart) -> Any:
        """Return the reason why this rank cannot communicate with another one; None if it can."""
        fault_state = self.window.context.fault_state  # type: ignore[union-attr]  # the window is not freed
        return None if fault_state is None else fault_state.failure(self.process.number, other.process.number, False)

    def check_all(self) -> None:
        """Raise an error if some ranks have died, before a collective call."""
        fault_state = self.window.context.fault_state  # type: ignore[union-attr]  # the window is not freed
        if fault_state is not None:
            fault_state.check(self.process.number, None, True)

    def fail_collective(self) -> None:
        """End this rank's collective call with an error."""
        call, self.pending_call = self.pending_call, None
        assert call is not None
        assert self.window is not None
        call.error = self.window.context.fault_state.failure(self.process.number, None, True)
        call.complete(self.loop.now)

    def open_epochs(self) -> Iterator[tuple[str, str, str]]:
        """Yield the open epochs of this rank: the call that began it, the call that ends it, and where it began."""
        for grant in (self.locks or {}).values():
            yield "Lock", "Unlock", grant.place
        if self.lock_all is not None:
            yield "Lock_all", "Unlock_all", self.lock_all.place
        if self.started is not None:
            yield "Start", "Complete", self.started.place
        if self.exposure is not None:
            yield "Post", "Wait", self.exposure.place
        if self.fence_has_operations:
            yield "Fence", "another Fence", place_text(self.fence_place)

    def grants(self) -> list[Any]:
        """Return all grants of this rank."""
        epochs = (self.locks, *(epoch.grants for epoch in (self.lock_all, self.started) if epoch is not None))
        return [grant for grants in epochs if grants for grant in grants.values()]

    def on_failure(self, dead: WindowPart) -> None:
        """End the operations and epochs that depend on a dead rank."""
        for grant in self.grants():
            if grant.channel.receiver is dead:
                grant.fail(dead)
        if self.exposure is not None and dead.rank in self.exposure.missing:
            self.exposure.fail(dead)
        if self.lock is not None:
            self.lock.on_failure(dead.rank)

    def try_complete(self) -> None:
        """Complete a collective call that all ranks have made, if no operation of the epoch is in transit."""
        before = self.fence_count & 1
        if not self.outgoing[before] and not self.incoming[before]:
            self.all_called = False
            call, self.pending_call = self.pending_call, None
            now, latest = self.loop.now, self.latest_ends[before]
            for _, use in self.uses:  # from now on other ranks may proceed
                use.leave_windows()
            call.complete(latest if latest > now else now)  # type: ignore[union-attr]  # every rank has entered the fence

    def record_epoch_end(self, target: int | None, description: str) -> None:
        """Record how an epoch ended, for error messages about calls outside an epoch."""
        if self.last_epochs is None:
            self.last_epochs = {}
        self.last_epochs[target] = description
