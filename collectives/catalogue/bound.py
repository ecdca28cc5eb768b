"""An algorithm with parameters of its own choice, to be a part of another one, which hands it none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case

T = TypeVar("T")


def bound(algorithm: Algorithm, parameters: Mapping[str, Any]) -> Algorithm:
    """The same algorithm, with other defaults: in its text, and in all that it claims.

    >>> from collectives import find
    >>> cut = bound(find("bcast", "chain"), {"segment_bytes": 10})
    >>> cut, cut.rounds(Case(4, 100)), find("bcast", "chain").rounds(Case(4, 100))
    (<intra bcast chain>, 12, 3)
    """
    if not parameters:
        return algorithm

    def told(claim: Callable[..., T]) -> Callable[..., T]:
        @wraps(claim)
        def of_case(case: Case, *rest: Any) -> T:
            return claim(replace(case, parameters={**parameters, **case.parameters}), *rest)

        return of_case

    @wraps(algorithm.run)
    def run(*args: Any, **options: Any) -> Any:
        return algorithm.run(*args, **{**parameters, **options})

    return replace(
        algorithm,
        run=run,
        schedule=algorithm.schedule and told(algorithm.schedule),
        scratch=told(algorithm.scratch),
        fits=told(algorithm.fits),
        closed_rounds=algorithm.closed_rounds and told(algorithm.closed_rounds),
        closed_sent=algorithm.closed_sent and told(algorithm.closed_sent),
        closed_time=algorithm.closed_time and told(algorithm.closed_time),
        closed_combined=told(algorithm.closed_combined),
        parameters={**algorithm.parameters, **parameters},
        holds=algorithm.holds and told(algorithm.holds),
    )
