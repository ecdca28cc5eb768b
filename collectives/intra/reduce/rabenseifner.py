"""Reduce by Rabenseifner's algorithm: a reduce-scatter that halves vectors, then a gather of the pieces to the root.

Let 2^d be the largest power of two that is at most p. First, p - 2^d ranks are folded: they send their operands to a
neighbor (`patterns.folding`). The root remains. With `keep_root=False` a root of odd rank may be folded; it then
receives the piece of rank 0 after the first d steps and takes the place of rank 0. In step k = 0 .. d-1 a remaining
rank exchanges half of its pieces with the rank whose index differs in bit k, and combines the other half with the
received data. After d steps it holds one of 2^d pieces, fully reduced. In reverse, from k = d-1 to 0, each rank on the
root's side receives the pieces of its partner. Neighbors combine first, so operands are combined in rank order.

    p = 4     start    k = 0    k = 1      k = 1    k = 0         (root 0; pieces to combine, then pieces of the result)
    rank 0    0123     01..     0...       01..     0123
    rank 1    0123     ..23     ..2.       ..23
    rank 2    0123     01..     .1..
    rank 3    0123     ..23     ...3

Rounds   2 log2 p, or 2 floor(log2 p) + 1    Sent per rank   about m bytes    Scratch   m bytes; m/2 to 2 m in all
Time     2 log2 p t_s + (p-1)/p m (2 t_w + c); t_s + m (t_w + c) more if p is not a power of two, and t_s + m/2^d t_w
         for a folded root; if 2^d does not divide the message, the time is computed from the schedule
Fits     any p; any op, in rank order
Bits     depend on p
Best     long messages: twice the lower bound m t_w, and combining is distributed evenly
Source   Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004, doi:10.1007/978-3-540-24685-5_1;
         MPICH may fold the root
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds, message
from collectives.patterns.folding import Fold, fold_away, fold_in, fold_in_round
from collectives.patterns.rabenseifner import (
    collect,
    collect_schedule,
    combined,
    halve,
    halve_schedule,
    halving_doubling_time,
    spare_size,
)
from collectives.patterns.reductions import operand
from collectives.tools.blocks import Layout, copy_of, load, required, spare_memory
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    fold = _fold(case)
    pieces = Layout.nearly_equal(case.elements, fold.core)
    yield fold_in_round(fold, case.m)
    yield from halve_schedule(pieces, case.itemsize, fold)
    yield from collect_schedule(pieces, case.itemsize, fold, case.root)


def _fold(case: Case) -> Fold:
    return Fold(case.p, keep=case.root if reduce_rabenseifner.parameter(case, "keep_root") else 0)


def scratch(case: Case, rank: int) -> int:
    fold = _fold(case)
    if not fold.stays(rank):
        return 0
    spare = spare_size(Layout.nearly_equal(case.elements, fold.core), fold, rank) * case.itemsize
    return spare if rank == case.root else case.m + spare


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    time, fold = halving_doubling_time(case, t_s, t_w, foldings=1), _fold(case)
    return time if time is None or fold.stays(case.root) else time + message(case.m // fold.core, t_s, t_w)


@algorithm(schedule=schedule, scratch=scratch, closed_time=closed_time, closed_combined=combined, in_order=True)
def reduce_rabenseifner(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    op: Op,
    root: int = 0,
    keep_root: bool = True,
    tag: int = 0,
) -> None:
    """Leave the result in the root's `recvbuf`; if the root's `sendbuf` is None, `recvbuf` holds its operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    own = operand(sendbuf, recvbuf, rank, root)
    fold = Fold(p, keep=root if keep_root else 0)
    if not fold.stays(rank):
        fold_away(comm, own, None, tag)
        if rank == root:
            held = required(recvbuf, "the root of a reduce")
            collect(comm, held, Layout.nearly_equal(held.size, fold.core), fold, root, tag)
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
