"""Split by Sack and Gropp's scheme: a fixed number of processes sort in parallel what was merged on its way to them.

Their three means: tables are merged while they are built, up a tree; some processes sort the whole in parallel; and nobody
keeps more than its own part of the result, here its chain. The sort is Cheng's; given is the number of sorters, not of
items at each. By default it is the square root of p, which makes their items as many as themselves.

    p = 4, 2 sorters, colours b a b a     1 -> 0: a1 b0; 3 -> 2: a3 b2; sorted: a1 a3 at 0, b0 b2 at 2; then as split bitonic

Rounds   data decide    Sent per rank   data decide    Scratch   2 p / P + 4 P items
Time     no closed form; turns until the splitters are found depend on the data; O(P log p + log^2 p + p / P log P)
Fits     any p; P > 0 sorters; colours and keys of any data
Best     where no process has room for p items; not fast: on the model of Dawn 2.2 ms at 1,024, bitonic 1.3
Source   Sack, Gropp, A Scalable MPI_Comm_split Algorithm for Exascale Computing, EuroMPI 2010,
         doi:10.1007/978-3-642-15646-5_1
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isqrt
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.chain.by_sort import holds_by_sort, split_by_sort
from collectives.chain.chain import Chain, chain_of
from collectives.chain.items import Compares, Widths
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.chain.sort import cheng
from collectives.chain.splitters import ALLTOALL
from collectives.tools.numbers import ceil_div
from collectives.tools.protocol import Comm


def split_sack_gropp(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    sorters: int | None = None,
    alltoall: Algorithm = ALLTOALL,
    compare: Compares = None,
    widths: Widths = None,
    work: Work = None,
    meter: Meter = UNREAD,
    tag: int = 0,
) -> Chain | None:
    """The chain of those with this colour, in order of key and then rank; None for a process without a colour."""
    chain = chain_of(group, tag)
    case = Case(chain.size, parameters={"sorters": sorters})
    ALGORITHM.check(case)
    sort = partial(cheng.sort_cheng, M=_items(case), alltoall=alltoall)
    return split_by_sort(sort, chain, color, key, compare=compare, widths=widths, work=work, meter=meter, tag=tag)


def fits(case: Case) -> str | None:
    sorters = ALGORITHM.parameter(case, "sorters")
    return None if sorters is None or sorters > 0 else f"sorters = {sorters} is not positive"


def _items(case: Case) -> int:
    """How many items a sorter gets."""
    return ceil_div(case.p, ALGORITHM.parameter(case, "sorters") or max(1, isqrt(case.p)))


def holds(case: Case) -> int:
    return holds_by_sort(cheng.ALGORITHM, replace(case, parameters={"M": _items(case)}))


ALGORITHM = Algorithm(
    operation="split",
    name="sack_gropp",
    run=split_sack_gropp,
    schedule=None,
    fits=fits,
    holds=holds,
    parameters={"sorters": None, "alltoall": ALLTOALL},
    kind="split",
)
