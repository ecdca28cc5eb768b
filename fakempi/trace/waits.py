"""Wait states: the reasons for idle time, under Scalasca's names where Scalasca has the wait state.

Scalasca's names and definitions are in its page of performance properties. It measures real runs, so it has no names for
ports of a modeled network. "port contention" and the states from "access in transit" on are fakempi's.

A *gap* is an interval in which a rank does not compute or communicate. Each gap is classified completely, and no part of it
is counted twice. A part of a gap has the first of these reasons that applies:

1. The rank has ended: "ended early"; or, if the run has failed, the rank is in a call that it never left: "blocked".
2. The rank is in a blocking collective call, and a rank that it depends on has not entered the call yet: the wait state of
   that collective (`wait_calls.collective_waits`).
3. The rank is in another call that waits for something other than its own messages: creation of a communicator, a probe, an
   access to a file (`wait_calls.call_waits`).
4. The rank waits for a message: the other side was late, or a port was busy (`wait_messages`).
5. The rank is in a call that waits for more than its messages: a collective access to a file, the end of an epoch, an
   unsuccessful poll (`wait_calls.call_waits`).
6. None of these: "other".

`MEANINGS` defines the names. Messages of a nonblocking collective call are classified one by one, as in 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fakempi.trace.blocked import blocked_since
from fakempi.trace.columns import Columns, Rows
from fakempi.trace.states import all_busy
from fakempi.trace.wait_calls import call_waits, collective_waits, own_region_times
from fakempi.trace.wait_messages import PendingMessages
from fakempi.trace.wait_names import BLOCKED, ENDED_EARLY, MEANINGS, NUMBERS, OTHER, STATES, WAITS

__all__ = ["ENDED_EARLY", "MEANINGS", "STATES", "WaitInterval", "totals", "wait_rows", "waits"]


class WaitInterval(NamedTuple):
    """An interval in which a rank is idle, its reason, and its call (an index into `calls`)."""

    rank: int
    start: float
    end: float
    state: str
    call: int


NOISE = 16
"""Intervals of at most NOISE units in the last place of the run's time (`np.spacing`) are rounding errors, not waits."""


def waits(trace: Columns) -> Iterator[WaitInterval]:
    """Yield every idle interval of every rank, split where the reason changes."""
    rows = wait_rows(trace)
    columns = [rows[name].tolist() for name in ("rank", "start", "end", "state", "call")]
    rows_of_values = zip(*columns, strict=True)
    return (WaitInterval(rank, start, end, STATES[state], call) for rank, start, end, state, call in rows_of_values)


def wait_rows(trace: Columns) -> Rows:
    """Return the intervals of `waits` as rows, ordered by rank and time. A million messages take about two seconds."""
    rank, begin, end = _gaps(trace)
    clocks = np.asarray(trace.clocks)
    since, ranks, end_of_run = blocked_since(trace), np.arange(trace.ranks), np.full(trace.ranks, trace.time)
    is_blocked = np.isfinite(since)
    ended = [
        _rows(ranks[which], np.minimum(clocks, since)[which], end_of_run[which], state)
        for which, state in ((~is_blocked, ENDED_EARLY), (is_blocked, BLOCKED))
    ]
    first, later = call_waits(trace)
    layers = [*ended, collective_waits(trace), first, later]
    messages = PendingMessages(trace)
    acts = [*messages.actions(), *own_region_times(trace), (np.arange(trace.ranks), clocks)]
    acts.append((trace.compute_rows["rank"], trace.compute_rows["start"]))
    owners, moments = (np.concatenate(columns) for columns in zip(*acts, strict=True))
    bounds = [layer[name] for layer in layers for name in ("start", "end")]
    grid = _Grid(np.concatenate((begin, end, moments, *messages.times(), *bounds)))
    actions = _distinct(grid.keys(owners, moments))
    spans = [grid.disjoint(layer) for layer in layers]
    cuts = [actions, *messages.prepare(grid.keys), *(keys for starts, ends, _ in spans for keys in (starts, ends))]
    begins, ends = _cut(grid.keys(rank, begin), grid.keys(rank, end), _distinct(np.concatenate(cuts)))
    state, call = np.full(len(begins), NUMBERS[OTHER]), np.zeros(len(begins), np.int64)
    open_ = np.ones(len(begins), bool)

    def assign(found: Any, states: Any, calls: Any) -> None:
        which = np.flatnonzero(open_)[found]
        state[which], call[which], open_[which] = states, calls, False

    for layer, (starts, stops, rows) in zip(layers, spans, strict=True):
        if layer is later:
            assign(*messages.classify(begins[open_], ends[open_], actions, grid.size))
        at = np.searchsorted(starts, begins[open_], "right") - 1
        inside = (at >= 0) & (stops[at] >= ends[open_]) if len(starts) else np.zeros(len(at), bool)
        assign(inside, layer["state"][rows[at[inside]]], layer["call"][rows[at[inside]]])
    return _merged(grid, begins, ends, state, call, NOISE * np.spacing(trace.time))


