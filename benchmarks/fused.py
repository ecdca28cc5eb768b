"""The cost of fused and of emulated collective calls in the same run: microseconds per rank and call, and the ratio.

    python benchmarks/fused.py [ranks ...]      each call with these numbers of ranks (1024) and 8 bytes, in CPU time
    python benchmarks/fused.py --groups 32      1,024 ranks in so many groups, each with a communicator of its own
    python benchmarks/fused.py --long           1,024 ranks and 8 KiB; buffers of several blocks are phantoms
    python benchmarks/fused.py --scale          65,536 ranks, and a barrier of 1,048,576 (10 GB), with seconds and memory

Emulated calls are repeated fewer times, because they take longer: once, if each of them sends 1,000 messages per rank.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from calls import ONE_BLOCK, per_call
from scale import each_alone, measured

import fakempi

CALLS = (
    "Barrier",
    "Allreduce",
    "Allgather",
    "Alltoall",
    "Bcast",
    "Gather",
    "Scatter",
    "Reduce",
    "Scan",
    "Reduce_scatter_block",
)

MANY_MESSAGES = ("Alltoall", "Allgather", "Reduce_scatter_block")

SCALE: dict[str, tuple[Callable[[Any], Any], int]] = {
    "nothing, 65536 ranks": (lambda comm: None, 1 << 16),
    "Allreduce, 65536 ranks": (lambda comm: comm.Allreduce(np.ones(1), np.empty(1)), 1 << 16),
    "Bcast, 65536 ranks": (lambda comm: comm.Bcast(np.ones(1)), 1 << 16),
    "Gather, 65536 ranks": (
        lambda comm: comm.Gather(np.ones(1), np.empty(comm.size) if comm.rank == 0 else None),
        1 << 16,
    ),
    "Allgather, 65536 ranks": (
        lambda comm: comm.Allgather(fakempi.phantom(8), fakempi.phantom(8 * comm.size)),
        1 << 16,
    ),
    "Barrier, 1048576 ranks": (lambda comm: comm.Barrier(), 1 << 20),
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        program, ranks = SCALE[sys.argv[2]]
        print(json.dumps(measured(program, ranks, fused="auto")))
    elif sys.argv[1:] == ["--scale"]:
        print(f"{'one call of 8 bytes':24} {'seconds':>8} {'CPU':>8} {'messages':>10} {'GiB':>6}")
        for name, row in each_alone(__file__, SCALE, "--case"):
            print(f"{name:24} {row['seconds']:8.1f} {row['cpu']:8.1f} {row['messages']:10.0f} {row['GiB']:6.2f}")
    else:
        nbytes = 8192 if sys.argv[1:] == ["--long"] else 8
        groups = int(sys.argv[2]) if sys.argv[1:2] == ["--groups"] else 1
        sizes = [] if nbytes > 8 or groups > 1 else [int(each) for each in sys.argv[1:]]
        for ranks in sizes or [1024]:
            title = f"{ranks} ranks, {nbytes} bytes" if groups == 1 else f"{groups} groups of {ranks // groups} ranks"
            print(f"{title:24} {'fused':>10} {'emulated':>10} {'ratio':>7}")
            calls = max(1, 3_000 // ranks)
            for name in CALLS:
                phantoms, many = nbytes > 8 and name not in ONE_BLOCK, name in MANY_MESSAGES[: 1 if nbytes == 8 else 3]
                repeats = (1, 1) if many and groups == 1 else (calls, 3)
                options: dict[str, Any] = {"nbytes": nbytes, "phantoms": phantoms, "groups": groups}
                emulated = per_call(name, ranks, *repeats, fused="never", **options)
                fused = per_call(name, ranks, 10 * calls, 3, fused="auto", **options)
                print(f"{name:24} {fused * 1e6:10.1f} {emulated * 1e6:10.1f} {emulated / fused:7.1f}", flush=True)
