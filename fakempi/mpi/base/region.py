"""Regions: named parts of a run, for its trace. Collective calls are regions, and programs define others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.process import Process
from fakempi.mpi.interfaces.services import TraceService

R = TypeVar("R")


@contextmanager
def region(name: str) -> Iterator[None]:
    """Name a part of the program in the trace. Without a trace this has no effect.

    Parameters
    ----------
    name
        The name of the region in the trace.

    Examples
    --------
    >>> import fakempi
    >>> def main(comm):
    ...     with fakempi.region("halo exchange"):
    ...         comm.Barrier()
    >>> [region.name for region in fakempi.run(main, 2, trace=True).trace.regions]
    ['halo exchange', 'barrier', 'halo exchange', 'barrier']
    """
    process = running_process()
    recorder = process.universe.recorder
    if recorder is None:
        yield
        return
    entered = recorder.enter(process.number, str(name), lane=_lane(process))
    try:
        yield
    finally:
        recorder.leave(*entered)


class CallRegion:
    """A collective call of a rank, or a part of one, as a region of the trace. It may be entered several times.

    `call` is the number of the program's call in the trace; by default, that of the call that is running now.
    """

    __slots__ = ("_facts", "_process", "_recorder")

    def __init__(
        self, comm: Any, name: str, *, algorithm: str = "", nbytes: int = 0, root: int | None = None, call: int = 0
    ) -> None:
        self._process: Process = comm._process
        recorder = self._process.universe.recorder
        assert recorder is not None
        self._recorder: TraceService = recorder
        self._facts: dict[str, Any] = {
            "name": name, "algorithm": algorithm, "call": call or recorder.call(), "nbytes": nbytes,
            "context": comm._context.number, "number": comm._side.calls[comm._rank],
            "root": -1 if root is None else comm._side.members[root],
        }  # fmt: skip

    def run(self, work: Callable[..., R], *args: object, **options: object) -> R:
        """Call a function in the region."""
        entered = self._recorder.enter(self._process.number, lane=_lane(self._process), **self._facts)
        try:
            return work(*args, **options)
        finally:
            self._recorder.leave(*entered)


def recorded(comm: Any, work: Callable[..., R], name: str, *, algorithm: str = "", nbytes: int = 0) -> Callable[..., R]:
    """Return a function that does the work of a collective call, in a region of the trace if there is one."""
    if comm._process.universe.recorder is None:
        return work
    return partial(CallRegion(comm, name, algorithm=algorithm, nbytes=nbytes).run, work)


def wait_region(process: Process, name: str) -> AbstractContextManager[None]:
    """Record a wait of the running task for something other than its own messages as a region of the trace.

    A wait in a call that is a region already is part of that region.
    """
    recorder = process.universe.recorder
    if recorder is None or recorder.in_call():
        return _NOT_RECORDED
    return _recorded_wait(process, name, recorder, recorder.call())  # contextlib's frames would count as the program's


_NOT_RECORDED = nullcontext()


@contextmanager
def _recorded_wait(process: Process, name: str, recorder: TraceService, call: int) -> Iterator[None]:
    entered = recorder.enter(process.number, name, call=call, lane=_lane(process))
    try:
        yield
    finally:
        recorder.leave(*entered)


class WholeCall:
    """A call of the program that consists of several collective calls.

    In the trace it is one region that contains the regions of these calls. Its algorithm is that of the last of them.
    """

    __slots__ = ("_comm", "_entered", "_name", "_nbytes", "_recorder", "_root")

    def __init__(self, comm: Any, name: str, *, nbytes: int = 0, root: int | None = None) -> None:
        self._comm, self._name, self._nbytes, self._root = comm, name, nbytes, root
        self._recorder: TraceService | None = comm._process.universe.recorder

    def __enter__(self) -> None:
        if self._recorder is None:
            return
        process, side, rank = self._comm._process, self._comm._side, self._comm._rank
        self._entered = self._recorder.enter(
            process.number, self._name, call=self._recorder.call(), lane=_lane(process), context=self._comm._context.number,
            number=side.calls[rank] + 1, root=-1 if self._root is None else side.members[self._root],
            nbytes=self._nbytes, algorithm_of_part=True,
        )  # fmt: skip

    def __exit__(self, *failure: object) -> None:
        if self._recorder is not None:
            self._recorder.leave(*self._entered)


def _lane(process: Process) -> int:
    """0 for the main task of the rank, otherwise the number of the child task."""
    task = process.loop.running
    return 0 if task is process.task or task is None else task.number
