"""Select the contents of a trace for the page: a head with texts, and columns. Columns of times contain indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fakempi.errors.paths import short_path
from fakempi.trace.columns import Columns, Rows
from fakempi.trace.critical import COMPUTE, TRANSFER, WAIT
from fakempi.trace.measures import Measures
from fakempi.trace.wait_names import BLOCKED
from fakempi.trace.waits import MEANINGS, STATES, wait_rows
from fakempi.view.summary import EXPLAINED, facts

Column = npt.NDArray[Any]

_MESSAGE = ("call", "receive_call", "source", "dest", "tag", "context", "region", "nbytes", "protocol")
_TIMES = {
    "message": ("posted", "start", "sent", "arrived", "awaited"),
    "compute": ("start", "end"),
    "region": ("start", "end"),
    "wait": ("start", "end"),
    "path": ("start", "end"),
}
_OTHERS = {
    "message": _MESSAGE,
    "compute": ("rank", "call"),
    "region": ("rank", "name", "algorithm", "call", "lane", "parent", "nbytes", "root"),
    "wait": ("rank", "state", "call"),
    "path": ("kind", "rank", "source", "dest", "nbytes", "call"),
}
_PATH = np.dtype([("start", "f8"), ("end", "f8"), *((name, "i8") for name in _OTHERS["path"])])
_KINDS = (COMPUTE, TRANSFER, WAIT)


def contents(trace: Columns, title: str = "") -> tuple[dict[str, Any], dict[str, Column]]:
    """Return the head, and the columns by name."""
    measures = Measures(trace)
    transfers, computes = trace.transfer_rows, trace.compute_rows
    order = np.argsort(transfers["start"], kind="stable")
    tables: dict[str, Rows] = {
        "message": transfers[order],
        "compute": computes[np.lexsort((computes["start"], computes["rank"]))],
        "region": trace.region_rows,
        "wait": _waits(trace),
        "path": _path(measures),
    }
    columns = _numbered(tables, trace.clocks)
    for table, rows in tables.items():
        for name in _OTHERS[table]:
            column = rows[name]
            wide = name == "nbytes" and len(column) > 0 and int(column.max()) >= 2**31
            columns[f"{table}.{name}"] = column.astype(float) if wide else column
    head = {
        "title": title,
        "ranks": trace.ranks,
        "time": trace.time,
        "calls": [[call.name, short_path(call.file), call.line] for call in trace.calls],
        "names": trace.names,
        "states": [[state, MEANINGS[state]] for state in STATES if state != BLOCKED],
        "facts": [[name, value, EXPLAINED.get(name, "")] for name, value in facts(measures)],
        "about": {key: value for key, value in trace.about.items() if key not in ("ended", "findings", "schedule")},
        "schedule": _schedule(trace, order),
        "ended": trace.about.get("ended"),
        "findings": trace.about.get("findings", []),
        "checked": "findings" in trace.about,
    }
    return head, columns


def _numbered(tables: dict[str, Rows], clocks: list[float]) -> dict[str, Column]:
    """Return the sorted distinct times, and every column of times as indices into them; NEVER is -1."""
    parts = [(f"{table}.{name}", rows[name]) for table, rows in tables.items() for name in _TIMES[table]]
    parts.append(("clocks", np.asarray(clocks)))
    every = np.concatenate([column for _, column in parts])
    finite = np.isfinite(every)
    times, numbers = np.unique(every[finite], return_inverse=True)
    column = np.full(len(every), -1, np.int64)
    column[finite] = numbers
    bounds = np.cumsum([len(one) for _, one in parts])[:-1]
    named = {name: one for (name, _), one in zip(parts, np.split(column, bounds), strict=True)}
    return {"times": times, **named}


def _schedule(trace: Columns, order: Column) -> dict[str, Any] | None:
    """Return the schedule's record with its message as an index in the page's order of messages."""
    record: dict[str, Any] | None = trace.about.get("schedule")
    if record is None or record.get("message", -1) < 0:
        return record
    return {**record, "message": int(np.flatnonzero(order == record["message"])[0])}


def _waits(trace: Columns) -> Rows:
    """Return the waits without "blocked", which the page draws from the record of the end of the run."""
    rows = wait_rows(trace)
    blocked: Rows = rows[rows["state"] != STATES.index(BLOCKED)]
    return blocked


def _path(measures: Measures) -> Rows:
    steps = measures.critical_path
    rows = np.zeros(len(steps), _PATH)
    for index, step in enumerate(steps):
        kind = _KINDS.index(step.kind)
        rows[index] = (step.start, step.end, kind, step.rank, step.source, step.dest, step.nbytes, step.call)
    return rows
