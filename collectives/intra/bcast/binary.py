"""Broadcast by a pipelined binary tree: every rank forwards each segment to two ranks.

The message is cut into n segments of at most `segment_bytes`. Let v = rank - root (mod p). Rank v on level l =
floor(log2(v+1)) of the tree receives a segment, sends it to v + 2^l, then to v + 2^(l+1). It receives the next segment while
it sends to the second child (`patterns.binary_trees`).

    p = 4, n = 2    start   1st     2nd     3rd     4th         0 -> 1 and 2, 1 -> 3
    v = 0           01      01      01      01      01
    v = 1           ..      0.      0.      01      01
    v = 2           ..      ..      0.      0.      01
    v = 3           ..      ..      0.      0.      01

Rounds   2 (n-1) + d    Sent per rank   m bytes to each child    Scratch   none
Time     computed from the schedule; (2 (n-1) + d) (t_s + b t_w) for equal segments of b bytes if p > 2, where d is the
         largest number of steps to a rank: one to a first child, two to a second; about 3/2 log2 p to 2 log2 p
Fits     any p; segment_bytes > 0
Best     messages of medium length on many ranks: fewer steps than a chain; a rank sends everything twice
Source   Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster Computing 10 (2007),
         doi:10.1007/s10586-007-0012-0; the tree is that of Open MPI's coll/base
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import positive_segments_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round
from collectives.patterns.binary_trees.segments import down_schedule, send_segments
from collectives.patterns.binary_trees.shapes import by_levels
from collectives.patterns.segmented import SEGMENT_BYTES, segments_of
from collectives.tools.blocks import segments
from collectives.tools.protocol import Buffer, Comm


def schedule(case: Case) -> Iterator[Round]:
    pieces = segments_of(case)
    return down_schedule(case, by_levels, lambda v: pieces)


def closed_sent(case: Case, rank: int) -> int:
    return len(by_levels((rank - case.root) % case.p, case.p).children) * case.m


@algorithm(schedule=schedule, why_unsupported=positive_segments_only, closed_sent=closed_sent)
def bcast_binary(comm: Comm, buf: Buffer, *, root: int = 0, segment_bytes: int = SEGMENT_BYTES, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    pieces = segments(buf.size, buf.itemsize, segment_bytes)
    send_segments(comm, by_levels, root, lambda v: (buf, pieces), tag)
