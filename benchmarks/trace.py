"""The cost of recording a trace: the same programs with and without a trace, per message, and the bytes of the trace.

    python benchmarks/trace.py

Times are CPU times, the minimum of many short alternating runs, so that other processes on the machine matter little.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

import collectives
import fakempi
from fakempi import MPI, Hockney, LogGP

RANKS, ROUNDS, REPEATS = 32, 10, 150


def timed(comm: Any, once: Callable[[], None]) -> float:
    """Seconds of all rounds but the first."""
    once()
    start = process_time()
    for _ in range(ROUNDS):
        once()
    return process_time() - start


def ring(comm: Any) -> float:
    """Send to the right and receive from the left."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    mine, other = np.zeros(1), np.zeros(1)
    return timed(comm, lambda: comm.Sendrecv(mine, right, 0, other, left, 0))


def nonblocking(comm: Any) -> float:
    """The same with Irecv, Isend and Waitall."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    mine, other = np.zeros(1), np.zeros(1)
    return timed(comm, lambda: MPI.Request.Waitall([comm.Irecv(other, left), comm.Isend(mine, right)]))


def allreduce(comm: Any) -> float:
    """A collective call."""
    mine, other = np.zeros(1), np.zeros(1)
    return timed(comm, lambda: comm.Allreduce(mine, other))


def algorithm(comm: Any) -> float:
    """An algorithm that is called directly."""
    mine, gathered = np.zeros(1), np.zeros(comm.size)
    return timed(comm, lambda: collectives.find("allgather", "bruck").run(comm, mine, gathered))


def slower(main: Callable[..., float], **options: Any) -> tuple[float, float, float]:
    """Microseconds per message without and with a trace, and bytes of trace per message."""
    best = [float("inf"), float("inf")]
    for _ in range(REPEATS):
        for traced in (False, True):
            run = fakempi.run(main, RANKS, trace=traced, **options)
            best[traced] = min(best[traced], float(run.returns[0]) * (1 + 1 / ROUNDS) / run.messages * 1e6)
    assert run.trace is not None
    return *best, run.trace.nbytes / run.messages


def memory(ranks: int = 256, rounds: int = 200) -> float:
    """Peak memory of a traced run in bytes per message: from the difference between two runs, one with twice the rounds."""

    def main(comm: Any, rounds: int) -> None:
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        mine, other = np.zeros(1), np.zeros(1)
        for _ in range(rounds):
            comm.Sendrecv(mine, right, 0, other, left, 0)

    peaks = []
    for length in (rounds, 2 * rounds):
        tracemalloc.start()
        run = fakempi.run(main, ranks, length, trace=True)
        peaks.append((tracemalloc.get_traced_memory()[1], run.messages))
        tracemalloc.stop()
    return (peaks[1][0] - peaks[0][0]) / (peaks[1][1] - peaks[0][1])


if __name__ == "__main__":
    print(f"{'program':34} {'us off':>7} {'us on':>7} {'slower':>7} {'bytes':>6}")
    for name, main, options in (
        ("ring of Sendrecv", ring, {}),
        ("ring of Sendrecv, synchronous", ring, {"cost": Hockney(eager_limit=0)}),
        ("ring of Sendrecv, LogGP", ring, {"cost": LogGP(L=1e-6, o=1e-7, g=1e-7, G=1e-9)}),
        ("ring of Irecv, Isend, Waitall", nonblocking, {}),
        ("Allreduce, emulated", allreduce, {"fused": "never"}),
        ("allgather by bruck, called directly", algorithm, {}),
    ):
        off, on, nbytes = slower(main, **options)
        print(f"{name:34} {off:7.2f} {on:7.2f} {on / off - 1:7.0%} {nbytes:6.0f}")
    print(f"peak memory per message: {memory():.0f} bytes")
