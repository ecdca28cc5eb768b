"""Who holds what, since where in the program, and who waits for it.

Python's locks know neither who holds them nor who waits. The lock itself stays what it is, so that it also works with
threads outside of runs. But a task that has to wait for another task waits in the loop. So others go on, time-outs
take modelled time, and a circle of such waits is a deadlock like any other.
"""

from __future__ import annotations

import os
from _thread import LockType
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any
from weakref import ref

from fakempi.kernel.loop import REFUSALS, Ended, Loop
from fakempi.kernel.task import Task
from fakempi.mpi.base.complain import is_library, is_ours
from fakempi.mpi.base.waiting import Awaited
from fakempi.threads.guests import Guest
from fakempi.threads.raw import acquire, allocate_lock, monotonic, release

MOMENT = 0.05
"""Seconds between looks whether somebody outside has rung."""

PATIENCE = 5.0
"""Seconds of real time in which a thread outside of a run may wake one of its tasks when nothing else can happen."""

MANY = 100
"""Vain looks at a lock, without waiting for it, after which others may run."""


SLICE = 0.05
"""Seconds between looks whether the run ends, for a task that waits outside of the loop."""


class Hold:
    """A lock in the hands of a task: since which line, and how many times over."""

    __slots__ = ("count", "inside", "lock", "site", "task")

    def __init__(self, lock: Any, task: Task, frame: FrameType | None) -> None:
        self.lock = ref(lock)  # which may die in somebody's hands, and another be made at its address
        self.task, self.count = task, 1
        self.inside = frame is not None and is_library(frame)  # of something that is made of locks
        while frame is not None and (is_ours(frame) or is_library(frame)):
            frame = frame.f_back
        self.site: tuple[CodeType, int] | None = None if frame is None else (frame.f_code, frame.f_lineno)


class Wait(Awaited):
    """A task that waits for something which has no end yet: a lock, an item of a queue, or an event of its event loop."""

    __slots__ = ("loop", "task", "until", "what", "woken")

    def __init__(self, task: Task, what: Any) -> None:
        super().__init__()
        self.task, self.what = task, what
        self.loop: Any = task.agenda
        self.until: float | None = None  # of the real clock, if whoever is to wake it is outside
        self.woken = False

    def in_words(self) -> str:
        """Who has it, and since when: `a lock that rank 1 holds since work.py:12`."""
        hold = hold_of(self.what)
        if hold is None:
            return ""
        who = "this rank" if hold.task.owner is self.task.owner else hold.task.owner.name
        guest = hold.task.handle if isinstance(hold.task.handle, Guest) else None
        if guest is not None and guest.ends_with(self.what):
            return f"thread {guest.name!r} of {who}"
        if hold.task is self.task and hold.inside:
            return ""  # a condition's own, which others release
        code, line = hold.site or (None, 0)
        since = "" if code is None else f" since {os.path.basename(code.co_filename)}:{line}"
        by = f"thread {guest.name!r} of {who}" if guest is not None else who
        return f"a lock that {by} holds{since}"

    def awaits(self) -> tuple[int, ...]:
        """The rank that holds it, if that is not its own."""
        hold = hold_of(self.what)
        return () if hold is None or hold.task.owner is self.task.owner else (hold.task.owner.number,)

    def wake(self) -> None:
        """What it waits for may be there now: let it look."""
        if not self.woken and self.end is None:
            self.woken = True
            self.loop.book(self.loop.now, self.task)

    def alarm(self) -> None:
        """Its time is up, unless it was woken."""
        if not self.woken and self.end is None:
            self.end = self.loop.now
            self.loop.book(self.loop.now, self.task)


held: dict[int, Hold] = {}
"""By the lock's address. What was held by a task of a run that is over is forgotten with it."""


def hold_of(lock: Any) -> Hold | None:
    """Who has a lock, if it is a task."""
    hold = held.get(id(lock))
    return hold if hold is not None and hold.lock() is lock else None


waiting: dict[int, list[Wait]] = {}
"""By the address of what is awaited, in the order of coming."""


def wait_for(task: Task, what: Any, seconds: float | None, ready: Callable[[], bool]) -> bool:
    """Let others run until somebody wakes whoever waits for this; False if the time was up before.

    A thread outside may have had nobody to wake just before: `ready` says whether it is there by now.
    """
    loop: Loop = task.agenda  # type: ignore[assignment]
    wait = Wait(task, what)
    queue = waiting.setdefault(id(what), [])
    queue.append(wait)
    task.reason, task.since = wait, loop.now
    try:
        if ready():
            return True
        if seconds is not None and desk_of(loop).is_left():
            wait.until = monotonic() + seconds  # modelled time would run away while others work outside
        elif seconds is not None:
            loop.book(loop.now + seconds, wait.alarm)
        loop.wait()
    finally:
        task.reason = None
        queue.remove(wait)
        if not queue:
            waiting.pop(id(what), None)
        if wait.end is None:
            wait.end = loop.now
    return wait.woken


