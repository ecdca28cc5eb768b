"""Vectors are halved while distances double: the reduce-scatter in Rabenseifner's algorithms, and two ways back.

A vector is cut into 2^d pieces. In step k = 0 .. d-1 ranks v and v with bit k flipped (indices of `folding`) share the
pieces that both work on: each sends the half that the other is to keep, the lower half going to the one whose bit is 0,
and combines what it receives with its own. Neighbours meet first, so operands are combined in rank order. After d steps
v has one piece in full, that with the bits of v reversed. Going back the same way, from k = d-1 to 0, all pieces get
to everybody (allreduce) or to the root (reduce).

    2^d = 4   start      k = 0      k = 1               the pieces that a rank works on
    v = 0     0123       01..       0...
    v = 1     0123       ..23       ..2.
    v = 2     0123       01..       .1..
    v = 3     0123       ..23       ...3
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Seconds, Transfer, without_empty
from collectives.shapes.folding import Fold
from collectives.shapes.reductions import join
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange, receive, send
from collectives.tools.protocol import Buffer, Comm, Op


def span(v: int, k: int, d: int) -> tuple[int, int]:
    """The pieces, first and end, that v works on after k of d steps.

    >>> [span(v, 1, 2) for v in range(4)], [span(v, 2, 2) for v in range(4)]
    ([(0, 2), (2, 4), (0, 2), (2, 4)], [(0, 1), (2, 3), (1, 2), (3, 4)])
    """
    first = sum(((v >> j) & 1) << (d - 1 - j) for j in range(k))
    return first, first + (1 << (d - k))


def spare_size(pieces: Layout, fold: Fold, rank: int) -> int:
    """Elements of the longest message that a rank combines: a neighbour's whole vector, else half of one."""
    if fold.neighbour(rank) is not None:
        return pieces.size(0, fold.core)
    return pieces.size(*span(fold.index(rank), 1, fold.dimension)) if fold.dimension else 0


def halve(comm: Comm, held: Buffer, spare: Buffer, pieces: Layout, fold: Fold, op: Op, tag: int) -> None:
    """Leave in the rank's own piece of `held` the combination of everybody's."""
    d, v = fold.dimension, fold.index(comm.Get_rank())
    for k in range(d):
        other = v ^ (1 << k)
        mine = pieces.block(held, *span(v, k + 1, d))
        theirs = pieces.block(held, *span(other, k + 1, d))
        incoming = spare[0 : mine.size]
        exchange(comm, theirs, fold.rank(other), incoming, fold.rank(other), tag)
        join(op, mine, incoming, other_is_left=other < v)


def double(comm: Comm, held: Buffer, pieces: Layout, fold: Fold, tag: int) -> None:
    """The way back to everybody."""
    d, v = fold.dimension, fold.index(comm.Get_rank())
    for k in reversed(range(d)):
        other = v ^ (1 << k)
        mine = pieces.block(held, *span(v, k + 1, d))
        theirs = pieces.block(held, *span(other, k + 1, d))
        exchange(comm, mine, fold.rank(other), theirs, fold.rank(other), tag)


def collect(comm: Comm, held: Buffer, pieces: Layout, fold: Fold, root: int, tag: int) -> None:
    """The way back to the root: in each step the half of the ranks that are on the root's side receives."""
    d, v, top = fold.dimension, fold.index(comm.Get_rank()), fold.index(root)
    for k in reversed(range(d)):
        other = v ^ (1 << k)
        if (v ^ top) >> k == 0:
            receive(comm, pieces.block(held, *span(other, k + 1, d)), fold.rank(other), tag)
        elif (other ^ top) >> k == 0:
            send(comm, pieces.block(held, *span(v, k + 1, d)), fold.rank(other), tag)


def halved(pieces: Layout, itemsize: int, fold: Fold) -> Iterator[Round]:
    """The schedule of `halve`: what a rank is sent, it combines."""
    d = fold.dimension
    for k in range(d):
        sizes = [(v, pieces.size(*span(v, k + 1, d)) * itemsize) for v in range(fold.core)]
        yield without_empty(Transfer(fold.rank(v ^ (1 << k)), fold.rank(v), nbytes, nbytes) for v, nbytes in sizes)


def doubled(pieces: Layout, itemsize: int, fold: Fold) -> Iterator[Round]:
    """The schedule of `double`."""
    d = fold.dimension
    for k in reversed(range(d)):
        sizes = [(v, pieces.size(*span(v, k + 1, d)) * itemsize) for v in range(fold.core)]
        yield without_empty(Transfer(fold.rank(v), fold.rank(v ^ (1 << k)), nbytes) for v, nbytes in sizes)


def collected(pieces: Layout, itemsize: int, fold: Fold, root: int) -> Iterator[Round]:
    """The schedule of `collect`: in step k those send that differ from the root in bit k and in no higher one."""
    d, top = fold.dimension, fold.index(root)
    for k in reversed(range(d)):
        senders = [v ^ top ^ (1 << k) for v in range(1 << k)]
        sizes = [(v, pieces.size(*span(v, k + 1, d)) * itemsize) for v in senders]
        yield without_empty(Transfer(fold.rank(v), fold.rank(v ^ (1 << k)), nbytes) for v, nbytes in sizes)


def there_and_back(case: Case, t_s: Seconds, t_w: Seconds, *, foldings: int) -> Seconds | None:
    """The time of halving and of either way back, and of whole vectors folded in, or in and out; for equal pieces."""
    fold = Fold(case.p)
    if case.elements % fold.core:
        return None
    folded = foldings * (t_s + case.m * t_w) if fold.excess else 0
    shared = case.m // fold.core * (fold.core - 1)
    return folded + 2 * fold.dimension * t_s + 2 * shared * t_w if case.m else 0


def combined(case: Case) -> int | None:
    """Bytes combined on the longest path: a neighbour's vector, if any, and all pieces but one; for equal pieces."""
    fold = Fold(case.p)
    if case.elements % fold.core:
        return None
    return (case.m if fold.excess else 0) + case.m // fold.core * (fold.core - 1)
