"""Gatherv between groups by a binomial tree of the root and the leaves: neighbours join their blocks on the way to the root.

As gather by a binomial tree, with blocks of their own sizes. Only the root needs to know the counts: before the blocks,
every leaf tells its parent how much its subtree has (`shapes.subtree_sizes`). A subtree without data sends no blocks.

    p = 4 leaves b_0 .. b_3, root a_1, counts 2, 0, 1, 3: b_2 tells b_1 that it has 1, and
              start      1st        2nd        3rd
    a_1       ......     00....     002...     002333
    b_1                  2

Rounds   at most 2 ceil(log2 (q+1)) - 1    Sent per rank   its subtree's blocks, 8 bytes    Scratch   its subtree's blocks
Time     by the schedule's recurrence; at most (2 L - 1) t_s + (8 (L - 1) + q m) t_w for equal blocks of m bytes, where L is
         ceil(log2 (q+1))
Fits     any p and q
Best     short blocks; a long block far from the root travels log2 q times
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (equal blocks)
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.groups import Part
from collectives.between.joined import Joined
from collectives.between.rooted import check_root
from collectives.between.sized_trees import sized_claims
from collectives.catalogue.algorithm import Algorithm
from collectives.intra.gatherv import binomial
from collectives.shapes.binomial import gather_up
from collectives.shapes.subtree_sizes import gather_own
from collectives.tools.blocks import Layout, required
from collectives.tools.protocol import Buffer, Comm, Intercomm


def gatherv_binomial(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    counts: Sequence[int] | None,
    *,
    root: Part | int,
    tag: int = 0,
) -> None:
    """Leave the blocks of the other group's ranks in the root's `recvbuf`."""
    check_root(inter, local, root)
    if root is Part.PROC_NULL:
        return
    comm, q = Joined(inter, local, root), inter.Get_remote_size()
    if isinstance(root, Part):
        gather_up(comm, None, recvbuf, Layout.of_ranks(counts, q), q, tag)
    else:
        gather_own(comm, required(sendbuf, "a rank that sends its block"), tag)


ALGORITHM = Algorithm(
    operation="gatherv",
    name="binomial",
    kind="inter",
    run=gatherv_binomial,
    **sized_claims(binomial.ALGORITHM),
)
