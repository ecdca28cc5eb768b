"""The result of a replay as plain values, for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakempi.apps.cli.recordings.comparison import gain_of
from fakempi.apps.replay.comparing import MachineComparison, SiteChoice
from fakempi.apps.replay.engine import ReplayOutcome
from fakempi.apps.replay.sites import SiteTime
from fakempi.recordings.recording import Recording


def as_record(recording: Recording, outcome: ReplayOutcome) -> dict[str, Any]:
    """Return the result of a replay; times are in seconds, and those of sites are of all ranks together."""
    return {
        "recording": recording.source,
        "ranks": recording.ranks,
        "events": len(recording),
        "measured": recording.seconds,
        "seconds": outcome.seconds,
        "computing": outcome.computing,
        "messages": outcome.messages,
        "bytes": outcome.nbytes,
        "clocks": list(outcome.clocks),
        "left_out": dict(recording.left_out),
        "unmatched": outcome.unmatched,
        "sites": [_site(site, outcome) for site in outcome.sites],
    }


def comparison_record(recording: Recording, results: Sequence[MachineComparison]) -> dict[str, Any]:
    """Return the result of a comparison; `gain` is in seconds of the modeled time, and 0 if nothing is better."""
    return {
        "recording": recording.source,
        "ranks": recording.ranks,
        "events": len(recording),
        "measured": recording.seconds,
        "left_out": dict(recording.left_out),
        "machines": [
            {
                "cost": result.cost,
                "seconds": result.baseline.seconds,
                "tables": dict(result.tables),
                "best": result.best,
                "sites": [_choice(choice, result) for choice in result.sites],
            }
            for result in results
        ],
    }


def _site(site: SiteTime, outcome: ReplayOutcome) -> dict[str, Any]:
    return {
        "site": site.site,
        "operation": site.operation,
        "ranks": site.ranks,
        "least_bytes": site.lowest,
        "most_bytes": site.highest,
        "calls": site.calls,
        "seconds": site.seconds,
        "share": outcome.share(site.seconds),
    }


def _choice(choice: SiteChoice, result: MachineComparison) -> dict[str, Any]:
    best, gain = gain_of(choice, result)
    found = {"in_use": choice.now, "tried": dict(choice.tried), "best": best, "gain": gain}
    return {**_site(choice.site, result.baseline), **found}
