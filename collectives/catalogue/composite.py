"""Algorithms made of others, one after the other: claims from the claims of the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeAlias, TypeVar

from collectives.catalogue.algorithm import Algorithm, Case, Claims, no_scratch
from collectives.catalogue.schedule import Schedule, Seconds

Part: TypeAlias = tuple[Algorithm, Case]
T = TypeVar("T")


def first_misfit(parts: Sequence[Part]) -> str | None:
    """Why the parts cannot serve their cases: the first reason, with the part's name."""
    for algorithm, case in parts:
        if reason := algorithm.fits(case):
            return f"{algorithm.operation} {algorithm.name}: {reason}"
    return None


def chain_schedules(parts: Sequence[Part]) -> Schedule | None:
    """One schedule after the other; a rank begins the next part when it has ended the one before."""
    plans = _known(algorithm.plan(case) for algorithm, case in parts)
    return None if plans is None else chain.from_iterable(plans)


def one_after_the_other(
    parts: Callable[[Case], Sequence[Part]], besides: Callable[[Case, int], int] = no_scratch
) -> Claims:
    """The claims of parts that follow each other, where every message of a part waits for the last of the part before.

    So it is where rank 0 is the last to end a part and the first to begin the next, as in a reduce and a broadcast.
    `besides` is what scratch memory the algorithm takes besides that of its parts.
    """

    def scratch(case: Case, rank: int) -> int:
        return sum(algorithm.scratch(part, rank) for algorithm, part in parts(case)) + besides(case, rank)

    def rounds(case: Case) -> int | None:
        known = _known(algorithm.rounds(part) for algorithm, part in parts(case))
        return None if known is None else sum(known)

    def time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        known: list[Seconds] | None = _known(algorithm.time(part, t_s, t_w) for algorithm, part in parts(case))
        return None if known is None else sum(known)

    def combined(case: Case) -> int | None:
        known = _known(algorithm.closed_combined(part) for algorithm, part in parts(case))
        return None if known is None else sum(known)

    return Claims(
        schedule=lambda case: chain_schedules(parts(case)),
        scratch=scratch,
        fits=lambda case: first_misfit(parts(case)),
        closed_rounds=rounds,
        closed_time=time,
        closed_combined=combined,
    )


def _known(claims: Iterable[T | None]) -> list[T] | None:
    """The claims of all parts, if each makes one."""
    found = list(claims)
    known = [claim for claim in found if claim is not None]
    return known if len(known) == len(found) else None
