"""Reduce in one group after the other and send each result to the other group, which scatters it: reduce_scatter(_block).

The first group reduces to its rank 0, its leader, which sends the result to the other leader; then the other group does
the same. At the end each leader scatters the received result in its own group.
"""

from __future__ import annotations

from collections.abc import Callable

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.family import chosen
from collectives.catalogue.schedule import Transfer, without_empty
from collectives.inter_patterns.groups import (
    ReduceScatterCall,
    Step,
    a_comes_first,
    comes_first,
    group_and_rank,
    in_both_groups,
    part_claims,
    undecided,
)
from collectives.inter_patterns.leaders_exchange import blocks_of, total_bytes, unequal_totals
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.intra.scatter.binomial import scatter_binomial
from collectives.intra.scatterv.binomial import scatterv_binomial
from collectives.tools.blocks import spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def reduce_in_turn_and_scatter(
    call: ReduceScatterCall,
    *,
    reduce: Algorithm = reduce_binomial,
    scatter: Algorithm = scatter_binomial,
    first: bool | None = None,
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`; the blocks of a group are equal."""
    inter, local, sendbuf, recvbuf, _, op, tag = call
    scatter.run(local, reduce_in_turn(inter, local, sendbuf, op, reduce, first, tag), recvbuf, root=0, tag=tag)


def reduce_in_turn_and_scatterv(
    call: ReduceScatterCall,
    *,
    reduce: Algorithm = reduce_binomial,
    scatterv: Algorithm = scatterv_binomial,
    first: bool | None = None,
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`; `counts` are the block sizes in this group."""
    inter, local, sendbuf, recvbuf, counts, op, tag = call
    scatterv.run(local, reduce_in_turn(inter, local, sendbuf, op, reduce, first, tag), recvbuf, counts, root=0, tag=tag)


def reduce_in_turn(
    inter: Intercomm, local: Comm, sendbuf: Buffer, op: Op, reduce: Algorithm, first: bool | None, tag: int
) -> Buffer | None:
    """Return the result of the other group's operands on rank 0, None on other ranks. `first`: this group sends first."""
    first = bool(comes_first((local.Get_size(), 0), (inter.Get_remote_size(), 0), first))
    leads = local.Get_rank() == 0
    whole, theirs = (spare_memory(sendbuf, sendbuf.size) for _ in range(2)) if leads else (None, None)
    for sending in (first, not first):
        if sending:
            reduce.run(local, sendbuf, whole, op=op, root=0, tag=tag)
            if whole is not None:
                send(inter, whole, 0, tag)
        elif theirs is not None:
            receive(inter, theirs, 0, tag)
    return theirs


# Claims --------------------------------------------------------------------------------------------------------------


def reduce_in_turn_claims(code: Callable[..., None]) -> Claims:
    """The claims of `reduce_in_turn_and_scatter` and `reduce_in_turn_and_scatterv`."""

    def steps(case: Case) -> list[Step]:
        reduce, scatter, _ = chosen(code, case).values()
        (a, b), p = total_bytes(case), case.p
        reduce_a, reduce_b = in_both_groups(reduce, case, (a, b), commutative=case.commutative)
        there: list[Step] = [reduce_a, without_empty([Transfer(0, p, a)])]
        back: list[Step] = [reduce_b, without_empty([Transfer(p, 0, b)])]
        return [*(there + back if a_comes_first(case) else back + there), *blocks_of(case, scatter)]

    return part_claims(
        steps,
        held=lambda case, rank: 0 if group_and_rank(case, rank)[1] else 2 * total_bytes(case)[0],
        why_unsupported=lambda case: unequal_totals(case) or undecided(case),
        reduces=True,
    )
