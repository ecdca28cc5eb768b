"""Threads that Python's own pools of processes start for themselves: they wait for pipes and processes, and stay real.

Nobody can wait for those in the loop. Such a thread runs none of the program's functions here, calls no MPI, and wakes its
rank from outside. While one is alive, a run in which nobody else can go on is not at its end: what it waits for may take any
time.
"""

from __future__ import annotations

from typing import Any


def is_outside(thread: Any) -> bool:
    """Whether a thread serves processes. Pools of threads are made of the same parts, and their queues are others."""
    if type(thread).__module__ == "concurrent.futures.process":
        return True
    module = str(getattr(getattr(thread, "_target", None), "__module__", None))
    if module == "multiprocessing.pool":
        return any(type(value).__module__ == "multiprocessing.queues" for value in thread._args)
    return module.startswith("multiprocessing.") and not module.startswith("multiprocessing.dummy")
