"""Broadcast by fastest node first: the sender that can finish first sends to the fastest rank without the message.

`costs` give the time that each rank needs to send. All ranks compute the same tree from them: the other ranks, in order
of speed with the fastest first, are each assigned to the sender whose message would arrive first, even if that sender is
still busy. Fast ranks therefore send often, and slow ranks are leaves unless no other sender is left. Ties are decided in
favor of the rank that follows the root first (mod p).

    p = 4, costs 1, 1, 4, 4     start   at 1    at 2
    rank 0                      x       x       x
    rank 1                      .       x       x
    rank 2                      .       .       x       from rank 0
    rank 3                      .       .       x       from rank 1; by a binomial tree at 5, from rank 2

Rounds   given by the tree    Sent per rank   m bytes to each child    Scratch   none
Time     computed from the schedule; ceil(log2 p) (t_s + m t_w) if all costs are equal: then it is a binomial tree.
         `TREES.time_by_costs` gives the time where messages have these costs
Fits     any p; costs for all ranks, none negative
Best     short messages on heterogeneous machines: it has the least sum of arrival times of all broadcasts, and its last
         arrival is within 1.5 of the best (Khuller, Kim, Broadcasting in heterogeneous networks, Algorithmica, 2007).
         No benefit where links are slow for every sender
Source   Banikazemi, Moorthy, Panda, Efficient Collective Communication on Heterogeneous Networks of Workstations,
         International Conference on Parallel Processing 1998, pages 460-467
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappush, heapreplace
from typing import Any

from collectives.catalogue.declaration import algorithm
from collectives.patterns.ordered_tree import EQUAL_COSTS, Trees, send_down
from collectives.tools.costs import Costs
from collectives.tools.protocol import Buffer, Comm


def edges(times: Sequence[Any], root: int) -> Iterator[tuple[int, int]]:
    """The edges (sender, receiver), in order of completion.

    >>> list(edges([1, 1, 4, 4], 0)), list(edges([1, 1, 1, 1], 2))
    ([(0, 1), (0, 2), (1, 3)], [(2, 3), (2, 0), (3, 1)])
    """
    p = len(times)
    others = sorted((r for r in range(p) if r != root), key=lambda r: (times[r], (r - root) % p))
    # When each rank would complete its next message; ties go to the rank that received the message first.
    senders = [(times[root], 0, root)]
    for place, dest in enumerate(others, 1):
        end, since, source = senders[0]
        yield source, dest
        heapreplace(senders, (end + times[source], since, source))
        heappush(senders, (end + times[dest], place, dest))


TREES = Trees(edges)


@algorithm(**TREES.claims)
def bcast_fastest_node_first(comm: Comm, buf: Buffer, *, root: int = 0, costs: Costs = EQUAL_COSTS, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank; every rank must pass the same `costs`."""
    p = comm.Get_size()
    send_down(comm, buf, TREES.of(costs, p, root, buf.nbytes), tag)
