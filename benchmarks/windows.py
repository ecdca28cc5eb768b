"""The cost of a ring of Put and Fence relative to a ring of Sendrecv, per message of 8 bytes; and of a window of many ranks.

    python benchmarks/windows.py [ranks]             the ratio, which must be at most 2
    python benchmarks/windows.py --open [ranks]      time and memory per rank, with and without a window (65,536)
"""

from __future__ import annotations

import resource
import subprocess
import sys
from time import process_time
from typing import Any

import numpy as np

import fakempi
from fakempi import MPI


def ring(comm: Any, rounds: int, one_sided: bool) -> float:
    """Send a number to the right; return the CPU time of all rounds but the first."""
    size, rank = comm.Get_size(), comm.Get_rank()
    right, left = (rank + 1) % size, (rank - 1) % size
    mine, other = np.zeros(1), np.zeros(1)
    win = MPI.Win.Create(other, comm=comm)
    win.Fence()
    start = 0.0
    for step in range(rounds + 1):
        if one_sided:
            win.Put(mine, right)
            win.Fence()
        else:
            comm.Sendrecv(mine, right, 0, other, left, 0)
        if step == 0:
            start = process_time()
    seconds = process_time() - start
    win.Free()
    return seconds


def compare(ranks: int, repeats: int = 7) -> tuple[float, float]:
    """Seconds per message, one-sided and of Sendrecv: the minimum of several repeats, measured alternately."""
    rounds = max(3, 60_000 // ranks)
    pairs = [[fakempi.run(ring, ranks, rounds, one).returns[0] for one in (True, False)] for _ in range(repeats)]
    put, message = (min(seconds) / (ranks * rounds) for seconds in zip(*pairs, strict=True))
    return put, message


def neighbors(comm: Any, with_window: bool) -> None:
    """Create a window, Put to the right in a fence epoch and under a lock, and free it; without a window do nothing."""
    if not with_window:
        return
    right = (comm.Get_rank() + 1) % comm.Get_size()
    win = MPI.Win.Create(fakempi.phantom(8), comm=comm)
    win.Fence()
    win.Put(fakempi.phantom(8), right)
    win.Fence()
    win.Lock(right, MPI.LOCK_SHARED)
    win.Put(fakempi.phantom(8), right)
    win.Unlock(right)
    win.Free()


def opened(ranks: int, with_window: bool) -> tuple[float, float]:
    """CPU seconds and bytes per rank of this run, in a separate process."""
    begin = process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fakempi.run(neighbors, ranks, with_window)
    end = process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (end[0] - begin[0]) / ranks, (end[1] - begin[1]) * 1024 / ranks


if __name__ == "__main__":
    numbers = [int(one) for one in sys.argv[1:] if one.isdigit()]
    if "--only" in sys.argv:
        print(*opened(numbers[0], "window" in sys.argv))
    elif "--open" in sys.argv:
        ranks = numbers[0] if numbers else 65536
        print(f"{'ranks':>6} {'':14} {'us/rank':>8} {'KiB/rank':>9}")
        for what, more in (("no window", []), ("a window", ["window"])):
            command = [sys.executable, __file__, "--only", str(ranks), *more]
            output = subprocess.run(command, capture_output=True, check=True).stdout
            seconds, nbytes = map(float, output.split())
            print(f"{ranks:6} {what:14} {seconds * 1e6:8.1f} {nbytes / 1024:9.1f}")
    else:
        ranks = numbers[0] if numbers else 1024
        put, message = compare(ranks)
        print(f"{'ranks':>6} {'us/Put+Fence':>13} {'us/Sendrecv':>12} {'ratio':>6}")
        print(f"{ranks:6} {put * 1e6:13.2f} {message * 1e6:12.2f} {put / message:6.2f}")
