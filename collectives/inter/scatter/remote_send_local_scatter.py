"""Scatter between groups by a local scatter: the root sends all blocks to the other group's leader, which scatters them.

The leader is rank 0 of the other group. The root sends it all blocks in one message, and that group scatters them by the
algorithm `scatter`. The other ranks of the root's group pass PROC_NULL and return immediately.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle)
              start     root      binomial scatter
    a_1       0123      ....      ....      ....
    b_0       ....      0123      01..      0...
    b_1       ....      ....      ....      .1..
    b_2       ....      ....      ..23      ..2.
    b_3       ....      ....      ....      ...3

Rounds   1 + those of `scatter`    Sent per rank   the root: q m bytes; leaves: as in `scatter`
         Scratch   as in `scatter`; the leader: q m bytes more
Time     t_s + q m t_w + the time of `scatter`; if that is binomial, (1 + ceil(log2 q)) t_s + (2 q - 1) m t_w
Fits     any p and q; blocks of equal size; cases that `scatter` supports
Best     for comparison; never faster than binomial in this model. Faster than wmpi for short blocks: fewer start-ups,
         but the blocks are sent twice
Source   MPICH, src/mpi/coll/scatter/scatter_inter_remote_send_local_scatter.c, if all blocks together have fewer than
         2048 bytes; Open MPI, ompi/mca/coll/inter/coll_inter_scatter.c
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Transfer
from collectives.inter_patterns.groups import GroupPart, RootRole, process_numbers
from collectives.inter_patterns.rooted import check_root, group_sizes
from collectives.inter_patterns.rooted_claims import one_hop_claims
from collectives.intra.scatter.binomial import scatter_binomial
from collectives.tools.blocks import required, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm


def _part(case: Case) -> GroupPart:
    leaves = Case(case.q, case.m, itemsize=case.itemsize)
    return scatter_remote_send_local_scatter.parameter(case, "scatter"), leaves, process_numbers(case)[1]


def _hop(case: Case) -> Transfer:
    return Transfer(case.root, case.p, case.q * case.m)


@algorithm(**one_hop_claims(_part, _hop, hop_first=True))
def scatter_remote_send_local_scatter(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    root: RootRole | int,
    scatter: Algorithm = scatter_binomial,
    tag: int = 0,
) -> None:
    """Copy the rank's block of the root's `sendbuf` to `recvbuf`; the root is in the other group."""
    check_root(inter, local, root)
    if root is RootRole.PROC_NULL:
        return
    _p, q = group_sizes(inter, root)
    if isinstance(root, RootRole):
        send(inter, required(sendbuf, "the root of a scatter"), 0, tag)
        return
    own_block = required(recvbuf, "a rank that receives its block")
    whole = None
    if local.Get_rank() == 0:
        whole = spare_memory(own_block, own_block.size * q)
        receive(inter, whole, root, tag)
    scatter.run(local, whole, own_block, root=0, tag=tag)
