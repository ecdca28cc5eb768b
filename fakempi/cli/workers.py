"""Processes that share the work of a comparison, if there is enough of it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from fakempi.options import wrong

ENOUGH = 3.0
"""Seconds of work from which on processes pay: to start one takes nearly one."""


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(asked: int | None, jobs: int, seconds: float) -> Iterator[Executor | None]:
    """As many as were asked for, or one on each core if so many jobs take so many seconds; None is to do without.

    They are started afresh rather than forked, which is the same on all systems and leaves the threads of this process
    alone; and deaf to Ctrl-C, which is this process's to hear. They end with this block, however it ends.
    """
    count = min(asked or (cores() if seconds > ENOUGH else 1), jobs)
    if count == 1:
        yield None
        return
    before = set(active_children())
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    try:
        with _deaf():
            for _ in range(count):
                pool.submit(os.getpid)  # which starts one
        yield pool
    except BrokenProcessPool:
        raise wrong("a worker process has ended before its work was done; --jobs 1 does without them.") from None
    except BaseException:
        for process in set(active_children()) - before:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started meanwhile ignore Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():  # others may not say
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
