"""Waits in calls that are regions of the trace: collective calls, and calls that wait for something other than messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from fakempi.trace.columns import NEVER, PASSIVE, Columns, Rows
from fakempi.trace.regions import ACCESSES, PROBE, WAIT_FOR_ANY, is_nested
from fakempi.trace.wait_names import (
    BARRIER,
    CREATE,
    EARLY_REDUCE,
    EARLY_SCAN,
    EARLY_WAIT,
    FENCE,
    FILE,
    FREE,
    LATE_BROADCAST,
    N_TO_N,
    NOT_SPAWNED,
    NUMBERS,
    POLLING,
    THREAD,
    TRANSIT,
    WAITS,
)  # fmt: skip

_FROM_ROOT = {"bcast", "scatter", "scatterv"}  # a rank waits until the root has called
_TO_ROOT = {"reduce", "gather", "gatherv"}  # the root waits until another rank has called
_SCANS = {"scan", "exscan"}  # a rank waits until all ranks with lower numbers have called
_WAIT_FOR_ALL = {"barrier": BARRIER, "fence": FENCE, "free": FREE}  # a rank waits until all ranks have called
_NEIGHBORS = "neighbors"  # a rank waits for some others only: classified by messages

_FIRST = {
    "File.Open": CREATE, "File.Close": FREE, "disconnect": FREE, "Win.Wait": EARLY_WAIT, NOT_SPAWNED: NOT_SPAWNED,
    "agree": N_TO_N, "iagree": N_TO_N,
}  # fmt: skip
"""Region -> wait state of all idle time in it. Others are `N_TO_N` for files, and `CREATE` for communicators and windows."""

_LATER = {"fence": TRANSIT, "free": TRANSIT, ACCESSES: TRANSIT, POLLING: POLLING, THREAD: THREAD}
"""Region -> wait state of the idle time in it, except waits for messages and waits for other ranks to call."""

_ACCESSES = ("File.Read", "File.Write", "File.Iread", "File.Iwrite")
"""Beginnings of the names of regions that access a file."""


def collective_waits(trace: Columns) -> Rows:
    """Return, for each blocking collective call of a rank, the time until the ranks that it depends on have called."""
    pieces = [np.zeros(0, WAITS)]
    for name, rows in instances(trace):
        entered, roots, until = rows["start"], rows["root"] == rows["rank"], None
        if name in _WAIT_FOR_ALL:
            state = _WAIT_FOR_ALL[name]
        elif name in _FROM_ROOT:
            until, state = np.full(len(rows), entered[roots].max(initial=0)), LATE_BROADCAST
        elif name in _TO_ROOT:
            others = entered[~roots].min(initial=np.inf)
            until, state = np.where(roots & np.isfinite(others), others, 0), EARLY_REDUCE
        elif name in _SCANS:  # rows are in the order of processes, which is that of ranks unless the ranks were reordered
            until, state = np.maximum.accumulate(entered), EARLY_SCAN
        else:
            state = N_TO_N
        limits = np.full(len(rows), entered.max()) if until is None else until
        pieces.append(_waits(rows, np.minimum(limits, rows["end"]), state))
    return np.concatenate(pieces)


def instances(trace: Columns) -> Iterator[tuple[str, Rows]]:
    """Yield each blocking collective call, except neighborhood collectives: its name and its regions by rank."""
    regions = trace.region_rows
    calls = regions[(regions["context"] > 0) & (regions["lane"] == 0) & ~is_nested(regions)]
    counts: dict[Any, int] = defaultdict(int)
    groups: dict[Any, list[int]] = defaultdict(list)
    columns = (calls[name].tolist() for name in ("context", "number", "name", "rank"))
    for index, (context, number, name, rank) in enumerate(zip(*columns, strict=True)):
        occurrence = counts[context, number, name, rank] = counts[context, number, name, rank] + 1
        groups[context, number, name, occurrence].append(index)
    for (_, _, name, _), members in groups.items():
        if trace.names[name] != _NEIGHBORS:
            rows = calls[members]
            yield trace.names[name], rows[np.argsort(rows["rank"], kind="stable")]


def call_waits(trace: Columns) -> tuple[Rows, Rows]:
    """Return the intervals of calls with one reason for all idle time in them, and of those with a reason for the rest."""
    regions = trace.region_rows
    first, later = [np.zeros(0, WAITS)], [np.zeros(0, WAITS)]
    recorded = (regions["call"] > 0) & (regions["context"] == 0)
    for number in np.unique(regions["name"]).tolist():
        name = trace.names[number]
        named = regions["name"] == number
        if name in _LATER:
            later.append(_waits(regions[named], regions["end"][named], _LATER[name]))
        elif name.startswith(_ACCESSES):
            blocking = named & recorded & (regions["lane"] != PASSIVE)
            first.append(_waits(regions[blocking], regions["end"][blocking], N_TO_N if name.endswith("_begin") else FILE))
            others = regions[named & ~blocking]
            after = others.copy()
            after["start"] = others["end"]
            later += [_waits(others, others["end"], FILE), _waits(after, _all_called(others), N_TO_N)]
        elif name not in (WAIT_FOR_ANY, PROBE):
            state = _FIRST.get(name, N_TO_N if name.startswith("File.") else CREATE)
            passive = named & (regions["lane"] == PASSIVE)
            rows, nonblocking = regions[named & recorded & ~passive], regions[passive]
            first.append(_waits(rows, rows["end"], state))
            later.append(_waits(nonblocking, np.maximum(nonblocking["end"], _all_called(nonblocking)), state))
    return np.concatenate(first), np.concatenate(later)


def _all_called(regions: Rows) -> Any:
    """Return when all ranks had made each nonblocking collective call; 0 for other regions."""
    _, which = np.unique(regions[["context", "number"]], return_inverse=True)
    called = np.zeros(len(regions))
    np.maximum.at(called, which, regions["start"])
    return np.where((regions["context"] > 0) & (regions["lane"] == PASSIVE), called[which], 0)


def own_region_times(trace: Columns) -> list[tuple[Any, Any]]:
    """Return ranks and times at which their programs entered or left regions."""
    rows = trace.region_rows[trace.region_rows["lane"] != PASSIVE]
    left = rows[rows["end"] < NEVER]
    return [(rows["rank"], rows["start"]), (left["rank"], left["end"])]


def probes(trace: Columns) -> Rows:
    """Return the regions of blocking probes."""
    names = [number for number, name in enumerate(trace.names) if name == PROBE]
    regions = trace.region_rows
    return regions[np.isin(regions["name"], names) & (regions["call"] > 0) & (regions["end"] < NEVER)]


def _waits(regions: Rows, until: Any, state: str) -> Rows:
    """Return rows of waits from the starts of regions to some times."""
    rows = np.zeros(len(regions), WAITS)
    rows["rank"], rows["start"], rows["call"] = regions["rank"], regions["start"], regions["call"]
    rows["end"], rows["state"] = until, NUMBERS[state]
    return rows[rows["end"] > rows["start"]]
