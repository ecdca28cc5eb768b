"""Split by bitonic sort: sort all items by Batcher's network, then find the groups' ends.

Everybody's item is its colour, key, rank and address. After the sort rank r has the r-th item: it compares it with its
neighbours', a double scan counts ranks and sizes, and one message tells the item's owner.

    p = 4, colours b a b a     sorted: a1 a3 b0 b2     groups: 1 -> 3 and 0 -> 2

Rounds   3 + 4 d + d (d+1) / 2, d = log2 p    Sent per rank   as sort bitonic; and 2 m + 32 d + 16    Scratch   O(log p)
Time     no closed form; who has whose item depends on the data; about (3 + 4 d + d (d+1) / 2) t_s + (2 + d (d+1) / 2) m t_w
Fits     any p; colours and keys of any data
Best     many processes that are to be put in a new order
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011; Batcher, Sorting
         Networks and Their Applications, AFIPS Spring Joint Computer Conference 32 (1968)
"""

from __future__ import annotations

from functools import partial
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.chain.by_sort import holds_by_sort, split_by_sort
from collectives.chain.chain import Chain
from collectives.chain.items import Compares, Widths
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.chain.sort import bitonic
from collectives.tools.protocol import Comm


def split_bitonic(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    compare: Compares = None,
    widths: Widths = None,
    work: Work = None,
    meter: Meter = UNREAD,
    tag: int = 0,
) -> Chain | None:
    """The chain of those with this colour, in order of key and then rank; None for a process without a colour."""
    sort = bitonic.sort_bitonic
    return split_by_sort(sort, group, color, key, compare=compare, widths=widths, work=work, meter=meter, tag=tag)


ALGORITHM = Algorithm(
    operation="split",
    name="bitonic",
    run=split_bitonic,
    schedule=None,
    holds=partial(holds_by_sort, bitonic.ALGORITHM),
    kind="split",
)
