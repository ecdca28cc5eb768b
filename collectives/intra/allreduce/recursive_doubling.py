"""Allreduce by recursive doubling: pairs exchange and combine their vectors, then pairs of pairs, and so on.

Let 2^d be the largest power of two that is at most p. First, p - 2^d ranks are folded: they send their operands to a
neighbor (`patterns.folding`), the odd rank of a pair to the even one or, with `remaining="odd"`, the even rank to the
odd one. In round k = 0 .. d-1 a remaining rank exchanges its whole vector with the rank whose index differs in bit k.
Both ranks combine the two vectors in rank order, so all ranks compute the same result. At the end the folded ranks
receive the result.

    p = 4     start   k = 0   k = 1       p = 6: ranks 1 and 3 first send their operands to 0 and 2
    rank 0    0       01      0123               and finally receive the result from them
    rank 1    1       01      0123
    rank 2    2       23      0123
    rank 3    3       23      0123

Rounds   log2 p, or floor(log2 p) + 2    Sent per rank   m bytes in each round
         Scratch   m bytes; none on folded ranks
Time     log2 p (t_s + m t_w + m c); if p is not a power of two, with d = floor(log2 p), (d+2) (t_s + m t_w) + (d+1) m c
Fits     any p; any op, in rank order; remaining "even" or "odd"
Bits     equal on all ranks; depend on p
Best     short messages: fewest rounds; long messages are sent log2 p times
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521; MPICH and Open MPI
         keep the odd rank of a pair
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.array_round import ArrayRound
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round
from collectives.patterns.folding import (
    Fold,
    Remaining,
    fold_away,
    fold_in,
    fold_in_round,
    fold_of,
    fold_out,
    fold_out_round,
    folded_claims,
    unknown_rank,
)
from collectives.patterns.reductions import combine_in_order
from collectives.tools.blocks import load, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    fold, m = fold_of(case), case.m
    ranks, places = np.array([fold.rank(v) for v in range(fold.core)]), np.arange(fold.core)
    yield fold_in_round(fold, m)
    for k in range(fold.dimension if m else 0):
        yield ArrayRound(ranks, ranks[places ^ (1 << k)], m, m)
    yield fold_out_round(fold, m)


def scratch(case: Case, rank: int) -> int:
    return case.m if case.p > 1 and fold_of(case).stays(rank) else 0


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=unknown_rank,
    in_order=True,
    **folded_claims(fold_of, lambda case: fold_of(case).dimension),
)
def allreduce_recursive_doubling(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, remaining: Remaining = "even", tag: int = 0
) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    load(recvbuf, sendbuf)
    fold = Fold(p, remaining=remaining)
    if not fold.stays(rank):
        fold_away(comm, recvbuf, recvbuf, tag)
        return
    spare = spare_memory(recvbuf, recvbuf.size if p > 1 else 0)
    fold_in(comm, fold, recvbuf, spare, op, tag)
    for k in range(fold.dimension):
        other = fold.rank(fold.index(rank) ^ (1 << k))
        exchange(comm, recvbuf, other, spare, other, tag)
        combine_in_order(op, recvbuf, spare, other_is_left=other < rank)
    fold_out(comm, fold, recvbuf, tag)
