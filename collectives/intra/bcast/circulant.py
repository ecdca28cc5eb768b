"""Broadcast on a circulant graph: n segments in n-1+ceil(log2 p) rounds, which is optimal.

The message is cut into n segments. Ranks are counted from the root, r = rank - root (mod p), and q = ceil(log2 p). In round
i every rank sends to r + s_k and receives from r - s_k, where k = i mod q and the skips are s_q = p, s_k = ceil(s_(k+1) /
2). Each rank computes the segment to send without communication (`patterns.circulant`): over q rounds it receives q
different segments and sends only segments that it has. Rounds are numbered so that the last round ends a group of q; a
segment number beyond the last one stands for the last segment, and no rank sends to the root.

    p = 4, n = 2   start    1st      2nd      3rd
    r = 0          01       01       01       01
    r = 1          ..       ..       .1       01
    r = 2          ..       0.       0.       01
    r = 3          ..       ..       0.       01

Rounds   n-1+ceil(log2 p)    Sent per rank   given by the schedule    Scratch   none
Time     (n-1+ceil(log2 p)) (t_s + m/n t_w); if n does not divide the message, the time is computed from the schedule
Fits     any p; segment_bytes > 0
Best     all cases, in this model, given the right segment size: no broadcast has fewer rounds for its n
Source   Träff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast, Reduction
         and All-Reduction, 2024, arXiv:2407.18004, doi:10.1145/3735139
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import positive_segments_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds, Transfer, message
from collectives.patterns.circulant import receive_blocks, rounds, send_blocks, skips
from collectives.patterns.segmented import SEGMENT_BYTES as SEGMENT_BYTES  # imported by inter.allgather
from collectives.patterns.segmented import segments_of
from collectives.tools.blocks import Layout, segments
from collectives.tools.messages import exchange
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm


def schedule(case: Case) -> Iterator[Round]:
    p, pieces = case.p, segments_of(case)
    steps = skips(p)
    for k, shift in rounds(pieces.p, p) if case.m and p > 1 else ():
        incoming = [(case.root + r, receive_blocks(r, p)[k] + shift) for r in range(1, p)]
        yield [
            Transfer((rank - steps[k]) % p, rank % p, pieces.size(min(block, pieces.p - 1)) * case.itemsize)
            for rank, block in incoming
            if block >= 0
        ]


def closed_rounds(case: Case) -> int:
    return segments_of(case).p - 1 + ceil_log2(case.p) if case.m and case.p > 1 else 0


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    n = segments_of(case).p
    return closed_rounds(case) * message(case.m // n, t_s, t_w) if case.elements % n == 0 else None


def _piece(pieces: Layout, buf: Buffer, block: int) -> Buffer | None:
    return pieces.block(buf, min(block, pieces.p - 1)) if block >= 0 else None


@algorithm(schedule=schedule, why_unsupported=positive_segments_only, closed_rounds=closed_rounds, closed_time=closed_time)
def bcast_circulant(comm: Comm, buf: Buffer, *, root: int = 0, segment_bytes: int = SEGMENT_BYTES, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if p == 1:
        return
    pieces = segments(buf.size, buf.itemsize, segment_bytes)
    steps, r = skips(p), (rank - root) % p
    sends, receives = send_blocks(r, p), receive_blocks(r, p) if r else ()
    for k, shift in rounds(pieces.p, p):
        skip = steps[k]
        to_root = (r + skip) % p == 0
        outgoing = None if to_root else _piece(pieces, buf, sends[k] + shift)
        incoming = None if r == 0 else _piece(pieces, buf, receives[k] + shift)
        exchange(comm, outgoing, (rank + skip) % p, incoming, (rank - skip) % p, tag)
