"""Prefixes by recursive doubling: shared code of scan and exscan.

Rank r holds the result of its group, which is initially only r, and the result of all ranks before it. In round k it
exchanges the group's result with the rank whose number differs in bit k, if that rank exists, and the two groups become
one. Data from lower ranks are also combined with the prefix, as its left operand. The groups of lower ranks are always
complete, so any p works. A rank without further partners does not extend its group.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.closed_forms import one_message_per_round
from collectives.catalogue.conditions import any_case
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.reductions import combine, combine_in_order
from collectives.tools.blocks import check_same_size, copy_of, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.numbers import ceil_log2, is_power_of_two
from collectives.tools.protocol import Buffer, Comm, Op


def prefixes(comm: Comm, own: Buffer, recvbuf: Buffer, op: Op, tag: int, inclusive: bool) -> None:
    """Leave the prefix in `recvbuf`. If inclusive, `recvbuf` must hold the operand; if exclusive, rank 0's is unchanged."""
    p, rank = comm.Get_size(), comm.Get_rank()
    check_same_size(own, recvbuf)
    if p == 1:
        return
    group, incoming = copy_of(own), spare_memory(own, own.size)
    has_prefix = inclusive
    for k in range(ceil_log2(p)):
        other = rank ^ (1 << k)
        if other >= p:
            continue
        exchange(comm, group, other, incoming, other, tag)
        if other < rank and has_prefix:
            combine(op, incoming, recvbuf)
        elif other < rank:
            recvbuf[0 : recvbuf.size] = incoming
            has_prefix = True
        if _has_partner_after(rank, k, p):
            combine_in_order(op, group, incoming, other_is_left=other < rank)


def prefix_claims(*, inclusive: bool) -> Claims:
    """The claims of a scan (inclusive) or an exscan with this code."""

    def schedule(case: Case) -> Iterator[Round]:
        p, m = case.p, case.m
        for k in range(ceil_log2(p) if m else 0):
            pairs = [(r, r ^ (1 << k)) for r in range(p) if r ^ (1 << k) < p]
            yield [Transfer(a, b, m, m * _combinations(b, k, p, inclusive)) for a, b in pairs]

    def combined(case: Case) -> int | None:
        # The last rank combines most: two vectors per round, but one in the last round and, if exclusive, one in the first.
        fewer = 1 if inclusive else 2
        return max(0, 2 * ceil_log2(case.p) - fewer) * case.m if is_power_of_two(case.p) else None

    return Claims(
        schedule=schedule,
        scratch=lambda case, rank: 2 * case.m if case.p > 1 else 0,
        why_unsupported=any_case,
        closed_sent=lambda case, rank: case.m * sum(rank ^ (1 << k) < case.p for k in range(ceil_log2(case.p))),
        closed_combined=combined,
        closed_time=one_message_per_round(ceil_log2),
    )


def _combinations(rank: int, k: int, p: int, inclusive: bool) -> int:
    """Number of vectors that a rank combines in round k: one for its prefix unless that is empty, and one for its group."""
    has_prefix = inclusive or rank & ((1 << k) - 1) > 0
    return (rank >> k & 1 and has_prefix) + _has_partner_after(rank, k, p)


def _has_partner_after(rank: int, k: int, p: int) -> bool:
    """Whether a rank has a partner after round k: a lower rank in any later round, or a higher rank in the next round."""
    return rank >= 2 << k or rank + (2 << k) < p
