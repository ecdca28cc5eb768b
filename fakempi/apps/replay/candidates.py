"""Algorithms for the calls of a call site: those that fit, by their modeled time, and the tables of rules that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collectives import Algorithm, UnsupportedCaseError, fitting
from collectives.trials.cases import make_case
from fakempi.apps.compare.benchmark_loop import makespan
from fakempi.apps.compare.budget import TooManyMessages
from fakempi.apps.compare.simulation import simulated_makespan
from fakempi.apps.replay.sites import SiteTime
from fakempi.core.network.cost import CostModel
from fakempi.errors import MPIError, RunError
from fakempi.recordings.events import COUNTS_AT_ROOT
from fakempi.tuning import Facts, Rule, Table, startup_bytes
from fakempi.tuning.rule import When

MOST_EMULATED = 64
"""Ranks up to which an algorithm without a schedule is emulated to find its time; on more ranks it is no candidate."""


def candidates(site: SiteTime, cost: CostModel) -> list[tuple[float, Algorithm]]:
    """Return the modeled time of a call and the algorithm, for all that fit and can be simulated, the fastest first.

    All ranks start the call at the same time, and the call has the largest size of the site. So this is an order in which
    to try algorithms, not a result: in the application ranks start at different times.
    """
    itemsize = 1 if site.block % site.itemsize else site.itemsize
    case = replace(make_case(site.operation, site.ranks, 0, site.block, itemsize=itemsize), commutative=site.commutative)
    found = []
    for algorithm in fitting(site.operation, case, "intra"):
        if site.operation in COUNTS_AT_ROOT and algorithm.name != "linear":
            continue  # the others need the counts on all ranks, which a call of MPI does not have
        try:
            time = simulated_makespan(algorithm, case, cost)
            if time is None and site.ranks <= MOST_EMULATED:
                time = makespan(algorithm, case, cost)
        except (UnsupportedCaseError, TooManyMessages, MPIError, RunError):
            continue
        if time is not None:
            found.append((float(time), algorithm))
    return sorted(found, key=lambda each: each[0])


def chosen_name(table: Table, site: SiteTime, cost: CostModel) -> str:
    """Return the name of the algorithm that a table chooses for the largest calls of a site; "?" if it has none."""
    facts = Facts(
        site.operation, site.ranks, site.highest, site.highest // site.itemsize, site.commutative,
        startup_bytes=startup_bytes(cost.linear),
    )  # fmt: skip
    try:
        return table.choose(facts).algorithm.name
    except MPIError:
        return "?"


def with_algorithms(table: Table, chosen: Mapping[int, Algorithm], sites: Mapping[int, SiteTime]) -> Table:
    """Return a table that uses an algorithm for all calls like those of a site; the others are chosen as before.

    A rule cannot see the call site, as in an MPI library. It applies to calls of the same operation on the same number of
    ranks with a size in the range of the site's sizes, as far as the algorithm fits them.
    """
    rules: dict[Any, tuple[Rule, ...]] = dict(table.rules)
    for index, algorithm in reversed(list(chosen.items())):  # the rule of the first site, with the longest time, is first
        key = ("intra", algorithm.operation)
        rules[key] = (Rule(algorithm, when=_calls_like(sites[index], algorithm)), *rules[key])
    return Table(table.name, rules, table.forced, table.base or table, has_known_names=True)


def _calls_like(site: SiteTime, algorithm: Algorithm) -> When:
    def holds(facts: Facts) -> bool:
        is_like = facts.p == site.ranks and site.lowest <= facts.nbytes <= site.highest and not facts.objects
        return is_like and algorithm.why_unsupported(facts.case()) is None

    return When(f"a call like those at {site.site or site.operation}", holds)
