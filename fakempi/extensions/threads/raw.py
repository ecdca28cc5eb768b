"""Python's own locks, threads and clock, for fakempi's use during a run."""

from __future__ import annotations

from _thread import allocate_lock, get_ident, start_new_thread
from time import monotonic

acquire, release = type(allocate_lock()).acquire, type(allocate_lock()).release

__all__ = ["acquire", "allocate_lock", "get_ident", "monotonic", "release", "start_new_thread"]
