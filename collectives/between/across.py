"""Everybody has a block for every rank of the other group: the common texts of the alltoalls between groups.

`swap` starts all sends and receives at once: the receives first in the larger group, or by `first`, and the sends first in
the other, since Silva & Silva hoped for less contention. The result is the same, so groups of one size that were not told
both start with their receives.

`in_rounds`: with n = max(p, q), in round i = 0 .. n-1 those of the two groups meet whose ranks add up to i (mod n). Any two
meet once, and in no round does anybody meet two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from collectives.between.groups import comes_first, place
from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.tools.messages import exchange, is_empty, wait_all
from collectives.tools.protocol import Intercomm


def swap(
    inter: Intercomm, outgoing: Callable[[int], Any], incoming: Callable[[int], Any], first: bool | None, tag: int
) -> None:
    """Start everything, with the partners in an order that differs from rank to rank, and wait."""
    p, q, rank = inter.Get_size(), inter.Get_remote_size(), inter.Get_rank()
    sources = [((rank - i) % q, incoming((rank - i) % q)) for i in range(q)]
    dests = [((rank + i) % q, outgoing((rank + i) % q)) for i in range(q)]
    receives = [(inter.Irecv, block, other) for other, block in sources if not is_empty(block)]
    sends = [(inter.Isend, block, other) for other, block in dests if not is_empty(block)]
    sends_first = comes_first((p, 0), (q, 0), first) is False
    started = [*sends, *receives] if sends_first else [*receives, *sends]
    wait_all([start(block, other, tag) for start, block, other in started])


def partner(rank: int, i: int, own: int, other: int) -> int | None:
    """Whom a rank of a group of `own` meets in round i in the other; None if it rests.

    >>> [[partner(rank, i, 2, 3) for rank in range(2)] for i in range(3)]
    [[0, 2], [1, 0], [2, 1]]
    >>> [[partner(rank, i, 3, 2) for rank in range(3)] for i in range(3)]
    [[0, None, 1], [1, 0, None], [None, 1, 0]]
    """
    met = (i - rank) % max(own, other)
    return met if met < other else None


def in_rounds(inter: Intercomm, outgoing: Callable[[int], Any], incoming: Callable[[int], Any], tag: int) -> None:
    """Swap blocks with one rank of the other group after the other."""
    own, other, rank = inter.Get_size(), inter.Get_remote_size(), inter.Get_rank()
    for i in range(max(own, other)):
        met = partner(rank, i, own, other)
        if met is not None:
            exchange(inter, outgoing(met), met, incoming(met), met, tag)


# On paper ------------------------------------------------------------------------------------------------------------


def rounds_on_paper(case: Case) -> Iterator[Round]:
    """The schedule of `in_rounds`."""
    for i in range(max(case.p, case.q)):
        met = [(a, partner(a, i, case.p, case.q)) for a in range(case.p)]
        pairs = [(a, b) for a, b in met if b is not None]
        there = [Transfer(a, case.p + b, blocks(case, True, a, b)) for a, b in pairs]
        yield without_empty([*there, *(Transfer(case.p + b, a, blocks(case, False, b, a)) for a, b in pairs)])


def blocks(case: Case, from_a: bool, source: int, dest: int) -> int:
    """Bytes that a rank of one group has for one of the other."""
    traffic, each = (case.traffic, case.m) if from_a else (case.traffic_b, case.m_b)
    return each if traffic is None else traffic[source][dest] * case.itemsize


def bytes_sent(case: Case, rank: int) -> int:
    """All blocks of a rank: each travels once."""
    in_a, own = place(case, rank)
    traffic, each, others = (case.traffic, case.m, case.q) if in_a else (case.traffic_b, case.m_b, case.p)
    return each * others if traffic is None else sum(traffic[own]) * case.itemsize
