"""The cost of `check_buffers="sends"`: a ring of Isend, Irecv and Waitall, with and without the check, alternately.

    python benchmarks/send_buffers.py [--rounds N] [--ranks P ...] [--bytes N ...]

Blocks of `BLOCK` rounds with and without the check alternate in one run, because on a busy machine the times of two runs
differ by more than the check costs. The table has the CPU time per message without the check, the cost of the check in
all rounds, and, with `--each`, the cost if each operation were checked.
"""

from __future__ import annotations

import argparse
from time import process_time
from typing import Any

import numpy as np

import fakempi
from fakempi import MPI
from fakempi.extensions.buffer_checks import sends

BLOCK = 16


def ring(comm: Any, blocks: int, nbytes: int) -> list[float]:
    """Send to the right and receive from the left; return the CPU times of all blocks without and with the check."""
    size, rank = comm.Get_size(), comm.Get_rank()
    right, left = (rank + 1) % size, (rank - 1) % size
    mine, other = np.zeros(nbytes // 8), np.zeros(nbytes // 8)
    checks, times = comm._request_checks, [0.0, 0.0]
    for number in range(2 * blocks + 2):
        comm.Barrier()
        comm._request_checks = checks if number % 2 else None
        start = process_time()
        for _ in range(BLOCK):
            MPI.Request.Waitall([comm.Irecv(other, left), comm.Isend(mine, right)])
        if number > 1:  # the first two blocks allocate memory
            times[number % 2] += process_time() - start
    return times


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=512, help="rounds with the check, and as many without it")
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 64, 256])
    parser.add_argument("--bytes", type=int, nargs="+", default=[8, 1024, 65536, 1 << 20])
    parser.add_argument("--each", action="store_true", help="check each operation, of any size")
    options = parser.parse_args()
    sends.MAX_RANKS = max(options.ranks)
    if options.each:
        sends.EVERY, sends.MAX_BYTES = 1, 1 << 40
    print(f"{'ranks':>6} {'bytes':>9} {'us/message':>10} {'cost':>7}")
    for ranks in options.ranks:
        for nbytes in options.bytes:
            blocks = max(2, options.rounds // BLOCK * (8 if ranks < 64 and nbytes < 100_000 else 1))
            times = fakempi.run(ring, ranks, blocks, nbytes, check_buffers="sends").returns[0]
            microseconds = times[0] / (blocks * BLOCK * ranks) * 1e6
            print(f"{ranks:6,} {nbytes:9,} {microseconds:10.2f} {times[1] / times[0] - 1:7.1%}", flush=True)


if __name__ == "__main__":
    main()
