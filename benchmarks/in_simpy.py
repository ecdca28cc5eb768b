"""The ring and recursive doubling as one writes them in SimPy: a process a rank, a store a channel, a time-out a transfer.

SimPy is spared what an MPI does: nothing is matched, nothing is copied, and nobody waits for a put to be done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from time import process_time
from typing import Any

COST = 1e-6 + 8e-9
"""Seconds that 8 bytes take on fakempi's default machine."""


def ring(env: Any, channel: Callable[[int, int], Any], rank: int, size: int, rounds: int) -> Iterator[Any]:
    """Everybody sends to the right and receives from the left; returns the CPU time of all rounds but the first."""
    onward, mine = channel(rank, (rank + 1) % size), channel((rank - 1) % size, rank)
    start = 0.0
    for turn in range(rounds + 1):
        yield env.timeout(COST)
        onward.put(rank)
        yield mine.get()
        if turn == 0:
            start = process_time()
    return process_time() - start


def recursive_doubling(env: Any, channel: Callable[[int, int], Any], rank: int, size: int, rounds: int) -> Iterator[Any]:
    """Sums of all ranks' numbers, by exchanging with the ranks at distance 1, 2, 4, ..."""
    start = 0.0
    for turn in range(rounds + 1):
        total, distance = rank, 1
        while distance < size:
            partner = rank ^ distance
            yield env.timeout(COST)
            channel(rank, partner).put(total)
            total += yield channel(partner, rank).get()
            distance *= 2
        assert total == size * (size - 1) // 2
        if turn == 0:
            start = process_time()
    return process_time() - start


def simulated(program: Callable[..., Iterator[Any]], ranks: int, rounds: int) -> tuple[float, float]:
    """CPU seconds that the first rank has measured, and when the last has ended in simulated time."""
    import simpy

    env = simpy.Environment()

    @cache
    def channel(source: int, dest: int) -> Any:
        return simpy.Store(env)

    first, *_ = [env.process(program(env, channel, rank, ranks, rounds)) for rank in range(ranks)]
    env.run()
    return float(first.value), float(env.now)
