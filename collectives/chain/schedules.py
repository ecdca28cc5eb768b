"""Schedules of operations on chains: the rounds of scans, allgathers, broadcasts and trees, for claims."""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Transfer
from collectives.chain.scan import HEADER
from collectives.tools.numbers import ceil_log2


def scan_rounds(size: int, nbytes: int) -> Iterator[Round]:
    """Rounds of a double scan of `nbytes` bytes: for each distance one to the right and one to the left."""
    for i in range(ceil_log2(size)):
        step = 1 << i
        yield [Transfer(rank, rank + step, HEADER + nbytes) for rank in range(size - step)]
        yield [Transfer(rank + step, rank, HEADER + nbytes) for rank in range(size - step)]


def allgather_rounds(size: int, nbytes: int) -> Iterator[Round]:
    """Rounds of an allgather of `nbytes` bytes per process."""
    for i in range(ceil_log2(size)):
        step = 1 << i
        yield [Transfer(r, r + step, HEADER + nbytes * min(step, r + 1)) for r in range(size - step)]
        yield [Transfer(r + step, r, HEADER + nbytes * min(step, size - step - r)) for r in range(size - step)]


def bcast_rounds(size: int, nbytes: int) -> Iterator[Round]:
    """Rounds of a broadcast of `nbytes` bytes from rank 0; messages of ranks without the data are headers."""
    for i in range(ceil_log2(size)):
        step = 1 << i
        yield [Transfer(r, r + step, HEADER + (nbytes if r < step else 0)) for r in range(size - step)]
        yield [Transfer(r + step, r, HEADER) for r in range(size - step)]


def gather_rounds(size: int, nbytes: int) -> Iterator[Round]:
    """Rounds of gathering `nbytes` bytes per process while the tree with root 0 is built.

    A process that leaves the chain sends the data of its subtree to its parent, then an address to its other neighbor.
    """
    for i in range(ceil_log2(size)):
        step = 1 << i
        leaving = range(step, size, 2 * step)
        yield [Transfer(r, r - step, HEADER + nbytes * min(step, size - r)) for r in leaving]
        yield [Transfer(r, r + step, HEADER) for r in leaving if r + step < size]


def scatter_rounds(size: int, nbytes: int) -> Iterator[Round]:
    """Rounds of a scatter down the tree with root 0, with `nbytes` bytes per process."""
    for i in reversed(range(ceil_log2(size))):
        step = 1 << i
        yield [Transfer(r - step, r, nbytes * min(step, size - r)) for r in range(step, size, 2 * step)]


def allgather_claims() -> Claims:
    """Claims of an algorithm whose only messages are one allgather on the chain."""
    return Claims(
        schedule=lambda case: allgather_rounds(case.p, case.m),
        closed_rounds=lambda case: 2 * ceil_log2(case.p),
    )


def holds_all_items(case: Case) -> int:
    """`holds` of an algorithm in which a process holds the items of all processes."""
    return case.p
