"""Scatter between groups by a binomial tree of the root and the leaves: the blocks of a subtree travel together.

The algorithm is the gather by such a tree in reverse. The leaves are the ranks of the other group. The root sends each
of its children the blocks of the child's whole subtree, the largest subtree first. Each child does the same with its
children. The other ranks of the root's group pass PROC_NULL and return immediately.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle)
              start     1st       2nd       3rd
    a_1       0123      012.      0...      ....
    b_0       ....      ....      ....      0...
    b_1       ....      ....      .12.      .1..
    b_2       ....      ....      ....      ..2.
    b_3       ....      ...3      ...3      ...3

Rounds   ceil(log2 (q+1))    Sent per rank   its subtree's blocks except its own    Scratch   its subtree's blocks
Time     ceil(log2 (q+1)) t_s + q m t_w
Fits     any p and q; blocks of equal size
Best     all cases, in this model: fewest rounds, and the root sends each block once
Source   Johnsson, Ho, Optimum broadcasting and personalized communication in hypercubes, IEEE Transactions on
         Computers 38 (1989), doi:10.1109/12.29465 (within one group)
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import GroupPart, RootRole
from collectives.inter_patterns.joined import Joined, joined_claims, process_numbers
from collectives.inter_patterns.rooted import check_root, group_sizes
from collectives.intra.scatter.binomial import scatter_binomial as scatter_binomial_of_one_group
from collectives.patterns.binomial import scatter_down
from collectives.tools.blocks import Layout, required
from collectives.tools.protocol import Buffer, Comm, Intercomm


def _part(case: Case) -> GroupPart:
    return (
        scatter_binomial_of_one_group,
        Case(case.q + 1, case.m, root=case.q, itemsize=case.itemsize),
        process_numbers(case),
    )


@algorithm(**joined_claims(_part))
def scatter_binomial(
    inter: Intercomm, local: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: RootRole | int, tag: int = 0
) -> None:
    """Copy the rank's block of the root's `sendbuf`, one block per rank of the other group, to `recvbuf`."""
    check_root(inter, local, root)
    if root is RootRole.PROC_NULL:
        return
    _, q = group_sizes(inter, root)
    if isinstance(root, RootRole):
        layout = Layout.equal(required(sendbuf, "the root of a scatter").size, q)
    else:
        layout = Layout.equal(required(recvbuf, "a rank that receives its block").size * q, q)
    scatter_down(Joined(inter, local, root), sendbuf, None if isinstance(root, RootRole) else recvbuf, layout, q, tag)
