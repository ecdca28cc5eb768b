"""Create_intercomm along chains: each group agrees on a number, and the leaders exchange numbers and members.

A double scan in each group finds the largest number that is proposed. The leaders exchange number and size, then the
addresses of all members. After each exchange they broadcast the data along their chains, at doubling distances.

    p = 4, groups 01 and 23, leaders 0 and 2     0 <-> 1, 2 <-> 3: numbers; 0 <-> 2, 0 -> 1, 2 -> 3: sizes, then members

Rounds   6 ceil(log2 max(p, q)) + 2    Sent per rank   at most (80 + 8 q) ceil(log2 p); leaders 8 p + 16
         Scratch   none
Time     computed from the schedule; leaders at rank 0; about (6 l + 2) t_s + (80 + 8 q) l t_w, l = ceil(log2 max(p, q))
Fits     any p and q; any leaders
Best     groups in which only the leaders can reach the other group
Source   the steps: MPICH, src/mpi/comm/intercomm_create.c, where the numbers go last; the chains: Moody, Ahn, de
         Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Rounds
from collectives.chain.agreement import agree, agreement_rounds, exchange_rounds, exchange_with_other_group
from collectives.chain.chain import Chain, chain_of
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Comm


def schedule(case: Case) -> Rounds:
    p, q = case.p, case.q
    yield from agreement_rounds(p, q)
    yield from exchange_rounds(p, q, 2, 2)
    yield from exchange_rounds(p, q, p, q)


def closed_rounds(case: Case) -> int:
    return 6 * ceil_log2(max(case.p, case.q)) + 2


@algorithm(schedule=schedule, closed_rounds=closed_rounds)
def create_intercomm_chain(
    local: Comm | Chain,
    peer: Any,
    members: Sequence[int],
    number: int,
    *,
    leader: int = 0,
    remote_leader: int = 0,
    peer_tag: int = 0,
    tag: int = 0,
) -> tuple[int, list[int]]:
    """Return the new communicator's number, and the `members` that the other group's leader passes.

    Only the leader needs `peer`, the communicator that contains the other leader, and `members`, those of its group.
    """
    chain, route = chain_of(local, tag), (peer, remote_leader, peer_tag)
    own = agree(chain, number)
    theirs, size = exchange_with_other_group(chain, (own, chain.size), 2, leader=leader, route=route)
    return max(own, theirs), exchange_with_other_group(chain, members, size, leader=leader, route=route)
