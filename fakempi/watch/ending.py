"""How a run is ended from outside, whatever its ranks are doing.

Nothing of a run may change while one of its ranks is in the middle of it, so whoever has the baton ends the run itself: as
soon as it asks for anything, to wait, to send, or who is next (`halt`). A rank that computes and asks for nothing is told to
end where it is, by an exception in its thread (`Knocks`). Those that have something in a `finally` have a second for it. A
rank that catches everything and goes on is told again, and at last is left where it stands and never goes on.

In the main thread that exception comes by a signal, which also reaches a rank in a call that waits: SIGURG, for that means
nothing to anybody who did not ask for it. In other threads it has to wait until such a call returns. A rank that has a
thread to itself is left behind then. One that shares the caller's thread cannot be, and the run ends when the call does.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from fakempi.kernel.loop import Ended, Loop, stay_behind
from fakempi.kernel.threads import throw
from fakempi.mpi.base.complain import is_library, is_ours
from fakempi.mpi.base.current import here
from fakempi.mpi.base.frames import current_frames, throw_into
from fakempi.mpi.base.process import Universe

GRACE = 1.0
"""Seconds that a rank has to come to its end once it is told to. A rank that takes longer leaves a quarter of them to the
next one, so that a run ends within two seconds, though all its ranks catch everything."""

LEAST, MORE = 0.05, 0.1
"""The part of these seconds that each rank has, and the part more after which a rank that gives no sign is left behind."""

KNOCKS = 3
"""How often a rank is told, the second time after those seconds, before it is left where it stands."""

_SCRIPT = (f"script.{name}" for name in ("stage", "place", "patches", "leaving", "imports", "reach"))
WHOLE = tuple(f"fakempi.{name}" for name in ("kernel", "watch", "world", "threads", *_SCRIPT))
"""Where nobody is told to end: where the baton or a lock changes hands, the interpreter is changed for a script, or files
are read. Whoever waits there looks itself whether the run ends."""

MADE_OF_LOCKS = ("threading", "queue", "concurrent.futures", "_weakrefset")
"""Modules of Python where nobody is told to end either: a lock would stay locked, among them those that Python takes at its
own end, or be released by whoever does not have it. The last is called by the interpreter, which would print the exception
and go on."""

SIGNAL = getattr(signal, "SIGURG", None) if hasattr(signal, "pthread_kill") else None


def halt(universe: Universe, verdict: Callable[[], BaseException]) -> None:
    """Have whoever asks a run's loop or its wire for anything end the run first. Called from any thread."""
    loop = universe.loop

    def end() -> None:
        for name in ("wait", "defer", "next"):
            vars(loop).pop(name, None)
        universe.end(verdict())

    def refuse(*_: Any) -> Any:
        end()
        if loop.running is None:
            raise Ended
        loop.refuse(loop.running)

    def nobody() -> Any:
        end()
        return loop.next()

    loop.wait = loop.defer = refuse  # type: ignore[assignment, method-assign]
    loop.next = nobody  # type: ignore[method-assign]
    universe.wire.close(refuse)


class TakenBack(BaseException):
    """Takes the place of what was thrown into a thread and has not arrived."""


def take_back() -> None:
    """In a thread: let nothing that was thrown into it arrive later.

    Something else is thrown and caught. Throwing nothing, which Python offers for this, leaves the interpreter's flag up:
    Hypothesis was seen to hang after it, on 3.11.
    """
    try:
        throw(TakenBack, threading.get_ident())
        for _ in range(1000):
            pass
    except TakenBack:
        pass


class Told(Ended):
    """Tells a rank to end, and notes that it has heard: when the interpreter makes one, in that rank's thread."""

    def __init__(self) -> None:
        super().__init__()
        loop: Loop | None = here.loop
        if loop is not None and loop.running is not None:  # else it came too late
            loop.running.refusals += 1
            self.act(loop, loop.running)

    def act(self, loop: Loop, task: Any) -> None:
        """No more than that."""


class Left(Told):
    """Leaves a rank where it stands, which hands the baton on and never gets it again."""

    def act(self, loop: Loop, task: Any) -> None:
        """Be refused for the last time. Who has gone on meanwhile to what must be whole, as an import, is not left there."""
        frame = sys._getframe(2)
        if frame.f_code is Knocks._signalled.__code__ or may_end(frame):
            stay_behind(loop, task)
            loop.refuse(task)


