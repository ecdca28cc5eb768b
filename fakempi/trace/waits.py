"""Wait states: the reasons for idle time, under Scalasca's names.

A *gap* is an interval in which a rank does not compute or communicate. Each gap is classified completely, and no part of it
is counted twice:

1. The part after the rank's end is "ended early", or "blocked" if the run ended in a call that the rank never left.
2. The part in which the rank is in a blocking collective call, and a rank that it depends on has not entered the call yet,
   gets the wait state of that collective.
3. The rest is classified by the first transfer of the rank that starts at the end of the gap: the other side of the transfer
   was late, or a port was busy. If no transfer starts there, the state is "other".

`MEANINGS` defines the names.

One case is ambiguous: an eager message that starts exactly when its receive is posted. The trace does not show that the
message did not wait for the receive, so idle time of its sender is counted as "late receiver".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fakempi.trace.blocked import blocked_since
from fakempi.trace.columns import Columns, Rows
from fakempi.trace.regions import is_nested
from fakempi.trace.states import all_busy

LATE_SENDER, LATE_RECEIVER = "late sender", "late receiver"
BARRIER, N_TO_N, LATE_BROADCAST, EARLY_REDUCE = "wait at barrier", "wait at N x N", "late broadcast", "early reduce"
FENCE, LATE_POST, CONTENTION = "wait at fence", "late post", "lock contention"
BUSY_PORT, ENDED_EARLY, OTHER, BLOCKED = "busy port", "ended early", "other", "blocked"
MEANINGS = {
    LATE_SENDER: "the receive was posted, the send was not",
    LATE_RECEIVER: "a synchronous send was posted, the receive was not",
    BARRIER: "in a barrier, until the last rank called it",
    N_TO_N: "in a collective among all ranks, until the last rank called it",
    LATE_BROADCAST: "in a bcast or scatter, until the root called it",
    EARLY_REDUCE: "the root of a reduce or gather, until another rank called it",
    FENCE: "in Fence or Free of a window, until the last rank called it",
    LATE_POST: "an access to a window, until its target called Post",
    CONTENTION: "an access to a window, until the lock was granted",
    BUSY_PORT: "both sides were ready, but a port was busy with another message",
    ENDED_EARLY: "the rank had ended, the run had not",
    OTHER: "none of these: a communicator was created, or the rank polled",
    BLOCKED: "in a call that the rank never left, because the run failed",
}
STATES = tuple(MEANINGS)

_FROM_ROOT = {"bcast", "scatter", "scatterv"}  # a rank waits until the root has called
_TO_ROOT = {"reduce", "gather", "gatherv"}  # the root waits until another rank has called
_WAIT_FOR_ALL = {"barrier": BARRIER, "fence": FENCE, "free": FENCE}  # a rank waits until all ranks have called
_GRANT_WAITS = {"Lock": CONTENTION, "Lock_all": CONTENTION, "Start": LATE_POST}
"""Call -> its wait state. The trace records a lock grant or a Post as a message that the origin of the access receives."""
_UNCLASSIFIED = {"scan", "exscan", "neighbors"}  # a rank waits for some others only: classified by transfers


class WaitInterval(NamedTuple):
    """An interval in which a rank is idle, its reason, and its call (an index into `calls`)."""

    rank: int
    start: float
    end: float
    state: str
    call: int


WAITS = np.dtype([("start", "f8"), ("end", "f8"), ("rank", "i4"), ("state", "i4"), ("call", "i4")])
"""The columns of waits; `state` is an index into `STATES`."""

_NUMBERS = {state: number for number, state in enumerate(STATES)}
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
    since = blocked_since(trace)
    last = np.minimum(trace.clocks, since)[rank]
    rank_end = np.minimum(end, np.maximum(begin, last))  # where the rank ends or is blocked, within the gap
    ended, blocked = end > rank_end, np.isfinite(since)[rank]
    pieces = [
        _rows(rank[part], rank_end[part], end[part], state, 0)
        for state, part in ((ENDED_EARLY, ended & ~blocked), (BLOCKED, ended & blocked))
    ]
    lives = rank_end > begin
    rank, begin, end = rank[lives], begin[lives], rank_end[lives]
    gap_end = end.copy()  # a transfer may start here
    collective_waits = _collective_waits(trace)
    if any(collective_waits):
        rank, begin, end, gap_end, rows = _split_gaps(rank, begin, end, collective_waits)
        pieces.append(rows)
    pieces += _by_transfer(trace, rank, begin, end, gap_end)
    rows = np.concatenate(pieces)
    rows = rows[rows["end"] - rows["start"] > NOISE * np.spacing(trace.time)]
    ordered: Rows = rows[np.lexsort((rows["start"], rows["rank"]))]
    return ordered


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


def _rows(rank: Any, start: Any, end: Any, state: str, call: Any) -> Rows:
    rows = np.zeros(len(rank), WAITS)
    rows["rank"], rows["start"], rows["end"], rows["state"], rows["call"] = rank, start, end, _NUMBERS[state], call
    return rows


def _gaps(trace: Columns) -> tuple[Any, Any, Any]:
    """Return (rank, begin, end) of all intervals in which a rank does not compute or communicate."""
    rank, start, end = all_busy(trace)
    first = np.append(True, rank[1:] != rank[:-1])[: len(rank)]
    before = np.where(first, 0.0, np.append(0.0, end[:-1])[: len(rank)])
    last = np.zeros(trace.ranks)
    last[rank] = end  # the end of each rank's last interval: of several assignments, the last one counts
    ranks = np.concatenate((rank, np.arange(trace.ranks)))
    begins, ends = np.concatenate((before, last)), np.concatenate((start, np.full(trace.ranks, trace.time)))
    nonempty = ends > begins  # the others are empty
    return ranks[nonempty], begins[nonempty], ends[nonempty]


def _split_gaps(rank: Any, begin: Any, end: Any, collective_waits: list[Any]) -> tuple[Any, Any, Any, Any, Rows]:
    """Split gaps into waits in collective calls and the remaining parts.

    Return rank, begin and end of each remaining part, the end of the gap that contains it, and the waits as rows.
    """
    rest, classified = [], []
    for number, first, last in zip(rank.tolist(), begin.tolist(), end.tolist(), strict=True):
        position = first  # the gap is classified up to here
        for entered, until, state, call in collective_waits[number]:
            if entered < last and until > position:
                if entered > position:
                    rest.append((number, position, entered, last))
                classified.append((max(position, entered), min(until, last), number, _NUMBERS[state], call))
                position = min(until, last)
        if position < last:
            rest.append((number, position, last, last))
    columns = np.array(rest, dtype=float).reshape(-1, 4).T
    return columns[0].astype(np.int64), columns[1], columns[2], columns[3], np.array(classified, WAITS)


def _by_transfer(trace: Columns, rank: Any, begin: Any, end: Any, gap_end: Any) -> Iterator[Rows]:
    """Yield parts of gaps, classified by the first transfer that starts at the end of the gap, if there is one."""
    transfers = trace.transfer_rows
    times, numbers = np.unique(np.concatenate((transfers["start"], gap_end)), return_inverse=True)
    starts, gap_ends = numbers[: len(transfers)].astype(np.int64), numbers[len(transfers) :].astype(np.int64)
    # A key is rank * len(times) + the index of a time; each transfer has one key for its source and one for its destination.
    sides = np.column_stack((transfers["source"], transfers["dest"])).astype(np.int64) * len(times) + starts[:, None]
    keys, rows = np.unique(sides.ravel(), return_index=True)  # of transfers with equal keys, the first
    gap_keys = rank.astype(np.int64) * len(times) + gap_ends
    indices = np.minimum(np.searchsorted(keys, gap_keys), max(len(keys) - 1, 0))
    has_transfer = keys[indices] == gap_keys if len(keys) else np.zeros(len(gap_keys), bool)
    yield _rows(rank[~has_transfer], begin[~has_transfer], end[~has_transfer], OTHER, 0)
    if not has_transfer.any():
        return
    rank, begin, end, gap_end = (column[has_transfer] for column in (rank, begin, end, gap_end))
    row = transfers[rows[indices[has_transfer]] // 2]  # two keys per transfer
    receives = (row["dest"] == rank) & (row["awaited"] < gap_end)
    own = np.where(receives, row["awaited"], row["posted"])  # when this rank posted its side of the transfer
    # When the other side was posted. A receive that was posted after the transfer started did not delay it.
    other = np.where(receives, row["posted"], np.where(row["awaited"] > gap_end, own, row["awaited"]))
    call = np.where(receives, row["receive_call"], row["call"])
    grants = np.array([_GRANT_WAITS.get(call_site.name, "") for call_site in trace.calls])
    granted = np.where(receives, grants[row["receive_call"]], "")
    # Until this rank posts its side: "other". Until both sides are posted: the other side is late. Then: a port is busy.
    cuts = [begin, np.clip(own, begin, end), np.clip(np.maximum(own, other), begin, end), end]
    for first, last, state in zip(cuts, cuts[1:], (OTHER, None, BUSY_PORT), strict=False):
        masks = [(receives & (granted == ""), LATE_SENDER), (~receives, LATE_RECEIVER)]
        masks += [(granted == name, name) for name in (LATE_POST, CONTENTION)]
        for mask, name in masks if state is None else ((True, state),):
            nonempty = (last > first) & mask
            yield _rows(rank[nonempty], first[nonempty], last[nonempty], name, 0 if state == OTHER else call[nonempty])


def _collective_waits(trace: Columns) -> list[list[tuple[float, float, str, int]]]:
    """Return, for each rank, its collective calls in order: (time of the call, end of the wait for others, state, call)."""
    by_rank: list[list[tuple[float, float, str, int]]] = [[] for _ in range(trace.ranks)]
    for name, rows in instances(trace):
        entered, roots = rows["start"], rows["root"] == rows["rank"]
        if name in _WAIT_FOR_ALL:
            until, state = np.full(len(rows), entered.max()), _WAIT_FOR_ALL[name]
        elif name in _FROM_ROOT:
            until, state = np.full(len(rows), entered[roots].max(initial=0)), LATE_BROADCAST
        elif name in _TO_ROOT:
            others = entered[~roots].min(initial=np.inf)
            until, state = np.where(roots & np.isfinite(others), others, 0), EARLY_REDUCE
        else:
            until, state = np.full(len(rows), entered.max()), N_TO_N
        for row, limit in zip(rows, until.tolist(), strict=True):
            if limit > row["start"]:
                by_rank[int(row["rank"])].append((float(row["start"]), limit, state, int(row["call"])))
    for intervals in by_rank:
        intervals.sort()
    return by_rank


def instances(trace: Columns) -> Iterator[tuple[str, Rows]]:
    """Yield each blocking collective call, except scans and neighborhood collectives: its name and its regions by rank."""
    regions = trace.region_rows
    calls = regions[(regions["context"] > 0) & (regions["lane"] == 0) & ~is_nested(regions)]
    counts: dict[Any, int] = defaultdict(int)
    groups: dict[Any, list[int]] = defaultdict(list)
    columns = (calls[name].tolist() for name in ("context", "number", "name", "rank"))
    for index, (context, number, name, rank) in enumerate(zip(*columns, strict=True)):
        occurrence = counts[context, number, name, rank] = counts[context, number, name, rank] + 1
        groups[context, number, name, occurrence].append(index)
    for (_, _, name, _), members in groups.items():
        if trace.names[name] not in _UNCLASSIFIED:
            yield trace.names[name], calls[members]
