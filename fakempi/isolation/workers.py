"""Processes that a program has started with multiprocessing."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

FAMILY = ("multiprocessing", "multiprocess", "billiard")
"""multiprocessing, and packages that are copies of it."""


def workers() -> list[Any]:
    """Return the processes that are alive."""
    families = [sys.modules[name] for name in FAMILY if name in sys.modules]
    return [process for family in families for process in family.active_children()]


def end_workers(universe: Any, before: Collection[Any]) -> None:
    """If a run has ended early, end the processes that it has started: Python waits for them at its exit."""
    if universe.verdict is not None or universe.failures:
        for process in workers():
            if process not in before:
                process.terminate()
