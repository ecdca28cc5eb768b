"""Allreduce by recursive multiplying: groups of k ranks exchange and combine their vectors, then groups of groups.

The algorithm is recursive doubling with k-1 partners in each phase: ranks whose index differs only in one digit in base
k exchange their whole vectors, and each combines all of them in rank order, so all ranks compute the same result. If p
is not j k^d with j < k, some ranks are folded, so that such a number remains: a folded rank first sends its operand to
a neighbor, and receives the result at the end (`plans.multiplying`).

    p = 4, k = 4    start   1st   2nd   3rd       p = 5, k = 4: rank 1 first sends its operand to 0
    rank 0          0       0     0     0123             and finally receives the result from it
    rank 1          1       1     1     0123
    rank 2          2       2     2     0123
    rank 3          3       3     3     0123

Rounds   (k-1) log_k p for powers of k    Sent per rank   m bytes in each round    Scratch   (k-1) m; folded ranks none
Time     R (t_s + m t_w + m c); R is the sum of j-1 over the phases of j ranks; plus 2 (t_s + m t_w) + m c if
         ranks are folded
Fits     any p; any op, in rank order; k >= 2
Bits     equal on all ranks; depend on p
Best     short messages where a rank can send several messages at once; with one port, k = 2 has the fewest rounds
Source   Wilkins et al., Generalized Collective Algorithms for the Exascale Era, IEEE CLUSTER 2023,
         doi:10.1109/CLUSTER52292.2023.00013 (derived from the summary in github.com/pmodels/mpich/pull/7177, which
         links to it; the rule for p that are not a power of k is fakempi's)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.folding import fold_away, fold_in, fold_in_round, fold_out, fold_out_round, folded_claims
from collectives.patterns.knomial import radix_too_small
from collectives.patterns.plans.multiplying import RADIX, folded, phases, radix_of
from collectives.patterns.reductions import combine
from collectives.tools.blocks import load, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


def _spares(p: int, k: int) -> int:
    """Number of vectors of scratch memory: one for each other rank of the largest group."""
    return max((phase.size - 1 for phase in phases(p, k)), default=0)


def schedule(case: Case) -> Iterator[Round]:
    fold, m = folded(case.p, radix_of(case)), case.m
    yield fold_in_round(fold, m)
    for phase in phases(case.p, radix_of(case)) if m else ():
        for shift in range(1, phase.size):
            combined = (phase.size - 1) * m if shift == phase.size - 1 else 0
            yield [Transfer(fold.rank(v), fold.rank(phase.peer(v, shift)), m, combined) for v in range(fold.core)]
    yield fold_out_round(fold, m)


def scratch(case: Case, rank: int) -> int:
    fold = folded(case.p, radix_of(case))
    return _spares(case.p, radix_of(case)) * case.m if fold.stays(rank) else 0


def _exchanges(case: Case) -> int:
    return sum(phase.size - 1 for phase in phases(case.p, radix_of(case)))


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=radix_too_small,
    in_order=True,
    **folded_claims(lambda case: folded(case.p, radix_of(case)), _exchanges),
)
def allreduce_recursive_multiplying(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, k: int = RADIX, tag: int = 0
) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    load(recvbuf, sendbuf)
    fold = folded(p, k)
    if not fold.stays(rank):
        fold_away(comm, recvbuf, recvbuf, tag)
        return
    spares = [spare_memory(recvbuf, recvbuf.size) for _ in range(_spares(p, k))]
    fold_in(comm, fold, recvbuf, spares[0] if spares else recvbuf, op, tag)
    index = fold.index(rank)
    for phase in phases(p, k):
        operands = {index: recvbuf}
        for shift in range(1, phase.size):
            dest, source = phase.peer(index, shift), phase.peer(index, -shift)
            operands[source] = spares[shift - 1]
            exchange(comm, recvbuf, fold.rank(dest), operands[source], fold.rank(source), tag)
        result, *others = (operands[rank_of_operand] for rank_of_operand in sorted(operands))
        for right in others:
            combine(op, result, right)
            result = right
        if result is not recvbuf:
            recvbuf[0 : recvbuf.size] = result
    fold_out(comm, fold, recvbuf, tag)
