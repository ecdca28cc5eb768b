"""Parts of a run that have a name, for its trace: collectives, and what a program calls a phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fakempi.mpi.base.current import running_process


@contextmanager
def region(name: str) -> Iterator[None]:
    """Give what the running rank does in here a name, which shows in the trace; without a trace nothing happens.

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
    comm: Any, work: Callable[..., Any], name: str, *, algorithm: str = "", nbytes: int = 0, root: int | None = None
) -> Callable[..., Any]:
    """The work of a collective call, as a region of the trace; call it where the program calls."""
    process, context = comm._process, comm._context
    recorder = process.universe.recorder
    if recorder is None:
        return work
    call, number = recorder.call(), comm._side.calls.get(comm._rank, 0)
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


def _lane(process: Any) -> int:
    """0 for the rank's own task, otherwise the number of the one in the background."""
    task = process.loop.running
    return 0 if task is process.task else task.number
