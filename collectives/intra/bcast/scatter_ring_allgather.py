"""Broadcast by scatter and ring allgather: the root scatters the message, then the pieces travel around a ring.

The message is cut into p nearly equal pieces, counted from the root: v = rank - root (mod p) is a rank and its piece. A
binomial scatter sends rank v its piece (and, on the way, those of its subtree). In round k = 0 .. p-2 of the ring rank
v sends piece v-k to v+1 and receives piece v-k-1 from v-1.

    p = 4     start    scatter           ring
    v = 0     0123     0123     0123     0123     0123     0123
    v = 1     ....     ....     .1..     01..     01.3     0123
    v = 2     ....     ..23     ..23     .123     0123     0123
    v = 3     ....     ....     ...3     ..23     .123     0123

Rounds   about ceil(log2 p) + p-1    Sent per rank   (p-1)/p m + its share of the scatter    Scratch   none
Time     (log2 p + p-1) t_s + 2 (p-1)/p m t_w; if p is a power of two and divides m. Otherwise the ring
         ends (p-1) (t_s + b t_w) after the scatter, where b is the longest piece, or earlier by the time of up to p/2
         elements
Fits     any p
Best     long messages on few ranks: twice the lower bound m t_w, and only neighbors communicate in the long phase
Source   Barnett, Gupta, Payne, Shuler, van de Geijn, Watts, Interprocessor collective communication library, SHPCC
         1994, doi:10.1109/SHPCC.1994.296665; Thakur, Rabenseifner, Gropp 2005, doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds, Transfer, clocks, without_empty
from collectives.patterns.binomial import scatter_pieces, scatter_pieces_schedule
from collectives.patterns.ring import gather_around_end
from collectives.patterns.trees import subtree
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm


def schedule(case: Case) -> Iterator[Round]:
    p, pieces = case.p, Layout.nearly_equal(case.elements, case.p)
    yield from scatter_pieces_schedule(pieces, case.itemsize, case.root)
    for k in range(p - 1):
        yield without_empty(
            Transfer((case.root + v) % p, (case.root + v + 1) % p, pieces.size((v - k) % p) * case.itemsize)
            for v in range(p)
        )


def closed_sent(case: Case, rank: int) -> int:
    """The pieces of its subtree except its own; on the ring, all except that of its right neighbor."""
    p, v, pieces = case.p, (rank - case.root) % case.p, Layout.nearly_equal(case.elements, case.p)
    scattered = pieces.size(v, v + subtree(v, p)) - pieces.size(v)
    return case.m + (scattered - pieces.size((v + 1) % p)) * case.itemsize


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    pieces = Layout.nearly_equal(case.elements, case.p)
    scattered = clocks(scatter_pieces_schedule(pieces, case.itemsize, 0), case.p, t_s, t_w)
    return gather_around_end(scattered, pieces, case.itemsize, t_s, t_w)


@algorithm(schedule=schedule, closed_sent=closed_sent, closed_time=closed_time)
def bcast_scatter_ring_allgather(comm: Comm, buf: Buffer, *, root: int = 0, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    p, rank = comm.Get_size(), comm.Get_rank()
    pieces = Layout.nearly_equal(buf.size, p)
    scatter_pieces(comm, buf, pieces, root, tag)
    v = (rank - root) % p
    for k in range(p - 1):
        outgoing, incoming = pieces.block(buf, (v - k) % p), pieces.block(buf, (v - k - 1) % p)
        exchange(comm, outgoing, (rank + 1) % p, incoming, (rank - 1) % p, tag)
