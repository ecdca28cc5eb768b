"""Chains on paper: the rounds of scans, floods and trees, for the claims of what is built of them."""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Transfer
from collectives.chain.scan import HEADER
from collectives.tools.numbers import ceil_log2


def scanning(size: int, nbytes: int) -> Iterator[Round]:
    """A double scan of values of `nbytes` bytes: a round to the right and one to the left, at each distance."""
    for i in range(ceil_log2(size)):
        step = 1 << i
        yield [Transfer(rank, rank + step, HEADER + nbytes) for rank in range(size - step)]
        yield [Transfer(rank + step, rank, HEADER + nbytes) for rank in range(size - step)]


def flooding(size: int, nbytes: int) -> Iterator[Round]:
    """An allgather of `nbytes` bytes from each."""
    for i in range(ceil_log2(size)):
        step = 1 << i
        yield [Transfer(r, r + step, HEADER + nbytes * min(step, r + 1)) for r in range(size - step)]
        yield [Transfer(r + step, r, HEADER + nbytes * min(step, size - step - r)) for r in range(size - step)]


def telling(size: int, nbytes: int) -> Iterator[Round]:
    """A broadcast of `nbytes` bytes from rank 0: who has them passes them on, and the others' messages are headers."""
    for i in range(ceil_log2(size)):
        step = 1 << i
        yield [Transfer(r, r + step, HEADER + (nbytes if r < step else 0)) for r in range(size - step)]
        yield [Transfer(r + step, r, HEADER) for r in range(size - step)]


def climbing(size: int, nbytes: int) -> Iterator[Round]:
    """Up the tree that has rank 0 as its root, with `nbytes` bytes from each: to the parent, then to the other side."""
    for i in range(ceil_log2(size)):
        step = 1 << i
        leaving = range(step, size, 2 * step)
        yield [Transfer(r, r - step, HEADER + nbytes * min(step, size - r)) for r in leaving]
        yield [Transfer(r, r + step, HEADER) for r in leaving if r + step < size]


def descending(size: int, nbytes: int) -> Iterator[Round]:
    """Down the same tree, with `nbytes` bytes for each."""
    for i in reversed(range(ceil_log2(size))):
        step = 1 << i
        yield [Transfer(r - step, r, nbytes * min(step, size - r)) for r in range(step, size, 2 * step)]


def flooding_claims() -> Claims:
    """Of what is one allgather on the chain, and local work."""
    return Claims(
        schedule=lambda case: flooding(case.p, case.m),
        closed_rounds=lambda case: 2 * ceil_log2(case.p),
    )


def all_items(case: Case) -> int:
    """`holds` where somebody has everybody's item at once."""
    return case.p
