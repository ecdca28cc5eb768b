"""Alltoall by Bine: pairs at negabinary distances send each other all blocks for the other half of the ranks.

In the rounds of distances J_s = 1, -1, 3, -5, ... an even rank r exchanges with r + J_s, an odd rank with r - J_s (mod p):
each sends the blocks (its own and received ones) for all ranks that its partner reaches in the remaining rounds, which are
p/2 blocks in every round. It is the reduce-scatter by Bine with blocks that are collected instead of combined.

    p = 4     start          1st            2nd         (block rs travels from r to s; 1st: 0 with 1, 2 with 3;
    rank 0    00 01 02 03    00 03 10 13    00 10 20 30     2nd: 0 with 3, 1 with 2)
    rank 1    10 11 12 13    01 02 11 12    01 11 21 31
    rank 2    20 21 22 23    21 22 31 32    02 12 22 32
    rank 3    30 31 32 33    20 23 30 33    03 13 23 33

Rounds   log2 p    Sent per rank   m p/2 log2 p bytes    Scratch   2 p m bytes
Time     log2 p (t_s + p/2 m t_w)
Fits     p a power of two; blocks of equal size
Best     short blocks where neighboring ranks are close: fewest rounds, at shorter distances than Bruck's algorithm
Source   De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler, Bine Trees: Enhancing Collective
         Operations by Optimizing Communication Locality, SC 2025, arXiv:2508.17311, doi:10.1145/3712285.3759835
         (derived from the abstract)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import power_of_two_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer, message
from collectives.patterns.plans.negabinary import swing_peer
from collectives.tools.blocks import Layout, check_same_size, load, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.numbers import floor_log2
from collectives.tools.protocol import Buffer, Comm


@lru_cache(maxsize=8192)
def served(rank: int, s: int, p: int) -> tuple[int, ...]:
    """The destinations that a rank serves from round s on: first those that it keeps, then those of its partner.

    >>> served(0, 0, 4), served(1, 0, 4)
    ((0, 3, 1, 2), (1, 2, 0, 3))
    """
    if s == floor_log2(p):
        return (rank,)
    return served(rank, s + 1, p) + served(swing_peer(rank, s + 1, p), s + 1, p)


@lru_cache(maxsize=8192)
def origins(rank: int, s: int, p: int) -> tuple[int, ...]:
    """The ranks whose blocks a rank has before round s, in the order of its rows.

    >>> origins(0, 2, 4)
    (0, 1, 3, 2)
    """
    return (rank,) if s == 0 else origins(rank, s - 1, p) + origins(swing_peer(rank, s, p), s - 1, p)


def schedule(case: Case) -> Iterator[Round]:
    p = case.p
    for s in range(floor_log2(p) if case.m else 0):
        yield [Transfer(r, swing_peer(r, s + 1, p), p // 2 * case.m) for r in range(p)]


def scratch(case: Case, rank: int) -> int:
    return 2 * case.p * case.m if case.p > 1 else 0


def closed_sent(case: Case, rank: int) -> int:
    return floor_log2(case.p) * (case.p // 2) * case.m


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=power_of_two_only,
    closed_sent=closed_sent,
    closed_time=lambda case, t_s, t_w: floor_log2(case.p) * message(case.p // 2 * case.m, t_s, t_w),
)
def alltoall_bine(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Exchange equal blocks between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    if p == 1:
        load(recvbuf, sendbuf)
        return
    source = recvbuf if sendbuf is None else sendbuf
    check_same_size(source, recvbuf)
    # The blocks are a table: a row for each source, a column for each destination that this rank still serves.
    table, packed = (spare_memory(recvbuf, recvbuf.size) for _ in range(2))
    for column, dest in enumerate(served(rank, 0, p)):
        layout.block(table, column)[:] = layout.block(source, dest)
    half = layout.size(0, p // 2)
    for s in range(floor_log2(p)):
        rows, columns = 1 << s, p >> s
        for row in range(rows):
            kept, sent = row * columns, row * columns + columns // 2
            at, width = layout.size(0, row * (columns // 2)), layout.size(0, columns // 2)
            packed[at : at + width] = layout.block(table, kept, sent)
            packed[half + at : half + at + width] = layout.block(table, sent, sent + columns // 2)
        peer = swing_peer(rank, s + 1, p)
        exchange(comm, packed[half : 2 * half], peer, table[half : 2 * half], peer, tag)
        table[0:half] = packed[0:half]
    for row, origin in enumerate(origins(rank, floor_log2(p), p)):
        layout.put(recvbuf, origin, layout.block(table, row))