def wait_outside(task: Task, take: Callable[[float], bool], timeout: float) -> bool:
    """Wait for a lock that no task of the run holds; False if the time was up before.

    Nothing interrupts a task here, or it would not know whether it has the lock. So it looks itself whether the run ends.
    """
    loop: Loop = task.agenda  # type: ignore[assignment]
    until = None if timeout == -1 else monotonic() + timeout
    while True:
        rest = SLICE if until is None else until - monotonic()
        if take(min(SLICE, max(rest, 0))):
            return True
        if rest <= 0:
            return False
        if task.number not in loop.tasks:  # it was left behind
            raise Ended
        if loop.ending or "next" in vars(loop):  # which only `watch.ending.halt` replaces
            loop.wait()


def wake_one(what: Any, mine: Any) -> None:
    """Something is there for one of those who wait for it: the first who is not woken yet. The task `mine` says so."""
    for wait in waiting.get(id(what), ()):
        if not wait.woken and wait.end is None:
            if mine is not None and mine.agenda is wait.loop:
                wait.wake()
            else:
                desk_of(wait.loop).ring(wait)
            return


class Desk:
    """What is to be known of a loop's waits: how often somebody looked in vain, who was woken from outside, who idles."""

    def __init__(self) -> None:
        self.vain = self.taken = self.turns = 0
        self.seen: Any = None  # of the others, when daemons had their last thousand turns
        self.rung: deque[Wait] = deque()
        self.away: list[Any] = []  # threads of ranks that stay outside
        self.sentinels: set[Any] = set()  # locks that tell of the end of threads of ranks, of those that have not ended
        self.bell = allocate_lock()  # free when somebody has rung
        acquire(self.bell)

    def ring(self, wait: Wait) -> None:
        """From an OS thread that has no part in the run: nothing of it may be touched now."""
        self.rung.append(wait)
        with suppress(RuntimeError):  # somebody else has rung
            release(self.bell)

    def answer(self, loop: Loop, seconds: float) -> bool:
        """When nothing can run: whether a thread outside has woken somebody, or does so in time.

        As long as one of the run's own threads is outside, that is any time.
        """
        waits = [wait for queue in list(waiting.values()) for wait in queue if wait.loop is loop]
        if loop.ending or not waits:
            return False
        until = monotonic() + seconds
        while not self.rung and (monotonic() < until or self.is_left()):
            acquire(self.bell, True, MOMENT)
            late = [wait for wait in waits if wait.until is not None and wait.until <= monotonic()]
            for wait in late:
                wait.alarm()
            if late or "next" in vars(loop):  # or the run's own time is up, and whoever asks is told
                return True
        return answer(loop)

    def is_left(self) -> bool:
        """Whether one of the run's own threads is outside."""
        return any(thread.is_alive() for thread in self.away)


def answer(loop: Loop) -> bool:
    """Wake those for whom somebody outside has rung."""
    rung = desk_of(loop).rung
    found = bool(rung)
    while rung:
        rung.popleft().wake()
    return found


def desk_of(loop: Loop) -> Desk:
    """A loop's desk; made when it is first needed."""
    desk: Desk | None = vars(loop).get("desk")
    return desk or vars(loop).setdefault("desk", Desk())


def look_again(task: Task) -> None:
    """A task has looked at something in vain: after many such looks others may run, or it would look for ever."""
    loop: Loop = task.agenda  # type: ignore[assignment]
    desk = desk_of(loop)
    desk.vain += 1
    if desk.vain >= MANY:
        desk.vain = 0
        loop.poll()


def count_on(task: Task) -> None:
    """A task has taken a lock at once: after many such steps others may run, if there is anything that they could do."""
    loop: Loop = task.agenda  # type: ignore[assignment]
    desk = desk_of(loop)
    desk.taken += 1
    if desk.taken >= MANY * MANY:
        desk.taken = 0
        if loop.times or loop.taken < len(loop.today):
            loop.poll()


def forget(loop: Loop) -> None:
    """The run is over; who was left where it stood waits for nothing any more, and nobody waits for it.

    That is so for what it held, too. Python takes some of these locks at its end, and waits for threads there.
    """
    if (desk := vars(loop).get("desk")) is not None:
        for sentinel in desk.sentinels:
            _give_back(sentinel)
    for key, queue in list(waiting.items()):
        if all(wait.loop is loop for wait in queue):
            waiting.pop(key, None)
    for key, hold in list(held.items()):
        if hold.task.agenda is loop:
            held.pop(key, None)
            if hold.task.refusals >= REFUSALS:
                _give_back(hold.lock())


def _give_back(lock: Any) -> None:
    if type(lock) is LockType:
        with suppress(RuntimeError):  # it is free
            release(lock)
    elif hasattr(lock, "_at_fork_reinit"):  # an RLock, which no other thread may release; not on Windows
        lock._at_fork_reinit()
