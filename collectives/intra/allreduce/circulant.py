"""Allreduce on a circulant graph: a reduce-scatter and an allgather in 2 ceil(log2 p) rounds, for any p.

The message is cut into p nearly equal pieces. The reduce-scatter on a circulant graph completes piece r on rank r, and the
allgather on the same graph distributes the results (`patterns.runs`, `patterns.circulant`). Each piece is completed on one
rank, so all ranks receive the same result.

    p = 4     start    1st      2nd        3rd      4th         (operands in each piece, then pieces of the result)
    rank 0    1111     22..     4...       01..     0123
    rank 1    1111     .22.     .4..       .12.     0123
    rank 2    1111     ..22     ..4.       ..23     0123
    rank 3    1111     2..2     ...4       0..3     0123

Rounds   2 ceil(log2 p)    Sent per rank   about 2 m bytes    Scratch   1.5 m bytes; rank 0 m/2
Time     2 q t_s + (p-1)/p m (2 t_w + c); q = ceil(log2 p); if p does not divide the message, the time is computed from
         the schedule
Fits     any p; commutative ops
Bits     equal on all ranks; depend on p, position
Best     long messages, any p: as little data as the ring, in 2 ceil(log2 p) rounds
Source   Träff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024, arXiv:2410.14234
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds
from collectives.patterns.circulant import skips
from collectives.patterns.runs import (
    grow,
    growing_schedule,
    longest_message,
    rotate_back,
    rotated,
    shrink,
    shrinking_schedule,
)
from collectives.tools.blocks import Layout, load
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    pieces = Layout.nearly_equal(case.elements, case.p)
    yield from shrinking_schedule(pieces, case.itemsize, skips(case.p))
    yield from growing_schedule(pieces, case.itemsize, skips(case.p))


def scratch(case: Case, rank: int) -> int:
    spare = longest_message(Layout.nearly_equal(case.elements, case.p), skips(case.p), rank) * case.itemsize
    return spare + (case.m if rank > 0 else 0)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    if case.elements % case.p:
        return None
    return 2 * ceil_log2(case.p) * t_s + 2 * (case.m - case.m // case.p) * t_w if case.m else 0


def closed_combined(case: Case) -> int | None:
    return None if case.elements % case.p else case.m - case.m // case.p


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=commutative_only,
    closed_time=closed_time,
    closed_combined=closed_combined,
)
def allreduce_circulant(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    load(recvbuf, sendbuf)
    pieces = Layout.nearly_equal(recvbuf.size, p)
    run = recvbuf if rank == 0 else rotated(recvbuf, pieces, rank)
    shrink(comm, run, pieces, skips(p), op, tag)
    grow(comm, run, pieces, skips(p), tag)
    if rank > 0:
        rotate_back(run, recvbuf, pieces, rank)
