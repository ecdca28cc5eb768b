"""Optional services of a run, as Protocols: `mpi` calls them, and packages above it implement them.

A run without a service has None instead (`Universe.recorder`, `.fused`, `.choices`, `.buffer_checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from contextlib import AbstractContextManager
from typing import Any, Protocol

from fakempi.core.kernel.agenda import Time
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.ports import Port
from fakempi.mpi.interfaces.arrays import Array

Region = tuple[int, object]
"""An open region of the trace, as `TraceService.leave` takes it."""


class TraceService(Protocol):
    """Records what happens in a run. Implemented by `fakempi.trace`."""

    def call(self) -> int:
        """Return the number of the call that the program has made."""

    def region_and_call(self) -> tuple[int, int]:
        """Return the current region of the running task, and its call."""

    def computed(self, rank: int, start: Time, end: Time) -> None:
        """Record that a rank computes from one time to another."""

    def enter(
        self, rank: int, name: str, *, algorithm: str = "", call: int = 0, lane: int = 0, context: int = 0, number: int = 0,
        root: int = -1, nbytes: int = 0, algorithm_of_part: bool = False,
    ) -> Region:  # fmt: skip
        """Open a region of the running task, and return the arguments of `leave`."""

    def record(
        self, rank: int, name: str, start: Time, end: Time, *, call: int = 0, context: int = 0, number: int = 0
    ) -> None:  # fmt: skip
        """Record an interval as a region that contains nothing."""

    def in_call(self) -> bool:
        """Return whether the running task is in a region that is a call."""

    def leave(self, row: int, before: object) -> None:
        """Close the region that the running task has opened last."""


class FusedCollectives(Protocol):
    """Simulates collective calls from the schedules of their algorithms. Implemented by `fakempi.extensions.fused`."""

    def program(self, case: Any) -> object:
        """Return the program of a call (a `FusedCase`)."""

    @property
    def calls(self) -> Any:
        """The counts of fused and emulated calls (`CallCounts`)."""

    def count_emulated(self, entry: object, why: str) -> None:
        """Count a call that is emulated; raise an error if every collective call has to be fused."""

    def enter(
        self, comm: Any, comms: tuple[Any, ...] | None, entry: object, program: Any, op: object, tag: int,
        arrays: tuple[object, ...],
    ) -> bool:  # fmt: skip
        """Enter a call; returns True when it has been simulated, False if its messages have to be sent.

        `comms` are the communicators of collective contexts; None if the rank has not needed them yet.
        """

    def undo_pending(self) -> bool:
        """Undo the pending call, if there is one, so that its messages are sent; returns whether there was one."""


class LibraryModeProtocol(Protocol):
    """Assumptions of the model checker about the MPI library."""

    @property
    def synchronizing(self) -> bool:
        """Whether every collective call synchronizes its ranks."""

    @property
    def late(self) -> bool:
        """Whether the data of nonblocking operations move as late as MPI allows, otherwise as early."""


class ChoicePoints(Protocol):
    """Decides what MPI leaves open, in a run of the model checker. Implemented by `fakempi.modelcheck.steering`."""

    @property
    def mode(self) -> LibraryModeProtocol:
        """The assumptions about the MPI library."""

    def steer(self, universe: object) -> None:
        """Take control of a run before it starts."""

    def mailbox(self, owner: int, into: Port, name: object) -> Mailbox:
        """Return a new mailbox: its matches are choices."""

    def inner_limit(self) -> int:
        """The eager limit in bytes of messages inside collective calls."""

    def is_eager(self, nbytes: int) -> bool:
        """Whether a standard send of the program is buffered."""

    def keep_table(self, table: object) -> None:
        """Record the table of algorithms that the run uses."""

    def note_unexplored(self, what: str) -> None:
        """Record something that is not explored."""

    def synchronized(self, call_name: str = "") -> None:
        """Record that the running rank synchronizes with others."""

    def may_return_early(self, call: str, place: str) -> None:
        """Record a collective call that a rank may leave before all ranks have entered it."""

    def note_pending_buffer(self, call: str, place: str) -> None:
        """Record a nonblocking call whose data may move at different times."""

    def completed(self, requests: Sequence[object], how: str, *, polls: bool, keeps: bool) -> Sequence[int] | None:
        """Decide which completed requests a call reports: "all", "any" or "some". None: not yet."""

    def all_complete(self, awaited: Callable[[], Sequence[object]]) -> bool:
        """Decide whether Parrived, or the Test of a window, finds all operations completed."""

    def is_known(self, operation: object) -> bool:
        """Return whether the program knows that an operation has completed."""

    def now_known(self, operation: object) -> None:
        """Record that the program knows that an operation has completed."""

    def probe(self, receive: PostedReceive, polls: bool, takes: bool, identifies: bool) -> Envelope | None:
        """Decide which message a probe finds; None if none."""

    def await_shared_pointer(self, file: object) -> None:
        """Wait for the running rank's turn at the shared pointer of a file."""

    def update_window_lock(self, lock: object) -> None:
        """Decide from now on which rank gets the lock of a window next."""

    def add_atomic_operation(self, operation: object, call_site: tuple[str, str], go: Callable[[], None]) -> None:
        """Decide from now on when an atomic operation on a window is carried out."""


