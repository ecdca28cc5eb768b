"""Threads that a test has left behind. How many there are says nothing: those of other tests may end at any time."""

from __future__ import annotations

import threading


def new_threads(before: list[threading.Thread]) -> list[threading.Thread]:
    """Those that were not there before, and are not on their last steps."""
    new = [thread for thread in threading.enumerate() if thread not in before]
    for thread in new:
        thread.join(10)
    return [thread for thread in new if thread.is_alive()]
