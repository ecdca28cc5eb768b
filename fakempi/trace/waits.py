"""Wait states: why ranks were idle, under the names that Scalasca has given them.

Every idle moment of a rank is counted once. In a collective call it is a wait for those who came later, as long as they
have not come; otherwise the transfer that ends it tells: the other side was late, or a port was busy. `MEANINGS` has the
names, and what they mean here.

An eager message that starts at the very moment at which its receive is posted looks like one that had to wait for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fakempi.trace.columns import Columns, Rows
from fakempi.trace.regions import parts
from fakempi.trace.states import all_busy

LATE_SENDER, LATE_RECEIVER = "late sender", "late receiver"
BARRIER, N_TO_N, LATE_BROADCAST, EARLY_REDUCE = "wait at barrier", "wait at N x N", "late broadcast", "early reduce"
FENCE, LATE_POST, CONTENTION = "wait at fence", "late post", "lock contention"
BUSY_PORT, ENDED_EARLY, OTHER = "busy port", "ended early", "other"
MEANINGS = {
    LATE_SENDER: "the receive was posted, the send was not",
    LATE_RECEIVER: "a synchronous send was posted, the receive was not",
    BARRIER: "in a barrier, until the last rank came",
    N_TO_N: "where all need the data of all, until the last rank came",
    LATE_BROADCAST: "in a bcast or scatter, until the root came",
    EARLY_REDUCE: "the root of a reduce or gather, until the first of the others came",
    FENCE: "in a fence of a window, or in its Free, until the last rank came",
    LATE_POST: "an operation on a window was begun, its target had not called Post",
    CONTENTION: "an operation on a window, until its target's lock was there",
    BUSY_PORT: "both sides were ready, one was still busy with another message",
    ENDED_EARLY: "the rank had ended, the run had not",
    OTHER: "none of these: others make a communicator, or the rank polls",
}
STATES = tuple(MEANINGS)

_FROM_ROOT = {"bcast", "scatter", "scatterv"}
_TO_ROOT = {"reduce", "gather", "gatherv"}
_AT = {"barrier": BARRIER, "fence": FENCE, "free": FENCE}
_BY_PERMIT = {"Lock": CONTENTION, "Lock_all": CONTENTION, "Start": LATE_POST}
"""What a rank waits for that is to have a lock, or a Post: in the trace it receives that since the call that asked."""
_PREFIX = {"scan", "exscan", "neighbors"}


class Wait(NamedTuple):
    """A stretch in which a rank is idle, why, and in which call (a number in `calls`)."""

    rank: int
    start: float
    end: float
    state: str
    call: int


WAITS = np.dtype([("start", "f8"), ("end", "f8"), ("rank", "i4"), ("state", "i4"), ("call", "i4")])
"""The same as columns; `state` is a number in `STATES`."""

_NUMBERS = {state: number for number, state in enumerate(STATES)}
NOISE = 16
"""Stretches of up to so many steps between floats of the size of the run's time are rounding, and not waits."""


def waits(trace: Columns) -> Iterator[Wait]:
    """Every idle stretch of every rank, cut where the reason changes."""
    rows = wait_rows(trace)
    columns = [rows[name].tolist() for name in ("rank", "start", "end", "state", "call")]
    return (Wait(rank, start, end, STATES[state], call) for rank, start, end, state, call in zip(*columns, strict=True))


def wait_rows(trace: Columns) -> Rows:
    """The same as rows, in the order of ranks and of time: a million messages take about two seconds."""
    rank, begin, end = _gaps(trace)
    clock = np.asarray(trace.clocks)[rank]
    alive = np.minimum(end, np.maximum(begin, clock))
    over = end > alive
    pieces = [_rows(rank[over], alive[over], end[over], ENDED_EARLY, 0)]
    lives = alive > begin
    rank, begin, end = rank[lives], begin[lives], alive[lives]
    ready = end.copy()  # when the gap ends, and perhaps a transfer starts
    late = _collectives(trace)
    if any(late):
        rank, begin, end, ready, found = _without_collectives(rank, begin, end, late)
        pieces.append(found)
    pieces += _by_transfer(trace, rank, begin, end, ready)
    rows = np.concatenate(pieces)
    rows = rows[rows["end"] - rows["start"] > NOISE * np.spacing(trace.time)]
    ordered: Rows = rows[np.lexsort((rows["start"], rows["rank"]))]
    return ordered


def totals(trace: Columns) -> dict[str, tuple[float, dict[int, float]]]:
    """By state: all ranks' seconds, and how many of them in which call."""
    rows = wait_rows(trace)
    found: dict[str, tuple[float, dict[int, float]]] = {}
    for number, state in enumerate(STATES):
        mine = rows[rows["state"] == number]
        spent = np.bincount(mine["call"], weights=mine["end"] - mine["start"])
        calls = {call: float(spent[call]) for call in np.unique(mine["call"]).tolist()}
        found[state] = (sum(calls.values()), calls)
    return found


def _rows(rank: Any, start: Any, end: Any, state: str, call: Any) -> Rows:
    rows = np.zeros(len(rank), WAITS)
    rows["rank"], rows["start"], rows["end"], rows["state"], rows["call"] = rank, start, end, _NUMBERS[state], call
    return rows


