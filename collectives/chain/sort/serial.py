"""Sort by allgather: everybody gets all items, sorts them, and takes its own.

    p = 4     items 3 1 4 1'     everybody: 1 1' 3 4     rank 0 takes 1, rank 1 takes 1', and so on

Rounds   2 ceil(log2 p)    Sent per rank   at most (p-1) m and headers    Scratch   p items
Time     by the schedule's recurrence; about 2 ceil(log2 p) t_s + p m t_w; sorting comes on top
Fits     any p; items of m bytes
Best     few processes
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011, as what MPI
         libraries do
"""

from __future__ import annotations

import numpy as np

from collectives.catalogue.algorithm import Algorithm
from collectives.chain.chain import Chain
from collectives.chain.collect import allgather
from collectives.chain.items import Order
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.chain.paper import all_items, flooding_claims
from collectives.tools.numbers import ceil_log2


def sort_serial(chain: Chain, item: bytes, *, order: Order = None, work: Work = None, meter: Meter = UNREAD) -> bytes:
    """The item that belongs on this rank; all items are as long. `work(n ceil(log2 n))` is told of the sort of n."""
    meter.take(chain.size)
    items = sorted(map(bytes, allgather(chain, np.frombuffer(item, np.uint8))), key=order)
    if work is not None:
        work(chain.size * ceil_log2(chain.size))
    meter.drop(chain.size)
    return items[chain.rank]


ALGORITHM = Algorithm(
    operation="sort",
    name="serial",
    run=sort_serial,
    holds=all_items,
    kind="chain",
    **flooding_claims(),
)
