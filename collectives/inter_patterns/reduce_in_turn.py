"""Reduce in one group after the other and send each result to the other group, which scatters it: reduce_scatter(_block).

The first group reduces to its rank 0, its leader, which sends the result to the other leader; then the other group does
the same. At the end each leader scatters the received result in its own group.
"""

from __future__ import annotations

from collections.abc import Callable

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Rounds, Transfer, without_empty
from collectives.inter_patterns.groups import (
    UNDECIDED,
    GroupPart,
    a_comes_first,
    concurrent,
    group_and_rank,
    process_numbers,
    scratch_in,
    sent_in,
    sequential,
    unsupported,
)
from collectives.inter_patterns.leaders_exchange import total_bytes, unequal_totals
from collectives.tools.blocks import scratch as spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def reduce_in_turn(
    inter: Intercomm, local: Comm, sendbuf: Buffer, op: Op, reduce: Algorithm, first: bool, tag: int
) -> Buffer | None:
    """Return the result of the other group's operands on rank 0, None on other ranks. `first`: this group sends first."""
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


def reduce_in_turn_claims(reduce: Callable[[Case], Algorithm], distribution: Callable[[Case], list[GroupPart]]) -> Claims:
    """The claims; `distribution` returns the parts that scatter the received result."""

    def parts(case: Case) -> list[GroupPart]:
        reduces: list[GroupPart] = [
            (reduce(case), Case(len(ranks), nbytes, itemsize=case.itemsize, commutative=case.commutative), ranks)
            for ranks, nbytes in zip(process_numbers(case), total_bytes(case), strict=True)
        ]
        return [*reduces, *distribution(case)]

    def by_leaders(case: Case, rank: int) -> int:
        return 0 if group_and_rank(case, rank)[1] else total_bytes(case)[0]

    def why_unsupported(case: Case) -> str | None:
        if reason := unequal_totals(case):
            return reason
        return UNDECIDED.format(p=case.p) if a_comes_first(case) is None else unsupported(parts(case))

    def schedule(case: Case) -> Rounds | None:
        reduce_a, reduce_b, *scatters = parts(case)
        total = total_bytes(case)[0]
        there = sequential(concurrent([reduce_a]), [without_empty([Transfer(0, case.p, total)])])
        back = sequential(concurrent([reduce_b]), [without_empty([Transfer(case.p, 0, total)])])
        both = (there, back) if a_comes_first(case) else (back, there)
        return sequential(*both, concurrent(scatters))

    def closed_sent(case: Case, rank: int) -> int | None:
        within = sent_in(parts(case), rank)
        return None if within is None else within + by_leaders(case, rank)

    return Claims(
        schedule=schedule,
        why_unsupported=why_unsupported,
        scratch=lambda case, rank: scratch_in(parts(case), rank) + 2 * by_leaders(case, rank),
        closed_sent=closed_sent,
        closed_combined=lambda case: None,
    )
