"""Claims of allgather, reduce_scatter_block and allreduce for the plans of `block_plans` and `array_plans`.

Closed forms hold if, in every round of the plan, all sending ranks send the same number of blocks and never wait;
`symmetric` returns whether this holds for a case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.schedule import Round, Seconds
from collectives.patterns.plans import block_plans as plans
from collectives.patterns.plans.array_plans import Plan, PlanRound, gather_rounds, reduce_rounds, sizes_of
from collectives.tools.blocks import Layout, load
from collectives.tools.protocol import Buffer, Comm, Op


def no_parameters(case: Case) -> Mapping[str, Any]:
    """Return nothing: the parameters of a plan that has none."""
    return {}


StepsOf: TypeAlias = Callable[[Case, int], plans.BlockExchanges]
"""Function (case, rank) -> the rank's steps; only p and the parameters of the case are used."""


class CasePlan(NamedTuple):
    """The plan of a case: the steps of a rank, and the rounds of all ranks, for the p and the parameters of the case."""

    steps_of: StepsOf
    rounds_of: Callable[[Case], Sequence[PlanRound]]

    @classmethod
    def of(cls, plan: Plan, parameters: Callable[[Case], Mapping[str, Any]] = no_parameters) -> CasePlan:
        """Return a plan with the parameters of the case."""
        return cls(
            lambda case, rank: plan.steps(case.p, rank, **parameters(case)),
            lambda case: plan.rounds(case.p, **parameters(case)),
        )


def allreduce_by(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, steps: plans.BlockExchanges, op: Op, tag: int) -> None:
    """Leave the result in `recvbuf` on every rank: a reduce-scatter of p nearly equal pieces, then an allgather."""
    load(recvbuf, sendbuf)
    pieces = Layout.nearly_equal(recvbuf.size, comm.Get_size())
    plans.reduce_planned(comm, recvbuf, pieces, steps, op, tag)
    plans.gather_planned(comm, recvbuf, pieces, steps, tag)


def always(case: Case) -> bool:
    """Return True: the function `symmetric` of plans in which all ranks send equal numbers of blocks in every case."""
    return True


def _rounds(plan: CasePlan, case: Case) -> int:
    return sum(bool(step.sent) for step in plan.steps_of(case, 0))


def allgather_claims(plan: CasePlan, symmetric: Callable[[Case], bool] = always) -> Claims:
    def schedule(case: Case) -> Iterator[Round]:
        yield from gather_rounds(plan.rounds_of(case) if case.m else (), sizes_of(case.layout, case.itemsize))

    def scratch(case: Case, rank: int) -> int:
        return sum(plans.gather_spares(case.layout, plan.steps_of(case, rank))) * case.itemsize

    def rounds(case: Case) -> int | None:
        if not case.m or case.p == 1:
            return 0
        return _rounds(plan, case) if symmetric(case) else None

    def time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        starts = rounds(case)
        return None if starts is None else starts * t_s + (case.p - 1) * case.m * t_w

    return Claims(schedule=schedule, scratch=scratch, closed_time=time)


def allgatherv_claims(plan: CasePlan) -> Claims:
    """The schedule and scratch memory of `gather_planned` on blocks of different sizes."""

    def schedule(case: Case) -> Iterator[Round]:
        yield from gather_rounds(plan.rounds_of(case), sizes_of(case.layout, case.itemsize))

    def scratch(case: Case, rank: int) -> int:
        return sum(plans.gather_spares(case.layout, plan.steps_of(case, rank))) * case.itemsize

    return Claims(schedule=schedule, scratch=scratch)


def reduce_scatter_claims(plan: CasePlan, symmetric: Callable[[Case], bool] = always) -> Claims:
    """The claims of a planned reduce_scatter_block."""
    gather = allgather_claims(plan, symmetric)

    def schedule(case: Case) -> Iterator[Round]:
        yield from reduce_rounds(plan.rounds_of(case) if case.m else (), sizes_of(case.layout, case.itemsize))

    def scratch(case: Case, rank: int) -> int:
        layout, steps = case.layout, plan.steps_of(case, rank)
        spares = sum(plans.reduce_spares(layout, steps, whole=True))
        return (spares + plans.partial_results(steps) * layout.largest) * case.itemsize

    return Claims(
        schedule=schedule,
        scratch=scratch,
        why_unsupported=commutative_only,
        closed_time=gather["closed_time"],
        closed_combined=lambda case: (case.p - 1) * case.m if case.m == 0 or case.p == 1 or symmetric(case) else None,
    )


def allreduce_claims(plan: CasePlan, symmetric: Callable[[Case], bool] = always) -> Claims:
    """The claims of `allreduce_by`; there are closed forms if p divides the number of elements."""

    def schedule(case: Case) -> Iterator[Round]:
        sizes = sizes_of(Layout.nearly_equal(case.elements, case.p), case.itemsize)
        messages = plan.rounds_of(case) if case.m else ()
        yield from reduce_rounds(messages, sizes)
        yield from gather_rounds(messages, sizes)

    def scratch(case: Case, rank: int) -> int:
        pieces, steps = Layout.nearly_equal(case.elements, case.p), plan.steps_of(case, rank)
        spares = (*plans.reduce_spares(pieces, steps), *plans.gather_spares(pieces, steps))
        return sum(spares) * case.itemsize

    def rounds(case: Case) -> int | None:
        if not case.m or case.p == 1:
            return 0
        return 2 * _rounds(plan, case) if symmetric(case) and case.elements % case.p == 0 else None

    def time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        starts = rounds(case)
        return None if starts is None else starts * t_s + 2 * (case.m - case.m // case.p) * t_w * (case.p > 1)

    def combined(case: Case) -> int | None:
        return None if rounds(case) is None else (case.p - 1) * (case.m // case.p)

    return Claims(
        schedule=schedule,
        scratch=scratch,
        why_unsupported=commutative_only,
        closed_time=time,
        closed_combined=combined,
    )
