"""The result of a replay as plain values, for JSON."""

from __future__ import annotations

from typing import Any

from fakempi.apps.replay.engine import ReplayOutcome
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
        "sites": [
            {
                "site": site.site,
                "operation": site.operation,
                "ranks": site.ranks,
                "least_bytes": site.lowest,
                "most_bytes": site.highest,
                "calls": site.calls,
                "seconds": site.seconds,
                "share": outcome.share(site.seconds),
            }
            for site in outcome.sites
        ],
    }
