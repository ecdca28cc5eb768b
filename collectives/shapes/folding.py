"""Making p ranks a power of two: some ranks are folded into their neighbours, and get the result at the end.

With p = 2^d + e the ranks 0 .. 2e-1 form e pairs of neighbours. One of each pair leaves: it hands its operand to the
other, and gets its result when the others are done. The 2^d that stay are numbered in rank order, so that reductions
keep to it. The even one of a pair stays, unless the odd one is to be kept (the root).

    p = 6     rank     0     1     2     3     4     5
              index    0 <-- .     1 <-- .     2     3         e = 2: ranks 1 and 3 leave
"""

from __future__ import annotations

from collectives.catalogue.schedule import Transfer, without_empty
from collectives.shapes.reductions import join
from collectives.tools.messages import receive, send
from collectives.tools.numbers import floor_log2
from collectives.tools.protocol import Buffer, Comm, Op


class Fold:
    """Which of p ranks stay, and their numbers.

    >>> fold = Fold(6)
    >>> fold.core, [fold.rank(v) for v in range(4)], [fold.index(r) for r in range(6)]
    (4, [0, 2, 4, 5], [0, 0, 1, 1, 2, 3])
    >>> [Fold(6, keep=3).rank(v) for v in range(4)]
    [0, 3, 4, 5]
    """

    __slots__ = ("core", "dimension", "excess", "keep")

    def __init__(self, p: int, keep: int = 0) -> None:
        self.dimension = floor_log2(p)
        self.core = 1 << self.dimension
        self.excess = p - self.core
        self.keep = keep

    def index(self, rank: int) -> int:
        """The number of a rank among those that stay; both of a pair have the same."""
        return rank // 2 if rank < 2 * self.excess else rank - self.excess

    def rank(self, index: int) -> int:
        """The rank that stays and has this number."""
        if index >= self.excess:
            return index + self.excess
        return self.keep if self.keep // 2 == index else 2 * index

    def stays(self, rank: int) -> bool:
        return self.rank(self.index(rank)) == rank

    def neighbour(self, rank: int) -> int | None:
        """The other of the pair."""
        return rank ^ 1 if rank < 2 * self.excess else None


def fold_in(comm: Comm, fold: Fold, held: Buffer, spare: Buffer, op: Op, tag: int) -> None:
    """A rank that stays takes in the operand of its neighbour."""
    rank = comm.Get_rank()
    neighbour = fold.neighbour(rank)
    if neighbour is not None:
        receive(comm, spare, neighbour, tag)
        join(op, held, spare, other_is_left=neighbour < rank)


def fold_out(comm: Comm, fold: Fold, result: Buffer, tag: int) -> None:
    """A rank that stays gives its neighbour the result."""
    neighbour = fold.neighbour(comm.Get_rank())
    if neighbour is not None:
        send(comm, result, neighbour, tag)


def leave(comm: Comm, own: Buffer, result: Buffer | None, tag: int) -> None:
    """A rank that leaves hands over its operand and, unless it is to have none, waits for its result."""
    neighbour = comm.Get_rank() ^ 1
    send(comm, own, neighbour, tag)
    if result is not None:
        receive(comm, result, neighbour, tag)


def folded_in(fold: Fold, nbytes: int) -> list[Transfer]:
    """The round of `fold_in`."""
    stay = (fold.rank(v) for v in range(fold.excess))
    return without_empty(Transfer(r ^ 1, r, nbytes, nbytes) for r in stay)


def folded_out(fold: Fold, nbytes: int) -> list[Transfer]:
    """The round of `fold_out`."""
    stay = (fold.rank(v) for v in range(fold.excess))
    return without_empty(Transfer(r, r ^ 1, nbytes) for r in stay)
