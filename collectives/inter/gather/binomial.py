"""Gather between groups by a binomial tree of the root and the leaves: neighbours join their blocks on the way to the root.

As gather by a binomial tree on q + 1 ranks (`between.joined`), of which the root has no block: with v = 1 + the rank in its
group, a leaf receives the blocks of the subtrees of v + 1, v + 2, v + 4, ... below its lowest bit 2^k and sends the run
v .. v + 2^k - 1 to v - 2^k, where 0 is the root. The ranks beside the root (PROC_NULL) send nothing, receive nothing and
return at once.

    p = 4 leaves b_0 .. b_3, root a_1 (a_0 and a_2 have no part)
              start     1st       2nd       3rd
    a_1       ....      0...      012.      0123
    b_0       0...
    b_1       .1..      .12.
    b_2       ..2.
    b_3       ...3

Rounds   ceil(log2 (q+1))    Sent per rank   m bytes for each rank of its subtree    Scratch   its subtree's blocks
Time     ceil(log2 (q+1)) t_s + q m t_w; with q leaves
Fits     any p and q; blocks of equal size
Best     always, in this model: fewest rounds, and the root receives each block once
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (within one group)
"""

from __future__ import annotations

from collectives.between.groups import Part, Placed
from collectives.between.joined import Joined, joined_claims, numbers
from collectives.between.rooted import check_root, sides
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.intra.gather import binomial
from collectives.shapes.binomial import gather_up
from collectives.tools.blocks import Layout, required
from collectives.tools.protocol import Buffer, Comm, Intercomm


def gather_binomial(
    inter: Intercomm, local: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: Part | int, tag: int = 0
) -> None:
    """Leave the blocks of the other group's ranks in the root's `recvbuf`."""
    check_root(inter, local, root)
    if root is Part.PROC_NULL:
        return
    _, q = sides(inter, root)
    if isinstance(root, Part):
        layout = Layout.equal(required(recvbuf, "the root of a gather").size, q)
    else:
        layout = Layout.equal(required(sendbuf, "a rank that sends its block").size * q, q)
    # The root comes last, so that the blocks of the others are all that there is in its buffer.
    gather_up(Joined(inter, local, root), None if isinstance(root, Part) else sendbuf, recvbuf, layout, q, tag)


def _part(case: Case) -> Placed:
    return binomial.ALGORITHM, Case(case.q + 1, case.m_b, root=case.q, itemsize=case.itemsize), numbers(case)


ALGORITHM = Algorithm(
    operation="gather",
    name="binomial",
    kind="inter",
    run=gather_binomial,
    **joined_claims(_part),
)
