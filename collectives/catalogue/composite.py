"""Algorithms composed of others, one after the other: their claims from the claims of the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeAlias, TypeVar

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.conditions import no_scratch
from collectives.catalogue.schedule import Rounds, Seconds

AlgorithmCase: TypeAlias = tuple[Algorithm, Case]
T = TypeVar("T")


def first_unsupported(parts: Sequence[AlgorithmCase]) -> str | None:
    """Reason why the parts do not support their cases: the first one, with the part's name; None if all fit."""
    for algorithm, case in parts:
        if reason := algorithm.why_unsupported(case):
            return f"{algorithm.operation} {algorithm.name}: {reason}"
    return None


def chain_schedules(parts: Sequence[AlgorithmCase]) -> Rounds | None:
    """The schedules one after the other; a rank begins the next part when it has finished the previous one."""
    schedules = _all_or_none(algorithm.schedule_for(case) for algorithm, case in parts)
    return None if schedules is None else chain.from_iterable(schedules)


def sequential_claims(
    parts: Callable[[Case], Sequence[AlgorithmCase]], extra_scratch: Callable[[Case, int], int] = no_scratch
) -> Claims:
    """The claims of consecutive parts where every message of a part depends on the last message of the previous part.

    This holds if rank 0 finishes a part last and begins the next one first, as in a reduce followed by a broadcast.
    `extra_scratch` is the scratch memory of the algorithm in addition to that of its parts.
    """

    def scratch(case: Case, rank: int) -> int:
        return sum(algorithm.scratch(part, rank) for algorithm, part in parts(case)) + extra_scratch(case, rank)

    def time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        known: list[Seconds] | None = _all_or_none(algorithm.time(part, t_s, t_w) for algorithm, part in parts(case))
        return None if known is None else sum(known)

    def combined(case: Case) -> int | None:
        known = _all_or_none(algorithm.closed_combined(part) for algorithm, part in parts(case))
        return None if known is None else sum(known)

    return Claims(
        schedule=lambda case: chain_schedules(parts(case)),
        scratch=scratch,
        why_unsupported=lambda case: first_unsupported(parts(case)),
        closed_time=time,
        closed_combined=combined,
    )


def _all_or_none(claims: Iterable[T | None]) -> list[T] | None:
    """The claims of all parts, or None if one part makes no claim."""
    values = list(claims)
    known = [claim for claim in values if claim is not None]
    return known if len(known) == len(values) else None
