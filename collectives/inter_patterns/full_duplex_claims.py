"""Claims of Kang et al.'s allgathers between groups (`full_duplex`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.inter_patterns.full_duplex import PARAMETERS, Sides
from collectives.inter_patterns.groups import GroupPart, parameter_of, part_claims, unsupported
from collectives.tools.blocks import Layout


class CaseSides(NamedTuple):
    """The sides of a case, the process numbers in A and B, and the bytes of an element."""

    sides: Sides
    a: range
    b: range
    itemsize: int


def case_sides(case: Case) -> CaseSides:
    """The sides of a case; A is the larger group."""
    a, b, left, right = *case.groups, range(case.p), range(case.p, case.ranks)
    if a.p < b.p:
        a, b, left, right = b, a, right, left
    return CaseSides(Sides(True, Layout.nearly_equal(a.p, b.p), a.elements, b.elements), left, right, case.itemsize)


def gather_part(counts: Sequence[int], ranks: Sequence[int], case: Case) -> GroupPart:
    """The part that `gather_parts` runs: algorithm, case and process numbers."""
    plain = Case(len(ranks), itemsize=case.itemsize, in_place=True)
    if min(counts) == max(counts):
        return parameter_of(case, PARAMETERS, "allgather"), replace(plain, m=counts[0] * case.itemsize), ranks
    return parameter_of(case, PARAMETERS, "allgatherv"), replace(plain, counts=tuple(counts)), ranks


Back: TypeAlias = Callable[[Sides, int, int], tuple[int, int]]
"""Function (sides, j, c) -> (rank of A, elements) of the data that b_j sends in its c-th exchange."""


def duplex_claims(
    back: Back, parts: Callable[[Case], list[GroupPart]], kinds: Callable[[Case], list[GroupPart]] | None = None
) -> Claims:
    """The claims of exchanges between the groups followed by `parts`, the gathers within them.

    `kinds` returns one gather of each kind, for a cheaper `why_unsupported`.
    """

    def sent(case: Case, rank: int) -> int:
        s, a, b, itemsize = case_sides(case)
        j = 0 if rank in a else b.index(rank)
        return itemsize * (s.k_a if rank in a else sum(back(s, j, c)[1] for c in range(s.runs.size(j))))

    claims = part_claims(lambda case: [partial(_exchanges, case, back), *parts(case)], sent=sent)
    return claims | Claims(why_unsupported=lambda case: unsupported((kinds or parts)(case)))


def _exchanges(case: Case, back: Back) -> Iterator[Round]:
    """In round c each b_j receives the block of the c-th rank of its run, and sends the data of `back`."""
    s, a, b, itemsize = case_sides(case)
    for c in range(s.runs.largest):
        runs = [j for j in range(s.q) if c < s.runs.size(j)]
        taken = [Transfer(a[s.runs.start(j) + c], b[j], s.k_a * itemsize) for j in runs]
        given = [(j, *back(s, j, c)) for j in runs]
        yield without_empty([*taken, *(Transfer(b[j], a[i], size * itemsize) for j, i, size in given)])
