"""Split by gather and scatter: the root of a tree gets all items, sorted, and scatters them.

The items are merged on the way up the tree. After the scatter, the steps are the same as in the split by bitonic sort.

    p = 4, colors b a b a     1 -> 0: a1 b0; 3 -> 2: a3 b2; 2 -> 0: a1 a3 b0 b2, and back; groups: 1 -> 3 and 0 -> 2

Rounds   at most 5 ceil(log2 p) + 3    Sent per rank   its subtree's items, twice    Scratch   p items at the root
Time     no closed form; the owners of items depend on the data; about 5 ceil(log2 p) t_s + 2 p m t_w, and merging p
         items
Fits     any p; colors and keys of any data
Best     few processes
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from functools import partial
from typing import Any

from collectives.catalogue.declaration import algorithm
from collectives.chain.by_sort import holds_by_sort, split_by_sort
from collectives.chain.chain import Chain
from collectives.chain.items import Compares, Widths
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.sort.gather_scatter import sort_gather_scatter
from collectives.tools.protocol import Comm


@algorithm(schedule=None, holds=partial(holds_by_sort, sort_gather_scatter))
def split_gather_scatter(
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
    return split_by_sort(
        sort_gather_scatter, group, color, key, compare=compare, widths=widths, work=work, meter=meter, tag=tag
    )
