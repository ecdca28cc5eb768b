"""Copies of an algorithm with other default parameters.

A composed algorithm calls its parts without parameters; such a copy is a part with parameters other than the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case

T = TypeVar("T")


def bound(algorithm: Algorithm, parameters: Mapping[str, Any]) -> Algorithm:
    """Return a copy of an algorithm whose code and claims use `parameters` as defaults.

    >>> from collectives import find
    >>> segmented = bound(find("bcast", "chain"), {"segment_bytes": 10})
    >>> segmented, segmented.rounds(Case(4, 100)), find("bcast", "chain").rounds(Case(4, 100))
    (<intra bcast chain>, 12, 3)
    """
    if not parameters:
        return algorithm

    def with_parameters(claim: Callable[..., T]) -> Callable[..., T]:
        @wraps(claim)
        def with_defaults(case: Case, *rest: Any) -> T:
            return claim(replace(case, parameters={**parameters, **case.parameters}), *rest)

        return with_defaults

    @wraps(algorithm.run)
    def run(*args: Any, **options: Any) -> Any:
        return algorithm.run(*args, **{**parameters, **options})

    return replace(
        algorithm,
        run=run,
        schedule=algorithm.schedule and with_parameters(algorithm.schedule),
        scratch=with_parameters(algorithm.scratch),
        why_unsupported=with_parameters(algorithm.why_unsupported),
        closed_rounds=algorithm.closed_rounds and with_parameters(algorithm.closed_rounds),
        closed_sent=algorithm.closed_sent and with_parameters(algorithm.closed_sent),
        closed_time=algorithm.closed_time and with_parameters(algorithm.closed_time),
        closed_combined=with_parameters(algorithm.closed_combined),
        parameters={**algorithm.parameters, **parameters},
        holds=algorithm.holds and with_parameters(algorithm.holds),
    )
