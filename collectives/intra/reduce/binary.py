"""Reduce by a pipelined binary tree: every rank combines segments of two ranks with its own and sends them to its parent.

The broadcast by a binary tree in reverse: with v = rank - root (mod p), rank v on level l = floor(log2(v+1)) receives a
segment from v + 2^l, then from v + 2^(l+1), and sends the combined segment to its parent while it receives the next one
(`patterns.binary_trees`).

    p = 4, n = 1    start   1st     2nd     3rd         3 -> 1, 1 -> 0, 2 -> 0
    v = 0           0       0       013     0123
    v = 1           1       13      .       .
    v = 2           2       2       2       .
    v = 3           3       .       .       .

Rounds   about 2 (n-1) + d    Sent per rank   m bytes, the root none    Scratch   m + a segment; leaves none
Time     computed from the schedule; about (2 (n-1) + d) (t_s + b (t_w + c)) for n segments of b bytes; d is the number
         of steps of the broadcast by a binary tree
Fits     any p; commutative ops; segment_bytes > 0
Bits     depend on root
Best     messages of medium length on many ranks: fewer steps than a chain; a rank receives everything twice
Source   Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster Computing 10 (2007),
         doi:10.1007/s10586-007-0012-0; the tree is that of Open MPI's coll/base
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import commutative_only, positive_segments_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round
from collectives.patterns.binary_trees.segments import Upward, combine_segments, up_schedule, up_scratch, up_sent
from collectives.patterns.binary_trees.shapes import by_levels
from collectives.patterns.segmented import SEGMENT_BYTES, segments_of
from collectives.tools.protocol import Buffer, Comm, Op


def why_unsupported(case: Case) -> str | None:
    return positive_segments_only(case) or commutative_only(case)


def schedule(case: Case) -> Iterator[Round]:
    return up_schedule(case, _tree(case), segments_of(case))


def scratch(case: Case, rank: int) -> int:
    return up_scratch(case, rank, _tree(case), segments_of(case))


def closed_sent(case: Case, rank: int) -> int:
    return up_sent(case, rank, _tree(case))


def _tree(case: Case) -> Upward:
    return Upward(by_levels, case.root, case.root)


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=why_unsupported,
    closed_sent=closed_sent,
    closed_combined=lambda case: None,
)
def reduce_binary(
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
    case = Case(comm.Get_size(), commutative=op.Is_commutative(), parameters={"segment_bytes": segment_bytes})
    reduce_binary.check(case)
    combine_segments(comm, sendbuf, recvbuf, op, Upward(by_levels, root, root), root, segment_bytes, tag)
