"""Claims of gatherv and scatterv between groups by a binomial tree: sizes move up first, then blocks move up or down."""

from __future__ import annotations

from functools import partial

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.conditions import any_case
from collectives.inter_patterns.groups import Step, part_claims, with_process_numbers
from collectives.inter_patterns.joined import process_numbers
from collectives.patterns.subtree_sizes import sizes_held, sizes_schedule, sizes_sent


def sized_claims(within: Algorithm) -> Claims:
    """The claims; `within` is the algorithm that moves the blocks if all ranks know their sizes."""

    def steps(case: Case) -> list[Step]:
        blocks = Case(case.q + 1, counts=(*(case.counts_b or ()), 0), root=case.q, itemsize=case.itemsize)
        sizes = partial(with_process_numbers, sizes_schedule(case.q + 1), process_numbers(case))
        return [sizes, (within, blocks, process_numbers(case))]

    derived = part_claims(
        steps,
        sent=lambda case, rank: sizes_sent(rank - case.p, case.q + 1) if rank >= case.p else 0,
        held=lambda case, rank: sizes_held(rank - case.p, case.q + 1) if rank >= case.p else 0,
    )
    return derived | Claims(why_unsupported=any_case)  # a leaf knows no counts, and so not the case of the part
