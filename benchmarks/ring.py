"""The cost per message of a ring of Sendrecv with 8-byte numpy buffers, relative to bare switches in the same run.

    python benchmarks/ring.py [ranks]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from bare import greenlet_switch, thread_handoff

import fakempi


def ring(comm: Any, rounds: int, clock: Callable[[], float] = perf_counter) -> float:
    """Send to the right and receive from the left; return the time of all rounds but the first."""
    size, rank = comm.Get_size(), comm.Get_rank()
    right, left = (rank + 1) % size, (rank - 1) % size
    mine, other = np.zeros(1), np.zeros(1)
    comm.Sendrecv(mine, right, 0, other, left, 0)
    start = clock()
    for _ in range(rounds):
        comm.Sendrecv(mine, right, 0, other, left, 0)
    return clock() - start


def ring_of_objects(comm: Any, rounds: int, clock: Callable[[], float] = perf_counter) -> float:
    """The same with a small object."""
    size, rank = comm.Get_size(), comm.Get_rank()
    right, left, mine = (rank + 1) % size, (rank - 1) % size, {"rank": rank}
    comm.sendrecv(mine, right, source=left)
    start = clock()
    for _ in range(rounds):
        comm.sendrecv(mine, right, source=left)
    return clock() - start


def per_message(
    ranks: int, rounds: int, backend: str, program: Any = ring, clock: Callable[[], float] = perf_counter, **options: Any
) -> float:
    """Seconds per message, without the start and end of ranks."""
    result = fakempi.run(program, ranks, rounds, clock, backend=backend, **options)
    return float(result.returns[0]) / (ranks * rounds)


def compare(ranks: int, repeats: int = 5) -> list[tuple[str, float, float]]:
    """(backend, seconds per message, seconds per bare switch): the minimum of several repeats, measured alternately."""
    rows = []
    for backend, bare, rounds in (
        ("greenlets", greenlet_switch, max(3, 60_000 // ranks)),
        ("threads", thread_handoff, max(3, 10_000 // ranks)),
    ):
        pairs = [(per_message(ranks, rounds, backend), bare(ranks)) for _ in range(repeats)]
        rows.append((backend, min(message for message, _ in pairs), min(switch for _, switch in pairs)))
    return rows


if __name__ == "__main__":
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    print(f"{'backend':10} {'ranks':>6} {'µs/message':>11} {'µs/bare switch':>15} {'ratio':>6}")
    for backend, message, switch in compare(ranks):
        print(f"{backend:10} {ranks:6} {message * 1e6:11.2f} {switch * 1e6:15.3f} {message / switch:6.1f}")
