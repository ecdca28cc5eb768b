"""Threads of a child."""

from __future__ import annotations

import threading


def is_main_thread() -> bool:
    """Return whether the calling thread is the one that initialized MPI."""
    return threading.current_thread() is threading.main_thread()
