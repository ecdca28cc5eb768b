"""Split by bitonic sort: sort all items by Batcher's network, then find the ends of the groups.

The item of a process is its color, key, rank and address. After the sort, rank r has the r-th item. It compares this item
with its neighbors' items, a double scan counts ranks and sizes, and one message sends the result to the item's owner.

    p = 4, colors b a b a     sorted: a1 a3 b0 b2     groups: 1 -> 3 and 0 -> 2

Rounds   3 + 4 d + d (d+1) / 2, d = log2 p    Sent per rank   that of sort bitonic; + 2 m + 32 d + 16    Scratch   O(log p)
Time     no closed form; the owners of items depend on the data; about (3 + 4 d + d (d+1) / 2) t_s + (2 + d (d+1) / 2) m
         t_w
Fits     any p; colors and keys of any data
Best     many processes with keys
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011; Batcher, Sorting
         Networks and Their Applications, AFIPS Spring Joint Computer Conference 32 (1968)
"""

from __future__ import annotations

from functools import partial
from typing import Any

from collectives.catalogue.declaration import algorithm
from collectives.chain.by_sort import holds_by_sort, split_by_sort
from collectives.chain.chain import Chain
from collectives.chain.items import Compares, Widths
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.sort.bitonic import sort_bitonic
from collectives.tools.protocol import Comm


@algorithm(schedule=None, holds=partial(holds_by_sort, sort_bitonic))
def split_bitonic(
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
    return split_by_sort(sort_bitonic, group, color, key, compare=compare, widths=widths, work=work, meter=meter, tag=tag)
