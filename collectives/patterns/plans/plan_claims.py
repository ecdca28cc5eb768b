"""Claims of allgather, reduce_scatter_block and allreduce for the plans of `block_plans`.

A plan is a function of p, a rank and the algorithm's parameters. Closed forms hold if, in every round of the plan, all
sending ranks send the same number of blocks and never wait; `symmetric` returns whether this holds for a case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from collectives.catalogue.algorithm import Case, Claims, ScheduleAndScratch
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.schedule import Round, Seconds
from collectives.patterns.plans import block_plans as plans
from collectives.tools.blocks import Layout, load
from collectives.tools.protocol import Buffer, Comm, Op

StepsOf: TypeAlias = Callable[[Case, int], plans.BlockExchanges]
"""Function (case, rank) -> the rank's steps; only p and the parameters of the case are used."""


def allreduce_by(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, steps: plans.BlockExchanges, op: Op, tag: int) -> None:
    """Leave the result in `recvbuf` on every rank: a reduce-scatter of p nearly equal pieces, then an allgather."""
    load(recvbuf, sendbuf)
    pieces = Layout.nearly_equal(recvbuf.size, comm.Get_size())
    plans.reduce_planned(comm, recvbuf, pieces, steps, op, tag)
    plans.gather_planned(comm, recvbuf, pieces, steps, tag)


def always(case: Case) -> bool:
    """Return True: the function `symmetric` of plans in which all ranks send equal numbers of blocks in every case."""
    return True


def blocks_of_all_ranks(case: Case) -> int:
    """The number of blocks in the steps of all ranks: every rank receives the block of every other rank once."""
    return case.p * (case.p - 1)


def _all(steps_of: StepsOf, case: Case) -> list[plans.BlockExchanges]:
    return [steps_of(case, rank) for rank in range(case.p)]


def _rounds(steps_of: StepsOf, case: Case) -> int:
    return sum(bool(step.sent) for step in steps_of(case, 0))


def allgather_claims(steps_of: StepsOf, symmetric: Callable[[Case], bool] = always) -> Claims:
    """The claims of a planned allgather."""

    def schedule(case: Case) -> Iterator[Round]:
        yield from plans.gather_rounds(case.layout, case.itemsize, _all(steps_of, case) if case.m else [])

    def scratch(case: Case, rank: int) -> int:
        return sum(plans.gather_spares(case.layout, steps_of(case, rank))) * case.itemsize

    def rounds(case: Case) -> int | None:
        if not case.m or case.p == 1:
            return 0
        return _rounds(steps_of, case) if symmetric(case) else None

    def time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        starts = rounds(case)
        return None if starts is None else starts * t_s + (case.p - 1) * case.m * t_w

    return Claims(
        schedule=schedule, scratch=scratch, closed_rounds=rounds, closed_time=time, listed_blocks=blocks_of_all_ranks
    )


class PlannedClaims(ScheduleAndScratch):
    """The claims of a plan that are not closed forms."""

    listed_blocks: Callable[[Case], int]


def allgatherv_claims(steps_of: StepsOf) -> PlannedClaims:
    """The schedule and scratch memory of `gather_planned` on blocks of different sizes."""

    def schedule(case: Case) -> Iterator[Round]:
        yield from plans.gather_rounds(case.layout, case.itemsize, _all(steps_of, case))

    def scratch(case: Case, rank: int) -> int:
        return sum(plans.gather_spares(case.layout, steps_of(case, rank))) * case.itemsize

    return PlannedClaims(schedule=schedule, scratch=scratch, listed_blocks=blocks_of_all_ranks)


def reduce_scatter_claims(steps_of: StepsOf, symmetric: Callable[[Case], bool] = always) -> Claims:
    """The claims of a planned reduce_scatter_block."""
    gather = allgather_claims(steps_of, symmetric)

    def schedule(case: Case) -> Iterator[Round]:
        yield from plans.reduce_rounds(case.layout, case.itemsize, _all(steps_of, case) if case.m else [])

    def scratch(case: Case, rank: int) -> int:
        layout, steps = case.layout, steps_of(case, rank)
        spares = sum(plans.reduce_spares(layout, steps, whole=True))
        return (spares + plans.partial_results(steps) * layout.largest) * case.itemsize

    return Claims(
        schedule=schedule,
        scratch=scratch,
        listed_blocks=blocks_of_all_ranks,
        why_unsupported=commutative_only,
        closed_rounds=gather["closed_rounds"],
        closed_time=gather["closed_time"],
        closed_combined=lambda case: (case.p - 1) * case.m if case.m == 0 or case.p == 1 or symmetric(case) else None,
    )


def allreduce_claims(steps_of: StepsOf, symmetric: Callable[[Case], bool] = always) -> Claims:
    """The claims of `allreduce_by`; there are closed forms if p divides the number of elements."""

    def schedule(case: Case) -> Iterator[Round]:
        pieces, plan = Layout.nearly_equal(case.elements, case.p), _all(steps_of, case) if case.m else []
        yield from plans.reduce_rounds(pieces, case.itemsize, plan)
        yield from plans.gather_rounds(pieces, case.itemsize, plan)

    def scratch(case: Case, rank: int) -> int:
        pieces, steps = Layout.nearly_equal(case.elements, case.p), steps_of(case, rank)
        spares = (*plans.reduce_spares(pieces, steps), *plans.gather_spares(pieces, steps))
        return sum(spares) * case.itemsize

    def rounds(case: Case) -> int | None:
        if not case.m or case.p == 1:
            return 0
        return 2 * _rounds(steps_of, case) if symmetric(case) and case.elements % case.p == 0 else None

    def time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        starts = rounds(case)
        return None if starts is None else starts * t_s + 2 * (case.m - case.m // case.p) * t_w * (case.p > 1)

    def combined(case: Case) -> int | None:
        return None if rounds(case) is None else (case.p - 1) * (case.m // case.p)

    return Claims(
        schedule=schedule,
        scratch=scratch,
        listed_blocks=blocks_of_all_ranks,
        why_unsupported=commutative_only,
        closed_rounds=rounds,
        closed_time=time,
        closed_combined=combined,
    )
