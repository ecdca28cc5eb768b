"""Sort by Cheng's algorithm on every M-th process: each gathers M items, these processes sort, and scatter the items.

Every M consecutive ranks form a tree, and the gather merges items on the way up. The roots, ranks 0, M, 2M and so on, form a
chain. The roots exchange their addresses and sort with exact splitters (`splitters`).

    p = 4, M = 2     1 -> 0, 3 -> 2; 0 and 2 sort; 0 -> 1, 2 -> 3

Rounds   depend on data    Sent per rank   depends on data    Scratch   2 M + 4 p / M items
Time     no closed form; the number of iterations to find the splitters depends on the data; O(P log p + log^2 p + M log
         P), P = p / M
Fits     any p; any M > 0; items of m bytes
Best     more processes than suit the serial sorts, and fewer than suit bitonic
Source   Cheng, Edelman, Gilbert, Shah, A Novel Parallel Sorting Algorithm for Contemporary Architectures, 2006; on a
         chain: Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.conditions import positive
from collectives.catalogue.declaration import algorithm
from collectives.chain.chain import Chain
from collectives.chain.collect import addresses
from collectives.chain.items import SortKey
from collectives.chain.merging import GatheredItems
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.splitters import ALLTOALL, sort_lists
from collectives.chain.tree import TreeShape, build_tree, send_down
from collectives.tools.numbers import ceil_div
from collectives.tools.subset import Subset


def holds(case: Case) -> int:
    block = sort_cheng.parameter(case, "M")
    sorters = ceil_div(case.p, block)
    return min(block, case.p) if sorters == 1 else int(2 * block + 4 * sorters)


@algorithm(checks_itself=True, schedule=None, why_unsupported=positive("M"), holds=holds)
def sort_cheng(
    chain: Chain,
    item: bytes,
    *,
    M: int = 128,
    alltoall: Algorithm = ALLTOALL,
    order: SortKey = None,
    work: WorkCallback = None,
    meter: ItemMeter = NO_METER,
) -> bytes:
    """Return the item with index r of the sorted sequence on rank r; all items are distinct and have the same length.

    `work(n)` is called for n comparisons or moves of items.
    """
    sort_cheng.check(Case(chain.size, len(item), parameters={"M": M}))
    gathered = GatheredItems(item, order, work, meter)
    tree = build_tree(chain, TreeShape(chain.size, block=M), len(item), gathered.payload, gathered.add_child)
    block, held = None, 0
    if tree.roots is not None:
        items, roots = gathered.items, tree.roots
        if roots.size > 1:
            # The items received in the sort (GatheredItems has counted the gathered ones), and for each root an address, a
            # median and two bounds of a splitter.
            held = len(items) + 4 * roots.size
            meter.take(held)
            sizes = [min(M, chain.size - first) for first in range(0, chain.size, M)]
            sorters = Subset(chain.comm, addresses(roots), roots.rank)
            items = sort_lists(sorters, items, sizes, len(item), order=order, work=work, alltoall=alltoall, tag=chain.tag)
        block = np.frombuffer(b"".join(items), np.uint8)
    received: bytes = send_down(chain, tree, len(item), block).tobytes()
    gathered.release()
    meter.drop(held)
    return received
