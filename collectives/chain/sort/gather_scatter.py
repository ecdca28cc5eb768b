"""Sort by gather and scatter: up a tree, merging on the way; the root has all items in order and hands them out.

    p = 4     1 -> 0, 3 -> 2 and 2 -> 0, each with its items in order; then 0 -> 2, 0 -> 1 and 2 -> 3

Rounds   at most 3 ceil(log2 p)    Sent per rank   its subtree's items, twice; and addresses    Scratch   p items at the root
Time     by the schedule's recurrence; about 3 ceil(log2 p) t_s + 2 p m t_w; merging comes on top
Fits     any p; items of m bytes
Best     few processes with little memory: all but a few of them hold a few items
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Round
from collectives.chain.chain import Chain
from collectives.chain.items import Order
from collectives.chain.merging import Gathered
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.chain.paper import all_items, climbing, descending
from collectives.chain.tree import Places, grow, spread


def sort_gather_scatter(
    chain: Chain, item: bytes, *, order: Order = None, work: Work = None, meter: Meter = UNREAD
) -> bytes:
    """The item that belongs on this rank; all items are as long. `work(n)` is told of each merge into n items."""
    gathered = Gathered(item, order, work, meter)
    tree = grow(chain, Places(chain.size), len(item), gathered.give, gathered.take)
    block = gathered.give() if tree.roots else None
    found: bytes = spread(chain, tree, len(item), block).tobytes()
    gathered.forget()
    return found


def schedule(case: Case) -> Iterator[Round]:
    yield from climbing(case.p, case.m)
    yield from descending(case.p, case.m)


ALGORITHM = Algorithm(
    operation="sort",
    name="gather_scatter",
    run=sort_gather_scatter,
    schedule=schedule,
    holds=all_items,
    kind="chain",
)
