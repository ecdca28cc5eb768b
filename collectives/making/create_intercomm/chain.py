"""Create_intercomm along chains: each group agrees on a number, and the leaders exchange these and who is in the groups.

A double scan in each group finds the largest number that is proposed. The leaders exchange number and size, then the
addresses of all members, and each time tell their own group, along its chain, at doubling distances from the leader.

    p = 4, groups 01 and 23, leaders 0 and 2     0 <-> 1, 2 <-> 3: numbers; 0 <-> 2, 0 -> 1, 2 -> 3: sizes; likewise: who

Rounds   6 ceil(log2 max(p, q)) + 2    Sent per rank   at most (80 + 8 q) ceil(log2 p); leaders 8 p + 16    Scratch   none
Time     by the schedule's recurrence; leaders at rank 0; about (6 l + 2) t_s + (80 + 8 q) l t_w, l = ceil(log2 max(p, q))
Fits     any p and q; any leaders
Best     groups of which nobody but the leaders knows more than its own
Source   the steps: MPICH, src/mpi/comm/intercomm_create.c, where the numbers go last; the chains: Moody, Ahn, de Supinski,
         Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Schedule
from collectives.chain.agreement import agree, agreeing, exchanged, exchanging
from collectives.chain.chain import Chain, chain_of
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Comm


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
    """The new communicator's number, and the other group's `members`, as that one calls them.

    Only the leader needs `peer`, through which it reaches the other one, and `members`, its own group's.
    """
    chain, way = chain_of(local, tag), (peer, remote_leader, peer_tag)
    own = agree(chain, number)
    theirs, size = exchanged(chain, (own, chain.size), 2, speaker=leader, way=way)
    return max(own, theirs), exchanged(chain, members, size, speaker=leader, way=way)


def schedule(case: Case) -> Schedule:
    p, q = case.p, case.q
    yield from agreeing(p, q)
    yield from exchanging(p, q, 2, 2)
    yield from exchanging(p, q, p, q)


def closed_rounds(case: Case) -> int:
    return 6 * ceil_log2(max(case.p, case.q)) + 2


ALGORITHM = Algorithm(
    operation="create_intercomm",
    name="chain",
    run=create_intercomm_chain,
    schedule=schedule,
    closed_rounds=closed_rounds,
    kind="making",
)
