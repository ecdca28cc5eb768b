"""Locks and threads as they are outside of runs, for our own use in the midst of one."""

from __future__ import annotations

from _thread import allocate_lock, get_ident, start_new_thread

acquire, release = type(allocate_lock()).acquire, type(allocate_lock()).release

__all__ = ["acquire", "allocate_lock", "get_ident", "release", "start_new_thread"]
