"""Scatter between groups by a binomial tree of the root and the leaves: blocks travel together until they part.

The gather by a binomial tree of the root and the leaves, backwards: the root sends each of its subtrees the blocks of all
its ranks, the largest first, and these go on like the root. The ranks beside the root (PROC_NULL) send nothing, receive
nothing and return at once.

    p = 4 leaves b_0 .. b_3, root a_1 (a_0 and a_2 have no part)
              start     1st       2nd       3rd
    a_1       0123      012.      0...      ....
    b_0       ....      ....      ....      0...
    b_1       ....      ....      .12.      .1..
    b_2       ....      ....      ....      ..2.
    b_3       ....      ...3      ...3      ...3

Rounds   ceil(log2 (q+1))    Sent per rank   the blocks below it    Scratch   its subtree's blocks
Time     ceil(log2 (q+1)) t_s + q m t_w; with q leaves
Fits     any p and q; blocks of equal size
Best     always, in this model: fewest rounds, and the root sends each block once
Source   Johnsson, Ho, Optimum broadcasting and personalized communication in hypercubes, IEEE Transactions on
         Computers 38 (1989), doi:10.1109/12.29465 (within one group)
"""

from __future__ import annotations

from collectives.between.groups import Part, Placed
from collectives.between.joined import Joined, joined_claims, numbers
from collectives.between.rooted import check_root, sides
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.intra.scatter import binomial
from collectives.shapes.binomial import scatter_down
from collectives.tools.blocks import Layout, required
from collectives.tools.protocol import Buffer, Comm, Intercomm


def scatter_binomial(
    inter: Intercomm, local: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: Part | int, tag: int = 0
) -> None:
    """Leave in `recvbuf` the rank's block of the root's `sendbuf`, which has one for each rank of the other group."""
    check_root(inter, local, root)
    if root is Part.PROC_NULL:
        return
    _, q = sides(inter, root)
    if isinstance(root, Part):
        layout = Layout.equal(required(sendbuf, "the root of a scatter").size, q)
    else:
        layout = Layout.equal(required(recvbuf, "a rank that receives its block").size * q, q)
    scatter_down(Joined(inter, local, root), sendbuf, None if isinstance(root, Part) else recvbuf, layout, q, tag)


def _part(case: Case) -> Placed:
    return binomial.ALGORITHM, Case(case.q + 1, case.m, root=case.q, itemsize=case.itemsize), numbers(case)


ALGORITHM = Algorithm(
    operation="scatter",
    name="binomial",
    kind="inter",
    run=scatter_binomial,
    **joined_claims(_part),
)
