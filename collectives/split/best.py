"""Split by an algorithm that is chosen by the number of processes and of groups, and by the presence of keys.

No color and no key: no communication. Few processes: an allgather. A medium number of processes with keys but without
colors: gather and scatter by a tree. Many processes without keys: hash, or hash64 if the number of groups is close to the
number of processes. Many processes with keys, or with colors that have a comparison function: bitonic. All processes choose
the same algorithm without a message.

    p = 4     an allgather; p = 400 with keys and without colors: a tree; p = 65536: hash, and with keys bitonic

Rounds   of the chosen algorithm    Sent per rank   of the chosen algorithm    Scratch   of the chosen algorithm
Time     of the chosen algorithm
Fits     any p; colors and keys of any data
Best     the default
Source   the rule is that of section 4 of Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split,
         EuroMPI 2011
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Rounds, Seconds
from collectives.chain.chain import Chain, chain_of
from collectives.chain.items import Compares, Widths, compares
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.split import allgather_group, allgather_mpi, bitonic, gather_scatter, hash, hash64
from collectives.tools.protocol import Comm

REORDERED, SORTED, UNSORTED = (160, 640), (512, 512), (384, 384)
"""The largest numbers of processes for an allgather, and for a gather and scatter ("tree"); then follow bitonic or hash.

The limits are based on these modeled times in µs on Dawn / on Sierra, with 80 cycles per item (benchmarks/moody_cases.py):

REORDERED: only keys           128 processes    allgather 122 / 49     tree 132 / 62
                               512 processes                           tree 260 / 102    bitonic 236 / 162
                               1,024 processes                         tree 409 / 143    bitonic 277 / 194
SORTED: keys, four colors      512 processes    allgather 191 / 106    tree 281 / 106    bitonic 237 / 162
                               1,024 processes  allgather 382 / 209    tree 452 / 151    bitonic 278 / 197
UNSORTED: colors without keys  256 processes    allgather 95 / 49      tree 180 / 79     hash 127 / 70
                               512 processes    allgather 181 / 91     tree 262 / 104    hash 146 / 82

On a chain an allgather also sends addresses and takes 1.2 to 1.5 times as long as on a communicator, so the limits are lower
there.
"""


def choose(
    size: int,
    *,
    groups: int | None = None,
    reorder: bool = False,
    compared: bool = False,
    chain: bool = False,
    max_items: int | None = None,
) -> Algorithm:
    """Return the algorithm for `size` processes and `groups` groups (None: unknown).

    `reorder`: there are keys. `compared`: a function compares colors. `chain`: there is no communicator of these
    processes. `max_items`: the largest number of items that a process can store.

    >>> [choose(100), choose(100, chain=True), choose(1000, reorder=True)]
    [<split allgather_mpi>, <split allgather_group>, <split bitonic>]
    >>> [choose(5000), choose(5000, groups=5000), choose(5000, reorder=True)]
    [<split hash>, <split hash64>, <split bitonic>]
    """
    for_allgather, for_tree = UNSORTED if not (reorder or compared) else REORDERED if groups == 1 else SORTED
    if max_items is not None:
        for_allgather, for_tree = min(for_allgather, max_items), min(for_tree, max_items)
    if chain:
        for_allgather, for_tree = for_allgather * 2 // 3, for_tree * 2 // 3
    if size <= for_allgather:
        return allgather_group.split_allgather_group if chain else allgather_mpi.split_allgather_mpi
    if size <= for_tree:
        return gather_scatter.split_gather_scatter
    if reorder or compared:
        return bitonic.split_bitonic
    return hash64.split_hash64 if groups is not None and groups * 64 > size else hash.split_hash


def _chosen(case: Case) -> tuple[Algorithm, Case]:
    """Return the algorithm for a case and its case; the parameters may contain `reorder` and `compared`."""
    names = ("groups", "reorder", "compared", "max_items")
    known = {name: value for name, value in case.parameters.items() if name in names}
    kept = {name: value for name, value in case.parameters.items() if name == "reorder"}
    return choose(case.p, **known), replace(case, parameters=kept)


def schedule(case: Case) -> Rounds | None:
    chosen, its_case = _chosen(case)
    return chosen.schedule_for(its_case)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    chosen, its_case = _chosen(case)
    return chosen.closed_time(its_case, t_s, t_w) if chosen.closed_time else None


def holds(case: Case) -> int:
    chosen, its_case = _chosen(case)
    return chosen.held(its_case) or 0


@algorithm(schedule=schedule, closed_time=closed_time, holds=holds)
def split_best(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    groups: int | None = None,
    max_items: int | None = None,
    compare: Compares = None,
    widths: Widths = None,
    work: WorkCallback = None,
    meter: ItemMeter = NO_METER,
    tag: int = 0,
) -> Chain | None:
    """Return the chain of the processes with this color, sorted by key and rank; None if the color is UNDEFINED.

    `groups` is the approximate number of groups, if known, and `max_items` the largest number of items that a process can
    store; both are equal on all ranks.
    """
    chain, is_chain = chain_of(group, tag), isinstance(group, Chain)
    if color is None and key is None:
        return chain
    compared = color is not None and compares(compare)[0] is not None
    groups = 1 if color is None else groups
    reorder = key is not None
    chosen = choose(chain.size, groups=groups, reorder=reorder, compared=compared, chain=is_chain, max_items=max_items)
    result: Chain | None = chosen.run(group, color, key, compare=compare, widths=widths, work=work, meter=meter, tag=tag)
    return result
