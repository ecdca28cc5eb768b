"""Allreduce by ring: a reduce-scatter around the ring, then an allgather around the ring.

The message is cut into p nearly equal pieces. In round k = 0 .. p-2 rank r sends the partial piece r-k-1 to r+1,
receives piece r-k-2 from r-1 and combines it with its own (mod p); the last one is piece r, now complete. In p-1 more
rounds rank r sends piece r-k and receives piece r-k-1 (`patterns.ring`). Each piece is completed on one rank, so all
ranks receive the same result.

    p = 4     start    k = 0    k = 1    k = 2    k = 0    k = 1    k = 2   (number of operands in each piece)
    rank 0    1111     1121     1311     4...     4..4     4.44     4444
    rank 1    1111     1112     1131     .4..     44..     44.4     4444
    rank 2    1111     2111     1113     ..4.     .44.     444.     4444
    rank 3    1111     1211     3111     ...4     ..44     .444     4444

Rounds   2 (p-1)    Sent per rank   about 2 (p-1)/p m bytes    Scratch   2 pieces
Time     (p-1) (2 (t_s + b t_w) + b c); b is the longest piece, m/p if p divides the message
Fits     any p; commutative ops
Bits     equal on all ranks; depend on p, position
Best     long messages on few ranks: no allreduce sends less, and only to a neighbor; latency is linear in p
Source   Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, Journal of Parallel and
         Distributed Computing 69 (2009), doi:10.1016/j.jpdc.2008.09.002
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds, message
from collectives.patterns.ring import (
    around_scratch,
    gather_around,
    gather_around_schedule,
    reduce_around,
    reduce_around_schedule,
)
from collectives.tools.blocks import Layout, check_same_size
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    pieces = Layout.nearly_equal(case.elements, case.p)
    yield from reduce_around_schedule(pieces, case.itemsize)
    yield from gather_around_schedule(pieces, case.itemsize)


def scratch(case: Case, rank: int) -> int:
    return around_scratch(Layout.nearly_equal(case.elements, case.p), case.itemsize)


def closed_sent(case: Case, rank: int) -> int:
    """All pieces but its own in the reduce-scatter, all but its right neighbor's in the allgather."""
    pieces = Layout.nearly_equal(case.elements, case.p)
    kept = pieces.size(rank) + pieces.size((rank + 1) % case.p)
    return 2 * case.m - kept * case.itemsize


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return 2 * (case.p - 1) * message(_longest(case), t_s, t_w)


def closed_combined(case: Case) -> int:
    return (case.p - 1) * _longest(case)


def _longest(case: Case) -> int:
    """The longest piece: it makes 2 (p-1) hops one after the other, and no round lasts longer than one of them."""
    return Layout.nearly_equal(case.elements, case.p).largest * case.itemsize


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=commutative_only,
    closed_sent=closed_sent,
    closed_time=closed_time,
    closed_combined=closed_combined,
)
def allreduce_ring(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    data = recvbuf if sendbuf is None else sendbuf
    check_same_size(data, recvbuf)
    pieces = Layout.nearly_equal(recvbuf.size, p)
    pieces.put(recvbuf, rank, reduce_around(comm, data, pieces, op, tag))
    gather_around(comm, recvbuf, pieces, tag)
