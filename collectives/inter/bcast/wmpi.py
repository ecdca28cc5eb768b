"""Broadcast between groups as in WMPI: the root sends to the other group's leader, which broadcasts in its group.

The root sends its message to rank 0 of the other group, and the other group broadcasts it by `bcast`. The ranks beside
the root (PROC_NULL) send nothing, receive nothing and return at once.

    p = 4 leaves b_0 .. b_3, root a_1 (a_0 and a_2 have no part)
    a_1       x       x       x       x
    b_0       .       x       x       x
    b_1       .       .       .       x
    b_2       .       .       x       x
    b_3       .       .       .       x

Rounds   1 + bcast's    Sent per rank   bcast's, the root m    Scratch   bcast's
Time     t_s + m t_w + bcast's; binomial (1 + ceil(log2 q)) (t_s + m t_w) with q leaves
Fits     any p and q; what `bcast` fits
Best     short messages; one hop more than the broadcast of one group
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collectives.between.groups import Part, Placed, numbers
from collectives.between.rooted import check_root, sides
from collectives.between.rooted_claims import one_hop_claims
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Transfer
from collectives.intra.bcast import binomial
from collectives.tools.blocks import required
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm

BCAST = binomial.ALGORITHM


def bcast_wmpi(
    inter: Intercomm, local: Comm, buf: Buffer | None, *, root: Part | int, bcast: Algorithm = BCAST, tag: int = 0
) -> None:
    """Leave the root's `buf` in the `buf` of everybody in the other group."""
    check_root(inter, local, root)
    if root is Part.PROC_NULL:
        return
    p, q = sides(inter, root)
    ALGORITHM.check(Case(p, q=q, parameters={"bcast": bcast}))
    if isinstance(root, Part):
        send(inter, required(buf, "the root of a bcast"), 0, tag)
        return
    buf = required(buf, "a rank that receives a broadcast")
    if local.Get_rank() == 0:
        receive(inter, buf, root, tag)
    bcast.run(local, buf, root=0, tag=tag)


def _part(case: Case) -> Placed:
    leaves = Case(case.q, case.m, itemsize=case.itemsize)
    return ALGORITHM.parameter(case, "bcast"), leaves, numbers(case)[1]


def _hop(case: Case) -> Transfer:
    return Transfer(case.root, case.p, case.m)


ALGORITHM = Algorithm(
    operation="bcast",
    name="wmpi",
    kind="inter",
    run=bcast_wmpi,
    parameters={"bcast": BCAST},
    **one_hop_claims(_part, _hop, hop_first=True),
)
