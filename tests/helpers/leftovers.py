"""Threads that a test has left behind. Their total is not meaningful: threads of other tests may end at any time."""

from __future__ import annotations

import threading


def new_threads(before: list[threading.Thread]) -> list[threading.Thread]:
    """Threads that are new, and are not about to end."""
    new = [thread for thread in threading.enumerate() if thread not in before]
    for thread in new:
        thread.join(10)
    return [thread for thread in new if thread.is_alive()]