def _gaps(trace: Columns) -> tuple[Any, Any, Any]:
    """(rank, begin, end) of all stretches between those in which a rank computes or communicates."""
    rank, start, end = all_busy(trace)
    first = np.append(True, rank[1:] != rank[:-1])[: len(rank)]
    before = np.where(first, 0.0, np.append(0.0, end[:-1])[: len(rank)])
    last = np.zeros(trace.ranks)
    last[rank] = end  # of a rank's stretches the last one stays
    ranks = np.concatenate((rank, np.arange(trace.ranks)))
    begins, ends = np.concatenate((before, last)), np.concatenate((start, np.full(trace.ranks, trace.time)))
    real = ends > begins
    return ranks[real], begins[real], ends[real]


def _without_collectives(rank: Any, begin: Any, end: Any, late: list[Any]) -> tuple[Any, Any, Any, Any, Rows]:
    """What of the gaps collectives do not explain, with the ends of the gaps they are of; and what they do explain."""
    rest, explained = [], []
    for who, first, last in zip(rank.tolist(), begin.tolist(), end.tolist(), strict=True):
        at = first
        for entered, until, state, call in late[who]:
            if entered < last and until > at:
                if entered > at:
                    rest.append((who, at, entered, last))
                explained.append((max(at, entered), min(until, last), who, _NUMBERS[state], call))
                at = min(until, last)
        if at < last:
            rest.append((who, at, last, last))
    columns = np.array(rest, dtype=float).reshape(-1, 4).T
    return columns[0].astype(np.int64), columns[1], columns[2], columns[3], np.array(explained, WAITS)


def _by_transfer(trace: Columns, rank: Any, begin: Any, end: Any, ready: Any) -> Iterator[Rows]:
    """Parts of gaps by the first transfer that starts at the end of the gap, if there is one."""
    transfers = trace.transfer_rows
    times, numbers = np.unique(np.concatenate((transfers["start"], ready)), return_inverse=True)
    starts, gaps = numbers[: len(transfers)].astype(np.int64), numbers[len(transfers) :].astype(np.int64)
    sides = np.column_stack((transfers["source"], transfers["dest"])).astype(np.int64) * len(times) + starts[:, None]
    keys, rows = np.unique(sides.ravel(), return_index=True)  # the first of equal ones
    wanted = rank.astype(np.int64) * len(times) + gaps
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    found = keys[at] == wanted if len(keys) else np.zeros(len(wanted), bool)
    yield _rows(rank[~found], begin[~found], end[~found], OTHER, 0)
    if not found.any():
        return
    rank, begin, end, ready = rank[found], begin[found], end[found], ready[found]
    row = transfers[rows[at[found]] // 2]
    receives = (row["dest"] == rank) & (row["awaited"] < ready)
    own = np.where(receives, row["awaited"], row["posted"])
    other = np.where(receives, row["posted"], np.where(row["awaited"] > ready, own, row["awaited"]))  # eager: no matter
    call = np.where(receives, row["receive_call"], row["call"])
    permits = np.array([_BY_PERMIT.get(one.name, "") for one in trace.calls])
    lets_go = np.where(receives, permits[row["receive_call"]], "")
    cuts = [begin, np.clip(own, begin, end), np.clip(np.maximum(own, other), begin, end), end]
    for first, last, state in zip(cuts, cuts[1:], (OTHER, None, BUSY_PORT), strict=False):
        named = [(receives & (lets_go == ""), LATE_SENDER), (~receives, LATE_RECEIVER)]
        named += [(lets_go == name, name) for name in (LATE_POST, CONTENTION)]
        for which, name in named if state is None else ((True, state),):
            real = (last > first) & which
            yield _rows(rank[real], first[real], last[real], name, 0 if state == OTHER else call[real])


def _collectives(trace: Columns) -> list[list[tuple[float, float, str, int]]]:
    """By rank: (entered, until when it had to wait for somebody to come, the name of that, the call), in order."""
    found: list[list[tuple[float, float, str, int]]] = [[] for _ in range(trace.ranks)]
    for name, rows in instances(trace):
        entered, roots = rows["start"], rows["root"] == rows["rank"]
        if name in _AT:
            until, state = np.full(len(rows), entered.max()), _AT[name]
        elif name in _FROM_ROOT:
            until, state = np.full(len(rows), entered[roots].max(initial=0)), LATE_BROADCAST
        elif name in _TO_ROOT:
            others = entered[~roots].min(initial=np.inf)
            until, state = np.where(roots & np.isfinite(others), others, 0), EARLY_REDUCE
        else:
            until, state = np.full(len(rows), entered.max()), N_TO_N
        for row, limit in zip(rows, until.tolist(), strict=True):
            if limit > row["start"]:
                found[int(row["rank"])].append((float(row["start"]), limit, state, int(row["call"])))
    for each in found:
        each.sort()
    return found


def instances(trace: Columns) -> Iterator[tuple[str, Rows]]:
    """Every collective call that is not done in the background: its name, and the regions of all that took part."""
    regions = trace.region_rows
    mine = regions[(regions["context"] > 0) & (regions["lane"] == 0) & ~parts(regions)]
    seen: dict[Any, int] = defaultdict(int)
    groups: dict[Any, list[int]] = defaultdict(list)
    columns = (mine[name].tolist() for name in ("context", "number", "name", "rank"))
    for index, (context, number, name, rank) in enumerate(zip(*columns, strict=True)):
        turn = seen[context, number, name, rank] = seen[context, number, name, rank] + 1
        groups[context, number, name, turn].append(index)
    for (_, _, name, _), members in groups.items():
        if trace.names[name] not in _PREFIX:
            yield trace.names[name], mine[members]
