"""Exchanges with all ranks at once, or with one batch of ranks after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from collectives.catalogue.algorithm import Case
from collectives.patterns.pairs.rounds import Blocks
from collectives.tools.messages import is_empty, wait_all
from collectives.tools.protocol import Comm

SendOrder: TypeAlias = Literal["right", "left", "ascending"]
"""The order of sends that start at the same time: to r+1, r+2, ..., to r-1, r-2, ..., or to 0, 1, ...

The receives go in the opposite direction, from r-1, r-2, ... or from r+1, r+2, ..., or are ascending, too.
"""

BATCH: Final = 32
"""The default number of distances in a batch, as in MPICH."""


def exchange_all_at_once(comm: Comm, outgoing: Blocks, incoming: Blocks, tag: int, *, order: SendOrder = "right") -> None:
    """Start all receives and all sends in the given order, and wait for all of them."""
    p, rank = comm.Get_size(), comm.Get_rank()
    _exchange_some(comm, outgoing, incoming, *_partners(rank, p, order), tag)


def exchange_in_batches(comm: Comm, outgoing: Blocks, incoming: Blocks, tag: int, *, batch: int = BATCH) -> None:
    """Start receives and sends, the nearest ranks to the left first, and wait for all of them after each batch.

    The first batch has one message less in each direction, because it includes the rank's block for itself, which is not
    sent.
    """
    p, rank = comm.Get_size(), comm.Get_rank()
    for first in range(0, p, batch or p):
        offsets = range(max(first, 1), min(first + (batch or p), p))
        _exchange_some(comm, outgoing, incoming, [(rank - i) % p for i in offsets], [(rank + i) % p for i in offsets], tag)


def _partners(rank: int, p: int, order: SendOrder) -> tuple[list[int], list[int]]:
    """The destinations and the sources of a rank, in order."""
    right, left = [(rank + i) % p for i in range(1, p)], [(rank - i) % p for i in range(1, p)]
    if order == "ascending":
        return sorted(right), sorted(right)
    return (left, right) if order == "left" else (right, left)


def _exchange_some(
    comm: Comm, outgoing: Blocks, incoming: Blocks, dests: Sequence[int], sources: Sequence[int], tag: int
) -> None:
    into, out = [(other, incoming(other)) for other in sources], [(other, outgoing(other)) for other in dests]
    requests = [comm.Irecv(block, other, tag) for other, block in into if not is_empty(block)]
    requests += [comm.Isend(block, other, tag) for other, block in out if not is_empty(block)]
    wait_all(requests)


def rounds_at_once(case: Case) -> int | None:
    """The number of messages of equal size that `exchange_all_at_once` takes as long as; None in ascending order."""
    return None if case.parameters.get("order", "right") == "ascending" else case.p - 1


def negative_batch(case: Case) -> str | None:
    """`why_unsupported` of an algorithm with a parameter `batch`."""
    batch = case.parameters.get("batch", BATCH)
    return None if batch >= 0 else f"batch = {batch} is negative"
