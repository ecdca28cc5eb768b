"""Parts of a run that have a name, for its trace: collectives, and what a program calls a phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fakempi.mpi.base.current import running_process


@contextmanager
def region(name: str) -> Iterator[None]:
    """Give what the running rank does in here a name, which shows in the trace; without a trace nothing happens.

    Parameters
    ----------
    name
        What the trace calls it.

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


def recorded(
    comm: Any, work: Callable[..., Any], name: str, *, algorithm: str = "", nbytes: int = 0, root: int | None = None,
    call: int = 0,
) -> Callable[..., Any]:  # fmt: skip
    """The work of a collective call, as a region of the trace; call it where the program calls, or tell that `call`."""
    process, context = comm._process, comm._context
    recorder = process.universe.recorder
    if recorder is None:
        return work
    call, number = call or recorder.call(), comm._side.calls.get(comm._rank, 0)
    who = -1 if root is None else comm._side.members[root]

    def in_region(*args: Any, **options: Any) -> Any:
        entered = recorder.enter(
            process.number, name, algorithm=algorithm, call=call, lane=_lane(process), context=context.number, number=number,
            root=who, nbytes=nbytes,
        )  # fmt: skip
        try:
            return work(*args, **options)
        finally:
            recorder.leave(*entered)

    return in_region


class WholeCall:
    """A call of the program's that is made of several, as one region of the trace around theirs.

    It is by the algorithm that the last of them is by.
    """

    __slots__ = ("_comm", "_entered", "_name", "_nbytes", "_recorder", "_root")

    def __init__(self, comm: Any, name: str, *, nbytes: int = 0, root: int | None = None) -> None:
        self._comm, self._name, self._nbytes, self._root = comm, name, nbytes, root
        self._recorder: Any = comm._process.universe.recorder

    def __enter__(self) -> None:
        if self._recorder is None:
            return
        process, side, rank = self._comm._process, self._comm._side, self._comm._rank
        self._entered = self._recorder.enter(
            process.number, self._name, call=self._recorder.call(), lane=_lane(process), context=self._comm._context.number,
            number=side.calls.get(rank, 0) + 1, root=-1 if self._root is None else side.members[self._root],
            nbytes=self._nbytes, of_parts=True,
        )  # fmt: skip

    def __exit__(self, *failure: object) -> None:
        if self._recorder is not None:
            self._recorder.leave(*self._entered)


def _lane(process: Any) -> int:
    """0 for the rank's own task, otherwise the number of the one in the background."""
    task = process.loop.running
    return 0 if task is process.task else task.number