def totals(trace: Columns) -> dict[str, tuple[float, dict[int, float]]]:
    """Return {wait state: (seconds of all ranks, {call: seconds of all ranks})}."""
    rows = wait_rows(trace)
    by_state: dict[str, tuple[float, dict[int, float]]] = {}
    for number, state in enumerate(STATES):
        of_state = rows[rows["state"] == number]
        spent = np.bincount(of_state["call"], weights=of_state["end"] - of_state["start"])
        calls = {call: float(spent[call]) for call in np.unique(of_state["call"]).tolist()}
        by_state[state] = (sum(calls.values()), calls)
    return by_state


def _rows(rank: Any, start: Any, end: Any, state: str) -> Rows:
    rows = np.zeros(len(rank), WAITS)
    rows["rank"], rows["start"], rows["end"], rows["state"] = rank, start, end, NUMBERS[state]
    return rows


def _gaps(trace: Columns) -> tuple[Any, Any, Any]:
    """Return (rank, begin, end) of all intervals in which a rank does not compute or communicate."""
    rank, start, end = all_busy(trace)
    first = np.append(True, rank[1:] != rank[:-1])[: len(rank)]
    before = np.where(first, 0.0, np.append(0.0, end[:-1])[: len(rank)])
    last = np.zeros(trace.ranks)
    last[rank] = end  # the end of each rank's last interval: of several assignments, the last one counts
    ranks = np.concatenate((rank, np.arange(trace.ranks)))
    begins = np.concatenate((before, last))
    ends = np.minimum(np.concatenate((start, np.full(trace.ranks, trace.time))), trace.time)
    nonempty = ends > begins  # the others are empty
    return ranks[nonempty], begins[nonempty], ends[nonempty]


class _Grid:
    """All times of an analysis in order. A key, rank * size + the position of a time, orders ranks and times at once."""

    def __init__(self, times: Any) -> None:
        self.times = _distinct(times)
        self.size = len(self.times)

    def keys(self, rank: Any, time: Any) -> Any:
        """Return the keys of times on ranks."""
        return np.asarray(rank, np.int64) * self.size + np.searchsorted(self.times, time)

    def disjoint(self, layer: Rows) -> tuple[Any, Any, Any]:
        """Return the keys of starts and ends, and the rows, of intervals; where they overlap, the earlier one remains."""
        starts, ends = self.keys(layer["rank"], layer["start"]), self.keys(layer["rank"], layer["end"])
        order = np.lexsort((-ends, starts))
        starts, ends = starts[order], ends[order]
        starts[1:] = np.maximum(starts[1:], np.maximum.accumulate(ends)[:-1])
        remains = starts < ends
        return starts[remains], ends[remains], order[remains]


def _distinct(values: Any) -> Any:
    """Return the different values in order. `np.unique` takes five times as long, because it hashes them."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]


def _cut(begins: Any, ends: Any, cuts: Any) -> tuple[Any, Any]:
    """Cut intervals at all keys that are inside them."""
    first, last = np.searchsorted(cuts, begins, "right"), np.searchsorted(cuts, ends, "left")
    counts = last - first + 1  # parts of each interval
    starts = np.cumsum(counts) - counts  # the position of its first part
    inner = np.arange(counts.sum()) - np.repeat(starts, counts)  # the number of a part in its interval
    inside = cuts[np.repeat(first, counts)[inner > 0] + inner[inner > 0] - 1]
    pieces = np.empty((2, len(inner)), np.int64)
    pieces[0, starts], pieces[0, inner > 0] = begins, inside
    pieces[1, starts + counts - 1], pieces[1, np.flatnonzero(inner > 0) - 1] = ends, inside
    return pieces[0], pieces[1]


def _merged(grid: _Grid, begins: Any, ends: Any, state: Any, call: Any, noise: float) -> Rows:
    """Return rows of pieces; adjacent ones with the same reason and call are one row."""
    order = np.argsort(begins, kind="stable")
    begins, ends, state, call = begins[order], ends[order], state[order], call[order]
    same = (begins[1:] == ends[:-1]) & (state[1:] == state[:-1]) & (call[1:] == call[:-1])
    first, last = np.append(True, ~same)[: len(begins)], np.append(~same, True)[: len(begins)]
    rows: Rows = np.zeros(int(first.sum()), WAITS)
    rows["rank"], rows["start"] = begins[first] // max(grid.size, 1), grid.times[begins[first] % max(grid.size, 1)]
    rows["end"], rows["state"], rows["call"] = grid.times[ends[last] % max(grid.size, 1)], state[first], call[first]
    long: Rows = rows[rows["end"] - rows["start"] > noise]
    return long
