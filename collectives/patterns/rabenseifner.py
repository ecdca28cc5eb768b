"""Vector halving with distance doubling: the reduce-scatter in Rabenseifner's algorithms, and its two inverses.

A vector is cut into 2^d pieces. In step k = 0 .. d-1 the ranks v and v with bit k flipped (indices of `folding`) split
their common range of pieces: each sends the half that the other keeps, the lower half to the rank whose bit is 0, and
combines the received half with its own. Neighbors combine first, so operands are combined in rank order. After d steps v
has one fully reduced piece, the one whose number is v with its bits reversed. The inverse, from k = d-1 to 0, sends all
pieces to all ranks (allreduce) or to the root (reduce).

    2^d = 4   start      k = 0      k = 1               pieces that a rank still combines
    v = 0     0123       01..       0...
    v = 1     0123       ..23       ..2.
    v = 2     0123       01..       .1..
    v = 3     0123       ..23       ...3
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Seconds, Transfer, without_empty
from collectives.patterns.folding import Fold
from collectives.patterns.halving import exchange_halves, exchange_halves_schedule, span
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange, receive, send
from collectives.tools.protocol import Buffer, Comm, Op


def spare_size(pieces: Layout, fold: Fold, rank: int, *, halves: bool = False) -> int:
    """Elements of the longest message that a rank combines: a neighbor's vector or half of it, otherwise half a vector."""
    whole, neighbor = pieces.size(0, fold.core), fold.neighbor(rank)
    if neighbor is not None and halves:
        own = whole // 2 if rank < neighbor else whole - whole // 2
        return max(own, pieces.size(*span(fold.index(rank), 1, fold.dimension))) if fold.stays(rank) else own
    if neighbor is not None:
        return whole if fold.stays(rank) else 0
    return pieces.size(*span(fold.index(rank), 1, fold.dimension)) if fold.dimension else 0


def halve(comm: Comm, held: Buffer, spare: Buffer, pieces: Layout, fold: Fold, op: Op, tag: int) -> None:
    """Leave the result of the rank's own piece in that piece of `held`."""
    d = fold.dimension
    exchange_halves(comm, held, spare, pieces, fold, range(d), lambda v, k: span(v, k + 1, d), op, tag)


def double(comm: Comm, held: Buffer, pieces: Layout, fold: Fold, tag: int) -> None:
    """The inverse of `halve` as an allgather: all pieces to all ranks."""
    d, v = fold.dimension, fold.index(comm.Get_rank())
    for k in reversed(range(d)):
        other = v ^ (1 << k)
        mine = pieces.block(held, *span(v, k + 1, d))
        theirs = pieces.block(held, *span(other, k + 1, d))
        exchange(comm, mine, fold.rank(other), theirs, fold.rank(other), tag)


def collect(comm: Comm, held: Buffer, pieces: Layout, fold: Fold, root: int, tag: int) -> None:
    """The inverse of `halve` as a gather: in each step the half of the ranks on the root's side receives.

    A root that is folded takes the place of index 0, whose rank sends it its piece.
    """
    rank, d = comm.Get_rank(), fold.dimension
    replaced = not fold.stays(root)
    v, top = (0, 0) if replaced and rank == root else (fold.index(rank), 0 if replaced else fold.index(root))
    if replaced and rank == root:
        receive(comm, pieces.block(held, 0), fold.rank(0), tag)
    elif replaced and v == 0:
        send(comm, pieces.block(held, 0), root, tag)
        return
    for k in reversed(range(d)):
        other = v ^ (1 << k)
        partner = root if replaced and other == 0 else fold.rank(other)
        if (v ^ top) >> k == 0:
            receive(comm, pieces.block(held, *span(other, k + 1, d)), partner, tag)
        elif (other ^ top) >> k == 0:
            send(comm, pieces.block(held, *span(v, k + 1, d)), partner, tag)


def halve_schedule(pieces: Layout, itemsize: int, fold: Fold) -> Iterator[Round]:
    """The schedule of `halve`: a rank combines all data that it receives."""
    d = fold.dimension
    return exchange_halves_schedule(pieces, itemsize, fold, range(d), lambda v, k: span(v, k + 1, d))


def double_schedule(pieces: Layout, itemsize: int, fold: Fold) -> Iterator[Round]:
    d = fold.dimension
    for k in reversed(range(d)):
        sizes = [(v, pieces.size(*span(v, k + 1, d)) * itemsize) for v in range(fold.core)]
        yield without_empty(Transfer(fold.rank(v), fold.rank(v ^ (1 << k)), nbytes) for v, nbytes in sizes)


def collect_schedule(pieces: Layout, itemsize: int, fold: Fold, root: int) -> Iterator[Round]:
    """The schedule of `collect`: in step k a rank sends if it differs from the root in bit k and in no higher bit."""
    d, replaced = fold.dimension, not fold.stays(root)
    top, ranks = 0 if replaced else fold.index(root), [fold.rank(v) for v in range(fold.core)]
    if replaced:
        yield without_empty([Transfer(ranks[0], root, pieces.size(0) * itemsize)])
        ranks[0] = root
    for k in reversed(range(d)):
        senders = [v ^ top ^ (1 << k) for v in range(1 << k)]
        sizes = [(v, pieces.size(*span(v, k + 1, d)) * itemsize) for v in senders]
        yield without_empty(Transfer(ranks[v], ranks[v ^ (1 << k)], nbytes) for v, nbytes in sizes)


def halving_doubling_time(case: Case, t_s: Seconds, t_w: Seconds, *, foldings: int) -> Seconds | None:
    """Time of `halve`, one of its inverses, and `foldings` messages with whole vectors; None if pieces differ in size."""
    fold = Fold(case.p)
    if case.elements % fold.core:
        return None
    folded = foldings * (t_s + case.m * t_w) if fold.excess else 0
    shared = case.m // fold.core * (fold.core - 1)
    return folded + 2 * fold.dimension * t_s + 2 * shared * t_w if case.m else 0


def combined(case: Case) -> int | None:
    """Bytes combined on the longest path: all pieces but one and, if ranks are folded, a vector; None if pieces differ."""
    fold = Fold(case.p)
    if case.elements % fold.core:
        return None
    return (case.m if fold.excess else 0) + case.m // fold.core * (fold.core - 1)
