"""Alltoall by Bruck's algorithm: blocks travel by powers of two, many in one message, for any p.

Rank r first turns its blocks so that place j holds the block for r+j (mod p), which has j ranks to go. In round k it
sends to r + 2^k, in one message, the blocks at all places j whose bit k is set, and receives as many from r - 2^k,
which take the same places. A block at place j has then gone all of j; it came from r-j, and is put there.

    p = 4     start          turned         k = 0          k = 1        (block rs is on its way from r to s)
    rank 0    00 01 02 03    00 01 02 03    00 30 02 32    00 30 20 10
    rank 1    10 11 12 13    11 12 13 10    11 01 13 03    11 01 31 21
    rank 2    20 21 22 23    22 23 20 21    22 12 20 10    22 12 02 32
    rank 3    30 31 32 33    33 30 31 32    33 23 31 21    33 23 13 03

Rounds   ceil(log2 p)    Sent per rank   about m p/2 log2 p bytes    Scratch   (p + floor(p/2)) m bytes
Time     ceil(log2 p) t_s + B m t_w; B is the number of ones in the binary numbers 0 .. p-1; for a power of two
         log2 p (t_s + p/2 m t_w)
Fits     any p; blocks of equal size
Best     short blocks: fewest rounds, though each block travels log2 p / 2 times on average
Source   Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications in multiport
         message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8 (1997), doi:10.1109/71.642949
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Round, Seconds, Transfer
from collectives.tools.blocks import Layout, check_same_size, load
from collectives.tools.blocks import scratch as spare_blocks
from collectives.tools.messages import exchange
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm


def alltoall_bruck(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Swap equal blocks between all ranks; `sendbuf` None means that `recvbuf` holds what is to be sent."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    if p == 1:
        load(recvbuf, sendbuf)
        return
    source = recvbuf if sendbuf is None else sendbuf
    check_same_size(source, recvbuf)
    turned = spare_blocks(recvbuf, recvbuf.size)
    turned[0 : layout.size(rank, p)] = layout.block(source, rank, p)
    turned[layout.size(rank, p) : turned.size] = layout.block(source, 0, rank)
    packed = spare_blocks(recvbuf, layout.size(0, p // 2))
    for k in range(ceil_log2(p)):
        runs = _places(k, p)
        end = 0
        for first, stop in runs:
            start, end = end, end + layout.size(first, stop)
            packed[start:end] = layout.block(turned, first, stop)
        # recvbuf is free until the end: what comes in lands there before it goes to its places.
        exchange(comm, packed[0:end], (rank + (1 << k)) % p, recvbuf[0:end], (rank - (1 << k)) % p, tag)
        end = 0
        for first, stop in runs:
            start, end = end, end + layout.size(first, stop)
            layout.block(turned, first, stop)[0 : end - start] = recvbuf[start:end]
    for place in range(p):
        layout.put(recvbuf, (rank - place) % p, layout.block(turned, place))


def _places(k: int, p: int) -> list[tuple[int, int]]:
    """The places whose bit k is set, as runs."""
    return [(first, min(first + (1 << k), p)) for first in range(1 << k, p, 2 << k)]


def schedule(case: Case) -> Iterator[Round]:
    p = case.p
    for k in range(ceil_log2(p) if case.m else 0):
        nbytes = _ones(k, p) * case.m
        yield [Transfer(r, (r + (1 << k)) % p, nbytes) for r in range(p)]


def _ones(k: int, p: int) -> int:
    """How many of the numbers 0 .. p-1 have bit k set."""
    return sum(j >> k & 1 for j in range(p))


def scratch(case: Case, rank: int) -> int:
    return (case.p + case.p // 2) * case.m if case.p > 1 else 0


def closed_rounds(case: Case) -> int:
    return ceil_log2(case.p) if case.m else 0


def closed_sent(case: Case, rank: int) -> int:
    return sum(j.bit_count() for j in range(case.p)) * case.m


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return closed_rounds(case) * t_s + closed_sent(case, 0) * t_w


ALGORITHM = Algorithm(
    operation="alltoall",
    name="bruck",
    run=alltoall_bruck,
    schedule=schedule,
    scratch=scratch,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
)
