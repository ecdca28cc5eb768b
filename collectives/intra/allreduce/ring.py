"""Allreduce by ring: pieces walk around and gather everybody's operand, then walk around once more, finished.

The message is cut into p nearly equal pieces. In round k = 0 .. p-2 rank r sends the partial piece r-k-1 to r+1,
receives piece r-k-2 from r-1 and combines it with its own (mod p); the last is piece r. In p-1 more rounds it sends
piece r-k and receives piece r-k-1, now finished (`shapes.ring`). Each piece is finished in one place, so all ranks
get the same result.

    p = 4     start    k = 0    k = 1    k = 2    k = 0    k = 1    k = 2   (how many operands are in each piece)
    rank 0    1111     1121     1311     4...     4..4     4.44     4444
    rank 1    1111     1112     1131     .4..     44..     44.4     4444
    rank 2    1111     2111     1113     ..4.     .44.     444.     4444
    rank 3    1111     1211     3111     ...4     ..44     .444     4444

Rounds   2 (p-1)    Sent per rank   about 2 (p-1)/p m bytes    Scratch   2 pieces
Time     (p-1) (2 (t_s + b t_w) + b c); b is the longest piece, m/p where p divides the message
Fits     any p; commutative ops
Best     long messages on few ranks: no allreduce sends less, and only to a neighbour; latency is linear in p
Source   Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, Journal of Parallel and
         Distributed Computing 69 (2009), doi:10.1016/j.jpdc.2008.09.002
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case, commutative_only
from collectives.catalogue.schedule import Round, Seconds, message
from collectives.shapes.ring import around_scratch, gather_around, gathered_around, reduce_around, reduced_around
from collectives.tools.blocks import Layout, check_same_size
from collectives.tools.protocol import Buffer, Comm, Op


def allreduce_ring(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0) -> None:
    """Leave the combination in everybody's `recvbuf`; `sendbuf` None means that the operand is there."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p, commutative=op.Is_commutative()))
    data = recvbuf if sendbuf is None else sendbuf
    check_same_size(data, recvbuf)
    pieces = Layout.nearly_equal(recvbuf.size, p)
    pieces.put(recvbuf, rank, reduce_around(comm, data, pieces, op, tag))
    gather_around(comm, recvbuf, pieces, tag)


def schedule(case: Case) -> Iterator[Round]:
    pieces = Layout.nearly_equal(case.elements, case.p)
    yield from reduced_around(pieces, case.itemsize)
    yield from gathered_around(pieces, case.itemsize)


def scratch(case: Case, rank: int) -> int:
    return around_scratch(Layout.nearly_equal(case.elements, case.p), case.itemsize)


def closed_rounds(case: Case) -> int:
    return 2 * (case.p - 1) if case.m else 0


def closed_sent(case: Case, rank: int) -> int:
    """All pieces but its own on the first way, all but that of its right neighbour on the second."""
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


ALGORITHM = Algorithm(
    operation="allreduce",
    name="ring",
    run=allreduce_ring,
    schedule=schedule,
    scratch=scratch,
    fits=commutative_only,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
    closed_combined=closed_combined,
)
