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
from collectives.patterns.reductions import combine_in_order, operand
from collectives.patterns.reversed_circulant import partners, sends
from collectives.patterns.segmented import SEGMENT_BYTES, segments_of
from collectives.tools.blocks import copy_of, load, required, segments, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    p, pieces = case.p, segments_of(case)
    if not case.m or p == 1:
        return
    outgoing = [sends(v, p, pieces.p) for v in range(1, p)]
    for i, skip in enumerate(partners(p, pieces.p)):
        sent = [(v, segment) for v, segment in enumerate((plan[i] for plan in outgoing), 1) if segment is not None]
        sizes = [(case.root + v, pieces.size(each) * case.itemsize, pieces.start(each) * case.itemsize) for v, each in sent]
        yield [Transfer(rank % p, (rank - skip) % p, nbytes, nbytes, start) for rank, nbytes, start in sizes]


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
    spare = spare_memory(held, pieces.size(0))
    v = (rank - root) % p
    plans: dict[int, list[int | None]] = {}
    for i, skip in enumerate(partners(p, pieces.p)):
        below = (v + skip) % p
        for u in (v, below):
            if u and u not in plans:
                plans[u] = sends(u, p, pieces.p)
        sent, received = (plans[u][i] if u else None for u in (v, below))
        outgoing = None if sent is None else pieces.block(held, sent)
        incoming = None if received is None else spare[0 : pieces.size(received)]
        source = (rank + skip) % p
        exchange(comm, outgoing, (rank - skip) % p, incoming, source, tag)
        if received is not None and incoming is not None:
            combine_in_order(op, pieces.block(held, received), incoming, other_is_left=source < rank)
