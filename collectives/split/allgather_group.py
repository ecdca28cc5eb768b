"""Split by allgather on the chain: every process gets all items, selects those of its color and sorts them.

    p = 4, colors b a b a     all ranks: b0 a1 b2 a3; ranks 0 and 2 keep b0 b2, the others a1 a3

Rounds   2 ceil(log2 p)    Sent per rank   at most (p-1) m and headers    Scratch   p items
Time     computed from the schedule; requires `widths`; about 2 ceil(log2 p) t_s + p m t_w, without the sorting
Fits     any p; colors and keys of any data
Best     few processes
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collectives.catalogue.declaration import algorithm
from collectives.chain.by_sort import group_among_all_items
from collectives.chain.chain import Chain, chain_of
from collectives.chain.collect import allgather
from collectives.chain.items import Compares, Widths, agree_on_format
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.schedules import allgather_claims, holds_all_items
from collectives.tools.protocol import Comm


@algorithm(holds=holds_all_items, **allgather_claims())
def split_allgather_group(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    compare: Compares = None,
    widths: Widths = None,
    work: WorkCallback = None,
    meter: ItemMeter = NO_METER,
    tag: int = 0,
) -> Chain | None:
    """Return the chain of the processes with this color, sorted by key and rank; None if the color is UNDEFINED."""
    chain = chain_of(group, tag)
    form = agree_on_format(chain, color, key, compare, widths)
    item = form.write(color, key, chain.rank, chain.address)
    meter.take(chain.size)
    items = [row.tobytes() for row in allgather(chain, np.frombuffer(item, np.uint8))]
    own_group = group_among_all_items(chain, items, item, form, color, work)
    meter.drop(chain.size)
    return own_group
