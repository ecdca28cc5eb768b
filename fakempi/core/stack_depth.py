"""Python's limit of recursion while ranks run: room for the frames of a call of MPI, at any depth of the program.

A call of an MPI library is one frame of Python. Ours were 29 at most in a barrier, a sendrecv, an allreduce and an
allgather, and about 20 more are below a script; without more room, a call near the limit ended with RecursionError in the
middle of our work, and other ranks waited for it.
Deeply nested work, such as the pickle of a nested object, may still exceed the room.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

OURS = 200
"""Frames that are kept for us, and for operations and other functions of the program that we call."""

_get, _set = sys.getrecursionlimit, sys.setrecursionlimit


class _Limit:
    lock = threading.Lock()
    runs = 0
    before = 0  # the limit outside runs
    own = 0  # for the program's own frames
    least = 0  # for all frames; see `exchange`


class DeeperStack:
    """Raises the limit while a run is active; runs that overlap share the room."""

    def __enter__(self) -> None:
        with _Limit.lock:
            if not _Limit.runs:
                _raise()
            _Limit.runs += 1

    def __exit__(self, *error: object) -> None:
        with _Limit.lock:
            _Limit.runs -= 1
            ours = max(_Limit.own + OURS, _Limit.least)
            if not _Limit.runs and _get() == ours:  # else the program has called Python's own function
                _set(_Limit.before)


def deepen_stack(replace: Callable[[Any, str, Any], None]) -> None:
    """Raise the limit in the process of a rank, for as long as it lives."""
    _raise()
    show_own_limit(replace)


def _raise() -> None:
    _Limit.before = _Limit.own = _get()
    _Limit.least = 0
    _set(_Limit.own + OURS)


def show_own_limit(replace: Callable[[Any, str, Any], None]) -> None:
    """Let programs see and set the limit for their own frames."""
    replace(sys, "getrecursionlimit", getrecursionlimit)
    replace(sys, "setrecursionlimit", setrecursionlimit)


def getrecursionlimit() -> int:
    """Return the limit for the program's own frames."""
    return _Limit.own


def setrecursionlimit(limit: int, /) -> None:
    """Set the limit for the program's own frames."""
    if type(limit) is not int or limit < 1:
        _set(limit)  # raises an error
    frame: FrameType | None = sys._getframe()
    depth = 0
    while frame is not None and depth <= limit:
        frame, depth = frame.f_back, depth + 1
    if depth > limit:
        reason = f"at the recursion depth {depth - 1}: the limit is too low"
        raise RecursionError(f"cannot set the recursion limit to {limit} {reason}")
    exchange(limit)


def exchange(limit: int) -> None:
    """Install the limit of another rank.

    While the frames of the running rank exceed it, Python refuses; then the larger limit stays until the end of the run,
    since frames of other ranks may exceed the smaller one from now on, which would end the interpreter.
    """
    _Limit.own = limit
    try:
        _set(max(limit + OURS, _Limit.least))
    except RecursionError:
        _Limit.least = _get()
