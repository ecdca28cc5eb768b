"""Claims of rooted operations between groups, with the root in A and the leaves in B (`rooted`)."""

from __future__ import annotations

from collections.abc import Callable

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Seconds, Transfer, message, without_empty
from collectives.inter_patterns.groups import GroupPart, Step, part_claims
from collectives.inter_patterns.rooted import gather_schedule, gathered, scatter_schedule, scattered, sequential_time


def gather_claims() -> Claims:
    """The claims of gather and gatherv: each leaf sends its block to the root, which receives one after the other."""
    return Claims(
        schedule=gather_schedule,
        closed_sent=lambda case, rank: 0 if rank < case.p else gathered(case)[rank - case.p],
        closed_time=lambda case, t_s, t_w: sequential_time(gathered(case), t_s, t_w),
    )


def scatter_claims() -> Claims:
    """The claims of scatter and scatterv: the root sends each leaf its block, one after the other."""
    return Claims(
        schedule=scatter_schedule,
        closed_sent=lambda case, rank: sum(scattered(case)) if rank == case.root else 0,
        closed_time=lambda case, t_s, t_w: sequential_time(scattered(case), t_s, t_w),
    )


def one_hop_claims(
    part: Callable[[Case], GroupPart], hop: Callable[[Case], Transfer], *, hop_first: bool, keeps: bool = True
) -> Claims:
    """The claims of bcast, reduce, gather and scatter: `part` within the leaves, `hop` between their leader and the root.

    The hop precedes the part or follows it. `keeps` is whether the leader holds the message of the hop in scratch memory.
    """

    def steps(case: Case) -> list[Step]:
        both: list[Step] = [without_empty([hop(case)]), part(case)]
        return both if hop_first else both[::-1]

    def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        algorithm, leaves, _ = part(case)
        time = algorithm.time(leaves, t_s, t_w)
        return None if time is None else time + message(hop(case).nbytes, t_s, t_w)

    def closed_combined(case: Case) -> int | None:
        algorithm, leaves, _ = part(case)
        return algorithm.closed_combined(leaves)

    def held(case: Case, rank: int) -> int:
        return hop(case).nbytes if keeps and rank == case.p else 0

    return part_claims(steps, held=held) | Claims(closed_time=closed_time, closed_combined=closed_combined)
