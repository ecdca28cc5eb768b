"""Locks, threads and the clock as they are outside of runs, for our own use in the midst of one."""

from __future__ import annotations

from _thread import allocate_lock, get_ident, start_new_thread
from time import monotonic

acquire, release = type(allocate_lock()).acquire, type(allocate_lock()).release

__all__ = ["acquire", "allocate_lock", "get_ident", "monotonic", "release", "start_new_thread"]
