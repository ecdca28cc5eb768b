"""Families of algorithms that follow a plan: each function declares the algorithm of a module (`catalogue.family`).

The keyword-only arguments of `plan.steps` are the parameters of the algorithm. `symmetric` and the claims are those of
`plan_claims`; `why_unsupported` is about the plan only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.conditions import Condition, all_of, any_case, commutative_only
from collectives.catalogue.family import chosen, member
from collectives.patterns import families
from collectives.patterns.plans import block_plans as plans
from collectives.patterns.plans import plan_claims as claims
from collectives.patterns.plans.array_plans import Plan
from collectives.tools.blocks import Layout, load
from collectives.tools.protocol import Buffer, Comm, Op

StepsOf: TypeAlias = Callable[..., plans.BlockExchanges]
"""Function (p, rank, **parameters) -> the rank's steps."""


def planned_allgather(
    module: str, plan: Plan, *, symmetric: Callable[[Case], bool] = claims.always, why_unsupported: Condition = any_case
) -> Algorithm:
    """Declare an allgather."""
    made = claims.allgather_claims(_of(plan), symmetric) | Claims(why_unsupported=why_unsupported)
    return families.allgather(module, partial(_gather, plan.steps), parameters_of=plan.steps, **made)


def planned_allgatherv(module: str, plan: Plan, *, why_unsupported: Condition = any_case) -> Algorithm:
    """Declare an allgatherv."""
    made = claims.allgatherv_claims(_of(plan))
    gather = partial(_gather, plan.steps)
    return families.allgatherv(module, gather, parameters_of=plan.steps, why_unsupported=why_unsupported, **made)


def planned_reduce_scatter_block(
    module: str, plan: Plan, *, symmetric: Callable[[Case], bool] = claims.always, why_unsupported: Condition = any_case
) -> Algorithm:
    """Declare a reduce_scatter_block."""
    made = claims.reduce_scatter_claims(_of(plan), symmetric) | _commutative(why_unsupported)
    return families.reduce_scatter_block(module, partial(_scatter, plan.steps), parameters_of=plan.steps, **made)


def planned_allreduce(
    module: str, plan: Plan, *, symmetric: Callable[[Case], bool] = claims.always, why_unsupported: Condition = any_case
) -> Algorithm:
    """Declare an allreduce."""

    @member(module, plan.steps, **claims.allreduce_claims(_of(plan), symmetric) | _commutative(why_unsupported))
    def run(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0, **parameters: Any) -> None:
        """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
        steps = plan.steps(comm.Get_size(), comm.Get_rank(), **parameters)
        claims.allreduce_by(comm, sendbuf, recvbuf, steps, op, tag)

    return run


def _of(plan: Plan) -> claims.CasePlan:
    return claims.CasePlan.of(plan, partial(chosen, plan.steps))


def _commutative(why_unsupported: Condition) -> Claims:
    return Claims(why_unsupported=all_of(commutative_only, why_unsupported))


def _gather(steps: StepsOf, comm: Comm, recvbuf: Buffer, layout: Layout, tag: int, **parameters: Any) -> None:
    plans.gather_planned(comm, recvbuf, layout, steps(layout.p, comm.Get_rank(), **parameters), tag)


def _scatter(
    steps: StepsOf,
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    layout: Layout,
    op: Op,
    tag: int,
    **parameters: Any,
) -> None:
    rank, data = comm.Get_rank(), recvbuf if sendbuf is None else sendbuf
    result = plans.reduce_bounded(comm, data, layout, steps(layout.p, rank, **parameters), op, tag)
    load(recvbuf[0 : layout.size(rank)], result)
