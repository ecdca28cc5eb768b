"""Gather between groups by a local gather: the leaves gather to their leader, which sends all blocks to the root.

The leaf group gathers to its rank 0, its leader, by `gather`. The leader sends all blocks to the root in the other group
in one message. The other ranks of the root's group pass PROC_NULL and return immediately.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle)
    a_1       ....      ....      ....      0123
    b_0       0...      01..      0123      0123
    b_1       1         1         1         1
    b_2       2         23        23        23
    b_3       3         3         3         3

Rounds   1 + gather    Sent per rank   gather; on the leader + q m    Scratch   gather; on the leader + q m
Time     gather + t_s + q m t_w; if binomial, (1 + ceil(log2 q)) t_s + (2 q - 1) m t_w with q leaves
Fits     any p and q; blocks of equal size; cases that `gather` supports
Best     short blocks: few start-ups, but all blocks are sent twice
Source   MPICH, src/mpi/coll/gather/gather_inter_local_gather_remote_send.c, if all blocks have less than 2048 bytes;
         Open MPI, ompi/mca/coll/inter/coll_inter_gather.c
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Transfer
from collectives.inter_patterns.groups import GroupPart, RootRole, process_numbers
from collectives.inter_patterns.rooted import check_root, group_sizes
from collectives.inter_patterns.rooted_claims import one_hop_claims
from collectives.intra.gather.binomial import gather_binomial
from collectives.tools.blocks import required, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm


def _part(case: Case) -> GroupPart:
    leaves = Case(case.q, case.m_b, itemsize=case.itemsize)
    return gather_local_gather_remote_send.parameter(case, "gather"), leaves, process_numbers(case)[1]


def _hop(case: Case) -> Transfer:
    return Transfer(case.p, case.root, case.q * case.m_b)


@algorithm(**one_hop_claims(_part, _hop, hop_first=False))
def gather_local_gather_remote_send(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    root: RootRole | int,
    gather: Algorithm = gather_binomial,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to the root's `recvbuf`."""
    check_root(inter, local, root)
    if root is RootRole.PROC_NULL:
        return
    _p, q = group_sizes(inter, root)
    if isinstance(root, RootRole):
        receive(inter, required(recvbuf, "the root of a gather"), 0, tag)
        return
    own = required(sendbuf, "a rank that sends its block")
    whole = spare_memory(own, own.size * q) if local.Get_rank() == 0 else None
    gather.run(local, own, whole, root=0, tag=tag)
    if whole is not None:
        send(inter, whole, root, tag)
