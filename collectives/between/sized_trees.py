"""What gatherv and scatterv between groups by a binomial tree claim: sizes climb first, then blocks climb or descend."""

from __future__ import annotations

from collectives.between.groups import Placed, beside, in_a_row, placed, scratch_in, sent_in
from collectives.between.joined import numbers
from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Schedule
from collectives.shapes.subtree_sizes import sizes_held, sizes_sent, sizes_up


def sized_claims(within: Algorithm) -> Claims:
    """The claims; `within` moves the blocks if all know their sizes."""

    def part(case: Case) -> Placed:
        counts = (*(case.counts_b or ()), 0)
        return within, Case(case.q + 1, counts=counts, root=case.q, itemsize=case.itemsize), numbers(case)

    def schedule(case: Case) -> Schedule | None:
        return in_a_row(placed(sizes_up(case.q + 1), numbers(case)), beside([part(case)]))

    def scratch(case: Case, rank: int) -> int:
        sizes = sizes_held(rank - case.p, case.q + 1) if rank >= case.p else 0
        return scratch_in([part(case)], rank) + sizes

    def closed_sent(case: Case, rank: int) -> int | None:
        sizes = sizes_sent(rank - case.p, case.q + 1) if rank >= case.p else 0
        within = sent_in([part(case)], rank)
        return None if within is None else within + sizes

    return Claims(schedule=schedule, scratch=scratch, closed_sent=closed_sent)
