"""Split by Cheng's sort on every M-th process: M items to each, a sort among them with exact splitters, and back.

As the split by bitonic sort, with another sort.

    p = 4, M = 2, colours b a b a     1 -> 0: a1 b0; 3 -> 2: a3 b2; sorted: a1 a3 at 0, b0 b2 at 2; groups: 1 -> 3 and 0 -> 2

Rounds   data decide    Sent per rank   data decide    Scratch   2 M + 4 p / M items
Time     no closed form; turns until the splitters are found depend on the data; O(P log p + log^2 p + M log P), P = p / M
Fits     any p; any M > 0; colours and keys of any data
Best     around a thousand processes; few sorters: on the model of Dawn p / M = 2 at 1,024, 8 at 4,096, 32 at 65,536
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011; Cheng, Edelman,
         Gilbert, Shah, A Novel Parallel Sorting Algorithm for Contemporary Architectures, 2006
"""

from __future__ import annotations

from functools import partial
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.chain.by_sort import holds_by_sort, split_by_sort
from collectives.chain.chain import Chain
from collectives.chain.items import Compares, Widths
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.chain.sort import cheng
from collectives.chain.splitters import ALLTOALL
from collectives.tools.protocol import Comm


def split_cheng(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    M: int = 128,
    alltoall: Algorithm = ALLTOALL,
    compare: Compares = None,
    widths: Widths = None,
    work: Work = None,
    meter: Meter = UNREAD,
    tag: int = 0,
) -> Chain | None:
    """The chain of those with this colour, in order of key and then rank; None for a process without a colour."""
    cheng.ALGORITHM.check(Case(1, parameters={"M": M}))
    sort = partial(cheng.sort_cheng, M=M, alltoall=alltoall)
    return split_by_sort(sort, group, color, key, compare=compare, widths=widths, work=work, meter=meter, tag=tag)


ALGORITHM = Algorithm(
    operation="split",
    name="cheng",
    run=split_cheng,
    schedule=None,
    fits=cheng.ALGORITHM.fits,
    holds=partial(holds_by_sort, cheng.ALGORITHM),
    parameters={"M": 128, "alltoall": ALLTOALL},
    kind="split",
)
