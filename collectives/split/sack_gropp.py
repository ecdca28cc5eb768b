"""Split by Sack and Gropp's scheme: a fixed number of processes sort in parallel, after merging items on the way to them.

Their three ideas: merge tables on the way up a tree; sort in parallel on some processes; store on each process only its
part of the result, here its chain. The sort is Cheng's, with a given number of sorters instead of items per sorter. The
default is the square root of p, so that the number of sorters equals the number of items per sorter.

    p = 4, 2 sorters, colors b a b a     1 -> 0: a1 b0; 3 -> 2: a3 b2; sorted: a1 a3 at 0, b0 b2 at 2; the rest: see bitonic

Rounds   depend on data    Sent per rank   depends on data    Scratch   2 p / P + 4 P items
Time     no closed form; the number of iterations to find the splitters depends on the data; O(P log p + log^2 p + p / P
         log P)
Fits     any p; P > 0 sorters; colors and keys of any data
Best     if no process can store p items; not fast: on the model of Dawn 2.1 ms for 1,024, bitonic 0.3 ms
Source   Sack, Gropp, A Scalable MPI_Comm_split Algorithm for Exascale Computing, EuroMPI 2010,
         doi:10.1007/978-3-642-15646-5_1
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isqrt
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.chain.by_sort import holds_by_sort, split_by_sort
from collectives.chain.chain import Chain, chain_of
from collectives.chain.items import Compares, Widths
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.sort import cheng
from collectives.chain.splitters import ALLTOALL
from collectives.tools.numbers import ceil_div
from collectives.tools.protocol import Comm


def why_unsupported(case: Case) -> str | None:
    sorters = split_sack_gropp.parameter(case, "sorters")
    return None if sorters is None or sorters > 0 else f"sorters = {sorters} is not positive"


def _items(case: Case) -> int:
    """Return the number of items per sorter."""
    return ceil_div(case.p, split_sack_gropp.parameter(case, "sorters") or max(1, isqrt(case.p)))


def holds(case: Case) -> int:
    return holds_by_sort(cheng.sort_cheng, replace(case, parameters={"M": _items(case)}))


@algorithm(schedule=None, why_unsupported=why_unsupported, holds=holds)
def split_sack_gropp(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    sorters: int | None = None,
    alltoall: Algorithm = ALLTOALL,
    compare: Compares = None,
    widths: Widths = None,
    work: WorkCallback = None,
    meter: ItemMeter = NO_METER,
    tag: int = 0,
) -> Chain | None:
    """Return the chain of the processes with this color, sorted by key and rank; None if the color is UNDEFINED."""
    chain = chain_of(group, tag)
    case = Case(chain.size, parameters={"sorters": sorters})
    split_sack_gropp.check(case)
    sort = partial(cheng.sort_cheng, M=_items(case), alltoall=alltoall)
    return split_by_sort(sort, chain, color, key, compare=compare, widths=widths, work=work, meter=meter, tag=tag)
