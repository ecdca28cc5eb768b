"""Threads of a child."""

from __future__ import annotations

import gc
import sys
import threading


def is_main_thread() -> bool:
    """Return whether the calling thread is the one that initialized MPI."""
    return threading.current_thread() is threading.main_thread()


def main_thread_waits() -> bool:
    """Return whether the main thread waits for another thread: in `join`, or for an event, a condition or a semaphore."""
    collects = gc.isenabled()
    gc.disable()  # as in fakempi.mpi.base.frames, which a child does not import
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    if collects:
        gc.enable()
    return frame is not None and frame.f_code.co_filename == threading.__file__
