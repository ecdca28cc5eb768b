"""Every rank sends its operand to the other group's leader, which combines them one by one: reduce_scatter(_block).

The two leaders, rank 0 of each group, exchange their operands. Then each receives the operands of ranks 1, 2, ... of the
other group and combines them in rank order. At the end each leader distributes the result in its own group.
"""

from __future__ import annotations

from collections.abc import Callable

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Rounds, Transfer, without_empty
from collectives.inter_patterns.groups import (
    GroupPart,
    concurrent,
    group_and_rank,
    scratch_in,
    sent_in,
    sequential,
    unsupported,
)
from collectives.inter_patterns.leaders_exchange import total_bytes, unequal_totals
from collectives.patterns.reductions import join
from collectives.tools.blocks import scratch as spare_memory
from collectives.tools.messages import exchange, receive, send
from collectives.tools.protocol import Buffer, Intercomm, Op


def reduce_at_leaders(inter: Intercomm, sendbuf: Buffer, op: Op, tag: int) -> Buffer | None:
    """Return the result of the other group's operands on rank 0, None on other ranks."""
    if inter.Get_rank() > 0:
        send(inter, sendbuf, 0, tag)
        return None
    result: Buffer = spare_memory(sendbuf, sendbuf.size)
    spare = spare_memory(sendbuf, sendbuf.size)
    exchange(inter, sendbuf, 0, result, 0, tag)
    for rank in range(1, inter.Get_remote_size()):
        receive(inter, spare, rank, tag)
        join(op, result, spare, other_is_left=False)
    return result


# Claims --------------------------------------------------------------------------------------------------------------


def reduce_at_leaders_claims(distribution: Callable[[Case], list[GroupPart]]) -> Claims:
    """The claims; `distribution` returns the parts that scatter the received result."""

    def schedule(case: Case) -> Rounds | None:
        return sequential(_reduce_schedule(case), concurrent(distribution(case)))

    def closed_sent(case: Case, rank: int) -> int | None:
        within = sent_in(distribution(case), rank)
        return None if within is None else within + total_bytes(case)[0]

    def scratch(case: Case, rank: int) -> int:
        held = 0 if group_and_rank(case, rank)[1] else 2 * total_bytes(case)[0]
        return scratch_in(distribution(case), rank) + held

    return Claims(
        schedule=schedule,
        why_unsupported=lambda case: unequal_totals(case) or unsupported(distribution(case)),
        scratch=scratch,
        closed_sent=closed_sent,
        closed_combined=lambda case: None,
    )


def _reduce_schedule(case: Case) -> list[Round]:
    p, q, total = case.p, case.q, total_bytes(case)[0]
    rounds: list[Round] = [without_empty([Transfer(0, p, total), Transfer(p, 0, total)])]
    for rank in range(1, max(p, q)):
        to_b = [Transfer(rank, p, total, total)] if rank < p else []
        to_a = [Transfer(p + rank, 0, total, total)] if rank < q else []
        rounds.append(without_empty([*to_b, *to_a]))
    return rounds
