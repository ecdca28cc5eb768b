"""Broadcast by a pipelined chain: the message walks down the ranks, cut into segments that follow each other.

The message is cut into n segments of at most `segment_bytes`. With v = rank - root (mod p), rank v receives segment k
from v-1 while it sends segment k-1 to v+1.

    p = 4, n = 3   start    1st      2nd      3rd      4th      5th
    v = 0          012      012      012      012      012      012
    v = 1          ...      0..      01.      012      012      012
    v = 2          ...      ...      0..      01.      012      012
    v = 3          ...      ...      ...      0..      01.      012

Rounds   n+p-2    Sent per rank   m bytes, the last rank nothing    Scratch   none
Time     n t_s + m t_w + (p-2) (t_s + b t_w); b is the longest segment: (n+p-2) (t_s + m/n t_w) for equal ones
Fits     any p; segment_bytes > 0
Best     long messages on few ranks: about m t_w + (p-2) b t_w, near the lower bound m t_w once n is well above p
Source   folklore; analysed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.algorithm import Algorithm, Case, positive_segments_only
from collectives.blocks import Layout, segments
from collectives.messages import exchange
from collectives.protocol import Buffer, Comm
from collectives.schedule import Round, Seconds, Transfer, message

SEGMENT_BYTES = 65536


def bcast_chain(comm: Comm, buf: Buffer, *, root: int = 0, segment_bytes: int = SEGMENT_BYTES, tag: int = 0) -> None:
    """Leave the root's `buf` in everybody's `buf`."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p, parameters={"segment_bytes": segment_bytes}))
    pieces = segments(buf.size, buf.itemsize, segment_bytes)
    n, v = pieces.p, (rank - root) % p
    for k in range(n + 1):
        incoming = pieces.block(buf, k) if v > 0 and k < n else None
        outgoing = pieces.block(buf, k - 1) if v < p - 1 and k > 0 else None
        exchange(comm, outgoing, (rank + 1) % p, incoming, (rank - 1) % p, tag)


def schedule(case: Case) -> Iterator[Round]:
    p, pieces = case.p, _pieces(case)
    if case.m:
        for step in range(pieces.p + p - 2):
            hops = range(max(0, step - pieces.p + 1), min(p - 1, step + 1))
            yield [
                Transfer((case.root + v) % p, (case.root + v + 1) % p, pieces.size(step - v) * case.itemsize)
                for v in hops
            ]


def closed_rounds(case: Case) -> int:
    return _pieces(case).p + case.p - 2 if case.m and case.p > 1 else 0


def closed_sent(case: Case, rank: int) -> int:
    return case.m if (rank - case.root) % case.p < case.p - 1 else 0


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    if case.p == 1 or case.m == 0:
        return 0
    pieces = _pieces(case)
    longest = message(pieces.size(0) * case.itemsize, t_s, t_w)
    return pieces.p * t_s + case.m * t_w + (case.p - 2) * longest


def _pieces(case: Case) -> Layout:
    return segments(case.elements, case.itemsize, ALGORITHM.parameter(case, "segment_bytes"))


ALGORITHM = Algorithm(
    operation="bcast",
    name="chain",
    run=bcast_chain,
    schedule=schedule,
    fits=positive_segments_only,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
    parameters={"segment_bytes": SEGMENT_BYTES},
)
