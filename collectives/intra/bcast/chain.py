"""Broadcast by a pipelined chain: segments of the message follow each other along the ranks.

The message is cut into n segments of at most `segment_bytes`. With v = rank - root (mod p), rank v receives segment k
from v-1 while it sends segment k-1 to v+1.

    p = 4, n = 3   start    1st      2nd      3rd      4th      5th
    v = 0          012      012      012      012      012      012
    v = 1          ...      0..      01.      012      012      012
    v = 2          ...      ...      0..      01.      012      012
    v = 3          ...      ...      ...      0..      01.      012

Rounds   n+p-2    Sent per rank   m bytes, the last rank none    Scratch   none
Time     n t_s + m t_w + (p-2) (t_s + b t_w); b is the longest segment: (n+p-2) (t_s + m/n t_w) for equal ones
Fits     any p; segment_bytes > 0
Best     long messages on few ranks: about m t_w + (p-2) b t_w, near the lower bound m t_w once n is well above p
Source   folklore; analyzed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import positive_segments_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.segmented import SEGMENT_BYTES, chain_steps, chain_time
from collectives.tools.blocks import segments
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm


def schedule(case: Case) -> Iterator[Round]:
    p, root = case.p, case.root
    for hops in chain_steps(case):
        yield [Transfer((root + v) % p, (root + v + 1) % p, nbytes) for v, nbytes in hops]


def closed_sent(case: Case, rank: int) -> int:
    return case.m if (rank - case.root) % case.p < case.p - 1 else 0


@algorithm(
    schedule=schedule,
    why_unsupported=positive_segments_only,
    closed_sent=closed_sent,
    closed_time=chain_time,
)
def bcast_chain(comm: Comm, buf: Buffer, *, root: int = 0, segment_bytes: int = SEGMENT_BYTES, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    p, rank = comm.Get_size(), comm.Get_rank()
    pieces = segments(buf.size, buf.itemsize, segment_bytes)
    n, v = pieces.p, (rank - root) % p
    for k in range(n + 1):
        incoming = pieces.block(buf, k) if v > 0 and k < n else None
        outgoing = pieces.block(buf, k - 1) if v < p - 1 and k > 0 else None
        exchange(comm, outgoing, (rank + 1) % p, incoming, (rank - 1) % p, tag)
