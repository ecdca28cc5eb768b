"""The ring and recursive doubling in SimPy: a process per rank, a store per channel, a timeout per transfer.

SimPy does less than an MPI: it matches nothing, copies nothing, and no process waits for a put.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from time import process_time
from typing import Any

COST = 1e-6 + 8e-9
"""Modeled seconds of 8 bytes with fakempi's default cost model."""


def ring(env: Any, channel: Callable[[int, int], Any], rank: int, size: int, rounds: int) -> Iterator[Any]:
    """Send to the right and receive from the left; return the CPU time of all rounds but the first."""
    onward, mine = channel(rank, (rank + 1) % size), channel((rank - 1) % size, rank)
    start = 0.0
    for step in range(rounds + 1):
        yield env.timeout(COST)
        onward.put(rank)
        yield mine.get()
        if step == 0:
            start = process_time()
    return process_time() - start


def recursive_doubling(env: Any, channel: Callable[[int, int], Any], rank: int, size: int, rounds: int) -> Iterator[Any]:
    """Sum the numbers of all ranks, by exchanges with the ranks at distance 1, 2, 4, ..."""
    start = 0.0
    for step in range(rounds + 1):
        total, distance = rank, 1
        while distance < size:
            partner = rank ^ distance
            yield env.timeout(COST)
            channel(rank, partner).put(total)
            total += yield channel(partner, rank).get()
            distance *= 2
        assert total == size * (size - 1) // 2
        if step == 0:
            start = process_time()
    return process_time() - start


def simulated(program: Callable[..., Iterator[Any]], ranks: int, rounds: int) -> tuple[float, float]:
    """CPU seconds that the first rank measured, and the simulated time at the end."""
    import simpy

    env = simpy.Environment()

    @cache
    def channel(source: int, dest: int) -> Any:
        return simpy.Store(env)

    first, *_ = [env.process(program(env, channel, rank, ranks, rounds)) for rank in range(ranks)]
    env.run()
    return float(first.value), float(env.now)
