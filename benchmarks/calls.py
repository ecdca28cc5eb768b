"""What a small collective call costs a rank: microseconds, and bare switches of the carrier, in the same run.

    python benchmarks/calls.py [ranks ...]

With one rank it is the call alone: describing buffers, the roll, the choice of an algorithm. Beyond that, messages.
It is CPU time that is taken, so that it can be compared on a machine that does other things, too.
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

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Barrier": lambda comm, mine, others: comm.Barrier(),
    "Bcast": lambda comm, mine, others: comm.Bcast(mine, 0),
    "Reduce": lambda comm, mine, others: comm.Reduce(mine, others[:1], MPI.SUM, 0),
    "Allreduce": lambda comm, mine, others: comm.Allreduce(mine, others[:1], MPI.SUM),
    "Allgather": lambda comm, mine, others: comm.Allgather(mine, others),
    "Gather": lambda comm, mine, others: comm.Gather(mine, others, 0),
    "Scatter": lambda comm, mine, others: comm.Scatter(others, mine, 0),
    "Alltoall": lambda comm, mine, others: comm.Alltoall(others.copy(), others),
    "Allgatherv": lambda comm, mine, others: comm.Allgatherv([mine, MPI.DOUBLE], [others, [1] * comm.size, None, "d"]),
    "allreduce": lambda comm, mine, others: comm.allreduce(1),
    "bcast": lambda comm, mine, others: comm.bcast(1),
    "Sendrecv": lambda comm, mine, others: comm.Sendrecv(
        mine, (comm.rank + 1) % comm.size, 0, others[:1], (comm.rank - 1) % comm.size, 0
    ),
}  # fmt: skip


def program(comm: Any, name: str, calls: int) -> tuple[float, float]:
    """So many calls of 8 bytes each; from when to when all but the first few took place."""
    call, mine, others = CALLS[name], np.ones(1), np.zeros(comm.Get_size())
    for _ in range(3):
        call(comm, mine, others)
    comm.Barrier()
    start = process_time()
    for _ in range(calls):
        call(comm, mine, others)
    return start, process_time()


def per_call(name: str, ranks: int, calls: int | None = None, repeats: int = 5, **options: Any) -> float:
    """Seconds per rank and call: the best of several runs with these options."""
    calls = calls or max(3, 2_000 // ranks)
    runs = (zip(*fakempi.run(program, ranks, name, calls, **options).returns, strict=True) for _ in range(repeats))
    return min(max(ends) - min(starts) for starts, ends in runs) / (ranks * calls)


if __name__ == "__main__":
    sizes = [int(each) for each in sys.argv[1:]] or [1, 4, 64]
    switches = [min(greenlet_switch(max(2, ranks), clock=process_time) for _ in range(3)) for ranks in sizes]
    print(f"{'us (bare switches)':18}" + "".join(f"{f'{ranks} ranks':>18}" for ranks in sizes))
    for name in CALLS:
        found = [per_call(name, ranks) for ranks in sizes]
        print(f"{name:18}" + "".join(f"{t * 1e6:9.1f} ({t / bare:6.1f})" for t, bare in zip(found, switches, strict=True)))
