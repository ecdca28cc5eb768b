"""What becomes of ranks that poll when nothing else can happen: time passes for them, or it is a livelock.

Nothing is booked and all that could run has looked in vain. For a thousand such rounds that takes no time, as ever: whoever
tests now and then between other things loses nothing by it. After them each takes a little (`run(poll=...)`), so that
time-outs end. If clocks are read it takes more the longer it lasts, so that an hour takes a moment.

A livelock is called when every rank that polls has come back to where it was, with the same variables, and has read no
clock and looked at nothing outside. Who counts its polls does not come back. It may have a number in mind or none, which
nobody can know, so after a hundred thousand rounds the run is ended, and what is said is what is known.
"""

from __future__ import annotations

import gc
import sys
from collections import deque
from dis import get_instructions, hasjabs, hasjrel
from functools import lru_cache
from math import inf, nextafter
from types import CodeType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any

import numpy as np

from fakempi.kernel.agenda import Time
from fakempi.kernel.loop import Loop
from fakempi.mpi.base.complain import is_ours
from fakempi.mpi.base.process import Universe

FREE = 1000
"""Rounds that take no time."""

LONGEST = 64
"""Rounds within which one who goes round in a circle has to come back: so many requests may be tested in turn."""

MOST, POLLS_OUTSIDE = 100_000, 10_000_000
"""Rounds after which a run is ended though its ranks do not come back: half a second with one of them. Where somebody looks
at something outside, such as the real clock, that takes the time that it takes: then, so many polls, if that is more."""

HASTE, LATEST = 1024, 1e8
"""What part of the time that has passed a further round takes if clocks are read: by so much a time-out may be late. And the
seconds, three years, after which no more is to be expected of it: 27,000 rounds."""

DEPTH, ITEMS, SAMPLES = 3, 64, 65536
"""How far a variable is looked into: things in things, items of a list, numbers of an array."""

OUTSIDE = frozenset({
    "time", "datetime", "posix", "nt", "select", "_socket", "_ssl", "io", "_io", "random", "_random", "_signal",
})  # fmt: skip
"""Modules of C whose functions may say something else each time, whatever the program does,"""

ONE_WAY = frozenset({"write", "writelines", "flush"})
"""but for these."""

JUMPS = frozenset((*hasjrel, *hasjabs))
PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None)})
BOXES = frozenset({list, tuple, set, frozenset, deque})


