"""What Kang et al.'s allgathers between groups claim: `full_duplex` on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from collectives.between.full_duplex import PARAMETERS, Sides
from collectives.between.groups import Placed, beside, in_a_row, misfit, scratch_in, sent_in, setting
from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.tools.blocks import Layout


class Paper(NamedTuple):
    """What both sides know, on paper: the sides, the processes' numbers in A and B, and bytes in an element."""

    sides: Sides
    a: range
    b: range
    itemsize: int


def on_paper(case: Case) -> Paper:
    a, b, left, right = *case.groups, range(case.p), range(case.p, case.ranks)
    if a.p < b.p:
        a, b, left, right = b, a, right, left
    return Paper(Sides(True, Layout.nearly_equal(a.p, b.p), a.elements, b.elements), left, right, case.itemsize)


def parts_on_paper(counts: Sequence[int], ranks: Sequence[int], case: Case) -> Placed:
    """The claims of `gather_parts`."""
    plain = Case(len(ranks), itemsize=case.itemsize, in_place=True)
    if min(counts) == max(counts):
        return setting(case, PARAMETERS, "allgather"), replace(plain, m=counts[0] * case.itemsize), ranks
    return setting(case, PARAMETERS, "allgatherv"), replace(plain, counts=tuple(counts)), ranks


Back: TypeAlias = Callable[[Sides, int, int], tuple[int, int]]
"""Whom b_j gives something of its block in its c-th exchange, as a rank of A, and how many elements: back(sides, j, c)."""


def duplex_claims(
    back: Back, parts: Callable[[Case], list[Placed]], kinds: Callable[[Case], list[Placed]] | None = None
) -> Claims:
    """Exchanges between the groups, then `parts`, what is gathered within them; `kinds` has one of each kind of these."""

    def closed_sent(case: Case, rank: int) -> int | None:
        s, a, b, itemsize = on_paper(case)
        gathered = sent_in(parts(case), rank)
        if rank in a:
            exchanged = s.k_a
        else:
            j = b.index(rank)
            exchanged = sum(back(s, j, c)[1] for c in range(s.runs.size(j)))
        return None if gathered is None else exchanged * itemsize + gathered

    return Claims(
        schedule=lambda case: in_a_row(_exchanges(case, back), beside(parts(case))),
        fits=lambda case: misfit((kinds or parts)(case)),
        scratch=lambda case, rank: scratch_in(parts(case), rank),
        closed_sent=closed_sent,
    )


def _exchanges(case: Case, back: Back) -> Iterator[Round]:
    """In round c each b_j receives the block of the c-th rank of its run, and gives what `back` says."""
    s, a, b, itemsize = on_paper(case)
    for c in range(s.runs.largest):
        runs = [j for j in range(s.q) if c < s.runs.size(j)]
        taken = [Transfer(a[s.runs.start(j) + c], b[j], s.k_a * itemsize) for j in runs]
        given = [(j, *back(s, j, c)) for j in runs]
        yield without_empty([*taken, *(Transfer(b[j], a[i], size * itemsize) for j, i, size in given)])
