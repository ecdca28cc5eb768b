"""Large runs: recursive doubling with 65,536 ranks, and a million ranks. Each case runs in a separate process.

    python benchmarks/scale.py            all cases, as a table
    python benchmarks/scale.py CASE       one case
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter, process_time
from typing import Any

import numpy as np

import fakempi


def recursive_doubling(comm: Any) -> float:
    """Sum one number by exchanges with the ranks at distance 1, 2, 4, ..."""
    rank, size = comm.Get_rank(), comm.Get_size()
    mine, other = np.full(1, float(rank)), np.empty(1)
    distance = 1
    while distance < size:
        partner = rank ^ distance
        comm.Sendrecv(mine, partner, 0, other, partner, 0)
        mine += other
        distance *= 2
    return float(mine[0])


def barrier(comm: Any) -> None:
    """A dissemination barrier."""
    rank, size = comm.Get_rank(), comm.Get_size()
    empty = np.empty(0, np.uint8)
    distance = 1
    while distance < size:
        comm.Sendrecv(empty, (rank + distance) % size, 0, empty, (rank - distance) % size, 0)
        distance *= 2


def nothing(comm: Any) -> None:
    """An empty program."""


CASES = {
    "recursive doubling, 1024 ranks": (recursive_doubling, 1024),
    "recursive doubling, 65536 ranks": (recursive_doubling, 65536),
    "empty program, 1048576 ranks": (nothing, 1 << 20),
    "dissemination barrier, 1048576 ranks": (barrier, 1 << 20),
}


def measured(program: Callable[[Any], Any], ranks: int, **options: Any) -> dict[str, float]:
    """Wall-clock and CPU seconds, messages, the memory that the run adds per rank, and the peak of resident memory."""
    fakempi.run(program, 8, **options)  # imports everything and warms up
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu_start = perf_counter(), process_time()
    result = fakempi.run(program, ranks, **options)
    seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
    if program is recursive_doubling:
        assert all(value == ranks * (ranks - 1) / 2 for value in result.returns)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "ranks": ranks, "seconds": seconds, "cpu": cpu_seconds, "messages": result.messages,
        "bytes per rank": (peak - before) * 1024 / ranks, "GiB": peak / 2**20,
    }  # fmt: skip


def each_alone(script: str, names: Iterable[str], *options: str) -> Iterator[tuple[str, dict[str, float]]]:
    """The result of each case of a script, each run in a new process."""
    for name in names:
        done = subprocess.run([sys.executable, script, *options, name], capture_output=True, check=True)
        yield name, json.loads(done.stdout)


def main() -> None:
    """Run all cases, each in a new process, and print them."""
    if len(sys.argv) > 1:
        print(json.dumps(measured(*CASES[sys.argv[1]])))
        return
    print(f"{'case':38} {'seconds':>8} {'messages':>9} {'µs/message':>11} {'KB/rank':>8} {'GiB':>6}")
    for name, row in each_alone(__file__, CASES):
        per_message = row["seconds"] / row["messages"] * 1e6 if row["messages"] else float("nan")
        print(
            f"{name:38} {row['seconds']:8.1f} {row['messages']:9.0f} {per_message:11.2f} "
            f"{row['bytes per rank'] / 1024:8.1f} {row['GiB']:6.2f}"
        )


if __name__ == "__main__":
    main()