class Knocks:
    """Tells a run's ranks to end that do not do so by themselves. Looks at them again and again from another thread."""

    def __init__(self, over: threading.Event) -> None:
        self.over = over  # set when the run is
        self.task: Any = None  # which runs
        self.told = self.told_before = False  # whether it was told to end, and whether before the last knock
        self.grace = 0.0  # none for whoever computes when the time is up: it is in no `finally`
        self.share = 1.0  # the part of GRACE that a rank has
        self.knocked = self.alive = 0.0  # when it was told last, and when it last gave a sign of having heard
        self.heard = self.heard_before = 0  # how often it has, and had when it was first seen
        self.left = False  # whether it is left behind
        self.order: type[Ended] | None = None  # what the signal is to raise,
        self.missed = False  # and that it came at a bad moment
        self.before: Any = None  # who got the signal
        self.catches = False

    def give_grace(self) -> None:
        """Whoever runs has been told to end already, and has time for that."""
        self.told, self.grace = True, GRACE * self.share

    def look(self, universe: Universe, now: float) -> bool:
        """Whoever runs and has had its time is told to end; False if it does not hear and shares the caller's thread."""
        task: Any = vars(universe.loop)["running"]  # also of a loop that looks who asks
        handle: Any = getattr(task, "handle", None)
        has_thread = hasattr(handle, "ident")
        if handle is None or (has_thread and handle.ident is None):
            return True  # nobody, or who has not begun
        if task is not self.task:
            if self.task is not None:
                self.give_grace()
            self.task, self.knocked, self.alive, self.left = task, now, now, False
            self.heard = self.heard_before = task.refusals
        if task.refusals != self.heard:
            self.heard, self.alive = task.refusals, now
        if self.missed:
            self.missed, self.told, self.grace = False, self.told_before, 0.0
        silent = now - self.alive
        if has_thread and (silent > GRACE * (self.share + MORE) or not handle.is_alive()):  # or gone without handing it on
            if not self.left:
                self._leave(universe, task)
                self._take_share()
        elif now - self.knocked >= self.grace:
            order = Told if self.heard - self.heard_before < KNOCKS else Left
            if self._knock(handle.ident if has_thread else universe.driver, order):
                self.knocked, self.told_before = now, self.told
                if self.told and self.grace:
                    self._take_share()
                self.told, self.grace = True, 0.0 if self.told else GRACE * self.share
        return has_thread or silent <= (KNOCKS + 1) * GRACE

    def _take_share(self) -> None:
        """It has used up its time: the next has less."""
        self.share = max(self.share / 4, LEAST)

    def _leave(self, universe: Universe, task: Any) -> None:
        """A thread that is gone, or out of reach: go on without it. If its call ever returns, it ends, after the run.

        It may come to its end at this very moment. Whichever of the two takes the task out hands the baton on, and the other
        does nothing more.
        """
        over = self.over

        class Late(Ended):
            def __init__(self) -> None:
                super().__init__()
                over.wait()  # until then others have the baton

        self.left = True
        loop: Any = universe.loop
        if loop.running is task and loop.tasks.pop(task.number, None) is not None:  # else it has handed it on just now
            if task.handle.is_alive():
                throw(Late, task.handle.ident)
            loop.running = None
            loop.carrier.to_hub()

    def _knock(self, thread: int, order: type[Ended]) -> bool:
        """Raise it in a thread, unless that is in the middle of something that must be whole."""
        frame = current_frames().get(thread)
        if frame is None or not may_end(frame):
            return False
        if self.catches and thread == threading.main_thread().ident:
            self.order = order
            assert SIGNAL is not None
            signal.pthread_kill(thread, SIGNAL)
            return True
        return throw_into(frame, thread, order)

    def open(self) -> None:
        """In the thread that carries out the run: if it is the one that gets signals, take ours."""
        if SIGNAL is None or threading.get_ident() != threading.main_thread().ident:
            return
        if signal.getsignal(SIGNAL) is not None:  # else somebody has it who is not Python, and it could not be put back
            self.before = signal.signal(SIGNAL, self._signalled)
            self.catches = True

    def close(self) -> None:
        """In that same thread: nobody knocks any more, and nothing is left of it."""
        if self.catches:
            assert SIGNAL is not None
            signal.signal(SIGNAL, self.before)
        elif self.task is not None:
            take_back()

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        order, self.order = self.order, None
        if order is None:
            if callable(self.before):
                self.before(number, frame)
        elif may_end(frame):
            raise order
        else:
            self.missed = True


def may_end(frame: FrameType | None) -> bool:
    """Whether a rank may be told to end there: not in the middle of what must be whole, whatever that calls.

    Nor while a module of ours or of Python's own is imported: if a rank is left there, all others find half a module.
    """
    program = ours = False  # whether a frame of the program's was seen, or one of ours
    while frame is not None and frame.f_code is not Loop.begin.__code__:
        name = _module(frame)
        if program or not (is_ours(frame) or is_library(frame)):
            program = True
        elif is_ours(frame):
            ours = True
            if name.startswith(WHOLE):
                return False
        elif name.startswith(MADE_OF_LOCKS) and ours:
            program = True  # a thread or a pool that calls MPI
        elif name.startswith((*MADE_OF_LOCKS, "importlib.")):
            return False
        frame = frame.f_back
    return frame is not None


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
