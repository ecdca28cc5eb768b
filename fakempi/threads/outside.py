"""Threads that Python's own pools of processes start for themselves: they wait for pipes and processes, and stay real.

Nobody can wait for those in the loop. Such a thread runs none of the program's functions here, calls no MPI, and wakes its
rank from outside. While one is alive, a run in which nobody else can go on is not at its end: what it waits for may take any
time.
"""

from __future__ import annotations

from typing import Any

FAMILY = ("multiprocessing", "multiprocess", "billiard")
"""Python's own package, and those that began as copies of it."""

MANAGERS = ("concurrent.futures.process", "loky.process_executor")
"""Modules whose threads look after processes."""


def is_outside(thread: Any) -> bool:
    """Whether a thread serves processes. Pools of threads are made of the same parts, and their queues are others."""
    if type(thread).__module__.endswith(MANAGERS):
        return True
    package, _, module = str(getattr(getattr(thread, "_target", None), "__module__", None)).partition(".")
    if package not in FAMILY or module.startswith("dummy"):
        return False
    return module != "pool" or any(type(value).__module__ == f"{package}.queues" for value in thread._args)
