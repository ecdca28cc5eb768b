"""What collective calls cost on paper, and message by message, in the same run: microseconds a rank and call, and the ratio.

    python benchmarks/paper.py [ranks ...]      each call at so many ranks (1024); it is CPU time that is taken
    python benchmarks/paper.py --scale          65,536 ranks, and a barrier of 1,048,576 (11 GB), with seconds and memory

The one that is carried out message by message is called fewer times, since it takes so long.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np

import fakempi

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Barrier": lambda comm, mine, others: comm.Barrier(),
    "Allreduce": lambda comm, mine, others: comm.Allreduce(mine, np.empty(1)),
    "Allgather": lambda comm, mine, others: comm.Allgather(mine, others),
    "Alltoall": lambda comm, mine, others: comm.Alltoall(np.ones(comm.size), others),
}

SCALE: dict[str, tuple[Callable[[Any], Any], int]] = {
    "nothing, 65536 ranks": (lambda comm: None, 1 << 16),
    "Allreduce, 65536 ranks": (lambda comm: comm.Allreduce(np.ones(1), np.empty(1)), 1 << 16),
    "Allgather, 65536 ranks": (
        lambda comm: comm.Allgather(fakempi.phantom(8), fakempi.phantom(8 * comm.size)),
        1 << 16,
    ),
    "Barrier, 1048576 ranks": (lambda comm: comm.Barrier(), 1 << 20),
}


def program(comm: Any, name: str, calls: int) -> float:
    """So many calls of 8 bytes each; the first two are not timed."""
    call, mine, others = CALLS[name], np.ones(1), np.zeros(comm.Get_size())
    for _ in range(2):
        call(comm, mine, others)
    comm.Barrier()
    start = process_time()
    for _ in range(calls):
        call(comm, mine, others)
    comm.Barrier()
    return process_time() - start


def per_call(name: str, ranks: int, paper: str, calls: int) -> float:
    """Microseconds per rank and call: the best of three."""
    runs = (fakempi.run(program, ranks, name, calls, paper=paper) for _ in range(3))
    return min(max(run.returns) for run in runs) / (ranks * calls) * 1e6


def measure(name: str) -> dict[str, float]:
    """Seconds, and memory of the process."""
    case, ranks = SCALE[name]
    fakempi.run(case, 8, paper="auto")
    start, cpu = perf_counter(), process_time()
    messages = fakempi.run(case, ranks, paper="auto").messages
    seconds, cpu = perf_counter() - start, process_time() - cpu
    return {
        "seconds": seconds, "cpu": cpu, "messages": messages,
        "GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        print(json.dumps(measure(sys.argv[2])))
    elif sys.argv[1:] == ["--scale"]:
        print(f"{'one call of 8 bytes':24} {'seconds':>8} {'CPU':>8} {'messages':>10} {'GiB':>6}")
        for name in SCALE:
            found = subprocess.run([sys.executable, __file__, "--case", name], capture_output=True, check=True).stdout
            row = json.loads(found)
            print(f"{name:24} {row['seconds']:8.1f} {row['cpu']:8.1f} {row['messages']:10.0f} {row['GiB']:6.2f}")
    else:
        for ranks in [int(each) for each in sys.argv[1:]] or [1024]:
            print(f"{f'{ranks} ranks':12} {'on paper':>10} {'messages':>10} {'ratio':>7}")
            for name in CALLS:
                calls = max(1, 3_000 // ranks)
                emulated = per_call(name, ranks, "never", 1 if name == "Alltoall" else calls)
                paper = per_call(name, ranks, "auto", 10 * calls)
                print(f"{name:12} {paper:10.1f} {emulated:10.1f} {emulated / paper:7.1f}")
