"""Tasks that wait for locks: the holder of each lock, the line that acquired it, and the tasks that wait for it.

Python's locks do not know their holder or their waiters, so this module records both. The lock itself is acquired and
released as usual, so that it also works with threads outside of runs. A task that has to wait for another task waits in the
loop: other tasks run, time-outs take modeled time, and a cycle of such waits is reported as a deadlock.
"""

from __future__ import annotations

from _thread import RLock
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any
from weakref import ref

from fakempi.core.hooks import Layer
from fakempi.core.kernel.loop import ENDED_LIMIT, Ended, Loop
from fakempi.core.kernel.task import Task
from fakempi.errors.paths import short_path
from fakempi.extensions.threads.rank_threads import RankThread
from fakempi.extensions.threads.raw import acquire, allocate_lock, monotonic, release
from fakempi.mpi.base.call_site import frame_at, is_library, is_ours
from fakempi.mpi.base.region import wait_region
from fakempi.mpi.base.waiting import Awaited

CHECK_SECONDS = 0.05
"""Seconds between two checks for tasks that a thread outside of the run has woken."""

MAX_WAIT = 5.0
"""When no task can run: seconds of real time for which the run waits for a thread outside of it to wake a task."""

CALLS_PER_POLL = 100
"""Unsuccessful non-blocking calls of a rank at one time, after which other tasks may run."""

ACQUISITIONS_PER_POLL = 10_000
"""Acquisitions of locks by a rank, without waiting, after which other tasks may run: it may wait for a thread in a loop."""


SLICE = 0.05
"""Seconds between two tests whether the run ends, in a task that waits for a lock outside of the loop."""

_Lock = type(allocate_lock())


class Hold:
    """A lock that a task holds: the line that acquired it, and the number of acquisitions.

    `earlier` is true if the task has acquired the lock before the lock types were replaced; it may then release the lock
    without a record.
    """

    __slots__ = ("acquired_at", "count", "earlier", "inside", "lock", "task")

    def __init__(self, lock: Any, task: Task, frame: FrameType | None, earlier: bool = False) -> None:
        self.lock = ref(lock)  # a lock may be freed while it is held, and another one created at its address
        self.task, self.count, self.earlier = task, 1, earlier
        self.inside = frame is not None and is_library(frame)  # whether the lock is part of another object, such as a queue
        while frame is not None and (is_ours(frame) or is_library(frame)):
            frame = frame.f_back
        self.acquired_at: tuple[CodeType, int] | None = None if frame is None else (frame.f_code, frame.f_lineno)


class ThreadWait(Awaited):
    """A task that waits for an unknown time: for a lock, for an item of a queue, or for an event of its event loop."""

    __slots__ = ("awaited", "loop", "task", "until", "woken")

    def __init__(self, task: Task, awaited: Any) -> None:
        super().__init__()
        self.task, self.awaited = task, awaited
        self.loop: Any = task.agenda
        # real time at which the wait ends, if a thread outside of the run has to wake the task
        self.until: float | None = None
        self.woken = False

    def describe(self) -> str:
        """Return the holder and the line that acquired the lock: `a lock that rank 1 acquired at work.py:12`."""
        hold = hold_of(self.awaited)
        if hold is None:
            return ""
        rank = "this rank" if hold.task.owner is self.task.owner else hold.task.owner.name
        thread = hold.task.handle if isinstance(hold.task.handle, RankThread) else None
        if thread is not None and thread.ends_with(self.awaited):
            return f"thread {thread.name!r} of {rank}"
        if hold.task is self.task and hold.inside:
            return ""  # a condition's own lock, which another task releases
        code, line = hold.acquired_at or (None, 0)
        acquired = "holds" if code is None else f"acquired at {short_path(code.co_filename)}:{line}"
        by = f"thread {thread.name!r} of {rank}" if thread is not None else rank
        return f"a lock that {by} {acquired}"

    def awaits(self) -> tuple[int, ...]:
        """Return the rank that holds the lock, if it is another rank."""
        hold = hold_of(self.awaited)
        return () if hold is None or hold.task.owner is self.task.owner else (hold.task.owner.number,)

    def wake(self) -> None:
        """Let the task try again."""
        if not self.woken and self.end is None:
            self.woken = True
            self.loop.run_at(self.loop.now, self.task)

    def alarm(self) -> None:
        """End the wait by its time-out, unless the task was woken."""
        if not self.woken and self.end is None:
            self.end = self.loop.now
            self.loop.run_at(self.loop.now, self.task)


held: dict[int, Hold] = {}
"""Address of a lock -> its hold. `forget` removes the locks that tasks of a finished run held."""


def hold_of(lock: Any) -> Hold | None:
    """Return the hold of the task that holds a lock; None if no task is known to hold it."""
    hold = held.get(id(lock))
    return None if hold is None or hold.lock() is not lock or (hold.earlier and is_free(lock)) else hold


