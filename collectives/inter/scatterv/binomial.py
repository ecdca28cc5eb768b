"""Scatterv between groups by a binomial tree of the root and the leaves: blocks travel together until they part.

As scatter by a binomial tree, with blocks of their own sizes. Only the root needs to know the counts: before the blocks,
every leaf tells its parent how much its subtree gets (`shapes.subtree_sizes`). A subtree without data is sent no blocks.

    p = 4 leaves b_0 .. b_3, root a_1, counts 2, 0, 1, 3: b_2 tells b_1 that it gets 1, and
              start      1st        2nd        3rd
    a_1       002333     002...     00....     ......
    b_0                                        00
    b_1                             2          sends it to b_2
    b_3                  333

Rounds   at most 2 ceil(log2 (q+1)) - 1    Sent per rank   the blocks below it, 8 bytes    Scratch   its subtree's blocks
Time     by the schedule's recurrence; at most (2 L - 1) t_s + (8 (L - 1) + q m) t_w for equal blocks of m bytes, where L is
         ceil(log2 (q+1))
Fits     any p and q
Best     short blocks; a long block far from the root travels log2 q times
Source   Johnsson, Ho, Optimum broadcasting and personalized communication in hypercubes, IEEE Transactions on
         Computers 38 (1989), doi:10.1109/12.29465 (equal blocks)
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.groups import Part
from collectives.between.joined import Joined
from collectives.between.rooted import check_root
from collectives.between.sized_trees import sized_claims
from collectives.catalogue.algorithm import Algorithm
from collectives.intra.scatterv import binomial
from collectives.shapes.binomial import scatter_down
from collectives.shapes.subtree_sizes import scatter_own
from collectives.tools.blocks import Layout, required
from collectives.tools.protocol import Buffer, Comm, Intercomm


def scatterv_binomial(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    counts: Sequence[int] | None,
    *,
    root: Part | int,
    tag: int = 0,
) -> None:
    """Leave in `recvbuf` the rank's block of the root's `sendbuf`."""
    check_root(inter, local, root)
    if root is Part.PROC_NULL:
        return
    comm, q = Joined(inter, local, root), inter.Get_remote_size()
    if isinstance(root, Part):
        scatter_down(comm, sendbuf, None, Layout.of_ranks(counts, q), q, tag)
    else:
        scatter_own(comm, required(recvbuf, "a rank that receives its block"), tag)


ALGORITHM = Algorithm(
    operation="scatterv",
    name="binomial",
    kind="inter",
    run=scatterv_binomial,
    **sized_claims(binomial.ALGORITHM),
)