class Vain:
    """Called by the loop after each round: when those who poll look again, or None."""

    def __init__(self, universe: Universe, poll: Time) -> None:
        self.universe, self.poll = universe, poll
        self.window = Window(universe)
        self.rounds = 0  # when it was called last
        self.read = 0  # how often clocks had been read by then
        self.until = FREE  # the round with which the next window ends
        self.since: Time = 0  # when rounds began to take time
        self.over = False  # whether they look no more

    def __call__(self) -> Time | None:
        """After a round in which nothing but polling happened."""
        loop, universe = self.universe.loop, self.universe
        rounds = loop.idle_rounds
        if rounds <= self.rounds:  # something else has happened meanwhile
            self.until, self.over = FREE, False
            self.window.close()
        reads, self.read, self.rounds = universe.glances != self.read, universe.glances, rounds
        if self.over:
            return None
        if rounds == self.until - LONGEST:
            self.window.open()
        elif rounds == self.until - LONGEST + 1:
            self.window.see()
        elif self.until - LONGEST < rounds < self.until:
            self.over = self.window.all_back()
        elif rounds == self.until:
            self.until *= 2
            self.window.close()
        most = max(MOST, POLLS_OUTSIDE // len(loop.pollers) if self.window.outside else 0)
        if rounds >= most or (rounds > FREE and loop.now - self.since > LATEST):
            self.over, universe.polled_in_vain = True, rounds
        if self.over:
            self.window.close()
            return None
        return loop.now if rounds < FREE else self._later(reads)

    def _later(self, reads: bool) -> Time:
        loop = self.universe.loop
        now = loop.now
        if self.rounds == FREE:
            self.since = now
        step = max(self.poll, (now - self.since) / HASTE) if reads and self.poll else self.poll
        at = now + step
        if step and not at > now:
            at = nextafter(now, inf)  # so late that a float does not hold a step
        for task in loop.pollers:
            task.polled_at = at  # one look each time, not two
        return at


class Window:
    """Some rounds in which those who poll are looked at closely."""

    def __init__(self, universe: Universe) -> None:
        self.universe, self.loop = universe, universe.loop
        self.is_open = False
        self.outside = False  # whether somebody has looked outside, in the last window
        self.left: dict[Any, Any] = {}  # who has not come back to where it was when the window was opened
        self.kept: list[Any] = []  # what is known by its address must stay where it is
        self.hook = self._called

    def open(self) -> None:
        """From their next poll on it is noticed what they call."""
        self.is_open, self.outside = True, False
        vars(self.loop)["poll"] = self._poll

    def see(self) -> None:
        """See where they are."""
        self.before = self._others()
        self.left = {task: _state(frame, self.kept) for task, frame in self._frames(self.loop.pollers).items()}

    def close(self) -> None:
        """That is enough."""
        self.is_open = False
        if sys.getprofile() is self.hook:
            sys.setprofile(None)
        self.left.clear()
        self.kept.clear()
        vars(self.loop).pop("poll", None)

    def all_back(self) -> bool:
        """Whether each has been where it was by now, and nothing has changed for any of them."""
        if not self.is_open or self.outside or self._others() != self.before:
            return False
        kept: list[Any] = []
        for task, frame in self._frames([task for task in self.loop.pollers if task in self.left]).items():
            if self.left[task] is not None and _state(frame, kept) == self.left[task]:
                del self.left[task]
        return not self.left

    def _others(self) -> Any:
        """What changes if anybody does anything else, or reads a clock."""
        universe = self.universe
        return universe.glances, sum(port.sent for port in universe.wire.out), len(self.loop.tasks), universe.contexts

    def _frames(self, tasks: list[Any]) -> dict[Any, Any]:
        """Where they stand; one of them may be the caller."""
        frames = self.loop.carrier.frames(tasks)
        return {task: frames.get(task) or sys._getframe() for task in tasks}

    def _poll(self) -> None:
        """In place of the loop's own while the window is open: what is called until the next time is noticed."""
        if sys.getprofile() is self.hook:
            sys.setprofile(None)
        Loop.poll(self.loop)
        if self.is_open and sys.getprofile() is None:
            sys.setprofile(self.hook)

    def _called(self, frame: FrameType, event: str, function: Any) -> None:
        if not self.is_open or self.outside or self.loop.ending:
            sys.setprofile(None)
        elif event == "c_call":
            self.outside = looks_outside(frame, function)


def looks_outside(frame: FrameType, function: Any) -> bool:
    """Whether a function of C, called in that frame by a program, may say something else each time."""
    return _may_differ(function) and not is_ours(frame) and not _collects_garbage(frame)


def _collects_garbage(frame: FrameType | None) -> bool:
    """Whether it is the collector that has called, which comes at any moment: Hypothesis measures how long that takes."""
    codes = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    while frame is not None and frame.f_code not in codes:
        frame = frame.f_back
    return frame is not None


def _may_differ(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    kind = owner if isinstance(owner, type) else type(owner)
    module = getattr(function, "__module__", None) or (owner.__name__ if isinstance(owner, ModuleType) else kind.__module__)
    return str(module).partition(".")[0] in OUTSIDE and function.__name__ not in ONE_WAY


def _state(frame: FrameType | None, kept: list[Any]) -> list[Any] | None:
    """Where a task is, and with which variables: what can be compared later.

    None if it is in a loop that somebody else drives, such as the iterator of a `for`: that may have an end in hand, unseen.
    """
    found: list[Any] = []
    drives = ""
    while frame is not None and frame.f_code is not Loop.begin.__code__:
        if not is_ours(frame):
            drives = drives or _loop_around(frame.f_code, frame.f_lasti)
            if drives == "for":
                break
            code, variables = frame.f_code, frame.f_locals
            found += id(code), frame.f_lasti, *(_seen(variables[name], DEPTH, kept) for name in sorted(variables))
            if variables is not frame.f_globals:
                named = (frame.f_globals[name] for name in code.co_names if name in frame.f_globals)
                found += (_seen(value, DEPTH, kept) for value in named)
        frame = frame.f_back
    return found if drives == "while" else None


@lru_cache(1024)
def _loop_around(code: CodeType, at: int) -> str:
    """The innermost loop around an instruction: "for", "while", or none."""
    names, loops = {}, []
    for step in get_instructions(code):
        names[step.offset] = step.opname
        if step.opcode in JUMPS and step.argval <= at <= step.offset:
            loops.append((step.offset - step.argval, step.argval))
    return "" if not loops else "for" if names[min(loops)[1]] == "FOR_ITER" else "while"


def _seen(value: Any, depth: int, kept: list[Any]) -> Any:
    """A value as far as it can be seen: numbers and texts, what is in lists and objects, else which one it is."""
    kind = type(value)
    if kind in PLAIN:
        return kind, repr(value) if kind in (float, complex) else value  # nan is not equal to itself
    if kind is np.ndarray and not value.dtype.hasobject:
        return kind, value.shape, value.dtype.str, hash(value.flat[:: value.size // SAMPLES + 1].tobytes())
    if depth and kind in BOXES and len(value) <= ITEMS:
        return kind, [_seen(each, depth - 1, kept) for each in value]
    if depth and kind is dict and len(value) <= ITEMS:
        return kind, [(_seen(key, depth - 1, kept), _seen(each, depth - 1, kept)) for key, each in value.items()]
    if kind is bytearray:
        return kind, bytes(value[:SAMPLES])
    if kind is GeneratorType and value.gi_frame is not None:
        return kind, value.gi_frame.f_lasti, [_seen(each, 0, kept) for each in value.gi_frame.f_locals.values()]
    kept.append(value)
    if depth and kind not in (type, FunctionType, ModuleType) and not kind.__module__.startswith(("fakempi", "collectives")):
        inside = getattr(value, "__dict__", None)
        if type(inside) is dict:
            return kind, [_seen(each, depth - 1, kept) for each in inside.values()]
    return id(value), len(value) if kind in BOXES or kind is dict else 0
