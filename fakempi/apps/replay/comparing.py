"""Compare algorithms for a recording: replay it with tables of algorithms, and with other algorithms at call sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collectives import Algorithm
from fakempi.apps.replay.candidates import candidates, chosen_name, with_algorithms
from fakempi.apps.replay.engine import ReplayOutcome, replay
from fakempi.apps.replay.sites import SiteTime
from fakempi.core.network.cost import CostModel
from fakempi.errors.recordings import RecordingError
from fakempi.recordings.recording import Recording
from fakempi.tuning import TABLES, resolve

MOST_SITES = 8
"""Call sites for which other algorithms are tried, those with the longest time."""

LEAST_SHARE = 0.005
"""Share of the time below which a call site is not tried: the gain is smaller than the share."""

TRIED = 3
"""Algorithms that are tried at a call site. Each is a replay of the whole recording."""

Report = Callable[[str], None]
"""Receives the name of each replay when it starts."""


@dataclass(frozen=True)
class SiteChoice:
    """The algorithms of a call site.

    Attributes
    ----------
    site
        The site and its time with the algorithm in use.
    now
        The algorithm in use for its largest calls.
    tried
        The makespan of the application by algorithm, if this site uses it.
    """

    site: SiteTime
    now: str
    tried: Mapping[str, float]

    def best(self) -> tuple[str, float]:
        """Return the best algorithm that was tried, and the makespan with it."""
        return min(self.tried.items(), key=lambda each: each[1], default=(self.now, float("inf")))


@dataclass(frozen=True)
class MachineComparison:
    """The results on one machine.

    Attributes
    ----------
    cost
        The cost model as text.
    baseline
        The replay with the requested algorithms.
    tables
        The makespan by table of algorithms; a table that rejects a call has none.
    sites
        The choices of call sites with the longest times.
    combined
        The makespan with the best algorithm at every call site, where one is better than the one in use.
    """

    cost: str
    baseline: ReplayOutcome
    tables: Mapping[str, float | None]
    sites: Sequence[SiteChoice]
    combined: float = float("inf")

    @property
    def best(self) -> float:
        """The smallest makespan that was found by choosing algorithms at call sites."""
        return min(self.combined, self.baseline.seconds, *(choice.best()[1] for choice in self.sites), float("inf"))


def replays(sites: int) -> int:
    """Return how many replays a comparison on one machine takes at most, with this number of call sites."""
    return 1 + len(TABLES) + 1 + TRIED * min(sites, MOST_SITES)


def compare(
    recording: Recording, text: str, cost: CostModel, algorithms: Any, *, scale: float, report: Report, **options: Any
) -> MachineComparison:
    """Compare algorithms on one machine; `text` names it, and `options` are further ones of `replay`."""

    def run(name: str, chosen: Any) -> ReplayOutcome:
        report(name)
        return replay(recording, cost, chosen, scale=scale, **options)

    baseline = run("algorithms in use", algorithms)
    tables: dict[str, float | None] = {}
    for name in TABLES:
        try:
            tables[name] = baseline.seconds if algorithms in (name, None) and name == "plain" else run(name, name).seconds
        except RecordingError:
            tables[name] = None
    table, choices = resolve(algorithms, cost.linear), list[SiteChoice]()
    by_index = dict(enumerate(_worth_trying(baseline)))
    better: dict[int, Algorithm] = {}
    for index, site in by_index.items():
        now, times, algorithm_of = chosen_name(table, site, cost), dict[str, float](), dict[str, Algorithm]()
        for _, algorithm in [each for each in candidates(site, cost) if each[1].name != now][:TRIED]:
            name = f"{site.operation} {algorithm.name} at {site.site or 'calls of this size'}"
            try:
                times[algorithm.name] = run(name, with_algorithms(table, {index: algorithm}, by_index)).seconds
                algorithm_of[algorithm.name] = algorithm
            except RecordingError:  # the algorithm does not fit one of the calls
                continue
        choice = SiteChoice(site, now, times)
        choices.append(choice)
        if choice.best()[1] < baseline.seconds:
            better[index] = algorithm_of[choice.best()[0]]
    combined = float("inf")
    if len(better) > 1:
        combined = run("best algorithm at every call site", with_algorithms(table, better, by_index)).seconds
    return MachineComparison(text, baseline, tables, choices, combined)


def _worth_trying(outcome: ReplayOutcome) -> list[SiteTime]:
    """Return the call sites with the longest times; a call on one rank takes none."""
    sites = [site for site in outcome.sites if site.ranks > 1 and outcome.share(site.seconds) >= LEAST_SHARE]
    return sites[:MOST_SITES]
