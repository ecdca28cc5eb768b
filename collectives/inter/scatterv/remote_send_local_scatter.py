"""Scatterv between groups by a local scatter: the root sends all blocks to the other group's leader, which scatters them.

The algorithm is that of the scatter remote_send_local_scatter, for blocks of different sizes. The leader is rank 0 of the
other group. The root sends it the sizes of all blocks, 8 bytes each, and then all blocks in one message. The leader sends
each rank of its group the rank's block. Only the root needs to know the counts in advance.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle), counts 2, 0, 1, 3
              counts     blocks     scattered
    a_1       2013       002333
    b_0       2013       002333     00....
    b_2                             ..2...
    b_3                             ...333

Rounds   2 + n; n is the number of nonempty blocks other than the leader's; 1 if all blocks are empty
         Sent per rank   8 q + K on the root; K is the size of all blocks; the leader sends all blocks except its own
         Scratch   all blocks on the leader; there also all counts; other ranks none
Time     2 t_s + (8 q + K) t_w + S; S is the sum of t_s + m_j t_w over the nonempty blocks other than the leader's;
         t_s + 8 q t_w if K is 0
Fits     any p and q
Best     for comparison; never the fastest in this model: wmpi sends every block only once, directly from the root
Source   Open MPI, ompi/mca/coll/inter/coll_inter_scatterv.c, whose counts have 4 bytes
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Rounds, Seconds, Transfer, message, without_empty
from collectives.inter_patterns.groups import RootRole, process_numbers, schedule_of
from collectives.inter_patterns.rooted import check_root, group_sizes, scattered, sequential_time
from collectives.intra.scatterv.linear import scatterv_linear
from collectives.tools.blocks import Layout, required, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm

COUNT_BYTES = 8


def schedule(case: Case) -> Rounds | None:
    counts, blocks = Transfer(case.root, case.p, COUNT_BYTES * case.q), Transfer(case.root, case.p, _total(case))
    return schedule_of([[counts], without_empty([blocks]), (scatterv_linear, case.groups[1], process_numbers(case)[1])])


def scratch(case: Case, rank: int) -> int:
    return COUNT_BYTES * case.q + _total(case) if rank == case.p else 0


def closed_sent(case: Case, rank: int) -> int:
    if rank == case.root:
        return COUNT_BYTES * case.q + _total(case)
    return sum(scattered(case)[1:]) if rank == case.p else 0


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    hops = message(COUNT_BYTES * case.q, t_s, t_w) + message(_total(case), t_s, t_w)
    return hops + sequential_time(scattered(case)[1:], t_s, t_w)


def _total(case: Case) -> int:
    return sum(scattered(case))


@algorithm(schedule=schedule, scratch=scratch, closed_sent=closed_sent, closed_time=closed_time)
def scatterv_remote_send_local_scatter(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    counts: Sequence[int] | None,
    *,
    root: RootRole | int,
    tag: int = 0,
) -> None:
    """Copy the rank's block of the root's `sendbuf` to `recvbuf`; the root is in the other group."""
    check_root(inter, local, root)
    if root is RootRole.PROC_NULL:
        return
    _, q = group_sizes(inter, root)
    if isinstance(root, RootRole):
        whole = required(sendbuf, "the root of a scatterv")
        layout = Layout.of_ranks(counts, q)
        layout.check_size(whole)
        inter.Send(np.array([layout.size(rank) for rank in range(q)], np.int64), 0, tag)
        send(inter, layout.block(whole, 0, q), 0, tag)
        return
    own_block = required(recvbuf, "a rank that receives its block")
    all_blocks, sizes = None, None
    if local.Get_rank() == 0:
        table = spare_memory(np.empty(0, np.int64), q)
        inter.Recv(table, root, tag)
        sizes = [int(size) for size in table]
        all_blocks = spare_memory(own_block, sum(sizes))
        receive(inter, all_blocks, root, tag)
    scatterv_linear.run(local, all_blocks, own_block, sizes, root=0, tag=tag)
