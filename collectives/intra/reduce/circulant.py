"""Reduce on a circulant graph: n segments in n-1+ceil(log2 p) rounds, which is optimal.

The broadcast on a circulant graph in reverse. Ranks are counted from the root, v = rank - root (mod p), and the message is
cut into n segments. A rank sends the segments that it would receive in the broadcast, round by round from the last to the
first, to the rank from which it would receive them, and combines the segments that it receives with its own
(`patterns.reversed_circulant`).

    p = 4, n = 2   start    1st      2nd      3rd         (number of operands in each segment)
    v = 0          11       12       14       44
    v = 1          11       .2       ..       ..
    v = 2          11       1.       3.       ..
    v = 3          11       2.       ..       ..

Rounds   n-1+ceil(log2 p)    Sent per rank   m bytes, the root none    Scratch   m + a segment; the root a segment
Time     (n-1+ceil(log2 p)) (t_s + m/n t_w); if n does not divide the message, or combining costs time, the time is
         computed from the schedule
Fits     any p; commutative ops; segment_bytes > 0
Bits     depend on p, root
Best     commutative ops, in the Hockney model with a suitable segment size: no reduce of n segments has fewer rounds
Source   Träff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast, Reduction
         and All-Reduction, 2024, arXiv:2407.18004, doi:10.1145/3735139
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import all_of, commutative_only, positive_segments_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds, Transfer, message
from collectives.patterns.reductions import operand
from collectives.patterns.reversed_circulant import combine_segments, messages
from collectives.patterns.segmented import SEGMENT_BYTES, segments_of
from collectives.tools.blocks import copy_of, load, required, segments
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    p, pieces = case.p, segments_of(case)
    if not case.m or p == 1:
        return
    for sent in messages(p, pieces.p):
        sizes = [(v, above, pieces.size(k) * case.itemsize, pieces.start(k) * case.itemsize) for v, above, k in sent]
        yield [Transfer((case.root + v) % p, (case.root + above) % p, n, n, start) for v, above, n, start in sizes]


def scratch(case: Case, rank: int) -> int:
    if case.p == 1:
        return 0
    return segments_of(case).size(0) * case.itemsize + (0 if rank == case.root else case.m)


def closed_rounds(case: Case) -> int:
    return segments_of(case).p - 1 + ceil_log2(case.p) if case.m and case.p > 1 else 0


def closed_sent(case: Case, rank: int) -> int:
    return 0 if rank == case.root else case.m


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    n = segments_of(case).p
    return closed_rounds(case) * message(case.m // n, t_s, t_w) if case.elements % n == 0 else None


def closed_combined(case: Case) -> None:
    return None


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=all_of(commutative_only, positive_segments_only),
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
    closed_combined=closed_combined,
)
def reduce_circulant(
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
    p, rank = comm.Get_size(), comm.Get_rank()
    own = operand(sendbuf, recvbuf, rank, root)
    if rank == root:
        held = required(recvbuf, "the root of a reduce")
        load(held, sendbuf)
    if p == 1:
        return
    if rank != root:
        held = copy_of(own)
    pieces = segments(held.size, held.itemsize, segment_bytes)
    combine_segments(comm, held, pieces, root, op, tag)
