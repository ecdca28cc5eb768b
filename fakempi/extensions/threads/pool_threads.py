"""Threads that Python's process pools start: they wait for pipes and processes, and remain ordinary OS threads.

A task cannot wait for a pipe or a process in the loop. A thread of a process pool runs no function of the program, makes no
MPI calls, and wakes its rank from outside of the run. While such a thread is alive, a run in which no task can run is not
deadlocked, because the process may still deliver a result.
"""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakKeyDictionary

FAMILY = ("multiprocessing", "multiprocess", "billiard")
"""Python's own package, and packages that are derived from it."""

MANAGERS = ("concurrent.futures.process", "loky.process_executor")
"""Modules whose threads manage processes."""


owners: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""Threads that serve process pools, and the process (rank) that has started each."""


def owner_here() -> Any:
    """Return the process (rank) for which this thread serves a process pool; None in all other threads."""
    return owners.get(threading.current_thread()) if owners else None


def serves_process_pool(thread: Any) -> bool:
    """Return whether a thread serves a process pool. Thread pools have similar threads, but other queues."""
    if type(thread).__module__.endswith(MANAGERS):
        return True
    package, _, module = str(getattr(getattr(thread, "_target", None), "__module__", None)).partition(".")
    if package not in FAMILY or module.startswith("dummy"):
        return False
    return module != "pool" or any(type(value).__module__ == f"{package}.queues" for value in thread._args)
