"""Sort by gather and scatter: merge the items on the way up a tree; the root then scatters the sorted items.

    p = 4     1 -> 0, 3 -> 2 and 2 -> 0, each with sorted items; then 0 -> 2, 0 -> 1 and 2 -> 3

Rounds   at most 3 ceil(log2 p)    Sent per rank   its subtree's items, twice; and addresses
         Scratch   p items at the root
Time     computed from the schedule; about 3 ceil(log2 p) t_s + 2 p m t_w, without the merging
Fits     any p; items of m bytes
Best     few processes with little memory: most of them hold few items
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round
from collectives.chain.chain import Chain
from collectives.chain.items import SortKey
from collectives.chain.merging import GatheredItems
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.schedules import gather_rounds, holds_all_items, scatter_rounds
from collectives.chain.tree import TreeShape, build_tree, send_down


def schedule(case: Case) -> Iterator[Round]:
    yield from gather_rounds(case.p, case.m)
    yield from scatter_rounds(case.p, case.m)


@algorithm(schedule=schedule, holds=holds_all_items)
def sort_gather_scatter(
    chain: Chain, item: bytes, *, order: SortKey = None, work: WorkCallback = None, meter: ItemMeter = NO_METER
) -> bytes:
    """Return the item of this rank in sorted order; all items have equal lengths. Calls `work(n)` for a merge to n items."""
    gathered = GatheredItems(item, order, work, meter)
    tree = build_tree(chain, TreeShape(chain.size), len(item), gathered.payload, gathered.add_child)
    block = gathered.payload() if tree.roots else None
    received: bytes = send_down(chain, tree, len(item), block).tobytes()
    gathered.release()
    return received
