"""The end of a run that failed: the ranks that were blocked then, and the time up to which pictures show them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fakempi.trace.columns import Columns
from fakempi.trace.states import Floats, covered


def blocked_since(trace: Columns) -> Floats:
    """Return for each rank when it began the call that it never left, or infinity; of a rank with threads, the last one."""
    if "blocked" not in trace.cache:
        since = np.full(trace.ranks, -np.inf)
        for record in (trace.about.get("ended") or {}).get("stuck", ()):
            since[record["rank"]] = max(since[record["rank"]], record["since"])
        trace.cache["blocked"] = np.where(since >= 0, since, np.inf)
    blocked: Floats = trace.cache["blocked"]
    return blocked


def shown_end(trace: Columns) -> float:
    """Return where pictures end: blocked ranks remain so without an end, which is drawn as a fifth of the time before."""
    if not np.isfinite(blocked_since(trace)).any():
        return trace.time
    return max(trace.time, trace.about["ended"].get("time", 0.0)) * 1.2 or 1e-6


def blocked_shares(trace: Columns, edges: Floats, groups: Sequence[Sequence[int]]) -> Floats:
    """Return the share of blocked ranks, by group of ranks and by bin of time between two edges."""
    since = blocked_since(trace)
    ranks = np.flatnonzero(np.isfinite(since))
    group_of = np.full(trace.ranks, -1)
    for index, group in enumerate(groups):
        group_of[list(group)] = index
    ends = np.full(len(ranks), max(shown_end(trace), float(edges[-1])))
    sizes = np.array([max(len(group), 1) for group in groups])[:, None]
    spent = covered((ranks, since[ranks], ends), edges, group_of, len(groups))
    shares: Floats = np.clip(spent / sizes, 0, 1)
    return shares
