"""Reduce by Rabenseifner's algorithm: a reduce-scatter that halves vectors, then the pieces are gathered to the root.

Let 2^d be the largest power of two in p. The other ranks first hand their operands to a neighbour (`folding`; the root
is always among those that stay). In step k = 0 .. d-1 a rank exchanges half of what it works on with the rank whose
index differs in bit k, and combines; then it holds one of 2^d pieces in full. Going back, from k = d-1 to 0, the ranks
on the root's side receive the pieces of the others. Neighbours meet first, so operands are combined in rank order.

    p = 4     start    k = 0    k = 1      k = 1    k = 0         (root 0; pieces that a rank works on)
    rank 0    0123     01..     0...       01..     0123
    rank 1    0123     ..23     ..2.       ..23
    rank 2    0123     01..     .1..
    rank 3    0123     ..23     ...3

Rounds   2 log2 p, or 2 floor(log2 p) + 1    Sent per rank   about m bytes    Scratch   m bytes; m/2 to 2 m in all
Time     2 log2 p t_s + (p-1)/p m (2 t_w + c); t_s + m (t_w + c) more where p is not a power of two, and by the
         schedule's recurrence, exact, where the power of two does not divide the message
Fits     any p; any op, in rank order
Best     long messages: twice the lower bound m t_w, and the combining is shared out evenly
Source   Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004, doi:10.1007/978-3-540-24685-5_1
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Round, Seconds
from collectives.shapes.folding import Fold, fold_in, folded_in, leave
from collectives.shapes.rabenseifner import collect, collected, combined, halve, halved, spare_size, there_and_back
from collectives.shapes.reductions import operand
from collectives.tools.blocks import Layout, copy_of, load, required
from collectives.tools.blocks import scratch as spare_memory
from collectives.tools.protocol import Buffer, Comm, Op


def reduce_rabenseifner(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, op: Op, root: int = 0, tag: int = 0
) -> None:
    """Leave the combination in the root's `recvbuf`; the root's `sendbuf` None means that its operand is there."""
    p, rank = comm.Get_size(), comm.Get_rank()
    own = operand(sendbuf, recvbuf, rank, root)
    fold = Fold(p, keep=root)
    if not fold.stays(rank):
        leave(comm, own, None, tag)
        return
    if rank == root:
        held = required(recvbuf, "the root of a reduce")
        load(held, sendbuf)
    else:
        held = copy_of(own)
    pieces = Layout.nearly_equal(held.size, fold.core)
    spare = spare_memory(held, spare_size(pieces, fold, rank))
    fold_in(comm, fold, held, spare, op, tag)
    halve(comm, held, spare, pieces, fold, op, tag)
    collect(comm, held, pieces, fold, root, tag)


def schedule(case: Case) -> Iterator[Round]:
    fold = Fold(case.p, keep=case.root)
    pieces = Layout.nearly_equal(case.elements, fold.core)
    yield folded_in(fold, case.m)
    yield from halved(pieces, case.itemsize, fold)
    yield from collected(pieces, case.itemsize, fold, case.root)


def scratch(case: Case, rank: int) -> int:
    fold = Fold(case.p, keep=case.root)
    if not fold.stays(rank):
        return 0
    spare = spare_size(Layout.nearly_equal(case.elements, fold.core), fold, rank) * case.itemsize
    return spare if rank == case.root else case.m + spare


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    return there_and_back(case, t_s, t_w, foldings=1)


ALGORITHM = Algorithm(
    operation="reduce",
    name="rabenseifner",
    run=reduce_rabenseifner,
    schedule=schedule,
    scratch=scratch,
    closed_time=closed_time,
    closed_combined=combined,
    in_order=True,
)
