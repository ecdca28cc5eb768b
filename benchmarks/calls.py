"""The cost of a small collective call per rank: microseconds, and multiples of a bare switch, in the same run.

    python benchmarks/calls.py [ranks ...]

With one rank this is the cost of the call alone: describing buffers, call matching, the choice of an algorithm. With more
ranks, messages are included. The times are CPU times, so that they can be compared on a loaded machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from bare import greenlet_switch

import fakempi
from fakempi import MPI


def copy_of(buffer: Any) -> Any:
    """Return another buffer of the same size."""
    return buffer.copy() if isinstance(buffer, np.ndarray) else fakempi.phantom(buffer.nbytes)


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Barrier": lambda comm, mine, others: comm.Barrier(),
    "Bcast": lambda comm, mine, others: comm.Bcast(mine, 0),
    "Reduce": lambda comm, mine, others: comm.Reduce(mine, others[: mine.size], MPI.SUM, 0),
    "Allreduce": lambda comm, mine, others: comm.Allreduce(mine, others[: mine.size], MPI.SUM),
    "Allgather": lambda comm, mine, others: comm.Allgather(mine, others),
    "Gather": lambda comm, mine, others: comm.Gather(mine, others, 0),
    "Scatter": lambda comm, mine, others: comm.Scatter(others, mine, 0),
    "Scan": lambda comm, mine, others: comm.Scan(mine, others[: mine.size], MPI.SUM),
    "Reduce_scatter_block": lambda comm, mine, others: comm.Reduce_scatter_block(others, mine, MPI.SUM),
    "Alltoall": lambda comm, mine, others: comm.Alltoall(copy_of(others), others),
    "Allgatherv": lambda comm, mine, others: comm.Allgatherv(
        [mine, MPI.DOUBLE], [others, [mine.size] * comm.size, None, "d"]
    ),
    "allreduce": lambda comm, mine, others: comm.allreduce(1),
    "bcast": lambda comm, mine, others: comm.bcast(1),
    "Sendrecv": lambda comm, mine, others: comm.Sendrecv(
        mine, (comm.rank + 1) % comm.size, 0, others[: mine.size], (comm.rank - 1) % comm.size, 0
    ),
}  # fmt: skip


ONE_BLOCK = ("Barrier", "Allreduce", "Bcast", "Reduce", "Scan")
"""Calls whose buffers have one block."""


def program(world: Any, name: str, calls: int, nbytes: int, phantoms: bool, groups: int) -> tuple[float, float]:
    """Make calls with blocks of `nbytes` bytes; return the CPU time before and after them. Up to three calls warm up.

    With several groups, each of them calls on its own communicator.
    """
    comm = world if groups == 1 else world.Split(world.rank % groups)
    call, total = CALLS[name], nbytes * (1 if name in ONE_BLOCK else comm.Get_size())
    mine, others = (fakempi.phantom(n) if phantoms else np.ones(n // 8) for n in (nbytes, total))
    for _ in range(min(calls, 3)):
        call(comm, mine, others)
    world.Barrier()
    start = process_time()
    for _ in range(calls):
        call(comm, mine, others)
    return start, process_time()


def per_call(
    name: str, ranks: int, calls: int | None = None, repeats: int = 5, nbytes: int = 8, *, phantoms: bool = False,
    groups: int = 1, **options: Any,
) -> float:  # fmt: skip
    """Seconds per rank and call: the minimum of several runs with these options; `phantoms` are buffers without memory."""
    calls = calls or max(3, 2_000 // ranks)
    arguments = name, calls, nbytes, phantoms, groups
    runs = (zip(*fakempi.run(program, ranks, *arguments, **options).returns, strict=True) for _ in range(repeats))
    return min(max(ends) - min(starts) for starts, ends in runs) / (ranks * calls)


if __name__ == "__main__":
    sizes = [int(each) for each in sys.argv[1:]] or [1, 4, 64]
    switches = [min(greenlet_switch(max(2, ranks), clock=process_time) for _ in range(3)) for ranks in sizes]
    print(f"{'µs (in switches)':20}" + "".join(f"{f'{ranks} ranks':>18}" for ranks in sizes))
    for name in CALLS:
        found = [per_call(name, ranks) for ranks in sizes]
        print(f"{name:20}" + "".join(f"{t * 1e6:9.1f} ({t / bare:6.1f})" for t, bare in zip(found, switches, strict=True)))
