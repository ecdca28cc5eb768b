"""What root gathering between groups claims: the algorithms of `root_gathering` on paper.

`defaults` are the parameters of the algorithm whose claims these are; with a `gatherv` among them blocks have sizes of
their own, and each group gathers its counts by `allgather` first.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from collectives.between.groups import (
    UNDECIDED,
    Placed,
    a_comes_first,
    beside,
    in_a_row,
    misfit,
    numbers,
    scratch_in,
    sent_in,
    setting,
)
from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Schedule, Transfer, without_empty

COUNT_BYTES = 8


def turns_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims of the version that goes one way after the other, `root_gathering.in_turn`."""
    return Claims(
        schedule=partial(turns_schedule, defaults),
        fits=partial(turns_fit, defaults),
        scratch=partial(bytes_held, defaults),
        closed_sent=partial(bytes_sent, defaults),
    )


def exchange_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims of the version that goes both ways at the same time, `root_gathering.at_once`."""
    return Claims(
        schedule=partial(exchange_schedule, defaults),
        fits=lambda case: misfit(parts(defaults, case)),
        scratch=partial(bytes_held, defaults),
        closed_sent=partial(bytes_sent, defaults),
    )


def parts(defaults: Mapping[str, Any], case: Case) -> list[Placed]:
    """What the groups do by themselves: A's and B's gather, then their broadcasts, the counts before all, if any."""
    (a, b), (in_a, in_b) = case.groups, numbers(case)
    uneven = "gatherv" in defaults
    gather = setting(case, defaults, "gatherv" if uneven else "gather")
    bcast = setting(case, defaults, "bcast")
    options = options_of(bcast, case.parameters.get("segment_bytes", defaults.get("segment_bytes")))
    of_a, of_b = (Case(1, g.layout.size(0, g.p) * g.itemsize, itemsize=g.itemsize) for g in (a, b))
    found: list[Placed] = [
        (gather, a, in_a),
        (gather, b, in_b),
        (bcast, Case(a.p, of_b.m, itemsize=a.itemsize, parameters=options), in_a),
        (bcast, Case(b.p, of_a.m, itemsize=b.itemsize, parameters=options), in_b),
    ]
    if uneven:
        counts = setting(case, defaults, "allgather")
        found += [(counts, Case(g.p, COUNT_BYTES, itemsize=COUNT_BYTES), ranks) for g, ranks in ((a, in_a), (b, in_b))]
    return found


def options_of(bcast: Algorithm, segment_bytes: int | None) -> dict[str, Any]:
    """What the broadcast is told beside its buffer."""
    return {"segment_bytes": segment_bytes} if segment_bytes is not None and "segment_bytes" in bcast.parameters else {}


def turns_fit(defaults: Mapping[str, Any], case: Case) -> str | None:
    """`fits` of the version that takes turns."""
    if a_comes_first(case) is None:
        return UNDECIDED.format(p=case.p)
    return misfit(parts(defaults, case))


def turns_schedule(defaults: Mapping[str, Any], case: Case) -> Schedule | None:
    """The schedule of the gathers and `in_turn`."""
    gather_a, gather_b, bcast_a, bcast_b, *counts = parts(defaults, case)
    ways = turns(case, _between_roots(case), bcast_a, bcast_b)
    return in_a_row(beside(counts), beside([gather_a, gather_b]), ways)


def turns(case: Case, roots: tuple[Transfer, Transfer], bcast_a: Placed, bcast_b: Placed) -> Schedule | None:
    """The schedule of `in_turn`; `roots` are A's message to B and B's to A."""
    a_to_b, b_to_a = ([without_empty([transfer])] for transfer in roots)
    there, back = in_a_row(a_to_b, beside([bcast_b])), in_a_row(b_to_a, beside([bcast_a]))
    return in_a_row(there, back) if a_comes_first(case) else in_a_row(back, there)


def exchange_schedule(defaults: Mapping[str, Any], case: Case) -> Schedule | None:
    """The schedule of the gathers and `at_once`."""
    gather_a, gather_b, bcast_a, bcast_b, *counts = parts(defaults, case)
    roots = [without_empty(_between_roots(case))]
    return in_a_row(beside([*counts, gather_a, gather_b]), roots, beside([bcast_a, bcast_b]))


def bytes_sent(defaults: Mapping[str, Any], case: Case, rank: int) -> int | None:
    """A root sends the whole of its group beside what it sends within."""
    between = sum(t.nbytes for t in _between_roots(case) if t.source == rank)
    within = sent_in(parts(defaults, case), rank)
    return None if within is None else between + within


def bytes_held(defaults: Mapping[str, Any], case: Case, rank: int) -> int:
    """A root holds its group's blocks; the counts, if they are gathered, everybody."""
    whole = sum(t.nbytes for t in _between_roots(case) if t.source == rank)
    table = 0
    if "gatherv" in defaults:
        table = COUNT_BYTES * (case.p if rank < case.p else case.q)
    return whole + table + scratch_in(parts(defaults, case), rank)


def _between_roots(case: Case) -> tuple[Transfer, Transfer]:
    a, b = (g.layout.size(0, g.p) * g.itemsize for g in case.groups)
    return Transfer(0, case.p, a), Transfer(case.p, 0, b)
