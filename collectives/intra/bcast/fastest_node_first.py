"""Broadcast by fastest node first: whoever would be done first sends to the fastest rank that does not have the message.

`costs` say what each rank takes to send. All ranks make the same tree from them: the others in the order of their speed, the
fastest first, are given each to the sender that would have served it first, be that one free or still busy. So fast ranks
send much, and slow ones are leaves unless nobody else is left. Of equals, who comes first from the root on (mod p).

    p = 4, costs 1, 1, 4, 4     start   at 1    at 2
    rank 0                      x       x       x
    rank 1                      .       x       x
    rank 2                      .       .       x       from rank 0
    rank 3                      .       .       x       from rank 1; by a binomial tree at 5, from rank 2

Rounds   as the tree has it    Sent per rank   m bytes to each child    Scratch   none
Time     by the schedule's recurrence; ceil(log2 p) (t_s + m t_w) if all costs are the same: then it is a binomial tree.
         `TREES.time_by_costs` where messages do cost that
Fits     any p; costs of all ranks, none negative
Best     short messages on unlike machines: of all broadcasts it has the least sum of arrival times, and its last arrival is
         within 1.5 of the best (Khuller, Kim, Broadcasting in heterogeneous networks, Algorithmica, 2007). Of no use where
         links are slow whoever sends
Source   Banikazemi, Moorthy, Panda, Efficient Collective Communication on Heterogeneous Networks of Workstations,
         International Conference on Parallel Processing 1998, pages 460-467
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappush, heapreplace
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.shapes.ordered_tree import ALIKE, Trees, send_down
from collectives.tools.costs import Costs
from collectives.tools.protocol import Buffer, Comm


def bcast_fastest_node_first(comm: Comm, buf: Buffer, *, root: int = 0, costs: Costs = ALIKE, tag: int = 0) -> None:
    """Leave the root's `buf` in everybody's `buf`; `costs` are the same on all ranks."""
    p = comm.Get_size()
    ALGORITHM.check(Case(p, parameters={"costs": costs}))
    send_down(comm, buf, TREES.of(costs, p, root, buf.nbytes), tag)


def edges(times: Sequence[Any], root: int) -> Iterator[tuple[int, int]]:
    """Who sends to whom, in the order in which they are done.

    >>> list(edges([1, 1, 4, 4], 0)), list(edges([1, 1, 1, 1], 2))
    ([(0, 1), (0, 2), (1, 3)], [(2, 3), (2, 0), (3, 1)])
    """
    p = len(times)
    others = sorted((r for r in range(p) if r != root), key=lambda r: (times[r], (r - root) % p))
    # When each would be done with its next message; of those who are done together, who has had it longest.
    senders = [(times[root], 0, root)]
    for place, dest in enumerate(others, 1):
        end, since, source = senders[0]
        yield source, dest
        heapreplace(senders, (end + times[source], since, source))
        heappush(senders, (end + times[dest], place, dest))


TREES = Trees(edges)

ALGORITHM = Algorithm(
    operation="bcast",
    name="fastest_node_first",
    run=bcast_fastest_node_first,
    parameters={"costs": ALIKE},
    **TREES.claims,
)