def is_free(lock: Any) -> bool:
    """Return whether nothing holds a lock. Only its text shows this of an RLock before Python 3.14."""
    return not lock.locked() if hasattr(lock, "locked") else repr(lock).startswith("<unlocked")


def wait_for(task: Task, awaited: Any, seconds: float | None, ready: Callable[[], bool]) -> bool:
    """Let other tasks run until the task is woken; return False if the time-out elapsed first.

    `ready` tests whether a thread outside of the run released the object just before the task was added to the queue.
    """
    loop: Loop = task.agenda  # type: ignore[assignment]  # tasks of a run are on the agenda of a Loop
    wait = ThreadWait(task, awaited)
    queues = waits_of(loop).queues
    queue = queues.setdefault(id(awaited), [])
    queue.append(wait)
    task.reason, task.since = wait, loop.now
    try:
        if ready():
            return True
        if seconds is not None and waits_of(loop).has_helpers():
            wait.until = monotonic() + seconds  # modeled time would run ahead while helper threads work in real time
        elif seconds is not None:
            loop.call_at(loop.now + seconds, wait.alarm)
        with wait_region(task.owner, "wait for thread"):
            loop.wait()
    finally:
        task.reason = None
        queue.remove(wait)
        if not queue:
            queues.pop(id(awaited), None)
        if wait.end is None:
            wait.end = loop.now
    return wait.woken


def wait_outside(task: Task, take: Callable[[float], bool], timeout: float) -> bool:
    """Wait for a lock that no task of the run holds; return False if the time-out elapsed first.

    `take` acquires the lock within some seconds of real time. No task is interrupted here, because it would not know whether
    it holds the lock. So the task itself tests whether the run ends.
    """
    loop: Loop = task.agenda  # type: ignore[assignment]  # tasks of a run are on the agenda of a Loop
    until = None if timeout == -1 else monotonic() + timeout
    while True:
        rest = SLICE if until is None else until - monotonic()
        if take(min(SLICE, max(rest, 0))):
            return True
        if rest <= 0:
            return False
        if task.number not in loop.tasks:  # the task was abandoned
            raise Ended
        if loop.ending or loop.has_layer(Layer.TIME_LIMIT):
            loop.wait()


def is_awaited(awaited: Any) -> bool:
    """Return whether a task of any run waits for an object."""
    key = id(awaited)
    return any(key in waits.queues for waits in tuple(_by_loop.values()))


def is_alone(task: Task, awaited: Any) -> bool:
    """Return whether no other task of the run waits for the object that a task waits for."""
    return len(waits_of(task.agenda).queues.get(id(awaited), ())) <= 1


def wake_one(awaited: Any, mine: Any) -> None:
    """Wake the first task that waits for an object and is not woken yet; `mine` is the calling task, if any."""
    for waits in tuple(_by_loop.values()):
        for wait in tuple(waits.queues.get(id(awaited), ())):
            if not wait.woken and wait.end is None:
                if mine is not None and mine.agenda is wait.loop:
                    wait.wake()
                else:
                    waits.wake_from_outside(wait)
                return


