"""Python frames of OS threads, and exceptions that are raised in these frames."""

from __future__ import annotations

import ctypes
import gc
import sys
from functools import partial
from itertools import starmap
from operator import itemgetter
from types import FrameType
from typing import Any

_set_async: Any = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.py_object)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)


def current_frames() -> dict[int, FrameType]:
    """Return the current frame of each thread, by the identifier of the thread."""
    collects = gc.isenabled()
    gc.disable()  # a collection that ends a thread during the call makes it hang (seen on 3.11)
    frames = sys._current_frames()
    if collects:
        gc.enable()
    return frames


def throw_into(frame: FrameType, thread: int, kind: type[BaseException]) -> bool:
    """Raise an exception in a thread if the thread is in this frame; return False if it has left the frame.

    Another thread may run between any two bytecode instructions. So the test and the throw are one call of C code, which
    draws from a chain of C iterators.
    """
    current = map(itemgetter(thread), starmap(sys._current_frames, [()]))
    throws = map(partial(_set_async, thread), map({frame: kind}.__getitem__, current))
    collects = gc.isenabled()
    gc.disable()  # as in `current_frames`
    try:
        return list(throws) == [1]
    except KeyError:
        return False
    finally:
        if collects:
            gc.enable()
