"""Barrier between groups by an allreduce of one integer: a reduce in each group, an exchange of leaders, a broadcast.

Each group reduces an integer of 4 bytes to its rank 0, its leader, by `reduce`, both groups at once. The leaders exchange
their results, and each broadcasts what it received by `bcast`, like allreduce reduce_exchange_bcast. Every rank waits for
the other group; the result is not used, and combining two integers takes no modeled time.

    p = 4, q = 2      reduced     a_0 with b_0    broadcasts    (known ranks; B is 4, 5)
    a_0               0123        012345          012345
    a_1 a_2 a_3       1 2 23      1 2 23          45 and its own
    b_0               45          012345          012345
    b_1               5           5               0123 and its own

Rounds   1 + parts    Sent per rank   parts; on leaders + 4 bytes    Scratch   parts + 4 bytes; on leaders 8
Time     computed from the schedule; (1 + 2 ceil(log2 n)) (t_s + 4 t_w) if both parts are binomial; n = max(p, q)
Fits     any p and q; cases that its parts support
Best     never, in this model: a barrier of all ranks (wmpi) has fewer rounds; for comparison
Source   Open MPI, ompi/mca/coll/basic/coll_basic_barrier.c: barrier_inter_lin; the allreduce is that of
         ompi/mca/coll/inter/coll_inter_allreduce.c
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Transfer
from collectives.inter_patterns.groups import Step, checked_sizes, in_both_groups, part_claims, without_combining
from collectives.inter_patterns.leaders_exchange import leaders_exchange
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.patterns.reductions import ADD
from collectives.tools.blocks import spare_memory
from collectives.tools.protocol import Comm, Intercomm

INTEGER: Final[Any] = np.zeros(1, np.int32)
NBYTES = 4


def steps(case: Case) -> list[Step]:
    reduce, bcast = (barrier_allreduce.parameter(case, name) for name in ("reduce", "bcast"))
    reduces, bcasts = (
        in_both_groups(part, case, (NBYTES, NBYTES), itemsize=NBYTES) for part in (without_combining(reduce), bcast)
    )
    return [*reduces, [Transfer(0, case.p, NBYTES), Transfer(case.p, 0, NBYTES)], *bcasts]


@algorithm(**part_claims(steps, held=lambda case, rank: 2 * NBYTES if rank in (0, case.p) else NBYTES))
def barrier_allreduce(
    inter: Intercomm, local: Comm, *, reduce: Algorithm = reduce_binomial, bcast: Algorithm = bcast_binomial, tag: int = 0
) -> None:
    """Return when every rank of the other group has entered the barrier."""
    checked_sizes(inter, local)
    theirs = spare_memory(INTEGER, 1)
    leaders_exchange(inter, local, INTEGER, theirs, ADD, reduce, tag)
    bcast.run(local, theirs, root=0, tag=tag)
