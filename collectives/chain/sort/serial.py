"""Sort by allgather: every process gets all items, sorts them, and takes the item of its rank.

    p = 4     items 3 1 4 1'     all ranks: 1 1' 3 4     rank 0 takes 1, rank 1 takes 1', and so on

Rounds   2 ceil(log2 p)    Sent per rank   at most (p-1) m and headers    Scratch   p items
Time     computed from the schedule; about 2 ceil(log2 p) t_s + p m t_w, without the sorting
Fits     any p; items of m bytes
Best     few processes
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011, which describes it
         as the method of MPI libraries
"""

from __future__ import annotations

import numpy as np

from collectives.catalogue.declaration import algorithm
from collectives.chain.chain import Chain
from collectives.chain.collect import allgather
from collectives.chain.items import SortKey
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.schedules import allgather_claims, holds_all_items
from collectives.tools.numbers import ceil_log2


@algorithm(holds=holds_all_items, **allgather_claims())
def sort_serial(
    chain: Chain, item: bytes, *, order: SortKey = None, work: WorkCallback = None, meter: ItemMeter = NO_METER
) -> bytes:
    """Return the item of this rank in sorted order; items have equal lengths. Calls `work(n ceil(log2 n))` for n items."""
    meter.take(chain.size)
    items = sorted(map(bytes, allgather(chain, np.frombuffer(item, np.uint8))), key=order)
    if work is not None:
        work(chain.size * ceil_log2(chain.size))
    meter.drop(chain.size)
    return items[chain.rank]
