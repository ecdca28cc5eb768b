"""Split by whichever algorithm should be the best, by the number of processes and of groups, and whether there are keys.

Neither colour nor key: nothing to do. Few processes: everybody gets all items, by an allgather. Some more that are put in
order and not split: one of them does, by a tree. Many, without keys: hash, and hash64 if there are about as many groups as
processes. Many, with keys or colours that a function compares: bitonic. Everybody decides alike, without a message.

    p = 4     an allgather; p = 400 with keys and without colours: a tree; p = 65536: hash, and with keys bitonic

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

REORDERED, SORTED, UNSORTED = (160, 640), (512, 512), (384, 384)
"""Processes up to which everybody gets all items, and up to which one does: keys alone, keys and colours, no keys.

In modelled us on Dawn and on Sierra, 80 cycles an item (benchmarks/moody_cases.py). Keys alone, so that everybody sorts all,
128 processes: allgather 122 and 49, tree 132 and 62; 512: tree 260 and 102, bitonic 236 and 162; 1,024: 409 and 143, 277 and
194. Keys and four colours, 512: allgather 191 and 106, tree 281 and 106, bitonic 237 and 162; 1,024: 382 and 209, 452 and
151, 278 and 197. No keys, 256: allgather 95 and 49, tree 180 and 79, hash 127 and 70; 512: 181 and 91, 262 and 104, 146 and
82. On a chain, where an allgather has to find its partners, it takes 1.2 to 1.5 times as long as on a communicator: fewer.
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
    [<split allgather_mpi>, <split allgather_group>, <split bitonic>]
    >>> [choose(5000), choose(5000, groups=5000), choose(5000, reorder=True)]
    [<split hash>, <split hash64>, <split bitonic>]
    """
    everybody, one = UNSORTED if not (reorder or compared) else REORDERED if groups == 1 else SORTED
    if few is not None:
        everybody, one = min(everybody, few), min(one, few)
    if chain:
        everybody, one = everybody * 2 // 3, one * 2 // 3
    if size <= everybody:
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
    groups = 1 if color is None else groups
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
