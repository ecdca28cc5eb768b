"""Reduce by an in-order binary tree: subtrees are runs of ranks, so that operands are combined in rank order.

The last rank of a run of ranks receives the result of the ranks directly before it, then that of the lower half of the run,
and combines each on the left of its own (`patterns.binary_trees`). Segments follow each other as in the reduce by a binary
tree. The root of the tree is rank p-1, which sends the result to the root of the call.

    p = 4, n = 1    start   1st     2nd     3rd         0 -> 1, 2 -> 3, 1 -> 3
    rank 0          0       .       .       .
    rank 1          1       01      01      .
    rank 2          2       .       .       .
    rank 3          3       23      23      0123

Rounds   about 2 (n-1) + d    Sent per rank   m bytes    Scratch   m + a segment; leaves none
Time     computed from the schedule; about (2 (n-1) + d) (t_s + b (t_w + c)) for n segments of b bytes, and t_s + m t_w
         more if the root is not p-1; d is the largest number of steps to a rank
Fits     any p; any op, in rank order; segment_bytes > 0
Bits     depend on p
Best     noncommutative ops with messages of medium length on many ranks
Source   Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster Computing 10 (2007),
         doi:10.1007/s10586-007-0012-0; the tree is that of Open MPI's coll/base
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import positive_segments_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round
from collectives.patterns.binary_trees.segments import Upward, combine_segments, up_schedule, up_scratch, up_sent
from collectives.patterns.binary_trees.shapes import in_order
from collectives.patterns.segmented import SEGMENT_BYTES, segments_of
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    return up_schedule(case, _tree(case), segments_of(case))


def scratch(case: Case, rank: int) -> int:
    return up_scratch(case, rank, _tree(case), segments_of(case))


def closed_sent(case: Case, rank: int) -> int:
    return up_sent(case, rank, _tree(case))


def _tree(case: Case) -> Upward:
    return Upward(in_order, 0, case.p - 1)


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=positive_segments_only,
    closed_sent=closed_sent,
    closed_combined=lambda case: None,
    in_order=True,
)
def reduce_in_order_binary(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    op: Op,
    root: int = 0,
    segment_bytes: int = SEGMENT_BYTES,
    tag: int = 0,
) -> None:
    """Leave the result in the root's `recvbuf`; if the root's `sendbuf` is None, `recvbuf` holds its operand."""
    p = comm.Get_size()
    combine_segments(comm, sendbuf, recvbuf, op, Upward(in_order, 0, p - 1), root, segment_bytes, tag)
