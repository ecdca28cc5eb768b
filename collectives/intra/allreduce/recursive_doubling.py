"""Allreduce by recursive doubling: pairs swap and combine what they have, then pairs of pairs, and so on.

Let 2^d be the largest power of two in p. The other ranks first hand their operands to a neighbour (`folding`). In round
k = 0 .. d-1 a rank swaps its whole vector with the rank whose index differs in bit k, and both combine the two in rank
order, so that all come to the same result. At last the ranks that left are sent it.

    p = 4     start   k = 0   k = 1       p = 6: ranks 1 and 3 hand theirs to 0 and 2 first,
    rank 0    0       01      0123               and get the result from them last
    rank 1    1       01      0123
    rank 2    2       23      0123
    rank 3    3       23      0123

Rounds   log2 p, or floor(log2 p) + 2    Sent per rank   m bytes in each round    Scratch   m bytes, who leaves none
Time     log2 p (t_s + m t_w + m c); where p is not a power of two, with d = floor(log2 p),
         (d+2) (t_s + m t_w) + (d+1) m c
Fits     any p; any op, in rank order
Best     short messages: fewest rounds; long ones are sent log2 p times
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Round, Seconds, Transfer, message
from collectives.shapes.folding import Fold, fold_in, fold_out, folded_in, folded_out, leave
from collectives.shapes.reductions import join
from collectives.tools.blocks import load
from collectives.tools.blocks import scratch as spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


def allreduce_recursive_doubling(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0) -> None:
    """Leave the combination in everybody's `recvbuf`; `sendbuf` None means that the operand is there."""
    p, rank = comm.Get_size(), comm.Get_rank()
    load(recvbuf, sendbuf)
    fold = Fold(p)
    if not fold.stays(rank):
        leave(comm, recvbuf, recvbuf, tag)
        return
    spare = spare_memory(recvbuf, recvbuf.size if p > 1 else 0)
    fold_in(comm, fold, recvbuf, spare, op, tag)
    for k in range(fold.dimension):
        other = fold.rank(fold.index(rank) ^ (1 << k))
        exchange(comm, recvbuf, other, spare, other, tag)
        join(op, recvbuf, spare, other_is_left=other < rank)
    fold_out(comm, fold, recvbuf, tag)


def schedule(case: Case) -> Iterator[Round]:
    fold, m = Fold(case.p), case.m
    yield folded_in(fold, m)
    for k in range(fold.dimension if m else 0):
        yield [Transfer(fold.rank(v), fold.rank(v ^ (1 << k)), m, m) for v in range(fold.core)]
    yield folded_out(fold, m)


def scratch(case: Case, rank: int) -> int:
    return case.m if case.p > 1 and Fold(case.p).stays(rank) else 0


def closed_rounds(case: Case) -> int:
    fold = Fold(case.p)
    return fold.dimension + (2 if fold.excess else 0) if case.m else 0


def closed_sent(case: Case, rank: int) -> int:
    fold = Fold(case.p)
    if not fold.stays(rank):
        return case.m
    return (fold.dimension + (fold.neighbour(rank) is not None)) * case.m


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return closed_rounds(case) * message(case.m, t_s, t_w)


def closed_combined(case: Case) -> int:
    fold = Fold(case.p)
    return (fold.dimension + (fold.excess > 0)) * case.m


ALGORITHM = Algorithm(
    operation="allreduce",
    name="recursive_doubling",
    run=allreduce_recursive_doubling,
    schedule=schedule,
    scratch=scratch,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
    closed_combined=closed_combined,
    in_order=True,
)
