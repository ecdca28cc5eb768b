"""Reduce in both groups, then the leaders exchange: first phases of allreduce and reduce_scatter(_block).

Each group reduces to its rank 0, its leader. The leaders exchange their results, both directions at once. Each leader
then distributes the received result within its group: to all ranks, or in blocks. Both groups do the same at the same
time, so neither has to go first. This is best for short messages.
"""

from __future__ import annotations

from collections.abc import Callable

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.conditions import any_case
from collectives.catalogue.family import chosen
from collectives.catalogue.schedule import Transfer, without_empty
from collectives.inter_patterns.full_duplex import nearly_equal_sizes
from collectives.inter_patterns.groups import (
    GroupPart,
    ReduceScatterCall,
    Step,
    in_both_groups,
    part_claims,
    process_numbers,
)
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.intra.scatterv.binomial import scatterv_binomial
from collectives.tools.blocks import spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def leaders_exchange(
    inter: Intercomm, local: Comm, sendbuf: Buffer, into: Buffer | None, op: Op, reduce: Algorithm, tag: int
) -> None:
    """Leave the result of the other group's operands in `into` of the leader; `into` is None on other ranks."""
    whole = spare_memory(sendbuf, sendbuf.size) if local.Get_rank() == 0 else None
    reduce.run(local, sendbuf, whole, op=op, root=0, tag=tag)
    if whole is not None:
        exchange(inter, whole, 0, into, 0, tag)


def exchange_and_scatter(
    call: ReduceScatterCall, *, reduce: Algorithm = reduce_binomial, scatterv: Algorithm = scatterv_binomial
) -> None:
    """Leave this rank's block of the other group's result in `recvbuf`.

    `counts` are the block sizes in this group; None if they are equal.
    """
    inter, local, sendbuf, recvbuf, counts, op, tag = call
    if counts is None:
        counts = nearly_equal_sizes(sendbuf.size, local.Get_size())
    theirs = spare_memory(sendbuf, sendbuf.size) if local.Get_rank() == 0 else None
    leaders_exchange(inter, local, sendbuf, theirs, op, reduce, tag)
    scatterv.run(local, theirs, recvbuf, counts, root=0, tag=tag)


# Claims --------------------------------------------------------------------------------------------------------------

Totals = Callable[[Case], tuple[int, int]]
"""Bytes of an operand in A and in B."""


def leaders_exchange_claims(
    reduce: Callable[[Case], Algorithm],
    totals: Totals,
    distribution: Callable[[Case], list[GroupPart]],
    *,
    held: int = 1,
    why_unsupported: Callable[[Case], str | None] = any_case,
) -> Claims:
    """The claims; `distribution` returns the parts that distribute the received result.

    Leaders hold `held` operands in scratch memory.
    """

    def steps(case: Case) -> list[Step]:
        a, b = totals(case)
        reduces = in_both_groups(reduce(case), case, (a, b), commutative=case.commutative)
        across = without_empty([Transfer(0, case.p, a), Transfer(case.p, 0, b)])
        return [*reduces, across, *distribution(case)]

    def operands(case: Case, rank: int) -> int:
        a, b = totals(case)
        return held * {0: a, case.p: b}.get(rank, 0)

    return part_claims(steps, held=operands, why_unsupported=why_unsupported, reduces=True)


def exchange_and_scatter_claims() -> Claims:
    return leaders_exchange_claims(
        lambda case: chosen(exchange_and_scatter, case)["reduce"],
        total_bytes,
        lambda case: blocks_of(case, chosen(exchange_and_scatter, case)["scatterv"]),
        held=2,
        why_unsupported=unequal_totals,
    )


def blocks_of(case: Case, scatter: Algorithm) -> list[GroupPart]:
    """The parts in which each leader scatters the blocks of its group, by a scatter or a scatterv."""

    def blocks(group: Case) -> Case:
        if scatter.operation == "scatter":
            return Case(group.p, group.m, itemsize=group.itemsize)
        return Case(group.p, counts=tuple(map(group.layout.size, range(group.p))), itemsize=group.itemsize)

    return [(scatter, blocks(group), ranks) for group, ranks in zip(case.groups, process_numbers(case), strict=True)]


def total_bytes(case: Case) -> tuple[int, int]:
    """Bytes of all blocks of A and of B."""
    a, b = (group.layout.size(0, group.p) * group.itemsize for group in case.groups)
    return a, b


def unequal_totals(case: Case) -> str | None:
    """Reason why two groups cannot reduce and scatter: the total sizes of their blocks differ; None if equal."""
    a, b = total_bytes(case)
    return None if a == b else f"the total sizes of the groups' blocks differ: {a} bytes in A, {b} bytes in B"
