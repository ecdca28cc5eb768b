"""What collective calls cost on paper, and message by message, in the same run: microseconds a rank and call, and the ratio.

    python benchmarks/paper.py [ranks ...]      each call at so many ranks (1024); it is CPU time that is taken
    python benchmarks/paper.py --scale          65,536 ranks, and a barrier of 1,048,576 (10 GB), with seconds and memory

The one that is carried out message by message is called fewer times, since it takes so long.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from calls import per_call
from scale import each_alone, measured

import fakempi

CALLS = ("Barrier", "Allreduce", "Allgather", "Alltoall")

SCALE: dict[str, tuple[Callable[[Any], Any], int]] = {
    "nothing, 65536 ranks": (lambda comm: None, 1 << 16),
    "Allreduce, 65536 ranks": (lambda comm: comm.Allreduce(np.ones(1), np.empty(1)), 1 << 16),
    "Allgather, 65536 ranks": (
        lambda comm: comm.Allgather(fakempi.phantom(8), fakempi.phantom(8 * comm.size)),
        1 << 16,
    ),
    "Barrier, 1048576 ranks": (lambda comm: comm.Barrier(), 1 << 20),
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        program, ranks = SCALE[sys.argv[2]]
        print(json.dumps(measured(program, ranks, paper="auto")))
    elif sys.argv[1:] == ["--scale"]:
        print(f"{'one call of 8 bytes':24} {'seconds':>8} {'CPU':>8} {'messages':>10} {'GiB':>6}")
        for name, row in each_alone(__file__, SCALE, "--case"):
            print(f"{name:24} {row['seconds']:8.1f} {row['cpu']:8.1f} {row['messages']:10.0f} {row['GiB']:6.2f}")
    else:
        for ranks in [int(each) for each in sys.argv[1:]] or [1024]:
            print(f"{f'{ranks} ranks':12} {'on paper':>10} {'messages':>10} {'ratio':>7}")
            calls = max(1, 3_000 // ranks)
            for name in CALLS:
                emulated = per_call(name, ranks, 1 if name == "Alltoall" else calls, 3, paper="never")
                paper = per_call(name, ranks, 10 * calls, 3, paper="auto")
                print(f"{name:12} {paper * 1e6:10.1f} {emulated * 1e6:10.1f} {emulated / paper:7.1f}")
