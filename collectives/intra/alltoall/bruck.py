"""Alltoall by Bruck's algorithm: blocks travel distances that are powers of a radix, many blocks per message, for any p.

Rank r first rotates its blocks so that position j holds the block for r+j (mod p), which has to travel j ranks. With radix
b, for each digit of the positions in base b, of value w = 1, b, b^2, ..., and for each d = 1 .. b-1 it sends to r + d w, in
one message, the blocks at all positions whose digit is d, and receives the same number from r - d w at the same positions.
After the last round the block at position j has traveled j ranks: it is the block from r-j, and is copied to that place. A
larger radix has more rounds and sends less: radix 2 has the fewest rounds, radix p sends every block once.

    p = 4     start          rotated        w = 1          w = 2        (radix 2; block rs travels from r to s)
    rank 0    00 01 02 03    00 01 02 03    00 30 02 32    00 30 20 10
    rank 1    10 11 12 13    11 12 13 10    11 01 13 03    11 01 31 21
    rank 2    20 21 22 23    22 23 20 21    22 12 20 10    22 12 02 32
    rank 3    30 31 32 33    33 30 31 32    33 23 31 21    33 23 13 03

Rounds   ceil(log2 p)    Sent per rank   about m p/2 log2 p bytes    Scratch   about (p + p/radix) m bytes
Time     ceil(log2 p) t_s + B m t_w; with radix 2, where B is the number of set bits in the binary numbers 0 .. p-1; in
         general one round for each digit and value that a number below p has, and B counts the nonzero digits
Fits     any p; radix >= 2; blocks of equal size
Best     short blocks: fewest rounds with radix 2; a larger radix for longer blocks
Source   Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications in multiport
         message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8 (1997), doi:10.1109/71.642949
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.array_round import ArrayRound
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds
from collectives.patterns.runs import rotated
from collectives.tools.blocks import Layout, check_same_size, load, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm

RADIX = 2


def _distances(p: int, radix: int) -> Iterator[tuple[int, int]]:
    """The distances d w of the rounds, with the value w of the digit."""
    width = 1
    while width < p:
        for distance in range(width, min(radix * width, p), width):
            yield distance, width
        width *= radix


def _places(distance: int, width: int, p: int, radix: int) -> list[tuple[int, int]]:
    """The positions with the digit of a distance, as runs."""
    return [(first, min(first + width, p)) for first in range(distance, p, radix * width)]


@lru_cache(maxsize=64)
def _blocks(p: int, radix: int) -> list[tuple[int, int]]:
    """The distance and the number of blocks of each round."""
    rounds = [(distance, _places(distance, width, p, radix)) for distance, width in _distances(p, radix)]
    return [(distance, sum(stop - first for first, stop in runs)) for distance, runs in rounds]


def _most_blocks(p: int, radix: int) -> int:
    return max(count for _, count in _blocks(p, radix))


def _radix(case: Case) -> int:
    return int(alltoall_bruck.parameter(case, "radix"))


def why_unsupported(case: Case) -> str | None:
    return None if _radix(case) >= 2 else f"radix = {_radix(case)} is less than 2"


def schedule(case: Case) -> Iterator[Round]:
    p, ranks = case.p, np.arange(case.p)
    for distance, count in _blocks(p, _radix(case)) if case.m else ():
        yield ArrayRound(ranks, (ranks + distance) % p, count * case.m)


def scratch(case: Case, rank: int) -> int:
    return (case.p + _most_blocks(case.p, _radix(case))) * case.m if case.p > 1 else 0


def closed_sent(case: Case, rank: int) -> int:
    return sum(count for _, count in _blocks(case.p, _radix(case))) * case.m


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return len(_blocks(case.p, _radix(case))) * t_s + closed_sent(case, 0) * t_w if case.m else 0


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=why_unsupported,
    closed_sent=closed_sent,
    closed_time=closed_time,
)
def alltoall_bruck(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, radix: int = RADIX, tag: int = 0) -> None:
    """Exchange equal blocks between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    if p == 1:
        load(recvbuf, sendbuf)
        return
    source = recvbuf if sendbuf is None else sendbuf
    check_same_size(source, recvbuf)
    run = rotated(source, layout, rank)
    packed = spare_memory(recvbuf, layout.size(0, _most_blocks(p, radix)))
    for distance, width in _distances(p, radix):
        runs = _places(distance, width, p, radix)
        end = 0
        for first, stop in runs:
            start, end = end, end + layout.size(first, stop)
            packed[start:end] = layout.block(run, first, stop)
        # recvbuf is unused until the end, so incoming blocks are received there before they are moved.
        exchange(comm, packed[0:end], (rank + distance) % p, recvbuf[0:end], (rank - distance) % p, tag)
        end = 0
        for first, stop in runs:
            start, end = end, end + layout.size(first, stop)
            layout.block(run, first, stop)[0 : end - start] = recvbuf[start:end]
    for place in range(p):
        layout.put(recvbuf, (rank - place) % p, layout.block(run, place))
