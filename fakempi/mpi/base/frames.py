"""Where OS threads are, and exceptions that are raised there."""

from __future__ import annotations

import ctypes
import gc
import sys
from functools import partial
from itertools import starmap
from operator import itemgetter
from types import FrameType
from typing import Any

set_async: Any = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.py_object)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)


def current_frames() -> dict[int, FrameType]:
    """Of each thread, by its identity, the frame that it is in."""
    collects = gc.isenabled()
    gc.disable()  # if a collection in the midst of it ends a thread, it hangs (seen on 3.11)
    frames = sys._current_frames()
    if collects:
        gc.enable()
    return frames


def throw_into(frame: FrameType, thread: int, kind: type[BaseException]) -> bool:
    """Raise an exception in a thread if that is in this frame; False if it has gone on.

    Threads take turns between any two steps of Python. So where the thread is, and the throw, are one step: iterators of C
    that are drawn from one another.
    """
    where = map(itemgetter(thread), starmap(sys._current_frames, [()]))
    throws = map(partial(set_async, thread), map({frame: kind}.__getitem__, where))
    collects = gc.isenabled()
    gc.disable()  # as above
    try:
        return list(throws) == [1]
    except KeyError:
        return False
    finally:
        if collects:
            gc.enable()
