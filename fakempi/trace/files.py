"""Traces in files: `.json` for Perfetto and Chrome (`fakempi.trace.chrome`), `.npz` for large ones. Both can be read again.

Either holds the columns themselves, so that what is read is what was written, to the last bit.
"""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fakempi.errors import TraceError, printable
from fakempi.trace.chrome import events
from fakempi.trace.columns import COMPUTES, NEVER, REGIONS, TRANSFERS, Columns, Rows, Table
from fakempi.trace.packing import packed, unpacked
from fakempi.trace.sound import check, check_head
from fakempi.trace.told import check_about

FORMAT = 2
"""Counted up whenever the columns change. In the first format JSON had lists of numbers; `.npz` is as it was."""
FORMATS = (1, FORMAT)

LARGE = 2**28
"""Bytes that any file may be when it is unpacked."""

BAD_ZIP = (KeyError, ValueError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error, struct.error)
"""What reading one may raise: broken, in a way of packing that is not known, encrypted."""

TABLES = {"transfers": TRANSFERS, "computes": COMPUTES, "regions": REGIONS}


def write(trace: Columns, path: str | os.PathLike[str]) -> None:
    """Write a trace; the end of the path says how."""
    path = Path(path)
    {".json": _write_json, ".npz": _write_npz}[_suffix(path)](trace, path)


def read(path: str | os.PathLike[str]) -> Columns:
    """Read a trace; errors say what is wrong with the file."""
    path = Path(path)
    reader = {".json": _read_json, ".npz": _read_npz}[_suffix(path)]
    try:
        head, tables = reader(path)
        if head.get("format") not in FORMATS:
            known = f"this fakempi reads formats {' and '.join(map(str, FORMATS))}"
            raise TraceError(f"{path}: the trace has format {repr(head.get('format'))[:80]}; {known}.")
        try:
            check_head(head)
            calls = [tuple(call) for call in head["calls"]]
            about = _cleaned(head.get("about", {}))  # files of earlier versions tell nothing
            trace = Columns(head["clocks"], calls, head["names"], **tables, about=about)
            check(trace)
            check_about(about, trace.ranks, len(trace))
        except (TraceError, OverflowError) as error:
            raise TraceError(f"{path}: the trace is damaged: {error}.") from error
    except (MemoryError, RecursionError) as error:
        raise TraceError(f"{path}: this is not a trace, or there is not enough memory for it.") from error
    return trace


def _suffix(path: Path) -> str:
    if path.suffix not in (".json", ".npz"):
        ending = f"ends in .json (for Perfetto) or .npz (for large ones), not {path.suffix!r}"
        raise TraceError(f"{path}: a trace's file {ending}.")
    return path.suffix


def _head(trace: Columns) -> dict[str, Any]:
    calls = [list(call) for call in trace.calls]
    return {"format": FORMAT, "about": trace.about, "clocks": trace.clocks, "calls": calls, "names": trace.names}


def _cleaned(told: Any) -> Any:
    """The same without control characters in texts, which are shown."""
    if isinstance(told, dict):
        return {printable(str(key)): _cleaned(value) for key, value in told.items()}
    if isinstance(told, list):
        return [_cleaned(value) for value in told]
    return printable(told, keep="\n") if isinstance(told, str) else told


def _rows(trace: Columns) -> dict[str, Rows]:
    return {"transfers": trace.transfer_rows, "computes": trace.compute_rows, "regions": trace.region_rows}


# -- npz --------------------------------------------------------------------------------------------------------------


def _write_npz(trace: Columns, path: Path) -> None:
    with path.open("wb") as file:
        np.savez_compressed(file, head=np.array(json.dumps(_head(trace))), **_rows(trace))  # type: ignore[arg-type]


def _read_npz(path: Path) -> tuple[dict[str, Any], dict[str, Rows]]:
    try:
        _refuse_bombs(path)
        with np.load(path, allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            tables = {name: file[name] for name in TABLES}
    except BAD_ZIP as error:
        raise TraceError(f"{path}: this is not a trace: {_short(error)}.") from error
    if not isinstance(head, dict):
        raise TraceError(f"{path}: this is not a trace: it has no head.")
    for name, table in TABLES.items():
        if head.get("format") in FORMATS and (tables[name].dtype != table.dtype or tables[name].ndim != 1):
            raise TraceError(f"{path}: the trace is damaged: {name} have columns {tables[name].dtype.names}.")
    return head, tables


def _refuse_bombs(path: Path) -> None:
    """A file that is small and would be enormous: what a trace holds is not that much alike."""
    with zipfile.ZipFile(path) as file:
        unpacked = sum(member.file_size for member in file.infolist())
    size = path.stat().st_size
    if unpacked > max(LARGE, 300 * size):
        raise ValueError(f"its {size:,} bytes would be {unpacked:,}")


# -- json -------------------------------------------------------------------------------------------------------------


def _write_json(trace: Columns, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ns",\n"otherData":{"fakempi":')
        columns = {name: packed(rows) for name, rows in _rows(trace).items()}
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
        if head["format"] not in FORMATS:
            return {"format": head["format"]}, {}
        reader = _table if head["format"] == 1 else _unpacked
        return head, {name: reader(path, name, table, head[name]) for name, table in TABLES.items()}
    except TraceError:
        raise
    except ValueError as error:  # no JSON, no text, or a number of too many digits
        raise TraceError(f"{path}: this is not JSON: {_short(error)}.") from error
    except (LookupError, TypeError) as error:
        raise TraceError(f"{path}: this is JSON, but not a trace that fakempi wrote: {_short(error)} is missing.") from error


def _unpacked(path: Path, name: str, table: Table, told: dict[str, Any]) -> Rows:
    try:
        return unpacked(told, table)
    except TraceError as error:
        raise TraceError(f"{path}: the trace is damaged: {name}: {error}.") from error


def _table(path: Path, name: str, table: Table, columns: dict[str, list[Any]]) -> Rows:
    """Columns as lists, in which what never happened is null, since JSON has no infinity."""
    if not all(isinstance(columns[column], list) for column in table.names):
        raise TraceError(f"{path}: the trace is damaged: {name} should have columns.")
    lengths = {len(columns[column]) for column in table.names}
    if len(lengths) > 1:
        raise TraceError(f"{path}: the trace is damaged: {name} have columns of {sorted(lengths)} rows.")
    rows = np.empty(lengths.pop(), table.dtype)
    for column in table.names:
        kinds = {int} if rows.dtype[column].kind == "i" else {int, float, type(None)}
        try:
            if not set(map(type, columns[column])) <= kinds:
                raise TypeError("there is something other than numbers")
            rows[column] = [NEVER if item is None else item for item in columns[column]]
        except (ValueError, OverflowError, TypeError) as error:
            raise TraceError(f"{path}: the trace is damaged: {column} of {name}: {_short(error)}.") from error
    return rows


def _short(error: Exception) -> str:
    """What it says, which may be all that a file holds."""
    words = str(error).rstrip(".")
    return words if len(words) <= 200 else f"{words[:200]}..."
