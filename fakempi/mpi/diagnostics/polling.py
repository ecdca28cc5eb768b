"""Ranks that poll when no other event is possible: modeled time advances, or the run is a livelock.

The agenda is empty, and all runnable ranks have polled without success. The first thousand such rounds take no modeled time,
so that occasional tests between other work cost nothing. Each later round takes a little (`run(poll_cost=...)`), so that
time-outs expire. If the program reads clocks, the step grows with the time spent, so that an hour passes quickly.

It is a livelock if every polling rank has returned to an earlier state: the same line, the same content of everything that
its code can reach (snapshot.py), and no clock or other external state was read. A rank that counts its polls does not return
to an earlier state, and it is unknown whether it will stop. Such a run ends after 100,000 rounds, with a report that gives
this number.
"""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Callable
from dis import get_instructions, hasjabs, hasjrel
from math import inf, nextafter
from types import CodeType, FrameType, ModuleType

from fakempi.core.hooks import Layer, OnPoll
from fakempi.core.interpreter import is_tested
from fakempi.core.kernel.agenda import Time
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.mpi.base.call_site import cached_by_code, frame_at, is_ours
from fakempi.mpi.base.context import Contexts
from fakempi.mpi.base.process import Universe
from fakempi.mpi.diagnostics.snapshot import Opaque, is_library_file, named_globals, snapshot
from fakempi.mpi.diagnostics.waits import DeadlockState

FREE_ROUNDS = 1000
"""Rounds that take no modeled time."""

WINDOW_ROUNDS = 64
"""Rounds within which a rank must return to an earlier state: a loop may test this number of requests in turn."""

MAX_ROUNDS, EXTERNAL_POLLS = 100_000, 10_000_000
"""A run ends after `MAX_ROUNDS` rounds even if its ranks do not return to earlier states: half a second for one rank. If a
rank reads external state, such as the real clock, it may need more real time: then the run ends after `EXTERNAL_POLLS`
polls."""

STEP_FRACTION, MAX_POLLING_SECONDS = 1024, 1e8
"""If clocks are read, a round takes 1/STEP_FRACTION of the modeled time spent polling, so that a time-out expires at most
that much too late. The run ends after `MAX_POLLING_SECONDS` modeled seconds, three years: 27,000 rounds."""

EXTERNAL_MODULES = frozenset({
    "time", "datetime", "posix", "nt", "select", "_socket", "_ssl", "io", "_io", "random", "_random", "_signal",
})  # fmt: skip
"""C modules whose functions may return another value at each call, independently of the program."""

ONE_WAY = frozenset({"write", "writelines", "flush"})
"""Functions of these modules that only write."""

JUMPS = frozenset((*hasjrel, *hasjabs))
FILES = (io.IOBase,)
"""Types compared by identity: reading a file counts as reading external state."""


