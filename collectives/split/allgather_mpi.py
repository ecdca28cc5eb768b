"""Split by an allgather of the communicator: every process gets all items, selects those of its color and sorts them.

In the paper this is the method of MPI libraries, with their allgather. Here the allgather is one of the catalogue; it
needs no addresses in its messages.

    p = 4, colors b a b a     all ranks: b0 a1 b2 a3; ranks 0 and 2 keep b0 b2, the others a1 a3

Rounds   the allgather's    Sent per rank   the allgather's    Scratch   p items
Time     the allgather's; requires `widths`; without selecting and sorting
Fits     any p; cases that the allgather supports; a communicator, not a chain; colors and keys of any data
Best     few processes
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case, UnsupportedCaseError
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Rounds, Seconds
from collectives.chain.by_sort import group_among_all_items
from collectives.chain.chain import Chain
from collectives.chain.items import Compares, Widths, agree_on_format
from collectives.chain.merging import split_items
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.schedules import holds_all_items
from collectives.intra.allgather import bruck
from collectives.tools.protocol import Comm


def _allgather(case: Case) -> Algorithm:
    algorithm: Algorithm = split_allgather_mpi.parameter(case, "allgather")
    return algorithm


def why_unsupported(case: Case) -> str | None:
    return _allgather(case).why_unsupported(Case(case.p, case.m))


def schedule(case: Case) -> Rounds | None:
    return _allgather(case).schedule_for(Case(case.p, case.m))


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    return _allgather(case).time(Case(case.p, case.m), t_s, t_w)


@algorithm(
    checks_itself=True,
    schedule=schedule,
    why_unsupported=why_unsupported,
    closed_time=closed_time,
    holds=holds_all_items,
)
def split_allgather_mpi(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    allgather: Algorithm = bruck.allgather_bruck,
    compare: Compares = None,
    widths: Widths = None,
    work: WorkCallback = None,
    meter: ItemMeter = NO_METER,
    tag: int = 0,
) -> Chain | None:
    """Return the chain of the processes with this color, sorted by key and rank; None if the color is UNDEFINED."""
    if isinstance(group, Chain):
        raise UnsupportedCaseError("split allgather_mpi needs a communicator, not a chain; use split allgather_group")
    chain = Chain.of(group, tag)
    form = agree_on_format(chain, color, key, compare, widths)
    split_allgather_mpi.check(Case(chain.size, form.nbytes, parameters={"allgather": allgather}))
    item = form.write(color, key, chain.rank, chain.address)
    meter.take(chain.size)
    table = np.empty(chain.size * form.nbytes, np.uint8)
    allgather.run(group, np.frombuffer(item, np.uint8), table, tag=tag)
    own_group = group_among_all_items(chain, split_items(table, form.nbytes), item, form, color, work)
    meter.drop(chain.size)
    return own_group
