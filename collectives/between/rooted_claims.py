"""What rooted operations between groups claim, with the root in A and the leaves in B: `rooted` on paper."""

from __future__ import annotations

from collections.abc import Callable

from collectives.between.groups import Placed, beside, in_a_row, misfit, scratch_in, sent_in
from collectives.between.rooted import down, gathered, one_by_one, scattered, up
from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Schedule, Seconds, Transfer, message, without_empty


def gather_claims() -> Claims:
    """Of gather and gatherv: each leaf sends its block to the root, which takes in one after the other."""
    return Claims(
        schedule=up,
        closed_rounds=lambda case: sum(nbytes > 0 for nbytes in gathered(case)),
        closed_sent=lambda case, rank: 0 if rank < case.p else gathered(case)[rank - case.p],
        closed_time=lambda case, t_s, t_w: one_by_one(gathered(case), t_s, t_w),
    )


def scatter_claims() -> Claims:
    """Of scatter and scatterv: the root sends each leaf its block, one after the other."""
    return Claims(
        schedule=down,
        closed_rounds=lambda case: sum(nbytes > 0 for nbytes in scattered(case)),
        closed_sent=lambda case, rank: sum(scattered(case)) if rank == case.root else 0,
        closed_time=lambda case, t_s, t_w: one_by_one(scattered(case), t_s, t_w),
    )


def one_hop_claims(part: Callable[[Case], Placed], hop: Callable[[Case], Transfer], *, hop_first: bool) -> Claims:
    """Of bcast and reduce: `part` is what the leaves do by themselves, `hop` the message between their leader and the root.

    The hop comes before the part or after it; then what the leader sends is scratch memory of its own.
    """

    def schedule(case: Case) -> Schedule | None:
        between, within = [without_empty([hop(case)])], beside([part(case)])
        return in_a_row(between, within) if hop_first else in_a_row(within, between)

    def scratch(case: Case, rank: int) -> int:
        return scratch_in([part(case)], rank) + (0 if hop_first else hop_from(case, rank))

    def closed_rounds(case: Case) -> int | None:
        algorithm, leaves, _ = part(case)
        rounds = algorithm.rounds(leaves)
        return None if rounds is None else rounds + (hop(case).nbytes > 0)

    def closed_sent(case: Case, rank: int) -> int | None:
        within = sent_in([part(case)], rank)
        return None if within is None else within + hop_from(case, rank)

    def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        algorithm, leaves, _ = part(case)
        time = algorithm.time(leaves, t_s, t_w)
        return None if time is None else time + message(hop(case).nbytes, t_s, t_w)

    def closed_combined(case: Case) -> int | None:
        algorithm, leaves, _ = part(case)
        return algorithm.closed_combined(leaves)

    def hop_from(case: Case, rank: int) -> int:
        return hop(case).nbytes if hop(case).source == rank else 0

    return Claims(
        schedule=schedule,
        fits=lambda case: misfit([part(case)]),
        scratch=scratch,
        closed_rounds=closed_rounds,
        closed_sent=closed_sent,
        closed_time=closed_time,
        closed_combined=closed_combined,
    )
