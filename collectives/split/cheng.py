"""Split by Cheng's sort on every M-th process: gather M items to each, sort with exact splitters, scatter.

The steps after the sort are the same as in the split by bitonic sort.

    p = 4, M = 2, colors b a b a     1 -> 0: a1 b0; 3 -> 2: a3 b2; sorted: a1 a3 at 0, b0 b2 at 2; groups: 1 -> 3 and 0 -> 2

Rounds   depend on data    Sent per rank   depends on data    Scratch   2 M + 4 p / M items
Time     no closed form; the number of iterations to find the splitters depends on the data; O(P log p + log^2 p + M log
         P), P = p / M
Fits     any p; any M > 0; colors and keys of any data
Best     about 1,000 processes; few sorters: on the model of Dawn p / M = 2 for 1,024, 8 for 4,096, 32 for 65,536
Source   Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011; Cheng, Edelman,
         Gilbert, Shah, A Novel Parallel Sorting Algorithm for Contemporary Architectures, 2006
"""

from __future__ import annotations

from functools import partial
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.chain.by_sort import holds_by_sort, split_by_sort
from collectives.chain.chain import Chain
from collectives.chain.items import Compares, Widths
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.sort import cheng
from collectives.chain.splitters import ALLTOALL
from collectives.tools.protocol import Comm


@algorithm(
    checks_itself=True,
    schedule=None,
    why_unsupported=cheng.sort_cheng.why_unsupported,
    holds=partial(holds_by_sort, cheng.sort_cheng),
)
def split_cheng(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    M: int = 128,
    alltoall: Algorithm = ALLTOALL,
    compare: Compares = None,
    widths: Widths = None,
    work: WorkCallback = None,
    meter: ItemMeter = NO_METER,
    tag: int = 0,
) -> Chain | None:
    """Return the chain of the processes with this color, sorted by key and rank; None if the color is UNDEFINED."""
    cheng.sort_cheng.check(Case(1, parameters={"M": M}))
    sort = partial(cheng.sort_cheng, M=M, alltoall=alltoall)
    return split_by_sort(sort, group, color, key, compare=compare, widths=widths, work=work, meter=meter, tag=tag)
