"""Allgatherv between groups by two gathers: every rank sends to the other group's leader, one direction after the other.

The ranks of the first group send their blocks to rank 0 of the other group, its leader, which starts a receive from each
and waits. Then the ranks of the other group send theirs to the first group's leader in the same way. A rank that is no
leader sends as soon as it can. At the end each leader broadcasts what it received in its group by `bcast`. In wmpi a leader
sends its own block while it receives. The first group is the larger one; if the groups have equal sizes, the caller passes
`first=True` in one and `first=False` in the other (`inter_patterns.groups`).

    p = 4, q = 2, blocks 0 1 22 333 of A, x and y of B
              A to b_0     B to a_0     bcast
    a_0                    xy           xy
    a_1 a_2..                           xy
    b_0       0122333      0122333      0122333
    b_1                                 0122333

Rounds   no closed form    Sent per rank   own block + bcast    Scratch   bcast
Time     no closed form; at most the sum of (t_s + m_i t_w) over all blocks of both groups + the longer bcast; the order
         in which a leader's port receives blocks depends on timing
Fits     any p and q; cases that `bcast` supports; equal groups need `first`
Best     never, in this model: wmpi sends the same messages, in both directions at once; for comparison
Source   MPICH, src/mpi/coll/allgatherv/allgatherv_inter_remote_gather_local_bcast.c
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import UNDECIDED, checked_sizes, comes_first, scratch_in, unsupported
from collectives.inter_patterns.leaders import bytes_sent, parts
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.tools.blocks import Layout
from collectives.tools.messages import send, wait_all
from collectives.tools.protocol import Buffer, Comm, Intercomm

PARAMETERS = {"bcast": bcast_binomial, "first": None}


def _a_first(case: Case) -> bool | None:
    return comes_first((case.p, 0), (case.q, 0), allgatherv_remote_gather_local_bcast.parameter(case, "first"))


def why_unsupported(case: Case) -> str | None:
    return UNDECIDED.format(p=case.p) if _a_first(case) is None else unsupported(parts(PARAMETERS, case))


@algorithm(
    schedule=None,
    why_unsupported=why_unsupported,
    scratch=lambda case, rank: scratch_in(parts(PARAMETERS, case), rank),
    closed_sent=lambda case, rank: bytes_sent(PARAMETERS, case, rank),
    parameters=PARAMETERS,
)
def allgatherv_remote_gather_local_bcast(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    bcast: Algorithm = bcast_binomial,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this group."""
    p, q = checked_sizes(inter, local)
    layout = Layout.of_ranks(counts, q)
    layout.check_size(recvbuf)
    for sending in (True, False) if comes_first((p, 0), (q, 0), first) else (False, True):
        if sending:
            send(inter, sendbuf, 0, tag)
        elif local.Get_rank() == 0:
            sources = [rank for rank in range(q) if layout.size(rank)]
            wait_all([inter.Irecv(layout.block(recvbuf, rank), rank, tag) for rank in sources])
    bcast.run(local, layout.block(recvbuf, 0, q), root=0, tag=tag)
