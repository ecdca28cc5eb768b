"""Prefixes by recursive doubling: the common text of scan and exscan.

Rank r keeps the combination of its group, which is itself at first, and the combination of all that come before it. In
round k it swaps the group's for that of the rank that differs in bit k, if there is one, and the two groups are one
from then on. What came from the left also goes in front of the prefix. Groups on the left are always complete, so any p
is served. A rank that will meet nobody any more does not extend its group.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case, Claims, any_case
from collectives.catalogue.closed_forms import one_message_a_round
from collectives.catalogue.schedule import Round, Transfer
from collectives.shapes.reductions import combine, join
from collectives.tools.blocks import check_same_size, copy_of, scratch
from collectives.tools.messages import exchange
from collectives.tools.numbers import ceil_log2, is_power_of_two
from collectives.tools.protocol import Buffer, Comm, Op


def prefixes(comm: Comm, own: Buffer, recvbuf: Buffer, op: Op, tag: int, *, inclusive: bool) -> None:
    """Leave the prefix in `recvbuf`; inclusive: it must be there to begin with, else rank 0's is not touched."""
    p, rank = comm.Get_size(), comm.Get_rank()
    check_same_size(own, recvbuf)
    if p == 1:
        return
    group, incoming = copy_of(own), scratch(own, own.size)
    begun = inclusive
    for k in range(ceil_log2(p)):
        other = rank ^ (1 << k)
        if other >= p:
            continue
        exchange(comm, group, other, incoming, other, tag)
        if other < rank and begun:
            combine(op, incoming, recvbuf)
        elif other < rank:
            recvbuf[0 : recvbuf.size] = incoming
            begun = True
        if _meets_more(rank, k, p):
            join(op, group, incoming, other_is_left=other < rank)


def prefix_claims(*, inclusive: bool) -> Claims:
    """What a scan, inclusive, or an exscan by this text claims."""

    def schedule(case: Case) -> Iterator[Round]:
        p, m = case.p, case.m
        for k in range(ceil_log2(p) if m else 0):
            pairs = [(r, r ^ (1 << k)) for r in range(p) if r ^ (1 << k) < p]
            yield [Transfer(a, b, m, m * _combinations(b, k, p, inclusive)) for a, b in pairs]

    def combined(case: Case) -> int | None:
        # The last rank combines most: two vectors in each round but one in the last and, exclusive, one in the first.
        fewer = 1 if inclusive else 2
        return max(0, 2 * ceil_log2(case.p) - fewer) * case.m if is_power_of_two(case.p) else None

    return Claims(
        schedule=schedule,
        scratch=lambda case, rank: 2 * case.m if case.p > 1 else 0,
        fits=any_case,
        closed_sent=lambda case, rank: case.m * sum(rank ^ (1 << k) < case.p for k in range(ceil_log2(case.p))),
        closed_combined=combined,
        **one_message_a_round(ceil_log2),
    )


def _combinations(rank: int, k: int, p: int, inclusive: bool) -> int:
    """How many vectors a rank combines in round k: in front of a prefix that has begun, and for its group."""
    begun = inclusive or rank & ((1 << k) - 1) > 0
    return (rank >> k & 1 and begun) + _meets_more(rank, k, p)


def _meets_more(rank: int, k: int, p: int) -> bool:
    """Whether a rank has a partner after round k: one on the left, or the nearest one on the right."""
    return rank >= 2 << k or rank + (2 << k) < p
