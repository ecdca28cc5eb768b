"""Exchanges between all ranks of the two groups: shared code of the alltoalls between groups.

`exchange_all_at_once` starts all sends and receives at once. The larger group, or the one with `first=True`, starts its
receives first and the other group its sends, since Silva & Silva expected less contention. The result does not depend on
this order, so groups of equal size without `first` both start with their receives.

`exchange_in_rank_order` does the same with all receives first, and with partners 0, 1, 2, ... on every rank.

`exchange_in_rounds`: with n = max(p, q), in round i = 0 .. n-1 two ranks of the two groups are paired if their ranks add
up to i (mod n). Each pair is formed once, and no rank has two partners in a round.

`exchange_spreading`: in round i rank r sends to rank r+i of the other group and receives from rank r-i (mod n), if these
ranks exist, as MPICH does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Seconds, Transfer, message, without_empty
from collectives.inter_patterns.groups import comes_first, group_and_rank
from collectives.inter_patterns.posted import SynchronousRound
from collectives.tools.messages import exchange, is_empty, wait_all
from collectives.tools.protocol import Intercomm
from collectives.tools.unbuffered import UnbufferedBetween


def exchange_all_at_once(
    inter: Intercomm, outgoing: Callable[[int], Any], incoming: Callable[[int], Any], tag: int, *, first: bool | None = None
) -> None:
    """Start all sends and receives, with partners in an order that differs between ranks, and wait for all of them."""
    p, q, rank = inter.Get_size(), inter.Get_remote_size(), inter.Get_rank()
    sources = [((rank - i) % q, incoming((rank - i) % q)) for i in range(q)]
    dests = [((rank + i) % q, outgoing((rank + i) % q)) for i in range(q)]
    receives = [(inter.Irecv, block, other) for other, block in sources if not is_empty(block)]
    sends = [(inter.Isend, block, other) for other, block in dests if not is_empty(block)]
    sends_first = comes_first((p, 0), (q, 0), first) is False
    started = [*sends, *receives] if sends_first else [*receives, *sends]
    wait_all([start(block, other, tag) for start, block, other in started])


def exchange_in_rank_order(
    inter: Intercomm, outgoing: Callable[[int], Any], incoming: Callable[[int], Any], tag: int
) -> None:
    """Start all receives, then all sends, both in rank order, and wait for all of them."""
    others = range(inter.Get_remote_size())
    receives = [(inter.Irecv, block, other) for other in others if not is_empty(block := incoming(other))]
    sends = [(inter.Isend, block, other) for other in others if not is_empty(block := outgoing(other))]
    wait_all([start(block, other, tag) for start, block, other in (*receives, *sends)])


def partner(rank: int, i: int, own: int, other: int) -> int | None:
    """The partner in round i of a rank of a group of `own` ranks; None if the rank is idle.

    >>> [[partner(rank, i, 2, 3) for rank in range(2)] for i in range(3)]
    [[0, 2], [1, 0], [2, 1]]
    >>> [[partner(rank, i, 3, 2) for rank in range(3)] for i in range(3)]
    [[0, None, 1], [1, 0, None], [None, 1, 0]]
    """
    other_rank = (i - rank) % max(own, other)
    return other_rank if other_rank < other else None


def exchange_in_rounds(inter: Intercomm, outgoing: Callable[[int], Any], incoming: Callable[[int], Any], tag: int) -> None:
    """Exchange blocks with one rank of the other group after the other."""
    inter = UnbufferedBetween(inter)
    own, other, rank = inter.Get_size(), inter.Get_remote_size(), inter.Get_rank()
    for i in range(max(own, other)):
        other_rank = partner(rank, i, own, other)
        if other_rank is not None:
            exchange(inter, outgoing(other_rank), other_rank, incoming(other_rank), other_rank, tag)


def exchange_spreading(inter: Intercomm, outgoing: Callable[[int], Any], incoming: Callable[[int], Any], tag: int) -> None:
    """Send to one rank of the other group after the other, and receive from the ranks at the same distances."""
    inter = UnbufferedBetween(inter)
    other, rank = inter.Get_remote_size(), inter.Get_rank()
    n = max(inter.Get_size(), other)
    for i in range(n):
        dest, source = (rank + i) % n, (rank - i) % n
        block, place = outgoing(dest) if dest < other else None, incoming(source) if source < other else None
        exchange(inter, block, dest, place, source, tag)


# Claims --------------------------------------------------------------------------------------------------------------


def exchange_in_rounds_schedule(case: Case) -> Iterator[Round]:
    """The schedule of `exchange_in_rounds` on an `Unbuffered` communicator."""
    for i in range(max(case.p, case.q)):
        other_rank = [(a, partner(a, i, case.p, case.q)) for a in range(case.p)]
        pairs = [(a, b) for a, b in other_rank if b is not None]
        there = [Transfer(a, case.p + b, blocks(case, True, a, b)) for a, b in pairs]
        back = [Transfer(case.p + b, a, blocks(case, False, b, a)) for a, b in pairs]
        yield SynchronousRound(without_empty([*there, *back]))


def exchange_spreading_schedule(case: Case) -> Iterator[Round]:
    """The schedule of `exchange_spreading` on an `Unbuffered` communicator."""
    p, q, n = case.p, case.q, max(case.p, case.q)
    for i in range(n):
        there = [Transfer(a, p + b, blocks(case, True, a, b)) for a in range(p) if (b := (a + i) % n) < q]
        back = [Transfer(p + b, a, blocks(case, False, b, a)) for b in range(q) if (a := (b + i) % n) < p]
        yield SynchronousRound(without_empty([*there, *back]))


def even_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    """Time of either exchange of equal blocks: a rank of the smaller group is never idle."""
    return max(case.p, case.q) * message(max(case.m, case.m_b), t_s, t_w)


def blocks(case: Case, from_a: bool, source: int, dest: int) -> int:
    """Bytes from a rank of one group to a rank of the other."""
    traffic, block_bytes = (case.traffic, case.m) if from_a else (case.traffic_b, case.m_b)
    return block_bytes if traffic is None else traffic[source][dest] * case.itemsize


def bytes_sent(case: Case, rank: int) -> int:
    """Bytes of all blocks of a rank: each is sent once."""
    in_a, own = group_and_rank(case, rank)
    traffic, block_bytes, others = (case.traffic, case.m, case.q) if in_a else (case.traffic_b, case.m_b, case.p)
    return block_bytes * others if traffic is None else sum(traffic[own]) * case.itemsize
