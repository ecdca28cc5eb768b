"""Sort by Cheng's algorithm on every M-th process: gather M items to each, sort among them, hand the items out again.

The gather merges on its way up a tree, and its roots, which are ranks 0, M, 2M and so on, find themselves to be a
chain. They tell each other their addresses, and sort with exact splitters (`splitters`).

    p = 4, M = 2     1 -> 0, 3 -> 2; 0 and 2 sort; 0 -> 1, 2 -> 3

Rounds   data decide    Sent per rank   data decide    Scratch   2 M + 4 p / M items
Time     no closed form; turns until the splitters are found depend on the data; O(P log p + log^2 p + M log P)
Fits     any p; any M > 0; items of m bytes
Best     between the serial sorts and bitonic
Source   Cheng, Edelman, Gilbert, Shah, A Novel Parallel Sorting Algorithm for Contemporary Architectures, 2006; on a
         chain: Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

import numpy as np

from collectives.between.groups import Subset
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.chain.chain import Chain
from collectives.chain.collect import addresses
from collectives.chain.items import Order
from collectives.chain.merging import Gathered
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.chain.splitters import ALLTOALL, sort_lists
from collectives.chain.tree import Places, grow, spread
from collectives.tools.numbers import ceil_div


def sort_cheng(
    chain: Chain,
    item: bytes,
    *,
    M: int = 128,
    alltoall: Algorithm = ALLTOALL,
    order: Order = None,
    work: Work = None,
    meter: Meter = UNREAD,
) -> bytes:
    """The item that belongs on this rank; all are as long, and no two alike. `work` is told of moves and comparisons."""
    ALGORITHM.check(Case(chain.size, len(item), parameters={"M": M}))
    gathered = Gathered(item, order, work, meter)
    tree = grow(chain, Places(chain.size, block=M), len(item), gathered.give, gathered.take)
    block, held = None, 0
    if tree.roots is not None:
        items, roots = gathered.items, tree.roots
        if roots.size > 1:
            # What it has and what it gets; and of each other root an address, a median and a splitter's two bounds.
            held = len(items) + 4 * roots.size
            meter.take(held)
            sizes = [min(M, chain.size - first) for first in range(0, chain.size, M)]
            sorters = Subset(chain.comm, addresses(roots), roots.rank)
            items = sort_lists(
                sorters, items, sizes, len(item), order=order, work=work, alltoall=alltoall, tag=chain.tag
            )
        block = np.frombuffer(b"".join(items), np.uint8)
    found: bytes = spread(chain, tree, len(item), block).tobytes()
    gathered.forget()
    meter.drop(held)
    return found


def fits(case: Case) -> str | None:
    limit = ALGORITHM.parameter(case, "M")
    return None if limit > 0 else f"M = {limit} is not positive"


def holds(case: Case) -> int:
    limit = ALGORITHM.parameter(case, "M")
    sorters = ceil_div(case.p, limit)
    return min(limit, case.p) if sorters == 1 else int(2 * limit + 4 * sorters)


ALGORITHM = Algorithm(
    operation="sort",
    name="cheng",
    run=sort_cheng,
    schedule=None,
    fits=fits,
    holds=holds,
    parameters={"M": 128, "alltoall": ALLTOALL},
    kind="chain",
)
