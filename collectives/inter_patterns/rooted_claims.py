"""Claims of rooted operations between groups, with the root in A and the leaves in B (`rooted`)."""

from __future__ import annotations

from collections.abc import Callable

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import no_scratch
from collectives.catalogue.schedule import Rounds, Seconds, Transfer, message, without_empty
from collectives.inter_patterns.groups import GroupPart, concurrent, part_claims, sequential
from collectives.inter_patterns.rooted import gather_schedule, gathered, scatter_schedule, scattered, sequential_time


def gather_claims() -> Claims:
    """The claims of gather and gatherv: each leaf sends its block to the root, which receives one after the other."""
    return Claims(
        schedule=gather_schedule,
        closed_rounds=lambda case: sum(nbytes > 0 for nbytes in gathered(case)),
        closed_sent=lambda case, rank: 0 if rank < case.p else gathered(case)[rank - case.p],
        closed_time=lambda case, t_s, t_w: sequential_time(gathered(case), t_s, t_w),
    )


def scatter_claims() -> Claims:
    """The claims of scatter and scatterv: the root sends each leaf its block, one after the other."""
    return Claims(
        schedule=scatter_schedule,
        closed_rounds=lambda case: sum(nbytes > 0 for nbytes in scattered(case)),
        closed_sent=lambda case, rank: sum(scattered(case)) if rank == case.root else 0,
        closed_time=lambda case, t_s, t_w: sequential_time(scattered(case), t_s, t_w),
    )


def one_hop_claims(part: Callable[[Case], GroupPart], hop: Callable[[Case], Transfer], *, hop_first: bool) -> Claims:
    """The claims of bcast and reduce: `part` within the leaves, `hop` between their leader and the root.

    The hop precedes the part or follows it; if it follows, the leader holds the message of the hop in scratch memory.
    """

    def schedule(case: Case) -> Rounds | None:
        between, within = [without_empty([hop(case)])], concurrent([part(case)])
        return sequential(between, within) if hop_first else sequential(within, between)

    def closed_rounds(case: Case) -> int | None:
        algorithm, leaves, _ = part(case)
        rounds = algorithm.rounds(leaves)
        return None if rounds is None else rounds + (hop(case).nbytes > 0)

    def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        algorithm, leaves, _ = part(case)
        time = algorithm.time(leaves, t_s, t_w)
        return None if time is None else time + message(hop(case).nbytes, t_s, t_w)

    def closed_combined(case: Case) -> int | None:
        algorithm, leaves, _ = part(case)
        return algorithm.closed_combined(leaves)

    def hop_from(case: Case, rank: int) -> int:
        return hop(case).nbytes if hop(case).source == rank else 0

    claims = part_claims(lambda case: [part(case)], schedule, sent=hop_from, held=no_scratch if hop_first else hop_from)
    return claims | Claims(closed_rounds=closed_rounds, closed_time=closed_time, closed_combined=closed_combined)
