"""Every rank sends its operand to the other group's leader, which combines them one by one: reduce_scatter(_block).

The two leaders, rank 0 of each group, exchange their operands. Then each receives the operands of ranks 1, 2, ... of the
other group and combines them in rank order. At the end each leader distributes the result in its own group.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.family import chosen
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.inter_patterns.groups import ReduceScatterCall, Step, group_and_rank, part_claims
from collectives.inter_patterns.leaders_exchange import blocks_of, total_bytes, unequal_totals
from collectives.intra.scatter.binomial import scatter_binomial
from collectives.intra.scatterv.binomial import scatterv_binomial
from collectives.patterns.reductions import combine_in_order
from collectives.tools.blocks import spare_memory
from collectives.tools.messages import exchange, receive, send
from collectives.tools.protocol import Buffer, Intercomm, Op


def reduce_and_scatter(call: ReduceScatterCall, *, scatter: Algorithm = scatter_binomial) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`; the blocks of a group are equal."""
    inter, local, sendbuf, recvbuf, _, op, tag = call
    scatter.run(local, reduce_at_leaders(inter, sendbuf, op, tag), recvbuf, root=0, tag=tag)


def reduce_and_scatterv(call: ReduceScatterCall, *, scatterv: Algorithm = scatterv_binomial) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`; `counts` are the block sizes in this group."""
    inter, local, sendbuf, recvbuf, counts, op, tag = call
    scatterv.run(local, reduce_at_leaders(inter, sendbuf, op, tag), recvbuf, counts, root=0, tag=tag)


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
        combine_in_order(op, result, spare, other_is_left=False)
    return result


# Claims --------------------------------------------------------------------------------------------------------------


def reduce_at_leaders_claims(code: Callable[..., None]) -> Claims:
    """The claims of `reduce_and_scatter` and `reduce_and_scatterv`."""

    def steps(case: Case) -> list[Step]:
        (scatter,) = chosen(code, case).values()
        return [partial(_reduce_schedule, case), *blocks_of(case, scatter)]

    return part_claims(
        steps,
        sent=lambda case, rank: total_bytes(case)[0],
        held=lambda case, rank: 0 if group_and_rank(case, rank)[1] else 2 * total_bytes(case)[0],
        why_unsupported=unequal_totals,
        reduces=True,
    )


def _reduce_schedule(case: Case) -> list[Round]:
    p, q, total = case.p, case.q, total_bytes(case)[0]
    rounds: list[Round] = [without_empty([Transfer(0, p, total), Transfer(p, 0, total)])]
    for rank in range(1, max(p, q)):
        to_b = [Transfer(rank, p, total, total)] if rank < p else []
        to_a = [Transfer(p + rank, 0, total, total)] if rank < q else []
        rounds.append(without_empty([*to_b, *to_a]))
    return rounds
