"""Barrier between groups by broadcasts: a barrier in each group, then a broadcast to one group, then to the other.

Both groups run the algorithm `barrier` at the same time. Then rank 0 of the first group sends one byte to rank 0 of the
second group, which broadcasts it in the second group by the algorithm `bcast`. The same follows in the other direction. The
first group is the larger one. If both have the same size, the ranks of one group pass `first=True`, and the ranks of the
other `first=False` (`inter_patterns.groups`). The parts of this algorithm are the barriers and the broadcasts; the leaders
are both ranks 0.

    p = 4, q = 2      barriers    a_0 to b_0    bcast in B    b_0 to a_0    bcast in A    (ranks known to have entered)
    a_0               0123        0123          0123          012345        012345
    a_1 a_2 a_3       0123        0123          0123          0123          012345
    b_0               45          012345        012345        012345        012345
    b_1               45          45            012345        012345        012345        (b_0 and b_1 are 4 and 5)

Rounds   2 + parts    Sent per rank   parts; on leaders + 1 byte    Scratch   1 byte + parts
Time     computed from the schedule; barriers + 2 (t_s + t_w) + broadcasts, which may overlap
Fits     any p and q; cases that its parts support; equal groups need `first`
Best     never, in this model; for comparison: a barrier of all ranks has fewer rounds
Source   MPICH, src/mpi/coll/barrier/barrier_inter_bcast.c
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Transfer
from collectives.inter_patterns.groups import Step, comes_first, in_both_groups, part_claims, undecided
from collectives.inter_patterns.root_gathering import exchange_in_turn
from collectives.inter_patterns.root_gathering_claims import exchange_in_turn_steps
from collectives.intra.barrier.dissemination import barrier_dissemination
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.tools.blocks import spare_memory
from collectives.tools.messages import TOKEN
from collectives.tools.protocol import Comm, Intercomm


def steps(case: Case) -> list[Step]:
    barriers = in_both_groups(barrier_bcast.parameter(case, "barrier"), case, (0, 0))
    bcasts = in_both_groups(barrier_bcast.parameter(case, "bcast"), case, (1, 1), itemsize=1)
    leaders = Transfer(0, case.p, 1), Transfer(case.p, 0, 1)
    return [*barriers, *exchange_in_turn_steps(case, leaders, *bcasts)]


@algorithm(**part_claims(steps, held=lambda case, rank: 1, why_unsupported=undecided))
def barrier_bcast(
    inter: Intercomm,
    local: Comm,
    *,
    barrier: Algorithm = barrier_dissemination,
    bcast: Algorithm = bcast_binomial,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Return when every rank of both groups has entered the barrier."""
    goes_first = bool(comes_first((inter.Get_size(), 0), (inter.Get_remote_size(), 0), first))
    barrier.run(local, tag=tag)
    byte = spare_memory(TOKEN, 1)
    exchange_in_turn(inter, local, byte if local.Get_rank() == 0 else None, byte, goes_first, bcast, tag)
