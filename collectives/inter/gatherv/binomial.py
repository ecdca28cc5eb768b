"""Gatherv between groups by a binomial tree of the root and the leaves: blocks are joined on the way to the root.

The algorithm is that of gather by a binomial tree, for blocks of different sizes. Only the root needs to know the
counts: before the blocks, every leaf sends its parent the size of its subtree's data (`patterns.subtree_sizes`). A
subtree without data sends no blocks.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1, counts 2, 0, 1, 3: b_2 first sends its size 1 to b_1
              start      1st        2nd        3rd
    a_1       ......     00....     002...     002333
    b_1                  2

Rounds   at most 2 ceil(log2 (q+1)) - 1    Sent per rank   its subtree's blocks, 8 bytes
         Scratch   its subtree's blocks
Time     computed from the schedule; at most (2 L - 1) t_s + (8 (L - 1) + q m) t_w for equal blocks of m bytes, where L
         is ceil(log2 (q+1))
Fits     any p and q
Best     short blocks; a long block far from the root travels log2 q times
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (equal blocks)
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import RootRole
from collectives.inter_patterns.joined import Joined
from collectives.inter_patterns.rooted import check_root
from collectives.inter_patterns.sized_trees import sized_claims
from collectives.intra.gatherv.binomial import gatherv_binomial as gatherv_binomial_of_one_group
from collectives.patterns.binomial import gather_up
from collectives.patterns.subtree_sizes import gather_at_leaf
from collectives.tools.blocks import Layout, required
from collectives.tools.protocol import Buffer, Comm, Intercomm


@algorithm(**sized_claims(gatherv_binomial_of_one_group))
def gatherv_binomial(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    counts: Sequence[int] | None,
    *,
    root: RootRole | int,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to the root's `recvbuf`."""
    check_root(inter, local, root)
    if root is RootRole.PROC_NULL:
        return
    comm, q = Joined(inter, local, root), inter.Get_remote_size()
    if isinstance(root, RootRole):
        gather_up(comm, None, recvbuf, Layout.of_ranks(counts, q), q, tag)
    else:
        gather_at_leaf(comm, required(sendbuf, "a rank that sends its block"), tag)
