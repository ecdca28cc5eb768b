"""Broadcast by scatter and recursive doubling: the root deals the message out, then ever larger parts are swapped.

The message is cut into p nearly equal pieces, counted from the root: v = rank - root (mod p) stands for a rank and for
its piece. A binomial scatter gives rank v its piece. In round k = 0 .. log2 p - 1 rank v then swaps the 2^k pieces
that agree with v above bit k for those of the rank that differs in bit k.

    p = 4     start    scatter           swaps
    v = 0     0123     0123     0123     0123     0123
    v = 1     ....     ....     .1..     01..     0123
    v = 2     ....     ..23     ..23     ..23     0123
    v = 3     ....     ....     ...3     ..23     0123

Rounds   2 log2 p    Sent per rank   (p-1)/p m + its share of the scatter    Scratch   none
Time     2 log2 p t_s + 2 (p-1)/p m t_w; by the schedule's recurrence, exact, where p does not divide the message
Fits     p a power of two
Best     messages of medium length: twice the lower bound m t_w, at twice the fewest rounds
Source   Barnett, Gupta, Payne, Shuler, van de Geijn, Watts, Interprocessor collective communication library, SHPCC
         1994, doi:10.1109/SHPCC.1994.296665; Thakur, Rabenseifner, Gropp 2005, doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case, power_of_two_only
from collectives.catalogue.schedule import Round, Seconds, Transfer, without_empty
from collectives.shapes.binomial import pieces_down, scatter_pieces
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.numbers import floor_log2
from collectives.tools.protocol import Buffer, Comm


def bcast_scatter_recursive_doubling_allgather(comm: Comm, buf: Buffer, *, root: int = 0, tag: int = 0) -> None:
    """Leave the root's `buf` in everybody's `buf`."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p))
    pieces = Layout.nearly_equal(buf.size, p)
    scatter_pieces(comm, buf, pieces, root, tag)
    v = (rank - root) % p
    for k in range(floor_log2(p)):
        size = 1 << k
        partner = v ^ size
        mine, theirs = v & -size, partner & -size
        outgoing, incoming = pieces.block(buf, mine, mine + size), pieces.block(buf, theirs, theirs + size)
        exchange(comm, outgoing, (root + partner) % p, incoming, (root + partner) % p, tag)


def schedule(case: Case) -> Iterator[Round]:
    p, pieces = case.p, Layout.nearly_equal(case.elements, case.p)
    yield from pieces_down(pieces, case.itemsize, case.root)
    for k in range(floor_log2(p)):
        size = 1 << k
        yield without_empty(
            Transfer(
                (case.root + v) % p,
                (case.root + (v ^ size)) % p,
                pieces.size(v & -size, (v & -size) + size) * case.itemsize,
            )
            for v in range(p)
        )


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    p = case.p
    if case.elements % p:
        return None
    return 2 * floor_log2(p) * t_s + 2 * (p - 1) * (case.m // p) * t_w if case.m else 0


ALGORITHM = Algorithm(
    operation="bcast",
    name="scatter_recursive_doubling_allgather",
    run=bcast_scatter_recursive_doubling_allgather,
    schedule=schedule,
    fits=power_of_two_only,
    closed_time=closed_time,
)
