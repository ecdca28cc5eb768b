"""A trace as Chrome's trace events, which Perfetto and chrome://tracing open.

Every rank is a process of that format. Its first row has what the rank does itself: collectives and phases, which nest,
and computing. Below are rows for what goes on in the background, for messages that it sends, and for those it receives:
as many as it takes for no two to overlap. Arrows lead from the start of a transfer to its receive. Times are virtual, in
microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from fakempi.trace.columns import Columns

Event = dict[str, Any]

OWN, BACKGROUND, SENDS, RECEIVES = range(4)
_TITLES = ("calls", "background", "sends", "receives")


class Slice(NamedTuple):
    """A stretch of a rank's time with a name."""

    start: float
    end: float
    name: str
    arguments: dict[str, Any]
    kind: int
    flow: int = 0  # the number of the arrow that begins (positive) or ends (negative) here
    flow_at: float = 0
    lane: int = 0


def events(trace: Columns) -> Iterator[Event]:
    """All events, rank after rank."""
    ours = _by_rank(trace)
    used = 1  # numbers of rows: Perfetto wants each to be used once, and 0 neither for a row nor for a process
    for rank in range(trace.ranks):
        rows, titles = _in_rows(_slices(trace, *(rows[rank] for rows in ours)))
        yield _about(rank, used, "process_name", name=f"rank {rank}")
        yield _about(rank, used, "process_sort_index", sort_index=rank)
        for number, title in enumerate(titles):
            yield _about(rank, used + number, "thread_name", name=title)
            yield _about(rank, used + number, "thread_sort_index", sort_index=number)
        for one, number in rows:
            yield from _drawn(one, rank, used + number)
        used += len(titles)


def _about(rank: int, row: int, what: str, **arguments: Any) -> Event:
    return {"ph": "M", "pid": rank + 1, "tid": row, "name": what, "args": arguments}


def _drawn(one: Slice, rank: int, row: int) -> Iterator[Event]:
    start = _microseconds(one.start)
    place = {"pid": rank + 1, "tid": row}
    length = round(_microseconds(one.end) - start, 3)
    told = {"args": one.arguments} if one.arguments else {}
    yield {"ph": "X", **place, "ts": start, "dur": length, "name": one.name, **told}
    if one.flow:
        arrow = {**place, "ts": _microseconds(one.flow_at), "name": "m", "cat": "m"}
        yield {"ph": "s", "id": one.flow, **arrow} if one.flow > 0 else {"ph": "f", "bp": "e", "id": -one.flow, **arrow}


def _microseconds(time: float) -> float:
    """To the nanosecond, which is as far as Perfetto counts; or slices that follow one another would overlap a little."""
    return round(time * 1e6, 3)


def _by_rank(trace: Columns) -> list[list[Any]]:
    """For each rank the numbers of the rows of regions, computes, sends and receives that are its own."""
    found = []
    transfers = trace.transfer_rows
    for whose in (trace.region_rows["rank"], trace.compute_rows["rank"], transfers["source"], transfers["dest"]):
        order = np.argsort(whose, kind="stable")
        bounds = np.searchsorted(whose[order], np.arange(trace.ranks + 1))
        found.append([order[bounds[rank] : bounds[rank + 1]] for rank in range(trace.ranks)])
    return found


def _slices(trace: Columns, regions: Any, computes: Any, sends: Any, receives: Any) -> Iterator[Slice]:
    names, calls = trace.names, trace.calls
    for row in trace.region_rows[regions]:
        arguments: dict[str, Any] = {}
        if row["call"]:
            arguments = {"call": str(calls[row["call"]]), "bytes": int(row["nbytes"])}
        title = names[row["name"]]
        if row["algorithm"]:
            arguments["algorithm"] = names[row["algorithm"]]
            title += f" ({arguments['algorithm']})"
        if row["root"] >= 0:
            arguments["root"] = int(row["root"])
        end = float(row["end"]) if isfinite(row["end"]) else trace.time
        kind = BACKGROUND if row["lane"] else OWN
        yield Slice(float(row["start"]), end, title, arguments, kind, lane=int(row["lane"]))
    for row in trace.compute_rows[computes]:
        yield Slice(float(row["start"]), float(row["end"]), "compute", {"call": str(calls[row["call"]])}, OWN)
    for number, row in zip(sends.tolist(), trace.transfer_rows[sends], strict=True):
        received = isfinite(row["awaited"])
        arguments = {"tag": int(row["tag"]), "bytes": int(row["nbytes"]), "call": str(calls[row["call"]])}
        if row["start"] > row["posted"]:
            arguments["waited_us"] = _microseconds(float(row["start"] - row["posted"]))
        name, flow = f"to {row['dest']}", number + 1 if received else 0
        yield Slice(float(row["posted"]), float(row["sent"]), name, arguments, SENDS, flow, float(row["start"]))
    for number, row in zip(receives.tolist(), trace.transfer_rows[receives], strict=True):
        if isfinite(row["awaited"]):
            awaited, arrived = float(row["awaited"]), float(row["arrived"])
            same = row["receive_call"] == row["call"]  # the arrow leads to the rest, and mostly to the same call
            arguments = {} if same else {"call": str(calls[row["receive_call"]])}
            at = max(awaited, float(row["start"]))
            yield Slice(awaited, max(awaited, arrived), f"from {row['source']}", arguments, RECEIVES, -number - 1, at)


def _nests(one: Slice, end: float, lane: int) -> bool:
    """Whether a slice lies inside one that is open, and of the same task."""
    return one.end <= end and one.lane == lane


def _in_rows(slices: Iterator[Slice]) -> tuple[list[tuple[Slice, int]], list[str]]:
    """Each slice with the number of its row, and what rows are called.

    In the rows of calls and of the background slices nest; messages do not.
    """
    rows: list[list[list[tuple[float, int]]]] = [[[]], [], [], []]  # by kind and row: (end, lane) of the open slices
    placed: list[tuple[Slice, int, int]] = []
    for one in sorted(slices, key=lambda one: (one.start, -one.end)):
        for row in rows[one.kind]:
            while row and row[-1][0] <= one.start:
                row.pop()
        fits = [not row or (one.kind in (OWN, BACKGROUND) and _nests(one, *row[-1])) for row in rows[one.kind]]
        if True not in fits:
            fits.append(True)
            rows[one.kind].append([])
        index = fits.index(True)
        rows[one.kind][index].append((one.end, one.lane))
        placed.append((one, one.kind, index))
    first = np.cumsum([0, *(len(kind) for kind in rows)]).tolist()
    titles = [
        title if len(kind) == 1 else f"{title} {index + 1}"
        for title, kind in zip(_TITLES, rows, strict=True)
        for index in range(len(kind))
    ]
    return [(one, first[kind] + index) for one, kind, index in placed], titles
