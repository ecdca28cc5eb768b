"""Reasons against cases, and other claims, that many algorithms share."""

from __future__ import annotations

from collectives.catalogue.case import Case
from collectives.tools.numbers import is_power_of_two


def any_case(case: Case) -> str | None:
    """`why_unsupported` of an algorithm that supports all cases: no reason against any."""
    return None


def power_of_two_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm that needs p to be a power of two."""
    return None if is_power_of_two(case.p) else f"p = {case.p} is not a power of two"


def even_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm that needs an even p."""
    return None if case.p % 2 == 0 or case.p == 1 else f"p = {case.p} is odd"


def positive_segments_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm with a parameter `segment_bytes`."""
    size = case.parameters.get("segment_bytes", 1)
    return None if size > 0 else f"segment_bytes = {size} is not positive"


def commutative_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm that combines operands in any order."""
    return None if case.commutative else "the op is not commutative, but this algorithm does not combine in rank order"


def combines_nothing(case: Case) -> int:
    """`closed_combined` of an algorithm without a reduction."""
    return 0


def no_list(case: Case) -> int:
    """`listed_blocks` of a schedule without lists of blocks."""
    return 0


def no_scratch(case: Case, rank: int) -> int:
    """`scratch` of an algorithm without scratch memory."""
    return 0
