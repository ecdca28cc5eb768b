"""Claims of gatherv and scatterv between groups by a binomial tree: sizes move up first, then blocks move up or down."""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Rounds
from collectives.inter_patterns.groups import GroupPart, concurrent, scratch_in, sent_in, sequential, with_process_numbers
from collectives.inter_patterns.joined import process_numbers
from collectives.patterns.subtree_sizes import sizes_held, sizes_schedule, sizes_sent


def sized_claims(within: Algorithm) -> Claims:
    """The claims; `within` is the algorithm that moves the blocks if all ranks know their sizes."""

    def part(case: Case) -> GroupPart:
        counts = (*(case.counts_b or ()), 0)
        return within, Case(case.q + 1, counts=counts, root=case.q, itemsize=case.itemsize), process_numbers(case)

    def schedule(case: Case) -> Rounds | None:
        return sequential(with_process_numbers(sizes_schedule(case.q + 1), process_numbers(case)), concurrent([part(case)]))

    def scratch(case: Case, rank: int) -> int:
        sizes = sizes_held(rank - case.p, case.q + 1) if rank >= case.p else 0
        return scratch_in([part(case)], rank) + sizes

    def closed_sent(case: Case, rank: int) -> int | None:
        sizes = sizes_sent(rank - case.p, case.q + 1) if rank >= case.p else 0
        within = sent_in([part(case)], rank)
        return None if within is None else within + sizes

    return Claims(schedule=schedule, scratch=scratch, closed_sent=closed_sent)
