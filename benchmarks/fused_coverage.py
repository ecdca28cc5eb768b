"""Which default calls are fused: a grid of 14 operations, 6 to 1,024 ranks and 8 bytes to 256 KiB.

    python benchmarks/fused_coverage.py [most ranks]

The same calls also on two sub-communicators of at most 64 ranks each, and in traced runs of at most 64 ranks.
Operands of reductions are numbers, as far as all of them fit in 64 MiB. Other buffers are phantoms.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import fakempi
from fakempi import phantom

RANKS = (6, 8, 16, 48, 64, 100, 256, 1000, 1024)
REDUCING = ("Reduce", "Allreduce", "Reduce_scatter_block", "Scan", "Exscan")
SIZES = (8, 64, 512, 4096, 32768, 262144)


def call(comm: Any, operation: str, n: int, part: bool) -> None:
    """Make one call with blocks of n bytes; with `part`, on each half of the ranks: the even ones, and the odd ones."""
    comm = comm.Split(comm.rank % 2) if part else comm
    p, here = comm.size, comm.rank == 0
    a: Any
    b: Any
    all_a: Any
    a, b, all_a, all_b = phantom(n), phantom(n), phantom(n * p), phantom(n * p)
    counts = [n] * p
    if operation in REDUCING and p * n * (p if operation == "Reduce_scatter_block" else 1) <= 1 << 26:
        a, b = np.ones(n // 8), np.ones(n // 8)
        if operation == "Reduce_scatter_block":  # for the others, all ranks together would allocate 16 GiB
            all_a = np.ones(n * p // 8)
    calls = {
        "Barrier": (),
        "Bcast": (a,),
        "Gather": (a, all_b if here else None),
        "Scatter": (all_a if here else None, b),
        "Gatherv": (a, [all_b, counts] if here else None),
        "Scatterv": ([all_a, counts] if here else None, b),
        "Allgather": (a, all_b),
        "Allgatherv": (a, [all_b, counts]),
        "Alltoall": (all_a, all_b),
        "Reduce": (a, b if here else None),
        "Allreduce": (a, b),
        "Reduce_scatter_block": (all_a, b),
        "Scan": (a, b),
        "Exscan": (a, b),
    }
    getattr(comm, operation)(*calls[operation])


OPERATIONS = (
    "Barrier", "Bcast", "Gather", "Scatter", "Gatherv", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Reduce",
    "Allreduce", "Reduce_scatter_block", "Scan", "Exscan",
)  # fmt: skip


def coverage(most: int, **options: Any) -> tuple[int, int, dict[str, int]]:
    """Return the number of fused calls, of all calls, and the reasons of emulated calls."""
    part = options.pop("part", False)
    fused = total = 0
    reasons: dict[str, int] = {}
    for ranks in (each for each in RANKS if each <= most):
        for operation in OPERATIONS:
            for n in SIZES if ranks <= 64 else SIZES[::5]:
                run = fakempi.run(call, 2 * ranks if part else ranks, operation, n, part, **options)
                for counts in run.fused_calls.values():
                    fused += counts.fused
                    total += counts.fused + sum(counts.emulated.values())
                    for why, count in counts.emulated.items():
                        reasons[why] = reasons.get(why, 0) + count
    return fused, total, reasons


if __name__ == "__main__":
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    for label, most, options in (
        ("all ranks", largest, {}),
        ("two sub-communicators", min(64, largest), {"part": True}),
        ("traced", min(64, largest), {"trace": True}),
    ):
        count, calls, why = coverage(most, **options)
        print(f"{label:22} {count:5} of {calls:5} calls fused ({count / calls:.0%}) {why or ''}", flush=True)