class IdlePolling:
    """Called by the loop after each round of unsuccessful polls: returns the time of the next round; None ends the run."""

    def __init__(self, universe: Universe, poll: Time) -> None:
        self.universe, self.poll = universe, poll
        self.window = ObservationWindow(universe)
        self.rounds = 0  # at the last call
        self.read = 0  # number of clock reads at the last call
        self.until = FREE_ROUNDS  # the last round of the next window
        self.since: Time = 0  # time of the first round that takes time
        self.ended = False  # whether polling has ended

    def __call__(self) -> Time | None:
        """Return the time of the next round, after a round in which ranks only polled."""
        loop, universe = self.universe.loop, self.universe
        rounds = loop.idle_rounds
        if rounds <= self.rounds:  # another event has happened since
            self.until, self.ended = FREE_ROUNDS, False
            self.window.close()
        reads, self.read, self.rounds = universe.clock_reads != self.read, universe.clock_reads, rounds
        if self.ended:
            return None
        if rounds == self.until - WINDOW_ROUNDS:
            self.window.open()
        elif rounds == self.until - WINDOW_ROUNDS + 1:
            self.window.record()
        elif self.until - WINDOW_ROUNDS < rounds < self.until:
            self.ended = self.window.all_returned()
        elif rounds == self.until:
            self.until *= 2
            self.window.close()
        max_rounds = max(MAX_ROUNDS, EXTERNAL_POLLS // len(loop.pollers) if self.window.read_external else 0)
        if rounds >= max_rounds or (rounds > FREE_ROUNDS and loop.now - self.since > MAX_POLLING_SECONDS):
            self.ended, universe.state(DeadlockState).unsuccessful_polls = True, rounds
        if self.ended:
            self.window.close()
            return None
        return loop.now if rounds < FREE_ROUNDS else self._later(reads)

    def _later(self, reads: bool) -> Time:
        loop = self.universe.loop
        now = loop.now
        if self.rounds == FREE_ROUNDS:
            self.since = now
        step = max(self.poll, (now - self.since) / STEP_FRACTION) if reads and self.poll else self.poll
        at = now + step
        if step and not at > now:
            at = nextafter(now, inf)  # the step is below the precision of a float
        for task in loop.pollers:
            task.polled_at = at  # one poll per round, not two
        return at


class ObservationWindow(OnPoll):
    """Some rounds in which the states of polling ranks are recorded and compared."""

    layer = Layer.CHECKS

    def __init__(self, universe: Universe) -> None:
        self.universe, self.loop = universe, universe.loop
        self.is_open = False
        self.read_external = False  # whether a rank has read external state in this window
        self.not_returned: dict[Task, object] = {}  # ranks that have not returned to their first state
        self.kept: list[object] = []  # objects compared by address: kept alive
        self.hook = self._called

    def open(self) -> None:
        """Start to observe which functions polling ranks call."""
        self.is_open, self.read_external = True, False
        self.loop.subscribe(self)

    def record(self) -> None:
        """Record the states of all polling ranks."""
        self.before = self._activity_counters()
        self.not_returned = {task: state_of(frame, self.kept) for task, frame in self._frames(self.loop.pollers).items()}

    def close(self) -> None:
        """Stop observing."""
        self.is_open = False
        if sys.getprofile() is self.hook:
            sys.setprofile(None)
        self.not_returned.clear()
        self.kept.clear()
        self.loop.unsubscribe(self)

    def all_returned(self) -> bool:
        """Return whether all ranks have returned to their recorded states and nothing else has happened."""
        if not self.is_open or self.read_external or self._activity_counters() != self.before:
            return False
        kept: list[object] = []
        for task, frame in self._frames([task for task in self.loop.pollers if task in self.not_returned]).items():
            if self.not_returned[task] is not None and state_of(frame, kept) == self.not_returned[task]:
                del self.not_returned[task]
        return not self.not_returned

    def _activity_counters(self) -> tuple[int, int, int, int]:
        """Return counters that change if a rank does anything else or reads a clock."""
        universe = self.universe
        sent, contexts = sum(port.sent for port in universe.network.out), universe.state(Contexts).count
        return universe.clock_reads, sent, len(self.loop.tasks), contexts

    def _frames(self, tasks: list[Task]) -> dict[Task, FrameType]:
        """Return the frames of tasks; one of them may be the caller."""
        frames = self.loop.backend.frames(tasks)
        return {task: frames.get(task) or frame_at(0) for task in tasks}

    def poll(self, proceed: Callable[[], None]) -> None:
        """Observe the calls of a task between two unsuccessful polls."""
        if sys.getprofile() is self.hook:
            sys.setprofile(None)
        proceed()
        if self.is_open and sys.getprofile() is None:
            sys.setprofile(self.hook)

    def _called(self, frame: FrameType, event: str, function: object) -> None:
        if not self.is_open or self.read_external or self.loop.ending:
            sys.setprofile(None)
        elif event == "c_call":
            self.read_external = reads_external_state(frame, function)


def register(universe: Universe) -> None:
    """Let modeled time advance in a run whose ranks only poll."""
    universe.loop.next_poll = IdlePolling(universe, universe.options.poll_cost)


def reads_external_state(frame: FrameType, function: object) -> bool:
    """Return whether a C function that a program calls in this frame may return another value at each call."""
    return _may_differ(function) and not is_ours(frame) and not _collects_garbage(frame)


def _collects_garbage(frame: FrameType | None) -> bool:
    """Return whether a callback of the garbage collector is active, which may run at any time: Hypothesis measures it."""
    codes = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    while frame is not None and frame.f_code not in codes:
        frame = frame.f_back
    return frame is not None


def _may_differ(function: object) -> bool:
    owner = getattr(function, "__self__", None)
    kind = owner if isinstance(owner, type) else type(owner)
    module = getattr(function, "__module__", None) or (owner.__name__ if isinstance(owner, ModuleType) else kind.__module__)
    return str(module).partition(".")[0] in EXTERNAL_MODULES and getattr(function, "__name__", "") not in ONE_WAY


def state_of(frame: FrameType | None, kept: list[object]) -> tuple[object, ...] | None:
    """Return the lines of a task and everything that its code can reach, as a value that can be compared later.

    None if it is unknown: an object cannot be compared, or the innermost loop is a `for`, whose iterator may end.
    """
    places: list[object] = []
    values: list[object] = []
    loop_kind = ""
    try:
        while frame is not None and frame.f_code is not Loop.begin.__code__:
            if not is_ours(frame):
                loop_kind = loop_kind or _loop_around(frame.f_code, frame.f_lasti)
                if loop_kind == "for":
                    return None
                code, variables = frame.f_code, frame.f_locals
                places += id(code), frame.f_lasti, len(values)
                if variables is not frame.f_globals:
                    values += [variables[name] for name in sorted(variables)]
                if not is_library_file(code.co_filename):
                    values += named_globals(code, frame.f_globals)
            frame = frame.f_back
        return (*places, *snapshot(values, kept, FILES)) if loop_kind == "while" else None
    except Opaque:
        return None


def _loop_around(code: CodeType, at: int) -> str:
    """Return the kind of the innermost loop around an instruction: "for", "while", or an empty string.

    In the bytecode of another version of Python, a `for` loop might look like a `while` loop: it is unknown there.
    """
    if not is_tested():
        return ""
    return next((kind for _, first, last, kind in _loops(code) if first <= at <= last), "")


@cached_by_code
def _loops(code: CodeType) -> list[tuple[int, int, int, str]]:
    """Return the loops in code, the shortest first: length, first instruction, last instruction, and kind."""
    names, jumps = {}, []
    for step in get_instructions(code):
        names[step.offset] = step.opname
        if step.opcode in JUMPS and step.argval <= step.offset:
            jumps.append((step.argval, step.offset))
    return sorted((last - first, first, last, "for" if names[first] == "FOR_ITER" else "while") for first, last in jumps)
