"""Allreduce by Rabenseifner's algorithm: a reduce-scatter that halves vectors, then an allgather that doubles them.

Let 2^d be the largest power of two that is at most p. First, p - 2^d ranks are folded: they send their operands to a
neighbor (`patterns.folding`), the odd rank of a pair to the even one or, with `remaining="odd"`, the even rank to the
odd one. With `halves=True` the two ranks of a pair exchange halves, each combines one half, and the folded rank then
sends its half. In step k = 0 .. d-1 a remaining rank exchanges half of its pieces with the rank whose index differs in
bit k, and combines the other half with the received data. After d steps it holds one of 2^d pieces, fully reduced. In
reverse, from k = d-1 to 0, the same pairs exchange the pieces that they hold. At the end the folded ranks receive the
result. Neighbors combine first, so operands are combined in rank order. Each piece is completed on one rank, so all
ranks receive the same result.

    p = 4     start    k = 0    k = 1      k = 1    k = 0         (pieces to combine, then pieces of the result)
    rank 0    0123     01..     0...       01..     0123
    rank 1    0123     ..23     ..2.       ..23     0123
    rank 2    0123     01..     .1..       01..     0123
    rank 3    0123     ..23     ...3       ..23     0123

Rounds   2 log2 p, or 2 floor(log2 p) + 2    Sent per rank   about 2 m bytes    Scratch   m/2; m if ranks are folded
Time     2 log2 p t_s + (p-1)/p m (2 t_w + c); if p is not a power of two, 2 (t_s + m t_w) + m c more, or, with
         `halves=True`, 3 t_s + 2 m t_w + m c / 2 more; if 2^d does not divide the message, the time is computed from
         the schedule
Fits     any p; any op, in rank order; remaining "even" or "odd"
Bits     equal on all ranks; depend on p
Best     long messages, p a power of two: as little data as the ring, in 2 log2 p rounds
Source   Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004, doi:10.1007/978-3-540-24685-5_1;
         in MPICH the odd rank of a pair remains; in Open MPI the even rank remains, with halves=True
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds
from collectives.patterns.folding import (
    Fold,
    Remaining,
    fold_away,
    fold_halves,
    fold_halves_rounds,
    fold_in,
    fold_in_round,
    fold_of,
    fold_out,
    fold_out_round,
    unknown_rank,
)
from collectives.patterns.rabenseifner import (
    combined,
    double,
    double_schedule,
    halve,
    halve_schedule,
    halving_doubling_time,
    spare_size,
)
from collectives.tools.blocks import Layout, load, spare_memory
from collectives.tools.messages import receive
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    fold = fold_of(case)
    pieces = Layout.nearly_equal(case.elements, fold.core)
    if allreduce_rabenseifner.parameter(case, "halves"):
        yield from fold_halves_rounds(fold, case.elements, case.itemsize)
    else:
        yield fold_in_round(fold, case.m)
    yield from halve_schedule(pieces, case.itemsize, fold)
    yield from double_schedule(pieces, case.itemsize, fold)
    yield fold_out_round(fold, case.m)


def scratch(case: Case, rank: int) -> int:
    fold = fold_of(case)
    pieces = Layout.nearly_equal(case.elements, fold.core)
    return spare_size(pieces, fold, rank, halves=allreduce_rabenseifner.parameter(case, "halves")) * case.itemsize


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    time = halving_doubling_time(case, t_s, t_w, foldings=2)
    extra_time = t_s if time and allreduce_rabenseifner.parameter(case, "halves") and fold_of(case).excess else 0
    return None if time is None else time + extra_time


def closed_combined(case: Case) -> int | None:
    nbytes = combined(case)
    saved = case.m // 2 if allreduce_rabenseifner.parameter(case, "halves") and fold_of(case).excess else 0
    return None if nbytes is None else nbytes - saved


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=unknown_rank,
    closed_time=closed_time,
    closed_combined=closed_combined,
    in_order=True,
)
def allreduce_rabenseifner(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    op: Op,
    remaining: Remaining = "even",
    halves: bool = False,
    tag: int = 0,
) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    load(recvbuf, sendbuf)
    fold = Fold(p, remaining=remaining)
    pieces = Layout.nearly_equal(recvbuf.size, fold.core)
    spare = spare_memory(recvbuf, spare_size(pieces, fold, rank, halves=halves))
    if halves:
        fold_halves(comm, fold, recvbuf, spare, op, tag)
    if not fold.stays(rank):
        if halves:
            receive(comm, recvbuf, rank ^ 1, tag)
        else:
            fold_away(comm, recvbuf, recvbuf, tag)
        return
    if not halves:
        fold_in(comm, fold, recvbuf, spare, op, tag)
    halve(comm, recvbuf, spare, pieces, fold, op, tag)
    double(comm, recvbuf, pieces, fold, tag)
    fold_out(comm, fold, recvbuf, tag)
