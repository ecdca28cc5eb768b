"""`run(computing=1.0)`: the CPU time that a rank takes between two MPI calls is charged to its clock, times a factor.

A rank has a `Meter`, which counts while the rank's program runs and stands still while it is in a call of ours: methods of
communicators, requests and messages, `Wtime`, `compute` and `time.sleep`. Calls begin with the charge. What our own calls
take is not charged, but for attributes such as `comm.rank` and objects that communicate nothing (groups, datatypes), which
count as the program's. It is the CPU time of the thread that runs the rank: waiting for files costs nothing, nor do other
threads. What ranks share is charged to the first: a package that all import, or what is computed once and kept.

Methods are wrapped in their classes while such runs go on, so a run that is not measured pays nothing. What is measured
differs from run to run, and so do the clocks. Who polls computes, too, so time moves on, and a livelock is not noticed.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from types import FunctionType
from typing import Any

from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.environment import spend
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.comms.intercomm import Intercomm
from fakempi.mpi.comms.topocomm import Cartcomm, Distgraphcomm, Graphcomm
from fakempi.mpi.files.file import File
from fakempi.mpi.point.grequest import Grequest
from fakempi.mpi.point.persistent import Prequest
from fakempi.mpi.point.probes import Message
from fakempi.mpi.windows.win import Win

KINDS = (Cartcomm, Distgraphcomm, Graphcomm, Intercomm, Prequest, Grequest, Message, Win, File)
"""Classes whose methods, and those of the classes that they are made of, are calls of ours."""


class Meter:
    """What a process computes. As a context manager around a call of ours it charges, and stands still."""

    __slots__ = ("counts", "cpu", "depth", "factor", "idle", "latest", "owed", "process", "wall")

    def __init__(self, process: Process, factor: float) -> None:
        self.process, self.factor = process, factor
        self.counts = False
        self.depth = 0  # of calls of ours within each other
        self.cpu = self.wall = 0.0  # the readings when it began to count
        self.owed = 0.0  # what is to be charged
        self.idle = 0.0  # real time in which the program did not compute: it is not charged, but seen by `time.time`
        self.latest = 0.0  # what `seconds` has said

    def start(self) -> None:
        """The program goes on."""
        self.counts, self.cpu, self.wall = True, thread_time(), perf_counter()

    def stop(self) -> None:
        """The program does not go on."""
        cpu, wall = thread_time() - self.cpu, perf_counter() - self.wall
        self.counts = False
        self.idle += max(0.0, wall - cpu)
        self.owed += cpu * self.factor

    def charge(self) -> None:
        """The program does not go on, and what it has computed takes time."""
        self.stop()
        owed, self.owed = self.owed, 0.0
        spend(self.process, owed)

    def __enter__(self) -> None:
        self.depth += 1
        if self.depth == 1:
            self.charge()

    def __exit__(self, *_: Any) -> None:
        self.depth -= 1
        if not self.depth:
            self.start()

    def seconds(self) -> float:
        """What clocks other than `Wtime` have to show since the start of the run: nothing is charged by looking at them."""
        seconds = float(self.process.loop.now) + self.owed + self.idle
        if self.counts:
            cpu, wall = thread_time() - self.cpu, perf_counter() - self.wall
            seconds += cpu * self.factor + max(0.0, wall - cpu)
        self.latest = max(self.latest, seconds)
        return self.latest


def measured(process: Process, main: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A process's program, on a meter from its beginning to its end."""

    def program(comm: Any) -> Any:
        meter = process.meter = Meter(process, process.universe.computing)
        meter.start()
        result = main(comm)
        meter.charge()
        return result

    return program


class _Calls:
    """The methods that are wrapped while runs are measured, of which there may be several at once."""

    def __init__(self) -> None:
        self.runs = 0
        self.lock = threading.Lock()
        self.before: list[tuple[type, str, Any]] = []

    def wrap(self) -> None:
        """A run begins."""
        with self.lock:
            self.runs += 1
            if self.runs > 1:
                return
            kinds = dict.fromkeys(base for kind in KINDS for base in kind.__mro__ if base.__module__.startswith("fakempi"))
            for kind in kinds:
                for name, value in list(vars(kind).items()):
                    wrapped = None if name.startswith("_") else _wrapped(value)
                    if wrapped is not None:
                        self.before.append((kind, name, value))
                        setattr(kind, name, wrapped)

    def unwrap(self) -> None:
        """A run has ended."""
        with self.lock:
            self.runs -= 1
            while self.before and not self.runs:
                kind, name, value = self.before.pop()
                setattr(kind, name, value)


def _wrapped(value: Any) -> Any:
    if isinstance(value, (classmethod, staticmethod)):
        return type(value)(_call(value.__func__))
    return _call(value) if isinstance(value, FunctionType) else None


def _call(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        process = current_process()
        if process is None or process.meter is None or process.meter.depth:
            return function(*args, **kwargs)
        with process.meter:
            return function(*args, **kwargs)

    return call


_calls = _Calls()


@contextmanager
def metered(universe: Universe) -> Iterator[None]:
    """While this goes on, the universe's processes are measured."""
    loop = universe.loop
    wait = loop.wait

    def stand_still() -> None:
        """Who waits does not compute, also in a call that is not wrapped: others may use the same thread meanwhile."""
        meter: Any = loop.running.owner.meter if loop.running is not None else None
        if meter is None or not meter.counts:
            return wait()
        meter.stop()  # and is charged later: it may have been booked already for when it goes on
        try:
            wait()
        finally:
            meter.start()

    _calls.wrap()
    loop.wait = stand_still  # type: ignore[method-assign]
    try:
        yield
    finally:
        vars(loop).pop("wait", None)
        _calls.unwrap()
