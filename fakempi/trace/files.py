"""Traces in files: `.json` for Perfetto and Chrome (`fakempi.trace.chrome`), `.npz` for large ones. Both can be read again.

Either holds the columns themselves, so that what is read is what was written, to the last bit.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from fakempi.errors import TraceError
from fakempi.trace.chrome import events
from fakempi.trace.columns import COMPUTES, NEVER, REGIONS, TRANSFERS, Columns, Rows, Table

FORMAT = 1
"""Counted up whenever the columns change."""

TABLES = {"transfers": TRANSFERS, "computes": COMPUTES, "regions": REGIONS}


def write(trace: Columns, path: str | os.PathLike[str]) -> None:
    """Write a trace; the end of the path says how."""
    path = Path(path)
    {".json": _write_json, ".npz": _write_npz}[_suffix(path)](trace, path)


def read(path: str | os.PathLike[str]) -> Columns:
    """Read a trace; errors say what is wrong with the file."""
    path = Path(path)
    head, tables = {".json": _read_json, ".npz": _read_npz}[_suffix(path)](path)
    if head.get("format") != FORMAT:
        raise TraceError(f"{path}: the trace has format {head.get('format')!r}; this fakempi reads format {FORMAT}.")
    try:
        trace = Columns(head["clocks"], [tuple(call) for call in head["calls"]], head["names"], **tables, about=_about(head))
    except (KeyError, TypeError, ValueError) as error:
        raise TraceError(f"{path}: the trace is damaged: {type(error).__name__}: {error}.") from error
    _check(path, trace)
    return trace


def _suffix(path: Path) -> str:
    if path.suffix not in (".json", ".npz"):
        ending = f"ends in .json (for Perfetto) or .npz (for large ones), not {path.suffix!r}"
        raise TraceError(f"{path}: a trace's file {ending}.")
    return path.suffix


def _head(trace: Columns) -> dict[str, Any]:
    calls = [list(call) for call in trace.calls]
    return {"format": FORMAT, "about": trace.about, "clocks": trace.clocks, "calls": calls, "names": trace.names}


def _about(head: dict[str, Any]) -> dict[str, Any]:
    """What is told of the run; files of earlier versions tell nothing."""
    about = head.get("about", {})
    if not isinstance(about, dict):
        raise TypeError(f"about is a {type(about).__name__}")
    return about


def _rows(trace: Columns) -> dict[str, Rows]:
    return {"transfers": trace.transfer_rows, "computes": trace.compute_rows, "regions": trace.region_rows}


# -- npz --------------------------------------------------------------------------------------------------------------


def _write_npz(trace: Columns, path: Path) -> None:
    with path.open("wb") as file:
        np.savez_compressed(file, head=np.array(json.dumps(_head(trace))), **_rows(trace))  # type: ignore[arg-type]


def _read_npz(path: Path) -> tuple[dict[str, Any], dict[str, Rows]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            tables = {name: file[name] for name in TABLES}
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise TraceError(f"{path}: this is not a trace: {error}.") from error
    for name, table in TABLES.items():
        if head.get("format") == FORMAT and tables[name].dtype != table.dtype:
            raise TraceError(f"{path}: the trace is damaged: {name} have columns {tables[name].dtype.names}.")
    return head, tables


# -- json -------------------------------------------------------------------------------------------------------------


def _write_json(trace: Columns, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ns",\n"otherData":{"fakempi":')
        columns = {name: _listed(rows) for name, rows in _rows(trace).items()}
        file.write(json.dumps({**_head(trace), **columns}, separators=(",", ":")))
        file.write('},\n"traceEvents":[\n')
        separator = ""
        for event in events(trace):
            file.write(separator + json.dumps(event, separators=(",", ":")))
            separator = ",\n"
        file.write("\n]}\n")


def _read_json(path: Path) -> tuple[dict[str, Any], dict[str, Rows]]:
    try:
        with path.open(encoding="utf-8") as file:
            content = json.load(file)
        head = content["otherData"]["fakempi"]
        if head["format"] != FORMAT:
            return head, {}
        return head, {name: _table(path, name, table, head[name]) for name, table in TABLES.items()}
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise TraceError(f"{path}: this is not JSON: {error}.") from error
    except (KeyError, TypeError) as error:
        raise TraceError(f"{path}: this is JSON, but not a trace that fakempi wrote: {error} is missing.") from error


def _listed(rows: Rows) -> dict[str, list[Any]]:
    """Columns as lists. What never happened is null, since JSON has no infinity."""
    columns = {name: rows[name].tolist() for name in rows.dtype.names or ()}
    return {name: [None if item == NEVER else item for item in column] for name, column in columns.items()}


def _table(path: Path, name: str, table: Table, columns: dict[str, list[Any]]) -> Rows:
    lengths = {len(columns[column]) for column in table.names}
    if len(lengths) > 1:
        raise TraceError(f"{path}: the trace is damaged: {name} have columns of {sorted(lengths)} rows.")
    rows = np.empty(lengths.pop(), table.dtype)
    for column in table.names:
        try:
            rows[column] = [NEVER if item is None else item for item in columns[column]]
        except (ValueError, OverflowError, TypeError) as error:
            raise TraceError(f"{path}: the trace is damaged: {column} of {name}: {error}.") from error
    return rows


# -- either -----------------------------------------------------------------------------------------------------------


def _check(path: Path, trace: Columns) -> None:
    """Numbers that mean something elsewhere must mean something that is there."""
    if not trace.clocks:
        raise TraceError(f"{path}: the trace is damaged: it has no ranks.")
    limits = {
        "transfers": {"call": len(trace.calls), "receive_call": len(trace.calls), "region": len(trace.region_rows)},
        "computes": {"call": len(trace.calls)},
        "regions": {"name": len(trace.names), "algorithm": len(trace.names), "call": len(trace.calls)},
    }
    for name, rows in _rows(trace).items():
        for column, limit in limits[name].items():
            if len(rows) and not -1 <= int(rows[column].min()) <= int(rows[column].max()) < limit:
                worst = int(rows[column].max())
                raise TraceError(f"{path}: the trace is damaged: {column} {worst} of {name} is not below {limit}.")
