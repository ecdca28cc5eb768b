"""Claims of root gathering between groups (`root_gathering`).

`defaults` are the parameters of the algorithm; if they contain a `gatherv`, block sizes may differ, and each group first
gathers its counts: to all ranks by `allgather`, or, if there is none, to the root by `gather`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.conditions import any_case
from collectives.catalogue.schedule import Transfer, without_empty
from collectives.inter_patterns.groups import (
    GroupPart,
    Step,
    a_comes_first,
    in_both_groups,
    parameter_of,
    part_claims,
    process_numbers,
    undecided,
)

COUNT_BYTES = 8


def in_turn_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims of the version with one direction after the other, `root_gathering.exchange_in_turn`."""
    return _claims(defaults, in_turn_steps, undecided)


def at_once_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims of the version with both directions at the same time, `root_gathering.exchange_at_once`."""
    return _claims(defaults, at_once_steps, any_case)


def _claims(
    defaults: Mapping[str, Any],
    steps: Callable[[Mapping[str, Any], Case], list[Step]],
    why_unsupported: Callable[[Case], str | None],
) -> Claims:
    """A root sends and holds its whole group's blocks; the ranks to which the counts are gathered hold these."""

    def held(case: Case, rank: int) -> int:
        counted = "gatherv" in defaults and (_counting(defaults) == "allgather" or rank in (0, case.p))
        whole = sum(t.nbytes for t in _between_roots(case) if t.source == rank)
        return whole + (COUNT_BYTES * (case.p if rank < case.p else case.q) if counted else 0)

    return part_claims(partial(steps, defaults), held=held, why_unsupported=why_unsupported)


def parts(defaults: Mapping[str, Any], case: Case) -> list[GroupPart]:
    """The parts within the groups: A's and B's gather, then their broadcasts; then the gathers of counts, if any."""
    (a, b), (in_a, in_b) = case.groups, process_numbers(case)
    uneven = "gatherv" in defaults
    gather = parameter_of(case, defaults, "gatherv" if uneven else "gather")
    bcast = parameter_of(case, defaults, "bcast")
    options = options_of(bcast, case.parameters.get("segment_bytes", defaults.get("segment_bytes")))
    of_a, of_b = (t.nbytes for t in _between_roots(case))
    result = [(gather, a, in_a), (gather, b, in_b), *in_both_groups(bcast, case, (of_b, of_a), parameters=options)]
    if uneven:
        counts = parameter_of(case, defaults, _counting(defaults))
        result += in_both_groups(counts, case, (COUNT_BYTES, COUNT_BYTES), itemsize=COUNT_BYTES)
    return result


def options_of(bcast: Algorithm, segment_bytes: int | None) -> dict[str, Any]:
    """The parameters of the broadcast."""
    return {"segment_bytes": segment_bytes} if segment_bytes is not None and "segment_bytes" in bcast.parameters else {}


def in_turn_steps(defaults: Mapping[str, Any], case: Case) -> list[Step]:
    """The gathers and `exchange_in_turn`."""
    gather_a, gather_b, bcast_a, bcast_b, *counts = parts(defaults, case)
    return [*counts, gather_a, gather_b, *exchange_in_turn_steps(case, _between_roots(case), bcast_a, bcast_b)]


def exchange_in_turn_steps(
    case: Case, roots: tuple[Transfer, Transfer], bcast_a: GroupPart, bcast_b: GroupPart
) -> list[Step]:
    """The steps of `exchange_in_turn`; `roots` are A's message to B and B's to A."""
    a_to_b, b_to_a = (without_empty([transfer]) for transfer in roots)
    return [a_to_b, bcast_b, b_to_a, bcast_a] if a_comes_first(case) else [b_to_a, bcast_a, a_to_b, bcast_b]


def at_once_steps(defaults: Mapping[str, Any], case: Case) -> list[Step]:
    """The gathers and `exchange_at_once`."""
    gather_a, gather_b, bcast_a, bcast_b, *counts = parts(defaults, case)
    return [*counts, gather_a, gather_b, without_empty(_between_roots(case)), bcast_a, bcast_b]


def _counting(defaults: Mapping[str, Any]) -> str:
    """The name of the part that gathers counts."""
    return "allgather" if "allgather" in defaults else "gather"


def _between_roots(case: Case) -> tuple[Transfer, Transfer]:
    a, b = (g.layout.size(0, g.p) * g.itemsize for g in case.groups)
    return Transfer(0, case.p, a), Transfer(case.p, 0, b)
