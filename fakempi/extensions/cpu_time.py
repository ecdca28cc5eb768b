"""`run(cpu_scale=1.0)`: add the CPU time of a rank between two MPI calls, times a factor, to its clock.

A rank has a `ProcessCpuMeter`, which runs while the rank's program runs and is stopped in public calls: methods of
communicators, requests and messages, `Wtime`, `compute` and `time.sleep`. Such a call first charges the CPU time since the
last such call. The CPU time of the calls themselves is not charged. Attributes such as `comm.rank`, and objects that do not
communicate (groups, datatypes), count as the program's time. The CPU time of the thread that runs the rank is measured, so
waiting for files and other threads do not count. Work that ranks share is charged to the first one: the import of a shared
package, or a result that is computed once and kept.

The meter subscribes to the hook point of public calls (mpi/public_calls.py), which exists only while such runs are active,
so other runs are not slowed down. Hook points of the loop and the network cannot be used: they are reached in the middle of
a call, after most of the call's own time (parsing buffers, choosing an algorithm). Measured times differ from run to run,
and so do the clocks. A rank that polls uses CPU time, so its clock advances, and a livelock is not detected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any

from fakempi.core.hooks import Layer, OnCall, OnWait
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.environment import advance_clock
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.interfaces.services import CpuMeter
from fakempi.mpi.public_calls import PUBLIC_CALLS


class ProcessCpuMeter:
    """The CPU time of a process. As a context manager around a public call, it charges the time before and then stops."""

    __slots__ = ("counts", "cpu", "depth", "factor", "idle", "latest", "owed", "process", "wall")

    def __init__(self, process: Process, factor: float) -> None:
        self.process, self.factor = process, factor
        self.counts = False
        self.depth = 0  # how many public calls are in progress, one inside another
        self.cpu = self.wall = 0.0  # the clocks when it was started
        self.owed = 0.0  # seconds that are not charged yet
        self.idle = 0.0  # real time without CPU time: not charged, but part of `time.time`
        self.latest = 0.0  # the last result of `seconds`

    def start(self) -> None:
        """Start measuring: the program runs."""
        self.counts, self.cpu, self.wall = True, thread_time(), perf_counter()

    def stop(self) -> None:
        """Stop measuring: the program does not run."""
        cpu, wall = thread_time() - self.cpu, perf_counter() - self.wall
        self.counts = False
        self.idle += max(0.0, wall - cpu)
        self.owed += cpu * self.factor

    def charge(self) -> None:
        """Stop, and add the time to the rank's clock."""
        self.stop()
        self._spend()

    def _spend(self) -> None:
        owed, self.owed = self.owed, 0.0
        advance_clock(self.process, owed)

    def __enter__(self) -> None:
        self.depth += 1
        if self.depth == 1:
            self.stop()  # without `charge` in between, which would count as the program's time
            self._spend()

    def __exit__(self, *_: Any) -> None:
        self.depth -= 1
        if not self.depth:
            self.start()

    def seconds(self) -> float:
        """Return the seconds since the start of the run for clocks other than `Wtime`, which charge nothing when read."""
        seconds = float(self.process.loop.now) + self.owed + self.idle
        if self.counts:
            cpu, wall = thread_time() - self.cpu, perf_counter() - self.wall
            seconds += cpu * self.factor + max(0.0, wall - cpu)
        self.latest = max(self.latest, seconds)
        return self.latest


def measured(process: Process, main: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the program of a process, with its CPU time measured."""

    def program(comm: Any) -> Any:
        meter = process.meter = ProcessCpuMeter(process, process.universe.cpu_scale)
        meter.start()
        result = main(comm)
        meter.charge()
        return result

    return program


@contextmanager
def metered(universe: Universe) -> Iterator[None]:
    """Measure the processes of a universe in this context."""
    cpu_time = CpuTime(universe)
    PUBLIC_CALLS.subscribe(cpu_time)
    universe.loop.subscribe(cpu_time)
    try:
        yield
    finally:
        universe.loop.unsubscribe(cpu_time)
        PUBLIC_CALLS.unsubscribe(cpu_time)


class CpuTime(OnCall, OnWait):
    """Charges a rank's CPU time when it enters a public call, and stops its meter until the call returns."""

    layer = Layer.CPU_TIME

    def __init__(self, universe: Universe) -> None:
        self.universe, self.loop = universe, universe.loop

    def enter(self) -> CpuMeter | None:
        """Return the meter of the running process; None inside a public call, or if the process is not measured."""
        process = current_process()
        if process is None or process.meter is None or process.meter.depth:
            return None
        return process.meter

    def wait(self, proceed: Callable[[], None]) -> None:
        """Also stop the meter if a rank waits outside public calls, since other ranks may use its thread in the meantime."""
        running = self.loop.running
        meter: ProcessCpuMeter | None = None if running is None else running.owner.meter
        if meter is None or not meter.counts:
            return proceed()
        meter.stop()  # the time is charged later, because the task may already be booked
        try:
            proceed()
        finally:
            meter.start()