class LoopWaits:
    """Counters and wake-ups of one loop: unsuccessful calls, wake-ups from outside of the run, turns of daemons."""

    def __init__(self) -> None:
        self.queues: dict[int, list[ThreadWait]] = {}
        """Address of the awaited object -> waits in order of arrival. Other OS threads only read it, and iterate over
        copies, so that concurrent runs do not interfere."""
        self.daemon_turns = 0
        self.unsuccessful: dict[Any, tuple[Any, int]] = {}  # by rank: the time and the number of its calls at that time
        self.acquired: defaultdict[Any, int] = defaultdict(int)  # by rank: acquisitions without waiting since its last poll
        self.named: dict[Any, int] = {}  # process -> how many of its threads got a name by number
        self.polled: Any = None  # the task that polled last because it acquired many locks, and the agenda's position then
        self.hub: int | None = None  # identifier of the OS thread that has called `run`
        self.seen: Any = None  # the state of the tasks that are not daemons, at the last check (idle_daemons.py)
        self.woken: deque[ThreadWait] = deque()  # waits that threads outside of the run have ended
        self.sentinels: set[Any] = set()  # locks that are released when a rank thread ends, of those that have not ended
        self.helpers: list[Any] = []  # OS threads that serve process pools of ranks (pool_threads.py)
        self.signal = allocate_lock()  # free when `woken` is not empty
        acquire(self.signal)

    def wake_from_outside(self, wait: ThreadWait) -> None:
        """Add a wake-up. Called in an OS thread outside of the run, which must not change other state of the run."""
        self.woken.append(wait)
        with suppress(RuntimeError):  # it is free already
            release(self.signal)

    def await_outside(self, loop: Loop, seconds: float) -> bool:
        """When no task can run: return whether a thread outside of the run wakes one within this time.

        As long as a helper thread is alive, there is no time limit.
        """
        waits = [wait for queue in self.queues.values() for wait in queue]
        if loop.ending or not waits:
            return False
        until = monotonic() + seconds
        while not self.woken and (monotonic() < until or self.has_helpers()):
            acquire(self.signal, True, CHECK_SECONDS)
            late = [wait for wait in waits if wait.until is not None and wait.until <= monotonic()]
            for wait in late:
                wait.alarm()
            # a time limit was exceeded: the next task that calls the loop ends the run
            if late or loop.has_layer(Layer.TIME_LIMIT):
                return True
            if self.wake_after_unseen_release():
                return True
        return wake_up(loop)

    def wake_after_unseen_release(self) -> bool:
        """Wake the first task of each lock that is free; return whether there is one.

        A `with` statement that was entered before the lock types were replaced calls the original `__exit__`, which
        wakes no task.
        """
        any_woken = False
        for queue in filter(None, self.queues.values()):  # empty if a rank was interrupted while it left the queue
            wait = queue[0]
            if not wait.woken and wait.end is None and isinstance(wait.awaited, (_Lock, RLock)) and is_free(wait.awaited):
                wait.wake()
                any_woken = True
        return any_woken

    def has_helpers(self) -> bool:
        """Return whether a helper thread of the run is alive."""
        return any(thread.is_alive() for thread in self.helpers)


def wake_up(loop: Loop) -> bool:
    """Wake the tasks that threads outside of the run have released; return whether there were any."""
    woken = waits_of(loop).woken
    any_woken = bool(woken)
    while woken:
        woken.popleft().wake()
    return any_woken


_by_loop: dict[Any, LoopWaits] = {}
"""The waits of each active run, by its loop; `forget` removes a loop when its run has ended."""


def waits_of(loop: Any) -> LoopWaits:
    """Return the waits of a loop; after its run, a new object that is not stored."""
    waits = _by_loop.get(loop)
    if waits is None:
        waits = LoopWaits()
        if not loop.ending:
            waits = _by_loop.setdefault(loop, waits)
    return waits


def count_unsuccessful(task: Task) -> None:
    """Count an unsuccessful non-blocking call: after many of a rank at one time, others run, so that a polling loop ends.

    Calls of other ranks do not count, or the order in which ranks run would decide which of them polls.
    """
    loop: Loop = task.agenda  # type: ignore[assignment]  # tasks of a run are on the agenda of a Loop
    counts = waits_of(loop).unsuccessful
    time, count = counts.get(task.owner, (loop.now, 0))
    count = count + 1 if time == loop.now else 1
    counts[task.owner] = loop.now, count % CALLS_PER_POLL
    if count == CALLS_PER_POLL:
        loop.poll()


def count_acquired(task: Task) -> None:
    """Count an acquisition without waiting: after many of a rank, other tasks that can run get a turn."""
    loop: Loop = task.agenda  # type: ignore[assignment]  # tasks of a run are on the agenda of a Loop
    waits, owner = waits_of(loop), task.owner
    count = waits.acquired[owner] = waits.acquired[owner] + 1
    if count % CALLS_PER_POLL:
        return
    # A task that still has not waited since its last poll is in a loop that polls: it needs fewer acquisitions.
    if count >= ACQUISITIONS_PER_POLL or waits.polled == (task, loop.now, loop.due_index):
        waits.acquired[owner] = 0
        if (loop.times or loop.unfinished or loop.due_index < len(loop.due)) and not _imports(frame_at(1)):
            loop.poll()
            waits.polled = task, loop.now, loop.due_index


def _imports(frame: FrameType | None) -> bool:
    """Return whether the frame is inside an import, during which another rank would find a partly initialized module."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def forget(loop: Loop) -> None:
    """Remove all records of a run that has ended, and release the locks of tasks that were abandoned.

    Python acquires some of these locks at exit, and waits for threads.
    """
    waits = _by_loop.pop(loop, None)
    for sentinel in () if waits is None else waits.sentinels:
        _release_abandoned(sentinel)
    for key, hold in list(held.items()):
        if hold.task.agenda is loop:
            held.pop(key, None)
            if hold.task.ended_count >= ENDED_LIMIT:
                _release_abandoned(hold.lock())


def _release_abandoned(lock: Any) -> None:
    if type(lock) is _Lock:
        with suppress(RuntimeError):  # it is free
            release(lock)
    elif hasattr(lock, "_at_fork_reinit"):  # an RLock, which no other thread may release; not on Windows
        lock._at_fork_reinit()
