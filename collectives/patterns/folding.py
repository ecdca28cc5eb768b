"""Reduce p ranks to a smaller number: some ranks are folded into a neighbor, and receive the result at the end.

With p = 2^d + e the ranks 0 .. 2e-1 form e pairs of neighbors. One of each pair is folded: it sends its operand to the
other, and receives its result when the others are done. The 2^d remaining ranks are numbered in rank order, so that
reductions preserve that order. The even rank of a pair remains, unless the odd one must remain (the root), or all odd ranks
remain (`remaining="odd"`), as in MPICH. Either the folded rank sends its whole operand, or the two exchange halves and
combine one half each, and the folded rank sends its half.

    p = 6     rank     0     1     2     3     4     5
              index    0 <-- .     1 <-- .     2     3         e = 2: ranks 1 and 3 are folded
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import one_of
from collectives.catalogue.schedule import Seconds, Transfer, message, without_empty
from collectives.patterns.reductions import combine_in_order
from collectives.tools.messages import exchange, receive, send
from collectives.tools.numbers import floor_log2
from collectives.tools.protocol import Buffer, Comm, Op

Remaining: TypeAlias = Literal["even", "odd"]
"""The rank of a pair that remains."""


unknown_rank: Final = one_of("remaining", "even", "odd")


def fold_of(case: Case) -> Fold:
    return Fold(case.p, remaining=case.parameters.get("remaining", "even"))


class Fold:
    """The ranks that remain out of p, and their indices.

    The number of remaining ranks, `core`, is by default the largest power of two; it is at least p/2.

    >>> fold = Fold(6)
    >>> fold.core, [fold.rank(v) for v in range(4)], [fold.index(r) for r in range(6)]
    (4, [0, 2, 4, 5], [0, 0, 1, 1, 2, 3])
    >>> [Fold(6, keep=3).rank(v) for v in range(4)]
    [0, 3, 4, 5]
    >>> [Fold(6, remaining="odd").rank(v) for v in range(4)]
    [1, 3, 4, 5]
    """

    __slots__ = ("core", "dimension", "excess", "keep", "odd")

    def __init__(self, p: int, keep: int = 0, core: int | None = None, remaining: Remaining = "even") -> None:
        self.core = 1 << floor_log2(p) if core is None else core
        self.dimension = floor_log2(self.core)
        self.excess = p - self.core
        self.keep = keep
        self.odd = remaining == "odd"

    def index(self, rank: int) -> int:
        """The index of a rank among the remaining ranks; both ranks of a pair have the same index."""
        return rank // 2 if rank < 2 * self.excess else rank - self.excess

    def rank(self, index: int) -> int:
        """The remaining rank with this index."""
        if index >= self.excess:
            return index + self.excess
        if self.odd:
            return 2 * index + 1
        return self.keep if self.keep // 2 == index else 2 * index

    def ranks(self, first: int, end: int) -> tuple[int, int]:
        """The range (first, end) of ranks that belong to a range of indices.

        Two ranks belong to each of the first `excess` indices, one rank to each other index.
        """
        return first + min(first, self.excess), end + min(end, self.excess)

    def stays(self, rank: int) -> bool:
        return self.rank(self.index(rank)) == rank

    def neighbor(self, rank: int) -> int | None:
        """The other rank of the pair, or None."""
        return rank ^ 1 if rank < 2 * self.excess else None


def fold_in(comm: Comm, fold: Fold, held: Buffer, spare: Buffer, op: Op, tag: int) -> None:
    """Receive the neighbor's operand and combine it; called on remaining ranks."""
    rank = comm.Get_rank()
    neighbor = fold.neighbor(rank)
    if neighbor is not None:
        receive(comm, spare, neighbor, tag)
        combine_in_order(op, held, spare, other_is_left=neighbor < rank)


def fold_halves(comm: Comm, fold: Fold, held: Buffer, spare: Buffer, op: Op, tag: int) -> None:
    """Combine one half of the operands on each rank of a pair, and collect both halves on the remaining rank.

    Called on all ranks; `spare` holds at least half an operand.
    """
    rank = comm.Get_rank()
    neighbor = fold.neighbor(rank)
    if neighbor is None:
        return
    half = held.size // 2
    low, high = held[0:half], held[half : held.size]
    mine, theirs = (low, high) if rank < neighbor else (high, low)
    incoming = spare[0 : mine.size]
    exchange(comm, theirs, neighbor, incoming, neighbor, tag)
    combine_in_order(op, mine, incoming, other_is_left=neighbor < rank)
    if fold.stays(rank):
        receive(comm, theirs, neighbor, tag)
    else:
        send(comm, mine, neighbor, tag)


def fold_out(comm: Comm, fold: Fold, result: Buffer, tag: int) -> None:
    """Send the result to the neighbor; called on remaining ranks."""
    neighbor = fold.neighbor(comm.Get_rank())
    if neighbor is not None:
        send(comm, result, neighbor, tag)


def fold_away(comm: Comm, own: Buffer, result: Buffer | None, tag: int) -> None:
    """Send the operand to the neighbor and, if `result` is not None, receive the result; called on folded ranks."""
    neighbor = comm.Get_rank() ^ 1
    send(comm, own, neighbor, tag)
    if result is not None:
        receive(comm, result, neighbor, tag)


def fold_in_round(fold: Fold, nbytes: int) -> list[Transfer]:
    stay = (fold.rank(v) for v in range(fold.excess))
    return without_empty(Transfer(r ^ 1, r, nbytes, nbytes) for r in stay)


def fold_out_round(fold: Fold, nbytes: int) -> list[Transfer]:
    stay = (fold.rank(v) for v in range(fold.excess))
    return without_empty(Transfer(r, r ^ 1, nbytes) for r in stay)


def folded_claims(fold_of: Callable[[Case], Fold], exchanges: Callable[[Case], int]) -> Claims:
    """The closed forms of an allreduce in which the remaining ranks exchange whole operands, `exchanges(case)` times."""

    def sent(case: Case, rank: int) -> int:
        fold = fold_of(case)
        return (exchanges(case) + (fold.neighbor(rank) is not None)) * case.m if fold.stays(rank) else case.m

    def time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
        return (exchanges(case) + (2 if fold_of(case).excess else 0)) * message(case.m, t_s, t_w)

    def combined(case: Case) -> int:
        return (exchanges(case) + (fold_of(case).excess > 0)) * case.m

    return Claims(closed_sent=sent, closed_time=time, closed_combined=combined)


def fold_halves_rounds(fold: Fold, elements: int, itemsize: int) -> list[list[Transfer]]:
    low = elements // 2 * itemsize
    high = elements * itemsize - low
    pairs = range(0, 2 * fold.excess, 2)
    exchanges = [t for r in pairs for t in (Transfer(r + 1, r, low, low), Transfer(r, r + 1, high, high, low))]
    stay = (fold.rank(v) for v in range(fold.excess))
    return [without_empty(exchanges), without_empty(Transfer(r ^ 1, r, low if r % 2 else high) for r in stay)]
