"""Allreduce by Rabenseifner's algorithm: a reduce-scatter that halves vectors, then an allgather that doubles them.

Let 2^d be the largest power of two in p. The other ranks first hand their operands to a neighbour (`folding`). In step
k = 0 .. d-1 a rank exchanges half of what it works on with the rank whose index differs in bit k, and combines; then
it holds one of 2^d pieces in full. Going back, from k = d-1 to 0, the same pairs swap what they hold. At last the
ranks that left are sent the result. Neighbours meet first, so operands are combined in rank order; each piece is
finished in one place, so all ranks get the same result.

    p = 4     start    k = 0    k = 1      k = 1    k = 0         (pieces that a rank works on, then holds)
    rank 0    0123     01..     0...       01..     0123
    rank 1    0123     ..23     ..2.       ..23     0123
    rank 2    0123     01..     .1..       01..     0123
    rank 3    0123     ..23     ...3       ..23     0123

Rounds   2 log2 p, or 2 floor(log2 p) + 2    Sent per rank   about 2 m bytes    Scratch   m/2, m if a neighbour leaves
Time     2 log2 p t_s + (p-1)/p m (2 t_w + c); where p is not a power of two 2 (t_s + m t_w) + m c more, and by the
         schedule's recurrence, exact, where the power of two does not divide the message
Fits     any p; any op, in rank order
Best     long messages, p a power of two: as little data as the ring, in 2 log2 p rounds
Source   Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004, doi:10.1007/978-3-540-24685-5_1
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Round, Seconds
from collectives.shapes.folding import Fold, fold_in, fold_out, folded_in, folded_out, leave
from collectives.shapes.rabenseifner import combined, double, doubled, halve, halved, spare_size, there_and_back
from collectives.tools.blocks import Layout, load
from collectives.tools.blocks import scratch as spare_memory
from collectives.tools.protocol import Buffer, Comm, Op


def allreduce_rabenseifner(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0) -> None:
    """Leave the combination in everybody's `recvbuf`; `sendbuf` None means that the operand is there."""
    p, rank = comm.Get_size(), comm.Get_rank()
    load(recvbuf, sendbuf)
    fold = Fold(p)
    if not fold.stays(rank):
        leave(comm, recvbuf, recvbuf, tag)
        return
    pieces = Layout.nearly_equal(recvbuf.size, fold.core)
    spare = spare_memory(recvbuf, spare_size(pieces, fold, rank))
    fold_in(comm, fold, recvbuf, spare, op, tag)
    halve(comm, recvbuf, spare, pieces, fold, op, tag)
    double(comm, recvbuf, pieces, fold, tag)
    fold_out(comm, fold, recvbuf, tag)


def schedule(case: Case) -> Iterator[Round]:
    fold = Fold(case.p)
    pieces = Layout.nearly_equal(case.elements, fold.core)
    yield folded_in(fold, case.m)
    yield from halved(pieces, case.itemsize, fold)
    yield from doubled(pieces, case.itemsize, fold)
    yield folded_out(fold, case.m)


def scratch(case: Case, rank: int) -> int:
    fold = Fold(case.p)
    pieces = Layout.nearly_equal(case.elements, fold.core)
    return spare_size(pieces, fold, rank) * case.itemsize if fold.stays(rank) else 0


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    return there_and_back(case, t_s, t_w, foldings=2)


ALGORITHM = Algorithm(
    operation="allreduce",
    name="rabenseifner",
    run=allreduce_rabenseifner,
    schedule=schedule,
    scratch=scratch,
    closed_time=closed_time,
    closed_combined=combined,
    in_order=True,
)
