"""Wait states: why ranks were idle, under the names that Scalasca has given them.

Every idle moment of a rank is counted once. In a collective call it is a wait for those who came later, as long as they
have not come; otherwise the transfer that ends it tells: the other side was late, or a port was busy. The names, and what
they mean here:

late sender         the receive was posted, the send was not
late receiver       a synchronous send was posted, the receive was not
wait at barrier     in a barrier, until the last rank came
wait at N x N       likewise where everybody needs everybody's data
wait at fence       likewise in a fence of a window
late post           an operation on a window was begun, its target had not called Post
lock contention     an operation on a window was begun, its target's lock was not there: others had it, or it was on its way
late broadcast      in a bcast or scatter, until the root came
early reduce        the root of a reduce or gather, until the first of the others came
busy port           both sides were ready, but one of them was still busy with another message
ended early         the rank had ended, the run had not
other               none of these: a rank that waits for others to make a communicator, or that polls

An eager message that starts at the very moment at which its receive is posted looks like one that had to wait for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fakempi.trace.columns import Columns, Rows
from fakempi.trace.regions import parts
from fakempi.trace.states import busy_spans

LATE_SENDER, LATE_RECEIVER = "late sender", "late receiver"
BARRIER, N_TO_N, LATE_BROADCAST, EARLY_REDUCE = "wait at barrier", "wait at N x N", "late broadcast", "early reduce"
FENCE, LATE_POST, CONTENTION = "wait at fence", "late post", "lock contention"
BUSY_PORT, ENDED_EARLY, OTHER = "busy port", "ended early", "other"
STATES = (
    LATE_SENDER, LATE_RECEIVER, BARRIER, N_TO_N, LATE_BROADCAST, EARLY_REDUCE, FENCE, LATE_POST, CONTENTION, BUSY_PORT,
    ENDED_EARLY, OTHER,
)  # fmt: skip

_FROM_ROOT = {"bcast", "scatter", "scatterv"}
_TO_ROOT = {"reduce", "gather", "gatherv"}
_AT = {"barrier": BARRIER, "fence": FENCE}
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


def waits(trace: Columns) -> Iterator[Wait]:
    """Every idle stretch of every rank, cut where the reason changes."""
    late = _collectives(trace)
    starts = _first_transfers(trace)
    for rank, (_, busy) in enumerate(busy_spans(trace, range(trace.ranks))):
        clock = trace.clocks[rank]
        ends = [0.0, *busy.ends.tolist()]
        for begin, end in zip(ends, [*busy.starts.tolist(), trace.time], strict=True):
            if end > begin:
                alive = min(end, max(begin, clock))
                if alive > begin:
                    yield from _explained(trace, rank, begin, alive, late[rank], starts)
                if end > alive:
                    yield Wait(rank, alive, end, ENDED_EARLY, 0)


def totals(trace: Columns) -> dict[str, tuple[float, dict[int, float]]]:
    """By state: all ranks' seconds, and how many of them in which call."""
    found: dict[str, tuple[float, dict[int, float]]] = {}
    by_call: dict[str, dict[int, float]] = {state: defaultdict(float) for state in STATES}
    for wait in waits(trace):
        by_call[wait.state][wait.call] += wait.end - wait.start
    for state, calls in by_call.items():
        found[state] = (sum(calls.values()), dict(calls))
    return found


def _explained(
    trace: Columns, rank: int, begin: float, end: float, late: list[tuple[float, float, str, int]], starts: dict[Any, int]
) -> Iterator[Wait]:
    """First what a collective explains, then what the transfer explains that ends it."""
    at = begin
    for entered, until, state, call in late:
        if entered < end and until > at:
            if entered > at:
                yield from _by_transfer(trace, rank, at, entered, end, starts)
            yield Wait(rank, max(at, entered), min(until, end), state, call)
            at = min(until, end)
    if at < end:
        yield from _by_transfer(trace, rank, at, end, end, starts)


def _by_transfer(
    trace: Columns, rank: int, begin: float, end: float, start: float, starts: dict[Any, int]
) -> Iterator[Wait]:
    """The stretch from begin to end of an idle time that a transfer may end at its start."""
    number = starts.get((rank, start))
    if number is None:
        yield Wait(rank, begin, end, OTHER, 0)
        return
    row = trace.transfer_rows[number]
    if row["dest"] == rank and row["awaited"] < start:
        own, other, call = float(row["awaited"]), float(row["posted"]), int(row["receive_call"])
        state = _BY_PERMIT.get(trace.calls[call].name, LATE_SENDER)
    else:
        own, other, state, call = float(row["posted"]), float(row["awaited"]), LATE_RECEIVER, int(row["call"])
        if other > start:
            other = own  # eager: the receiver does not matter
    cuts = np.clip([begin, own, max(own, other), end], begin, end).tolist()
    for first, last, why in zip(cuts, cuts[1:], (OTHER, state, BUSY_PORT), strict=False):
        if last > first:
            yield Wait(rank, first, last, why, 0 if why == OTHER else call)


def _first_transfers(trace: Columns) -> dict[Any, int]:
    """(rank, time) -> the first transfer that starts there and then."""
    found: dict[Any, int] = {}
    rows = trace.transfer_rows
    columns = (rows[name].tolist() for name in ("source", "dest", "start"))
    for number, (source, dest, start) in enumerate(zip(*columns, strict=True)):
        found.setdefault((source, start), number)
        found.setdefault((dest, start), number)
    return found


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
