"""Reduce in both groups, and the leaders exchange: how allreduce and reduce_scatter(_block) begin where messages are short.

Each group reduces to its rank 0, its leader; the leaders exchange what they have, both ways at once; then each hands on what
it received within its group, to all or in blocks. Both groups do the same at the same time, so nobody has to go first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from collectives.between.groups import Placed, beside, in_a_row, misfit, numbers, scratch_in, sent_in, setting
from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Schedule, Transfer, without_empty
from collectives.tools.blocks import scratch as spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def leaders_exchange(
    inter: Intercomm, local: Comm, sendbuf: Buffer, into: Buffer | None, op: Op, reduce: Algorithm, tag: int
) -> None:
    """Leave the combination of the other group's operands in `into` of the leader, who has one; nobody else does."""
    whole = spare_memory(sendbuf, sendbuf.size) if local.Get_rank() == 0 else None
    reduce.run(local, sendbuf, whole, op=op, root=0, tag=tag)
    if whole is not None:
        exchange(inter, whole, 0, into, 0, tag)


def exchange_and_scatter(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    op: Op,
    reduce: Algorithm,
    scatterv: Algorithm,
    tag: int,
) -> None:
    """Leave in `recvbuf` the rank's block of the other group's combination; `counts` are the own group's blocks."""
    theirs = spare_memory(sendbuf, sendbuf.size) if local.Get_rank() == 0 else None
    leaders_exchange(inter, local, sendbuf, theirs, op, reduce, tag)
    scatterv.run(local, theirs, recvbuf, counts, root=0, tag=tag)


# On paper ------------------------------------------------------------------------------------------------------------

Totals = Callable[[Case], tuple[int, int]]
"""Bytes of an operand in A and in B."""


def leaders_exchange_claims(
    reduce: Callable[[Case], Algorithm], totals: Totals, handed_on: Callable[[Case], list[Placed]], *, held: int = 1
) -> Claims:
    """The claims; `handed_on` is what the groups do with what they received, of which leaders hold `held` operands."""

    def parts(case: Case) -> list[Placed]:
        reduces: list[Placed] = [
            (reduce(case), Case(len(ranks), nbytes, itemsize=case.itemsize, commutative=case.commutative), ranks)
            for ranks, nbytes in zip(numbers(case), totals(case), strict=True)
        ]
        return [*reduces, *handed_on(case)]

    def by_leaders(case: Case, rank: int) -> int:
        a, b = totals(case)
        return {0: a, case.p: b}.get(rank, 0)

    def schedule(case: Case) -> Schedule | None:
        a, b = totals(case)
        across = without_empty([Transfer(0, case.p, a), Transfer(case.p, 0, b)])
        found = parts(case)
        return in_a_row(beside(found[:2]), [across], beside(found[2:]))

    def closed_sent(case: Case, rank: int) -> int | None:
        within = sent_in(parts(case), rank)
        return None if within is None else within + by_leaders(case, rank)

    return Claims(
        schedule=schedule,
        fits=lambda case: misfit(parts(case)),
        scratch=lambda case, rank: scratch_in(parts(case), rank) + held * by_leaders(case, rank),
        closed_sent=closed_sent,
        closed_combined=lambda case: None,
    )


def exchange_and_scatter_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims of that; `defaults` are the algorithm's parameters."""
    claims = leaders_exchange_claims(
        lambda case: setting(case, defaults, "reduce"),
        in_all,
        lambda case: blocks_of(case, setting(case, defaults, "scatterv")),
        held=2,
    )
    return claims | Claims(fits=lambda case: unequal(case) or claims["fits"](case))


def blocks_of(case: Case, scatterv: Algorithm) -> list[Placed]:
    """Each leader scatters the blocks of its group."""
    groups = [
        Case(group.p, counts=tuple(map(group.layout.size, range(group.p))), itemsize=group.itemsize)
        for group in case.groups
    ]
    return [(scatterv, group, ranks) for group, ranks in zip(groups, numbers(case), strict=True)]


def in_all(case: Case) -> tuple[int, int]:
    """All blocks of A and of B."""
    a, b = (group.layout.size(0, group.p) * group.itemsize for group in case.groups)
    return a, b


def unequal(case: Case) -> str | None:
    """Why two groups cannot reduce and scatter: their blocks must be as much in all."""
    a, b = in_all(case)
    return None if a == b else f"the blocks of the groups are not as much in all, {a} bytes in A and {b} in B"
