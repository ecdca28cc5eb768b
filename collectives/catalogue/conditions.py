"""Reasons against cases, and other claims, that many algorithms share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from collectives.catalogue.case import Case
from collectives.tools.nodes import unequal_nodes, unsupported_nodes
from collectives.tools.numbers import is_power_of_two

Condition: TypeAlias = Callable[[Case], str | None]
"""The reason against a case, or None."""


def any_case(case: Case) -> str | None:
    """`why_unsupported` of an algorithm that supports all cases: no reason against any."""
    return None


def power_of_two_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm that needs p to be a power of two."""
    return None if is_power_of_two(case.p) else f"p = {case.p} is not a power of two"


def even_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm that needs an even p."""
    return None if case.p % 2 == 0 or case.p == 1 else f"p = {case.p} is odd"


def positive(name: str) -> Condition:
    """`why_unsupported` of an algorithm with a numeric parameter of this name."""

    def condition(case: Case) -> str | None:
        value = case.parameters.get(name, 1)
        return None if value > 0 else f"{name} = {value} is not positive"

    return condition


def one_of(name: str, default: str, other: str) -> Condition:
    """`why_unsupported` of an algorithm with a parameter of two values."""

    def condition(case: Case) -> str | None:
        value = case.parameters.get(name, default)
        return None if value in (default, other) else f'{name} is {value!r}, but must be "{default}" or "{other}"'

    return condition


def all_of(*conditions: Condition) -> Condition:
    """`why_unsupported` of an algorithm with several conditions: the first reason."""
    return lambda case: next(filter(None, (condition(case) for condition in conditions)), None)


positive_segments_only: Final = positive("segment_bytes")


def commutative_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm that combines operands in any order."""
    return None if case.commutative else "the op is not commutative, but this algorithm does not combine in rank order"


def valid_nodes_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm with a parameter `nodes`, the node of each rank."""
    return unsupported_nodes(case.parameters.get("nodes", 1), case.p)


def equal_nodes_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm that needs the same number of ranks on every node of `nodes`."""
    return unequal_nodes(case.parameters.get("nodes", 1), case.p)


def combines_nothing(case: Case) -> int:
    """`closed_combined` of an algorithm without a reduction."""
    return 0


def no_scratch(case: Case, rank: int) -> int:
    """`scratch` of an algorithm without scratch memory."""
    return 0
