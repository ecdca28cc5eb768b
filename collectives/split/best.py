"""Split by whichever algorithm should be the best, by the number of processes and of groups, and whether there are keys.

Neither colour nor key: nothing to do. Few processes: everybody gets all items, by an allgather; some more: one of them
does, by a tree. Many, without keys: hash, and hash64 if there are about as many groups as processes. Many, with keys
or colours that a function compares: bitonic. Everybody decides alike, without a message.

    p = 4     an allgather; p = 3000 with keys: a tree; p = 65536: hash, and with keys bitonic

Rounds   the chosen one's    Sent per rank   the chosen one's    Scratch   the chosen one's
Time     the chosen one's
Fits     any p; colours and keys of any data
Best     if in doubt
Source   the rule is that of section 4 of Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split,
         EuroMPI 2011
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Schedule, Seconds
from collectives.chain.chain import Chain, chain_of
from collectives.chain.items import Compares, Widths, compares
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.split import allgather_group, allgather_mpi, bitonic, gather_scatter, hash, hash64
from collectives.tools.protocol import Comm

SORTED, UNSORTED = (256, 4096), (1024, 2048)
"""Processes up to which everybody gets all items, and up to which one does: where there are keys, and where not.

In modelled us on Dawn and on Sierra, 80 cycles an item (benchmarks/moody_cases.py). With keys, 256 processes: allgather 338
and 222, tree 326 and 339; 512: 656 and 354, 433 and 415; 4,096: tree 1,490 and 847, bitonic 1,900 and 2,720. Without, 512:
allgather 312 and 262, tree 431 and 418, hash 691 and 979; 4,096: tree 1,515 and 843, hash 1,018 and 1,503. On a chain, where
an allgather has to find its partners, it takes 1.3 to 2.1 times as long as on a communicator: half as many, then.
"""


def choose(
    size: int,
    *,
    groups: int | None = None,
    reorder: bool = False,
    compared: bool = False,
    chain: bool = False,
    few: int | None = None,
) -> Algorithm:
    """The algorithm for so many processes and groups (None: unknown).

    `compared` if a function compares colours, `chain` if there is no communicator of these processes, `few` if nobody
    has room for more items than that.

    >>> [choose(100), choose(100, chain=True), choose(1000, reorder=True)]
    [<split allgather_mpi>, <split allgather_group>, <split gather_scatter>]
    >>> [choose(5000), choose(5000, groups=5000), choose(5000, reorder=True)]
    [<split hash>, <split hash64>, <split bitonic>]
    """
    everybody, one = SORTED if reorder or compared else UNSORTED
    if few is not None:
        everybody, one = min(everybody, few), min(one, few)
    if size <= (everybody // 2 if chain else everybody):
        return allgather_group.ALGORITHM if chain else allgather_mpi.ALGORITHM
    if size <= one:
        return gather_scatter.ALGORITHM
    if reorder or compared:
        return bitonic.ALGORITHM
    return hash64.ALGORITHM if groups is not None and groups * 64 > size else hash.ALGORITHM


def split_best(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    groups: int | None = None,
    few: int | None = None,
    compare: Compares = None,
    widths: Widths = None,
    work: Work = None,
    meter: Meter = UNREAD,
    tag: int = 0,
) -> Chain | None:
    """The chain of those with this colour, in order of key and then rank; None for a process without a colour.

    `groups` is about how many there will be, if that is known, and the same on all ranks; likewise `few`, the most items
    that anybody has room for.
    """
    chain, is_chain = chain_of(group, tag), isinstance(group, Chain)
    if color is None and key is None:
        return chain
    compared = color is not None and compares(compare)[0] is not None
    chosen = choose(chain.size, groups=groups, reorder=key is not None, compared=compared, chain=is_chain, few=few)
    found: Chain | None = chosen.run(group, color, key, compare=compare, widths=widths, work=work, meter=meter, tag=tag)
    return found


def _chosen(case: Case) -> tuple[Algorithm, Case]:
    """With `case.parameters["reorder"]` and `["compared"]` where these are so."""
    facts = ("groups", "reorder", "compared", "few")
    known = {name: value for name, value in case.parameters.items() if name in facts}
    kept = {name: value for name, value in case.parameters.items() if name == "reorder"}
    return choose(case.p, **known), replace(case, parameters=kept)


def schedule(case: Case) -> Schedule | None:
    chosen, its_case = _chosen(case)
    return chosen.plan(its_case)


def closed_rounds(case: Case) -> int | None:
    chosen, its_case = _chosen(case)
    return chosen.closed_rounds(its_case) if chosen.closed_rounds else None


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    chosen, its_case = _chosen(case)
    return chosen.closed_time(its_case, t_s, t_w) if chosen.closed_time else None


def holds(case: Case) -> int:
    chosen, its_case = _chosen(case)
    return chosen.held(its_case) or 0


ALGORITHM = Algorithm(
    operation="split",
    name="best",
    run=split_best,
    schedule=schedule,
    closed_rounds=closed_rounds,
    closed_time=closed_time,
    holds=holds,
    parameters={"groups": None, "few": None},
    kind="split",
)
