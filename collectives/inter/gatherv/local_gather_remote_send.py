"""Gatherv between groups by a local gather: the leaves send to their leader, which sends all blocks to the root.

The algorithm is that of gather local_gather_remote_send, for blocks of different sizes. The leaf group first gathers
the sizes of its blocks to its rank 0, its leader, by `gather`, one count of 8 bytes per rank. Then every leaf sends its
block to the leader, which sends all blocks to the root in one message. Only the root needs to know the counts in
advance.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (the others idle), counts 2, 0, 1, 3
              counts     blocks     sent
    a_1                             002333
    b_0       2013       002333     002333

Rounds   1 + gather + nonempty blocks    Sent per rank   gather, its block; the leader all blocks
         Scratch   gather; on the leader + all blocks
Time     t_s + K t_w + parts; all blocks together have K bytes; the parts are the gather of 8 bytes and the sum of t_s +
         m_j t_w over the nonempty blocks other than the leader's; the exact time is computed from the schedule
Fits     any p and q; cases that `gather` supports
Best     never, in this model: wmpi sends every block once, directly to the root; for comparison
Source   Open MPI, ompi/mca/coll/inter/coll_inter_gatherv.c, whose counts have 4 bytes
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Transfer, without_empty
from collectives.inter_patterns.groups import RootRole, Step, part_claims, process_numbers
from collectives.inter_patterns.root_gathering import collect_by_counts
from collectives.inter_patterns.rooted import check_root, gathered
from collectives.intra.gather.binomial import gather_binomial
from collectives.intra.gatherv.linear import gatherv_linear
from collectives.tools.blocks import Layout, required
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm

COUNT_BYTES = 8


def steps(case: Case) -> list[Step]:
    counts, leaves = Case(case.q, COUNT_BYTES, itemsize=COUNT_BYTES), process_numbers(case)[1]
    return [
        (gatherv_local_gather_remote_send.parameter(case, "gather"), counts, leaves),
        (gatherv_linear, case.groups[1], leaves),
        without_empty([Transfer(case.p, case.root, sum(gathered(case)))]),
    ]


def held(case: Case, rank: int) -> int:
    return sum(gathered(case)) + COUNT_BYTES * case.q if rank == case.p else 0


@algorithm(**part_claims(steps, held=held))
def gatherv_local_gather_remote_send(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    counts: Sequence[int] | None,
    *,
    root: RootRole | int,
    gather: Algorithm = gather_binomial,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to the root's `recvbuf`."""
    check_root(inter, local, root)
    if root is RootRole.PROC_NULL:
        return
    if isinstance(root, RootRole):
        whole, q = required(recvbuf, "the root of a gatherv"), inter.Get_remote_size()
        layout = Layout.of_ranks(counts, q)
        layout.check_size(whole)
        receive(inter, layout.block(whole, 0, q), 0, tag)
        return
    held = collect_by_counts(local, required(sendbuf, "a rank that sends its block"), gather, tag)
    if held is not None:
        send(inter, held, root, tag)