class Use(Protocol):
    """The use of a buffer by an operation."""

    def end(self) -> None:
        """Check the buffer: the program learns that the operation has completed."""

    def drop(self) -> None:
        """Stop watching the buffer without a check."""


class WindowUse(Use, Protocol):
    """The use of buffers at the origin by an operation on a window."""

    def leave_windows(self) -> None:
        """Record that other ranks may know that the operation no longer uses memory of windows."""

    def around(self, work: Callable[[], object]) -> Callable[[], None]:
        """Return the work, with a check of the buffers before it."""


class PartUses(Use, Protocol):
    """The uses of a buffer by the partitions of one operation."""

    def send(self, number: int, envelope: Envelope) -> None:
        """Begin to use a partition that is sent."""

    def receive(self, number: int, receive: PostedReceive) -> None:
        """Begin to use a partition that is received."""

    def arrived(self, number: int) -> None:
        """Check a partition: the program learns that it has arrived."""


class Closable(Protocol):
    """An access of a process to its own window."""

    def close(self) -> None:
        """End the access."""


class Exposed(Protocol):
    """A process's memory in a window."""

    def record_buffer_use(self, start: int, end: int, writes: bool, user: tuple[str, str], fence: object) -> Closable:
        """Record that the process itself uses bytes of it."""


class LockGrants(Protocol):
    """Counts the lock grants of all windows."""

    def granted(self, exclusive: bool) -> None:
        """Record that a rank gets the lock of a window."""


class RequestChecks(Protocol):
    """Checks the buffers that requests of one process use: `ProcessBufferChecks`, or only those of sends."""

    def of(self, operation: object, buffer: object) -> Use | None:
        """Begin to watch the buffer of an operation."""


class ProcessBufferChecks(RequestChecks, Protocol):
    """The buffers that operations of one process use."""

    @property
    def roots(self) -> Sized:
        """Objects whose memory is in use."""

    exposed: list[tuple[int, int, Exposed]]
    """The process's memory in windows: first address, last address, and the part of the window."""

    one_sided: int
    """How many of the messages that its port has sent belong to windows."""

    released: list[int]
    """How many locks of windows it has released: shared ones, exclusive ones."""

    influences: int
    """How often other ranks may have learned of its progress, other than by a message from it."""

    @property
    def checks(self) -> LockGrants:
        """The checks of the whole run."""

    def of_file(self, operation: object, buffer: object, writes: bool) -> Use | None:
        """Begin to watch the buffer of an access to a file."""

    def of_window(self, reads: object, writes: object, fence: object) -> WindowUse:
        """Begin to watch the buffers of an operation on a window."""

    def read_early(self, payload: Any) -> Any:
        """Return the data of an operation on a window, or a copy of them if they are read at the call."""

    def let_data_move(self) -> None:
        """After a nonblocking call of the model checker, let data arrive that may arrive early."""

    def check_blocking_use(self, payload: object, writes: bool) -> list[Closable]:
        """Check a buffer that a blocking call uses; the call closes the returned objects when it ends."""

    def writable_alias(self, array: Array) -> Array | None:
        """Return a writable alias of an array that was made read-only by these checks, or None."""

    def outgoing(self) -> tuple[int, int]:
        """Return numbers that change whenever another rank may learn what this one has done."""

    def until_informed(self) -> Callable[[], bool]:
        """Return a function that returns True as long as no other rank can know of this rank's progress up to now."""

    def explain(self, error: BaseException) -> None:
        """Report a finding if the program failed because it wrote to a buffer in use."""


class CpuMeter(AbstractContextManager[None], Protocol):
    """Charges CPU time to the clock of a process. Implemented by `fakempi.extensions.cpu_time`.

    As a context manager around a call of fakempi, it stops the measurement.
    """

    depth: int
    """How many calls of fakempi are in progress, one inside another."""


class Interruptible(Protocol):
    """The time limit and progress report of a run. Implemented by `fakempi.extensions.monitoring`."""

    def interrupt(self, error: BaseException, raises: bool) -> BaseException | None:
        """End the run, which raises this error. Return the error, or None if the run has already ended."""


class Stoppable(Protocol):
    """Ends a run on request. Implemented by `fakempi.extensions.monitoring`."""

    def stop(self, error: BaseException) -> None:
        """End the run from another thread: `run` raises this error. Do nothing if the run has already ended."""
