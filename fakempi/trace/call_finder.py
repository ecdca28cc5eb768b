"""Find the call that the program is in, and its line, on the stack; store each call once.

A walk up the stack takes 0.2 us for each frame, and a traced message needs two walks. So a `CallFinder` remembers how many
frames were between the recorder and the program, and looks at that distance first. The frame there is accepted only if the
program has made the same call at the same instruction before; otherwise the finder walks up the stack. The distance is
measured in each run, because no code of fakempi knows how many frames there are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any

from fakempi.errors.call_names import call_name

frame_at = sys._getframe
"""`frame_at(n)` returns the frame n levels above that of its caller; `frame_at(0)` is the frame of the caller."""


class InternedValues:
    """Values that are stored once and referred to by index; index 0 is the unknown value."""

    def __init__(self, unknown: Any) -> None:
        self.values = [unknown]
        self._numbers = {unknown: 0}

    def number(self, value: Any) -> int:
        """Return the index of a value; new values are added."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number


class Calls(InternedValues):
    """The calls of a run: name, file and line. `is_ours(frame)` returns whether a frame runs code of fakempi.

    Code objects are identified by their addresses, since hashing one takes longer than the rest of the search. References
    to them keep the addresses valid.
    """

    def __init__(self, is_ours: Callable[[FrameType], bool]) -> None:
        super().__init__(("?", "?", 0))
        self.is_ours = is_ours
        self.ours: dict[int, CodeType] = {}
        self.programs: dict[int, CodeType] = {}
        self.sites: dict[int, tuple[CodeType, CodeType | None, int]] = {}
        """Offset of an instruction -> the code of the program, the code that it called, and the number of the call."""

    def current_call(self) -> int:
        """Return the number of the call that runs now."""
        return self.locate(frame_at(1))[0]

    def locate(self, frame: FrameType | None) -> tuple[int, list[CodeType]]:
        """Return the number of the call that a frame is part of, and the code of all frames between it and the program."""
        passed: list[CodeType] = []
        ours, called = self.ours, frame
        while frame is not None:
            code = frame.f_code
            if id(code) not in ours:
                if id(code) in self.programs or not self.is_ours(frame):
                    self.programs[id(code)] = code
                    name = "?" if not passed or called is None else call_name(called)
                    number = self.number((name, code.co_filename, frame.f_lineno))
                    self.sites[frame.f_lasti] = code, passed[-1] if passed else None, number
                    return number, passed
                ours[id(code)] = code
            passed.append(code)
            called, frame = frame, frame.f_back
        return 0, passed


class CallFinder:
    """Finds the call that runs now, for one function of the recorder that needs it for each message.

    That function first looks at the frame that is `near` frames above its own. If the program has made a call from the
    current instruction of that frame before, the frame belongs to the program. Otherwise the function calls `find`.
    """

    __slots__ = ("_beyond", "_calls", "near")

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.near = 0  # the smallest number of frames seen between the function and the program
        self._beyond: dict[int, int] = {}  # id() of the code at distance `near` -> number of further frames to the program

    def find(self) -> int:
        """Return the number of the call that runs now, if the frame at distance `near` is not the program's."""
        here = frame_at(1)
        with suppress(KeyError, ValueError):  # the code was not seen before, or the stack has fewer frames
            beyond = self._beyond[id(frame_at(1 + self.near).f_code)]
            callee = frame_at(self.near + beyond)
            frame = callee.f_back
            code, called, number = self._calls.sites[-1 if frame is None else frame.f_lasti]
            if frame is not None and code is frame.f_code and called is callee.f_code:
                return number
        number, passed = self._calls.locate(here)
        distance = len(passed)
        if number and (distance < self.near or not self.near):
            self.near = distance
            self._beyond.clear()
        elif number and distance > self.near:
            self._beyond[id(passed[self.near])] = distance - self.near
        return number
