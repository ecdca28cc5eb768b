"""Exchanges with one rank after the other: which ranks exchange in each round.

In a round of pairs two ranks exchange their blocks for each other. If p is a power of two, rank r is paired with r xor i
in round i = 1 .. p-1. Otherwise the rounds are those of a round-robin tournament: let n be p or p-1, whichever is odd. Ranks
below n are paired if their sum is i (mod n). A rank that would be paired with itself is paired with rank n, or idle if p
is odd.

In ascending order each rank has the partners 0, 1, 2, ...: ranks are paired in round i = 1 .. 2p-3 if their sum is i.

In a *spreading* exchange there are no pairs: in each round rank r sends to r+d and receives from r-d (mod p), with the
distances d = 1, 2, .. p-1 (increasing) or d = -1, 1, -2, 2, .. (alternating).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.array_round import nonempty_round
from collectives.catalogue.conditions import one_of
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.tools.messages import exchange
from collectives.tools.numbers import is_power_of_two
from collectives.tools.protocol import Comm

Blocks: TypeAlias = Callable[[int], Any]
"""The block for or from another rank."""

Order: TypeAlias = Literal["tournament", "ascending"]
"""The order of pairs."""

Distances: TypeAlias = Literal["increasing", "alternating"]
"""The order of distances in a spreading exchange."""


def pair_rounds(p: int, order: Order = "tournament") -> int:
    """Number of rounds of pairs in which each rank is paired with each other rank.

    >>> [pair_rounds(p) for p in (1, 2, 3, 4, 5, 6)], [pair_rounds(p, "ascending") for p in (1, 2, 3, 4)]
    ([0, 1, 3, 3, 5, 5], [0, 1, 3, 5])
    """
    if p == 1:
        return 0
    return 2 * p - 3 if order == "ascending" else p - 1 + p % 2


def partner(rank: int, i: int, p: int, order: Order = "tournament") -> int | None:
    """The partner of a rank in round i = 0 .. pair_rounds(p, order) - 1; None if the rank is idle.

    >>> [[partner(r, i, 4) for r in range(4)] for i in range(3)]
    [[1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]]
    >>> [[partner(r, i, 5) for r in range(5)] for i in range(2)]
    [[None, 4, 3, 2, 1], [1, 0, 4, None, 2]]
    >>> [[partner(r, i, 6) for r in range(6)] for i in range(2)]
    [[5, 4, 3, 2, 1, 0], [1, 0, 4, 5, 2, 3]]
    >>> [[partner(r, i, 4, "ascending") for r in range(4)] for i in range(3)]
    [[1, 0, None, None], [2, None, 0, None], [3, 2, 1, 0]]
    """
    if order == "ascending":
        other = i + 1 - rank
        return other if 0 <= other < p and other != rank else None
    if is_power_of_two(p):
        return rank ^ (i + 1)
    n = p - 1 + p % 2
    if rank == n:
        return i * (n + 1) // 2 % n
    other = (i - rank) % n
    if other != rank:
        return other
    return n if n < p else None


def exchange_in_pairs(comm: Comm, outgoing: Blocks, incoming: Blocks, tag: int, *, order: Order = "tournament") -> None:
    """Exchange blocks with one rank after the other."""
    p, rank = comm.Get_size(), comm.Get_rank()
    for i in range(pair_rounds(p, order)):
        other = partner(rank, i, p, order)
        if other is not None:
            exchange(comm, outgoing(other), other, incoming(other), other, tag)


def distances(p: int, order: Distances = "increasing") -> list[int]:
    """The distances of a spreading exchange, in order.

    >>> distances(4), distances(5, "alternating"), distances(6, "alternating")
    ([1, 2, 3], [-1, 1, -2, 2], [-1, 1, -2, 2, -3])
    """
    if order == "increasing":
        return list(range(1, p))
    return [(-1 - i // 2) if i % 2 == 0 else 1 + i // 2 for i in range(p - 1)]


def exchange_spreading(comm: Comm, outgoing: Blocks, incoming: Blocks, tag: int, order: Distances = "increasing") -> None:
    """Send to the ranks at all distances, one after the other, and receive from the ranks at the opposite distances."""
    p, rank = comm.Get_size(), comm.Get_rank()
    for distance in distances(p, order):
        to, sender = (rank + distance) % p, (rank - distance) % p
        exchange(comm, outgoing(to), to, incoming(sender), sender, tag)


def spread(comm: Comm, outgoing: Blocks, incoming: Blocks, tag: int, *, distances: Distances = "increasing") -> None:
    """`exchange_spreading`, for algorithms with a parameter `distances`."""
    exchange_spreading(comm, outgoing, incoming, tag, distances)


def rounds_of_pairs(case: Case) -> int:
    return pair_rounds(case.p, case.parameters.get("order", "tournament"))


unknown_order: Final = one_of("order", "tournament", "ascending")


unknown_distances: Final = one_of("distances", "increasing", "alternating")


def pairs_schedule(case: Case) -> Iterator[Round]:
    p, order = case.p, case.parameters.get("order", "tournament")
    for i in range(pair_rounds(p, order)):
        pairs = ((r, partner(r, i, p, order)) for r in range(p))
        yield without_empty(Transfer(r, other, case.between(r, other)) for r, other in pairs if other is not None)


def spreading_schedule(case: Case) -> Iterator[Round]:
    p, ranks = case.p, np.arange(case.p)
    sizes = np.full((p, 1), case.m) if case.traffic is None else np.array(case.traffic).reshape(p, p) * case.itemsize
    for d in distances(p, case.parameters.get("distances", "increasing")):
        dest = (ranks + d) % p
        yield nonempty_round(ranks, dest, sizes[ranks, dest % sizes.shape[1]])
