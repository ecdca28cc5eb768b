"""Broadcast between groups as in WMPI: the root sends to the other group's leader, which broadcasts in its group.

The root sends its message to rank 0 of the other group, and the other group broadcasts it by `bcast`. The other ranks
of the root's group pass PROC_NULL and return immediately.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle)
    a_1       x       x       x       x
    b_0       .       x       x       x
    b_1       .       .       .       x
    b_2       .       .       x       x
    b_3       .       .       .       x

Rounds   1 + bcast    Sent per rank   bcast; on the root + m    Scratch   bcast
Time     t_s + m t_w + bcast; if binomial, (1 + ceil(log2 q)) (t_s + m t_w) with q leaves
Fits     any p and q; cases that `bcast` supports
Best     short messages; one hop more than the broadcast of one group
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Transfer
from collectives.inter_patterns.groups import GroupPart, RootRole, process_numbers
from collectives.inter_patterns.rooted import check_root
from collectives.inter_patterns.rooted_claims import one_hop_claims
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.tools.blocks import required
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm


def _part(case: Case) -> GroupPart:
    leaves = Case(case.q, case.m, itemsize=case.itemsize)
    return bcast_wmpi.parameter(case, "bcast"), leaves, process_numbers(case)[1]


def _hop(case: Case) -> Transfer:
    return Transfer(case.root, case.p, case.m)


@algorithm(**one_hop_claims(_part, _hop, hop_first=True, keeps=False))
def bcast_wmpi(
    inter: Intercomm,
    local: Comm,
    buf: Buffer | None,
    *,
    root: RootRole | int,
    bcast: Algorithm = bcast_binomial,
    tag: int = 0,
) -> None:
    """Copy the root's `buf` to `buf` on every rank of the other group."""
    check_root(inter, local, root)
    if root is RootRole.PROC_NULL:
        return
    if isinstance(root, RootRole):
        send(inter, required(buf, "the root of a bcast"), 0, tag)
        return
    buf = required(buf, "a rank that receives a broadcast")
    if local.Get_rank() == 0:
        receive(inter, buf, root, tag)
    bcast.run(local, buf, root=0, tag=tag)
