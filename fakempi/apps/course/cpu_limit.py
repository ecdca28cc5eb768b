"""End a run after the check's limit of CPU time, or if the process waits without computing.

The limit is CPU time, so that a busy machine changes no grade. A program that waits for something outside of MPI uses no CPU
time: it is stopped after `IDLE` seconds in which the process computed less than a hundredth of the time. The kernel stops a
process that ignores both (`limits`).
"""

from __future__ import annotations

from time import process_time

from fakempi.extensions.monitoring.monitor import Monitor
from fakempi.extensions.threads.raw import acquire, allocate_lock, monotonic, start_new_thread
from fakempi.mpi.base.process import Universe

PAUSE = 0.05
"""Seconds between two observations."""

IDLE, ACTIVE = 20.0, 0.01
"""Seconds after which a process that computes less than this fraction of the time is stopped."""


class CpuLimit:
    """Observes the CPU time of this process in a thread, from `start` on."""

    def __init__(self, seconds: float) -> None:
        self.end = process_time() + seconds
        self.universe: Universe | None = None
        self.never = allocate_lock()
        acquire(self.never)

    def start(self) -> None:
        """Start the thread, which is not one of `threading`: programs can list those."""
        start_new_thread(self._observe, ())

    def _observe(self) -> None:
        since, cpu = monotonic(), process_time()
        while True:
            acquire(self.never, True, PAUSE)  # a sleep that programs cannot replace
            now, used = monotonic(), process_time()
            if used >= self.end or (now - since >= IDLE and used - cpu < ACTIVE * (now - since)):
                self._stop()
            if now - since >= IDLE:
                since, cpu = now, used

    def _stop(self) -> None:
        """Let the monitor of the current run end it; a later run ends in the same way."""
        monitor = None if self.universe is None else self.universe.monitor
        if isinstance(monitor, Monitor):
            monitor.timeout = 0.0
            monitor.wake.set()


limit: CpuLimit | None = None
"""The limit of this process, if it has one."""


def observe(universe: Universe) -> None:
    """Let the limit of this process end this run."""
    if limit is not None:
        limit.universe = universe


def impose(seconds: float) -> None:
    """Give this process a limit of CPU time, counted from now."""
    global limit
    limit = CpuLimit(seconds)
    limit.start()
