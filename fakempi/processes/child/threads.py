"""Threads of a child."""

from __future__ import annotations

import threading


def is_main_thread() -> bool:
    """Return whether the calling thread is the one that initialized MPI."""
    return threading.current_thread() is threading.main_thread()


def main_thread_waits() -> bool:
    """Return whether the main thread waits for another thread: in `join`, or for an event, a condition or a semaphore."""
    from fakempi.mpi.base.frames import current_frames  # not at the top: `child.process` replaces the package first

    frame = current_frames().get(threading.main_thread().ident or 0)
    return frame is not None and frame.f_code.co_filename == threading.__file__
