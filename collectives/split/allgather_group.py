"""Split by allgather on the chain: everybody gets all items, picks those of its colour and sorts them.

    p = 4, colours b a b a     everybody: b0 a1 b2 a3; ranks 0 and 2 keep b0 b2, the others a1 a3

Rounds   2 ceil(log2 p)    Sent per rank   at most (p-1) m and headers    Scratch   p items
Time     by the schedule's recurrence; if widths are given; about 2 ceil(log2 p) t_s + p m t_w; sorting comes on top
Fits     any p; colours and keys of any data
Best     few processes
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Algorithm
from collectives.chain.by_sort import look_up
from collectives.chain.chain import Chain, chain_of
from collectives.chain.collect import allgather
from collectives.chain.items import Compares, Widths, agree
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.chain.paper import all_items, flooding_claims
from collectives.tools.protocol import Comm


def split_allgather_group(
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
    chain = chain_of(group, tag)
    form = agree(chain, color, key, compare, widths)
    item = form.write(color, key, chain.rank, chain.address)
    meter.take(chain.size)
    items = [row.tobytes() for row in allgather(chain, np.frombuffer(item, np.uint8))]
    found = look_up(chain, items, item, form, color, work)
    meter.drop(chain.size)
    return found


ALGORITHM = Algorithm(
    operation="split",
    name="allgather_group",
    run=split_allgather_group,
    holds=all_items,
    kind="split",
    **flooding_claims(),
)
