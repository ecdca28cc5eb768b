"""RankOfRun: the recording of a rank of the emulator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fakempi import MPI
from fakempi.errors import printable
from fakempi.extensions.recorder.communicators import SELF, CommNumbers, groups
from fakempi.extensions.recorder.lines import CallLog, short
from fakempi.extensions.recorder.rank_recording import RankRecording
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.process import Process
from fakempi.mpi.buffers.pickling import PickleSettings, process_wide

KEPT_LINES = 2000
"""Lines that are kept as objects; then they are joined, which takes a third of the memory."""


class SharedByRanks:
    """Objects that the ranks of a run share: the trace recorder, and the words of members, which are often the same."""

    def __init__(self, recorder: Any, ranks: int) -> None:
        self.recorder, self.ranks = recorder, ranks
        self._groups: dict[tuple[Members, Members], str] = {}

    def site(self, number: int) -> str:
        """Return the file and the line of a call of the trace."""
        _, file, line = self.recorder.calls.values[number]
        return printable(f"{short(file)}:{line}") if line else "?"

    def groups(self, local: Members, remote: Members) -> str:
        """Return the words of the members of a communicator; -1 for processes that the run has spawned."""
        found = self._groups.get((local, remote))
        if found is None:
            both = [[number if number < self.ranks else -1 for number in side] for side in (local, remote)]
            found = self._groups[local, remote] = groups(both[0], both[1] if remote is not local else [])
        return found


class LinesOfRun(CallLog):
    """The lines of a rank in memory. Times are modeled seconds, and call sites those of the trace."""

    poll_time = 20e-6

    def __init__(self, process: Process, shared: SharedByRanks) -> None:
        loop = process.loop
        self.now = lambda: float(loop.now)
        self._shared = shared
        self._lines: list[str] = []
        self._last_skip: tuple[float, float, int] | None = None
        self._chunks: list[bytes] = []
        self._sites: set[int] = set()
        self.last = 0.0

    def site(self, depth: int) -> int:
        """Return the number of the call in the trace."""
        number: int = self._shared.recorder.call()
        if number not in self._sites:
            self._sites.add(number)
            self._lines.append(f"site {number} {self._shared.site(number)}")
        return number

    def keep(self, end: float) -> bool:
        """Join the lines if there are many; otherwise return True."""
        if len(self._lines) <= KEPT_LINES:
            return True
        self._join()
        return False

    def end(self, how: str) -> None:
        """Do nothing: the end of the run adds the last line (`finish`)."""

    def finish(self, clock: float) -> None:
        """Add the last line: the rank has completed at this time."""
        self._lines.append(f"end {clock - self.last} completed")

    def text(self) -> bytes:
        """Return all lines."""
        self._join()
        return b"".join(self._chunks)

    def _join(self) -> None:
        if self._lines:
            self._chunks.append(("\n".join(self._lines) + "\n").encode(errors="backslashreplace"))
            self._lines.clear()


class CommsOfRun(CommNumbers):
    """The communicators of a rank; the number of the context identifies a communicator on all ranks."""

    def __init__(self, process: Process, log: LinesOfRun, shared: SharedByRanks) -> None:
        self._process, self._shared = process, shared
        super().__init__(log, self.handle(process.comm_world))

    def handle(self, comm: Any) -> int:
        """Return the number of the context."""
        number: int = comm._context.number
        own = self._process.comm_self  # made when the program first uses it
        if own is not None and own._context.number not in self._numbers:
            self._numbers[own._context.number] = SELF
        return number

    def of_context(self, context: int, members: Members) -> int:
        """Return the number of an intracommunicator of which the program has no handle."""
        number = self._numbers.get(context)
        if number is None:
            number = self._define(context, f"- {context} {self._shared.groups(members, members)}")
        return number

    def identity(self, comm: Any, parent: int | None) -> str:
        """Return the number of the context, and the members."""
        return f"- {comm._context.number} {self._shared.groups(comm._side.members, comm._peer_side.members)}"


class SizesOfObjects:
    """The sizes of pickled objects: during a call with objects, the rank's settings of MPI.pickle count them."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._before: PickleSettings | None = None
        self._counts = False
        self.written: list[int] = []
        self.read: list[int] = []

    def clear(self) -> None:
        """Count from now on, until `restore`."""
        self.written.clear()
        self.read.clear()
        self._before, self._counts = self._process.pickle, True
        settings = self._before or process_wide.settings or PickleSettings()
        self._process.pickle = PickleSettings(
            _counted(settings.dumps, lambda data, result: self.written.append(len(result))),
            _counted(settings.loads, lambda data, result: self.read.append(len(data))),
        )

    def restore(self) -> None:
        """Use the settings of the program again."""
        if self._counts:
            self._process.pickle, self._counts = self._before, False


def _counted(function: Callable[[Any], Any], count: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
    def call(data: Any) -> Any:
        result = function(data)
        count(data, result)
        return result

    return call


class RankOfRun(RankRecording):
    """The recording of a rank.

    Attributes
    ----------
    process
        The rank.
    inside
        Whether a call of its program is in progress: calls that fakempi makes there are not recorded.
    wrapped
        The wrappers of the functions that it has called.
    other_threads
        How often threads of the rank have called functions, which is not recorded.
    calling
        Threads of the rank that are in a call.
    expected
        Channels of partitioned receives that were started before the send was made, and the partitions that were assumed.
    """

    communicators: CommsOfRun
    log: LinesOfRun
    pickles: SizesOfObjects

    def __init__(self, process: Process, shared: SharedByRanks) -> None:
        log = LinesOfRun(process, shared)
        super().__init__(MPI, log, CommsOfRun(process, log, shared), SizesOfObjects(process))
        self.process = process
        self.inside = False
        self.wrapped: dict[Any, Any] = {}
        self.other_threads: Counter[str] = Counter()
        self.calling: set[Any] = set()
        self.expected: list[tuple[Any, int]] = []

    @contextmanager
    def in_thread(self, name: str) -> Iterator[None]:
        """Count a call that a thread of the rank makes in this context."""
        self.other_threads[name] += 1
        task = self.process.loop.running
        self.calling.add(task)
        try:
            yield
        finally:
            self.calling.discard(task)

    def finish(self) -> None:
        """Add the last lines: the run has completed."""
        for name, count in self.other_threads.items():
            self.log.define(f"thread {count} {name}")
        if any(channel.parts not in (None, parts) for channel, parts in self.expected):
            self.log.define(f"other 0 0 {self.log.site(0)} Precv_init_with_more_or_fewer_partitions_than_Psend_init")
        self.log.finish(float(self.process.task.clock))
