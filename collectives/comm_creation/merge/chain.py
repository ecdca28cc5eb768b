"""Merge along chains: each group agrees on a number, and the first ranks exchange it with the groups' values of `high`.

A double scan in each group finds the largest number that is proposed. The first ranks exchange it together with `high`,
and broadcast both along their chains, at doubling distances.

    p = 4, groups 01 and 23, the first is high     0 <-> 1, 2 <-> 3: numbers; 0 <-> 2, 0 -> 1, 2 -> 3: ranks are 2 3 0 1

Rounds   4 ceil(log2 max(p, q)) + 1    Sent per rank   at most 64 ceil(log2 p) + 16    Scratch   none
Time     (4 l + 1) (t_s + 16 t_w); l = ceil(log2 max(p, q))
Fits     any p and q
Best     two groups that know each other's size
Source   the steps: MPICH, src/mpi/comm/intercomm_merge.c, where the number is agreed on last and by all; the chains:
         Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Rounds, Seconds
from collectives.chain.agreement import agree, agreement_rounds, exchange_rounds, exchange_with_other_group
from collectives.chain.chain import Chain, chain_of
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Comm


def schedule(case: Case) -> Rounds:
    yield from agreement_rounds(case.p, case.q)
    yield from exchange_rounds(case.p, case.q, 2, 2)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    rounds = 4 * ceil_log2(max(case.p, case.q)) + 1
    return rounds * (t_s + 16 * t_w)  # the average of broadcast messages, 24 and 8 bytes


@algorithm(schedule=schedule, closed_time=closed_time)
def merge_chain(inter: Any, local: Comm | Chain, high: bool, number: int, *, tag: int = 0) -> tuple[int, bool]:
    """Return the new communicator's number, and the other group's value of `high`."""
    chain = chain_of(local, tag)
    own = agree(chain, number)
    theirs, others_high = exchange_with_other_group(chain, (own, int(high)), 2, leader=0, route=(inter, 0, tag))
    return max(own, theirs), bool(others_high)
