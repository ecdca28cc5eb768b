"""Collectives of the catalogue at scale: wall time, messages and memory, each in a process of its own.

    python benchmarks/collectives_at_scale.py
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from time import perf_counter
from typing import Any

import numpy as np

import collectives
import fakempi
from fakempi import MPI


def allreduce(comm: Any) -> None:
    """One number summed by recursive doubling."""
    mine, total = np.ones(1), np.empty(1)
    collectives.find("allreduce", "recursive_doubling").run(comm, mine, total, op=MPI.SUM)
    assert total[0] == comm.Get_size()


def allgather(comm: Any) -> None:
    """8 bytes from each rank to each, round the ring."""
    mine, everybodys = np.full(1, comm.Get_rank()), np.empty(comm.Get_size(), int)
    collectives.find("allgather", "ring").run(comm, mine, everybodys)
    assert everybodys[-1] == comm.Get_size() - 1


CASES = {
    "allreduce recursive_doubling, 65536 ranks": (allreduce, 65536),
    "allgather ring, 1024 ranks": (allgather, 1024),
}


def measure(name: str) -> dict[str, float]:
    """Seconds, messages and resident memory that the run added."""
    program, ranks = CASES[name]
    fakempi.run(program, 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = perf_counter()
    run = fakempi.run(program, ranks)
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "messages": run.messages, "KB": (peak - before) / ranks}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
    else:
        print(f"{'case':42} {'seconds':>8} {'messages':>9} {'us/message':>11} {'KB/rank':>8}")
        for name in CASES:
            row = json.loads(subprocess.run([sys.executable, __file__, name], capture_output=True, check=True).stdout)
            each = row["seconds"] / row["messages"] * 1e6
            print(f"{name:42} {row['seconds']:8.1f} {row['messages']:9.0f} {each:11.2f} {row['KB']:8.1f}")
