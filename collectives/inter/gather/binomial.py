"""Gather between groups by a binomial tree of the root and the leaves: blocks are joined on the way to the root.

The algorithm is that of gather by a binomial tree on q + 1 ranks (`inter_patterns.joined`), where the root has no
block: with v = 1 + the rank in its group, a leaf receives the blocks of the subtrees of v + 1, v + 2, v + 4, ... below
its lowest bit 2^k and sends the run v .. v + 2^k - 1 to v - 2^k, where 0 is the root. The other ranks of the root's
group pass PROC_NULL and return immediately.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle)
              start     1st       2nd       3rd
    a_1       ....      0...      012.      0123
    b_0       0...
    b_1       .1..      .12.
    b_2       ..2.
    b_3       ...3

Rounds   ceil(log2 (q+1))    Sent per rank   m bytes for each rank of its subtree    Scratch   its subtree's blocks
Time     ceil(log2 (q+1)) t_s + q m t_w; with q leaves
Fits     any p and q; blocks of equal size
Best     all cases, in this model: fewest rounds, and the root receives each block once
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (within one group)
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import GroupPart, RootRole
from collectives.inter_patterns.joined import Joined, joined_claims, process_numbers
from collectives.inter_patterns.rooted import check_root, group_sizes
from collectives.intra.gather.binomial import gather_binomial as gather_binomial_of_one_group
from collectives.patterns.binomial import gather_up
from collectives.tools.blocks import Layout, required
from collectives.tools.protocol import Buffer, Comm, Intercomm


def _part(case: Case) -> GroupPart:
    return (
        gather_binomial_of_one_group,
        Case(case.q + 1, case.m_b, root=case.q, itemsize=case.itemsize),
        process_numbers(case),
    )


@algorithm(**joined_claims(_part))
def gather_binomial(
    inter: Intercomm, local: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: RootRole | int, tag: int = 0
) -> None:
    """Gather the blocks of the other group's ranks to the root's `recvbuf`."""
    check_root(inter, local, root)
    if root is RootRole.PROC_NULL:
        return
    _, q = group_sizes(inter, root)
    if isinstance(root, RootRole):
        layout = Layout.equal(required(recvbuf, "the root of a gather").size, q)
    else:
        layout = Layout.equal(required(sendbuf, "a rank that sends its block").size * q, q)
    # The root is the last rank, so its buffer contains exactly the blocks of the others.
    gather_up(Joined(inter, local, root), None if isinstance(root, RootRole) else sendbuf, recvbuf, layout, q, tag)
