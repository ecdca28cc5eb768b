"""Convert a trace to Chrome's trace events, which Perfetto and chrome://tracing open.

Every rank is a process of that format. Its first row shows nested collectives and phases, and computing. The rows below
show background operations, sent messages and received messages, in several rows if they overlap. Arrows lead
from the start of a transfer to its receive. Times are virtual, in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from fakempi.trace.columns import Columns

Event = dict[str, Any]

CALLS, BACKGROUND, SENDS, RECEIVES = range(4)
_TITLES = ("calls", "background", "sends", "receives")


class Slice(NamedTuple):
    """A named interval of a rank's time."""

    start: float
    end: float
    name: str
    arguments: dict[str, Any]
    kind: int
    flow: int = 0  # the number of the arrow that begins (positive) or ends (negative) here
    flow_at: float = 0
    lane: int = 0


def events(trace: Columns) -> Iterator[Event]:
    """Yield all events, rank by rank."""
    by_rank = _by_rank(trace)
    used = 1  # Perfetto needs unique numbers of rows, and no row or process with the number 0
    for rank in range(trace.ranks):
        rows, titles = _in_rows(_slices(trace, *(rows[rank] for rows in by_rank)))
        yield _about(rank, used, "process_name", name=f"rank {rank}")
        yield _about(rank, used, "process_sort_index", sort_index=rank)
        for number, title in enumerate(titles):
            yield _about(rank, used + number, "thread_name", name=title)
            yield _about(rank, used + number, "thread_sort_index", sort_index=number)
        for part, number in rows:
            yield from _slice_events(part, rank, used + number)
        used += len(titles)


def _about(rank: int, row: int, kind: str, **arguments: Any) -> Event:
    return {"ph": "M", "pid": rank + 1, "tid": row, "name": kind, "args": arguments}


def _slice_events(part: Slice, rank: int, row: int) -> Iterator[Event]:
    start = _microseconds(part.start)
    place = {"pid": rank + 1, "tid": row}
    length = round(_microseconds(part.end) - start, 3)
    arguments = {"args": part.arguments} if part.arguments else {}
    yield {"ph": "X", **place, "ts": start, "dur": length, "name": part.name, **arguments}
    if part.flow:
        arrow = {**place, "ts": _microseconds(part.flow_at), "name": "m", "cat": "m"}
        yield {"ph": "s", "id": part.flow, **arrow} if part.flow > 0 else {"ph": "f", "bp": "e", "id": -part.flow, **arrow}


def _microseconds(time: float) -> float:
    """Return a time in microseconds, rounded to Perfetto's resolution of 1 ns, so that adjacent slices do not overlap."""
    return round(time * 1e6, 3)


def _by_rank(trace: Columns) -> list[list[Any]]:
    """Return for each rank the row numbers of its regions, compute intervals, sends and receives."""
    by_column = []
    transfers = trace.transfer_rows
    for owner in (trace.region_rows["rank"], trace.compute_rows["rank"], transfers["source"], transfers["dest"]):
        order = np.argsort(owner, kind="stable")
        bounds = np.searchsorted(owner[order], np.arange(trace.ranks + 1))
        by_column.append([order[bounds[rank] : bounds[rank + 1]] for rank in range(trace.ranks)])
    return by_column


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
        kind = BACKGROUND if row["lane"] else CALLS
        yield Slice(float(row["start"]), end, title, arguments, kind, lane=int(row["lane"]))
    for row in trace.compute_rows[computes]:
        yield Slice(float(row["start"]), float(row["end"]), "compute", {"call": str(calls[row["call"]])}, CALLS)
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
            same = row["receive_call"] == row["call"]  # usually the same call; the arrow leads to the details
            arguments = {} if same else {"call": str(calls[row["receive_call"]])}
            at = max(awaited, float(row["start"]))
            yield Slice(awaited, max(awaited, arrived), f"from {row['source']}", arguments, RECEIVES, -number - 1, at)


def _nests(part: Slice, end: float, lane: int) -> bool:
    """Return whether a slice is inside an open slice of the same task."""
    return part.end <= end and part.lane == lane


def _in_rows(slices: Iterator[Slice]) -> tuple[list[tuple[Slice, int]], list[str]]:
    """Return each slice with the number of its row, and the titles of the rows.

    Slices of calls and background operations nest; messages do not.
    """
    rows: list[list[list[tuple[float, int]]]] = [[[]], [], [], []]  # by kind and row: (end, lane) of the open slices
    placed: list[tuple[Slice, int, int]] = []
    for part in sorted(slices, key=lambda part: (part.start, -part.end)):
        for row in rows[part.kind]:
            while row and row[-1][0] <= part.start:
                row.pop()
        fits = [not row or (part.kind in (CALLS, BACKGROUND) and _nests(part, *row[-1])) for row in rows[part.kind]]
        if True not in fits:
            fits.append(True)
            rows[part.kind].append([])
        index = fits.index(True)
        rows[part.kind][index].append((part.end, part.lane))
        placed.append((part, part.kind, index))
    first = np.cumsum([0, *(len(kind) for kind in rows)]).tolist()
    titles = [
        title if len(kind) == 1 else f"{title} {index + 1}"
        for title, kind in zip(_TITLES, rows, strict=True)
        for index in range(len(kind))
    ]
    return [(part, first[kind] + index) for part, kind, index in placed], titles
