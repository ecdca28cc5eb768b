"""The cost of `fakempi watch`: a ping-pong of 8 bytes on a real MPI, with and without the agent, within one run.

    mpiexec -n 2 python benchmarks/watch_overhead.py [PAIRS] [SECONDS]

Blocks with the agent and without it alternate in the same processes, so that placement and other programs have the same
effect on both. The quantile of 10 % is less sensitive to other programs than the median.
"""

from __future__ import annotations

import sys
from statistics import median, quantiles
from time import perf_counter, sleep

import numpy as np
from mpi4py import MPI

import fakempi.watch
from fakempi.apps.watch import enabling

COMM = MPI.COMM_WORLD
ROUND_TRIPS = 500


def block(seconds: float) -> list[float]:
    """Return the time of a round trip, for each of several groups of round trips."""
    data, peer, found = np.zeros(1), 1 - COMM.rank, []
    end = perf_counter() + seconds
    goes_on = True
    while goes_on:
        start = perf_counter()
        for _ in range(ROUND_TRIPS):
            if COMM.rank == 0:
                COMM.Send(data, peer)
                COMM.Recv(data, peer)
            else:
                COMM.Recv(data, peer)
                COMM.Send(data, peer)
        found.append((perf_counter() - start) / ROUND_TRIPS)
        goes_on = COMM.bcast(perf_counter() < end)
    return found


def stop_agent() -> None:
    """End the thread of the agent: its connection ends."""
    enabling._agents.pop().socket.shutdown(2)
    COMM.Barrier()
    sleep(0.2)


def row(name: str, one: list[float], other: list[float]) -> str:
    """Return a line with the 10 % quantiles, the medians, and their ratios."""
    low = [quantiles(each, n=10)[0] for each in (one, other)]
    middle = [median(each) for each in (one, other)]
    texts = [f"{1e6 * a:9.3f} {1e6 * b:9.3f} {a / b:8.4f}" for a, b in (low, middle)]
    return f"{name:28}{texts[0]}  {texts[1]}"


def main(pairs: int, seconds: float) -> None:
    """Print the times with the agent and without it, and those of two sets of blocks without it: the noise."""
    with_agent: list[float] = []
    without: tuple[list[float], list[float]] = ([], [])
    block(seconds)  # warm-up
    for pair in range(pairs):
        without[pair % 2].extend(block(seconds))
        fakempi.watch.enable(after=1000)
        with_agent += block(seconds)
        stop_agent()
    if COMM.rank == 0:
        library = MPI.Get_library_version().splitlines()[0]
        print(f"round trip of 8 bytes in µs, {pairs} pairs of blocks of {seconds:g} s, {library}")
        print(f"{'':28}     10 % quantiles,    ratio              medians,    ratio")
        print(row("with, without the agent", with_agent, without[0] + without[1]))
        if pairs > 1:
            print(row("two halves without", without[1], without[0]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8, float(sys.argv[2]) if len(sys.argv) > 2 else 2.5)
