"""Collectives of the catalogue at scale: wall-clock time, messages and memory, each in a separate process.

    python benchmarks/collectives_at_scale.py
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from scale import each_alone, measured

import collectives
from fakempi import MPI


def allreduce(comm: Any) -> None:
    """Sum one number by recursive doubling."""
    mine, total = np.ones(1), np.empty(1)
    collectives.find("allreduce", "recursive_doubling").run(comm, mine, total, op=MPI.SUM)
    assert total[0] == comm.Get_size()


def allgather(comm: Any) -> None:
    """Gather 8 bytes of each rank around the ring."""
    mine, gathered = np.full(1, comm.Get_rank()), np.empty(comm.Get_size(), int)
    collectives.find("allgather", "ring").run(comm, mine, gathered)
    assert gathered[-1] == comm.Get_size() - 1


CASES = {
    "allreduce recursive_doubling, 65536 ranks": (allreduce, 65536),
    "allgather ring, 1024 ranks": (allgather, 1024),
}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measured(*CASES[sys.argv[1]])))
    else:
        print(f"{'case':42} {'seconds':>8} {'messages':>9} {'µs/message':>11} {'KB/rank':>8}")
        for name, row in each_alone(__file__, CASES):
            each = row["seconds"] / row["messages"] * 1e6
            print(f"{name:42} {row['seconds']:8.1f} {row['messages']:9.0f} {each:11.2f} {row['bytes per rank'] / 1024:8.1f}")
