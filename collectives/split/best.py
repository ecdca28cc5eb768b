"""Split by whichever algorithm should be the best, by the number of processes and of groups, and whether there are keys.

Neither colour nor key: nothing to do. Few processes: an allgather on the chain. No keys: hash, and hash64 if there are
about as many groups as processes. Keys, or colours that a function compares: bitonic. Everybody decides alike, without
a message.

    p = 4     an allgather on the chain

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

from collectives.algorithm import Algorithm, Case
from collectives.chain.chain import Chain, chain_of
from collectives.chain.items import Compares, Widths, compares
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.protocol import Comm
from collectives.schedule import Schedule, Seconds
from collectives.split import allgather_group, bitonic, hash, hash64

FEW = 1024
"""Processes for which an allgather is worth it: up to here its p items take less time than the rounds that it saves.

On the model of Dawn, 50 ns a comparison, p = 1,024: 1.08 ms against bitonic's 1.31 with keys, and without keys 0.57 to
0.67 ms against 0.64 to 0.94 of the hashes; at 512 about half as long as either.
"""


def choose(
    size: int, *, groups: int | None = None, reorder: bool = False, compared: bool = False, few: int = FEW
) -> Algorithm:
    """The algorithm for so many processes and groups (None: unknown); `compared` if a function compares colours.

    >>> [choose(100), choose(5000), choose(5000, groups=5000), choose(5000, reorder=True)]
    [<split allgather_group>, <split hash>, <split hash64>, <split bitonic>]
    """
    if size <= few:
        return allgather_group.ALGORITHM
    if reorder or compared:
        return bitonic.ALGORITHM
    return hash64.ALGORITHM if groups is not None and groups * 64 > size else hash.ALGORITHM


def split_best(
    group: Comm | Chain,
    color: Any = None,
    key: Any = None,
    *,
    groups: int | None = None,
    few: int = FEW,
    compare: Compares = None,
    widths: Widths = None,
    work: Work = None,
    meter: Meter = UNREAD,
    tag: int = 0,
) -> Chain | None:
    """The chain of those with this colour, in order of key and then rank; None for a process without a colour.

    `groups` is about how many there will be, if that is known, and the same on all ranks.
    """
    chain = chain_of(group, tag)
    if color is None and key is None:
        return chain
    compared = color is not None and compares(compare)[0] is not None
    chosen = choose(chain.size, groups=groups, reorder=key is not None, compared=compared, few=few)
    found: Chain | None = chosen.run(chain, color, key, compare=compare, widths=widths, work=work, meter=meter)
    return found


def _chosen(case: Case) -> tuple[Algorithm, Case]:
    """With `case.parameters["reorder"]` and `["compared"]` where these are so."""
    known = {
        name: case.parameters[name] for name in ("groups", "reorder", "compared", "few") if name in case.parameters
    }
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
    parameters={"groups": None, "few": FEW},
    kind="split",
)
