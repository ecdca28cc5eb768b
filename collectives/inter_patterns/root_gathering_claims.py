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
from collectives.catalogue.schedule import Rounds, Transfer, without_empty
from collectives.inter_patterns.groups import (
    GroupPart,
    a_comes_first,
    concurrent,
    parameter_of,
    part_claims,
    process_numbers,
    sequential,
    undecided,
)

COUNT_BYTES = 8


def in_turn_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims of the version with one direction after the other, `root_gathering.exchange_in_turn`."""
    return _claims(defaults, in_turn_schedule, undecided)


def at_once_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims of the version with both directions at the same time, `root_gathering.exchange_at_once`."""
    return _claims(defaults, at_once_schedule, any_case)


def _claims(
    defaults: Mapping[str, Any],
    schedule: Callable[[Mapping[str, Any], Case], Rounds | None],
    why_unsupported: Callable[[Case], str | None],
) -> Claims:
    """A root sends and holds its whole group's blocks; the ranks to which the counts are gathered hold these."""

    def sent(case: Case, rank: int) -> int:
        return sum(t.nbytes for t in _between_roots(case) if t.source == rank)

    def held(case: Case, rank: int) -> int:
        counted = "gatherv" in defaults and (_counting(defaults) == "allgather" or rank in (0, case.p))
        return sent(case, rank) + (COUNT_BYTES * (case.p if rank < case.p else case.q) if counted else 0)

    return part_claims(
        partial(parts, defaults), partial(schedule, defaults), sent=sent, held=held, why_unsupported=why_unsupported
    )


def parts(defaults: Mapping[str, Any], case: Case) -> list[GroupPart]:
    """The parts within the groups: A's and B's gather, then their broadcasts; then the gathers of counts, if any."""
    (a, b), (in_a, in_b) = case.groups, process_numbers(case)
    uneven = "gatherv" in defaults
    gather = parameter_of(case, defaults, "gatherv" if uneven else "gather")
    bcast = parameter_of(case, defaults, "bcast")
    options = options_of(bcast, case.parameters.get("segment_bytes", defaults.get("segment_bytes")))
    of_a, of_b = (Case(1, g.layout.size(0, g.p) * g.itemsize, itemsize=g.itemsize) for g in (a, b))
    result: list[GroupPart] = [
        (gather, a, in_a),
        (gather, b, in_b),
        (bcast, Case(a.p, of_b.m, itemsize=a.itemsize, parameters=options), in_a),
        (bcast, Case(b.p, of_a.m, itemsize=b.itemsize, parameters=options), in_b),
    ]
    if uneven:
        counts = parameter_of(case, defaults, _counting(defaults))
        result += [(counts, Case(g.p, COUNT_BYTES, itemsize=COUNT_BYTES), ranks) for g, ranks in ((a, in_a), (b, in_b))]
    return result


def options_of(bcast: Algorithm, segment_bytes: int | None) -> dict[str, Any]:
    """The parameters of the broadcast."""
    return {"segment_bytes": segment_bytes} if segment_bytes is not None and "segment_bytes" in bcast.parameters else {}


def in_turn_schedule(defaults: Mapping[str, Any], case: Case) -> Rounds | None:
    """The schedule of the gathers and `exchange_in_turn`."""
    gather_a, gather_b, bcast_a, bcast_b, *counts = parts(defaults, case)
    ways = exchange_in_turn_schedule(case, _between_roots(case), bcast_a, bcast_b)
    return sequential(concurrent(counts), concurrent([gather_a, gather_b]), ways)


def exchange_in_turn_schedule(
    case: Case, roots: tuple[Transfer, Transfer], bcast_a: GroupPart, bcast_b: GroupPart
) -> Rounds | None:
    """The schedule of `exchange_in_turn`; `roots` are A's message to B and B's to A."""
    a_to_b, b_to_a = ([without_empty([transfer])] for transfer in roots)
    there, back = sequential(a_to_b, concurrent([bcast_b])), sequential(b_to_a, concurrent([bcast_a]))
    return sequential(there, back) if a_comes_first(case) else sequential(back, there)


def at_once_schedule(defaults: Mapping[str, Any], case: Case) -> Rounds | None:
    """The schedule of the gathers and `exchange_at_once`."""
    gather_a, gather_b, bcast_a, bcast_b, *counts = parts(defaults, case)
    roots = [without_empty(_between_roots(case))]
    return sequential(concurrent([*counts, gather_a, gather_b]), roots, concurrent([bcast_a, bcast_b]))


def _counting(defaults: Mapping[str, Any]) -> str:
    """The name of the part that gathers counts."""
    return "allgather" if "allgather" in defaults else "gather"


def _between_roots(case: Case) -> tuple[Transfer, Transfer]:
    a, b = (g.layout.size(0, g.p) * g.itemsize for g in case.groups)
    return Transfer(0, case.p, a), Transfer(case.p, 0, b)
