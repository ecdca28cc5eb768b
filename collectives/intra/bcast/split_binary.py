"""Broadcast by a split binary tree: each half of the message is sent down one subtree, then pairs exchange halves.

With v = rank - root (mod p), the tree is that of the broadcast by a binary tree: v = 1, 3, 5, ... are below the root's first
child, v = 2, 4, 6, ... below its second. Segments of the first half go down the first subtree, those of the second half down
the second, so each link carries half of the message. At the end v = 1 and 2, 3 and 4, ... exchange their halves; if p is
even, v = p-1 has no partner and receives the second half from the root.

    p = 4, one segment per half: A and B    start   1st     2nd     3rd             0 -> 1: A, 0 -> 2: B, 1 -> 3: A
    v = 0                                   AB      AB      AB      AB
    v = 1                                   ..      A.      A.      AB              then 1 and 2 exchange,
    v = 2                                   ..      ..      .B      AB              and 0 -> 3: B
    v = 3                                   ..      ..      A.      AB

Rounds   2 (n-1) + d + 1    Sent per rank   m/2 to each child and the partner    Scratch   none
Time     computed from the schedule; about (2 (n-1) + d) (t_s + b t_w) + t_s + m/2 t_w for n segments of b bytes per
         half; d is the number of steps to the last rank of the binary tree
Fits     any p; segment_bytes > 0
Best     long messages on many ranks, if ranks cannot send to two trees at once: about 3/2 m t_w with short segments
Source   Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster Computing 10 (2007),
         doi:10.1007/s10586-007-0012-0; the tree and the pairs are those of Open MPI's coll/base
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import positive_segments_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.patterns.binary_trees.segments import down_schedule, send_segments
from collectives.patterns.binary_trees.shapes import by_levels
from collectives.patterns.segmented import SEGMENT_BYTES
from collectives.tools.blocks import Layout, segments
from collectives.tools.messages import exchange, receive, send
from collectives.tools.numbers import ceil_div
from collectives.tools.protocol import Buffer, Comm


def _partner(v: int) -> int:
    """The partner of v > 0, which has the other half: 1 and 2, 3 and 4, ..."""
    return v + 1 if v % 2 else v - 1


def _halves(case: Case) -> tuple[Layout, Layout]:
    size, first = bcast_split_binary.parameter(case, "segment_bytes"), ceil_div(case.elements, 2)
    return segments(first, case.itemsize, size), segments(case.elements - first, case.itemsize, size)


def _bytes(case: Case) -> tuple[int, int]:
    first = ceil_div(case.elements, 2) * case.itemsize
    return first, case.m - first


def schedule(case: Case) -> Iterator[Round]:
    p, root, sizes, halves = case.p, case.root, _bytes(case), _halves(case)
    yield from down_schedule(case, by_levels, lambda v: halves[1 - v % 2])
    pairs = [(v, _partner(v), sizes[1 - v % 2]) for v in range(1, p) if _partner(v) < p]
    pairs += [(0, p - 1, sizes[1])] if p % 2 == 0 else []
    yield without_empty(Transfer((root + v) % p, (root + partner) % p, nbytes) for v, partner, nbytes in pairs)


def closed_sent(case: Case, rank: int) -> int:
    v, sizes = (rank - case.root) % case.p, _bytes(case)
    down = sum(sizes[1 - child % 2] for child in by_levels(v, case.p).children)
    if v == 0:
        return down + (sizes[1] if case.p % 2 == 0 else 0)
    return down + (sizes[1 - v % 2] if _partner(v) < case.p else 0)


@algorithm(schedule=schedule, why_unsupported=positive_segments_only, closed_sent=closed_sent)
def bcast_split_binary(comm: Comm, buf: Buffer, *, root: int = 0, segment_bytes: int = SEGMENT_BYTES, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    p = comm.Get_size()
    middle, v = ceil_div(buf.size, 2), (comm.Get_rank() - root) % p
    halves = buf[0:middle], buf[middle : buf.size]
    pieces = [segments(half.size, half.itemsize, segment_bytes) for half in halves]
    send_segments(comm, by_levels, root, lambda v: (halves[1 - v % 2], pieces[1 - v % 2]), tag)
    if v > 0 and (partner := _partner(v)) < p:
        exchange(comm, halves[1 - v % 2], (root + partner) % p, halves[v % 2], (root + partner) % p, tag)
    elif v > 0:
        receive(comm, halves[1], root, tag)
    elif p % 2 == 0:
        send(comm, halves[1], (root + p - 1) % p, tag)
