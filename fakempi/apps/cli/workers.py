"""Worker processes for long comparisons, verifications and searches."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from fakempi.core.options import usage_error

THRESHOLD = 3.0
"""Seconds of work above which worker processes are used: starting one takes nearly one second."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(requested: int | None, jobs: int, seconds: float) -> Iterator[Executor | None]:
    """Yield an executor with the requested number of processes, or None to work in this process.

    Without a request, there is one process per core if `jobs` jobs take more than THRESHOLD `seconds` in total. The
    processes are spawned rather than forked: that works on all systems, and this process may have threads. They ignore
    Ctrl-C, which this process handles, and end with the block.
    """
    count = min(requested or (cores() if seconds > THRESHOLD else 1), jobs)
    if count == 1:
        yield None
        return
    before = set(active_children())
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    try:
        with _sigint_ignored():
            for _ in range(count):
                pool.submit(os.getpid)  # starts one process
        yield pool
    except BrokenProcessPool:
        raise usage_error("a worker process ended early; use --jobs 1 to run without worker processes.") from None
    except BaseException:
        for process in set(active_children()) - before:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _sigint_ignored() -> Iterator[None]:
    """Let processes that are started inside the block ignore Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set signal handlers
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
