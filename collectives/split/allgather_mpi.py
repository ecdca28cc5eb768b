"""Split by an allgather of the communicator: everybody gets all items, picks those of its colour and sorts them.

The paper's stands for what MPI libraries do, with their own allgather. Here it is one of the catalogue's, which need
not find its partners by passing on addresses.

    p = 4, colours b a b a     everybody: b0 a1 b2 a3; ranks 0 and 2 keep b0 b2, the others a1 a3

Rounds   the allgather's    Sent per rank   the allgather's    Scratch   p items
Time     the allgather's; if widths are given; picking and sorting come on top
Fits     as the allgather; a communicator, not a chain; colours and keys of any data
Best     few processes
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case, DoesNotFit
from collectives.catalogue.schedule import Schedule, Seconds
from collectives.chain.by_sort import look_up
from collectives.chain.chain import Chain
from collectives.chain.items import Compares, Widths, agree
from collectives.chain.merging import cut
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.chain.paper import all_items
from collectives.intra.allgather import bruck
from collectives.tools.protocol import Comm


def split_allgather_mpi(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    allgather: Algorithm = bruck.ALGORITHM,
    compare: Compares = None,
    widths: Widths = None,
    work: Work = None,
    meter: Meter = UNREAD,
    tag: int = 0,
) -> Chain | None:
    """The chain of those with this colour, in order of key and then rank; None for a process without a colour."""
    if isinstance(group, Chain):
        raise DoesNotFit("split allgather_mpi: an allgather of a communicator needs one, and a chain is none")
    chain = Chain.of(group, tag)
    form = agree(chain, color, key, compare, widths)
    ALGORITHM.check(Case(chain.size, form.nbytes, parameters={"allgather": allgather}))
    item = form.write(color, key, chain.rank, chain.address)
    meter.take(chain.size)
    table = np.empty(chain.size * form.nbytes, np.uint8)
    allgather.run(group, np.frombuffer(item, np.uint8), table, tag=tag)
    found = look_up(chain, cut(table, form.nbytes), item, form, color, work)
    meter.drop(chain.size)
    return found


def _allgather(case: Case) -> Algorithm:
    found: Algorithm = ALGORITHM.parameter(case, "allgather")
    return found


def fits(case: Case) -> str | None:
    return _allgather(case).fits(Case(case.p, case.m))


def schedule(case: Case) -> Schedule | None:
    return _allgather(case).plan(Case(case.p, case.m))


def closed_rounds(case: Case) -> int | None:
    return _allgather(case).rounds(Case(case.p, case.m))


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    return _allgather(case).time(Case(case.p, case.m), t_s, t_w)


ALGORITHM = Algorithm(
    operation="split",
    name="allgather_mpi",
    run=split_allgather_mpi,
    schedule=schedule,
    fits=fits,
    closed_rounds=closed_rounds,
    closed_time=closed_time,
    holds=all_items,
    parameters={"allgather": bruck.ALGORITHM},
    kind="split",
)
