"""Read and write traces: `.json` also opens in Perfetto and Chrome (`fakempi.trace.chrome`), `.npz` is for large traces.

Both formats contain all columns of a trace. A trace that is read equals, bit by bit, the trace that was written. A part
`recording` is there if the run recorded the calls of ranks; versions of fakempi that do not know it ignore it.
"""

from __future__ import annotations

import json
import os
import struct
import tokenize
import zipfile
import zlib
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from fakempi.errors import TraceError, printable
from fakempi.errors.files import read_bytes
from fakempi.trace.chrome import events
from fakempi.trace.columns import (
    COMPUTES,
    EAGER,
    NEVER,
    ONE_SIDED,
    REGIONS,
    SYNCHRONOUS,
    TRANSFERS,
    Columns,
    RowFormat,
    Rows,
)
from fakempi.trace.metadata import check_about
from fakempi.trace.packing import checked_lengths, packed, packed_texts, split_texts, unpacked, unpacked_texts
from fakempi.trace.validation import check, check_head, check_rank_count

FORMAT = 3
"""Version of the file formats, incremented at each change.

In format 1, `.json` files had columns as lists of numbers. `.npz` files are the same in formats 1 and 2. Before format 3,
transfers had no column `protocol`.
"""
FORMATS = (1, 2, FORMAT)

MAX_BYTES = 1 << 34
"""Upper limit of the size of a file that is read: 16 GiB."""

MAX_CHARACTER = 0x10FFFF

LARGE = 2**28
"""The compression ratio is checked only for files of more than this number of bytes when uncompressed."""

BAD_HEADER = (KeyError, ValueError, EOFError, NotImplementedError, RuntimeError, SyntaxError, tokenize.TokenError)
BAD_ZIP = (*BAD_HEADER, zipfile.BadZipFile, zlib.error, struct.error)
"""Exceptions of zipfile and numpy for files that are broken, encrypted, or compressed by an unknown method."""

TABLES = {"transfers": TRANSFERS, "computes": COMPUTES, "regions": REGIONS}
_OLD_COLUMNS = {name: kind for name, kind in TRANSFERS.columns.items() if name != "protocol"}
OLD_TABLES = {**TABLES, "transfers": RowFormat(**_OLD_COLUMNS)}
"""The tables of files before format 3."""


def write(trace: Columns, path: str | os.PathLike[str]) -> None:
    """Write a trace in the format of the path's suffix."""
    path = Path(path)
    {".json": _write_json, ".npz": _write_npz}[_suffix(path)](trace, path)


def read(path: str | os.PathLike[str]) -> Columns:
    """Return the trace in a file; raises TraceError with the reason if it is not a valid trace."""
    path = Path(path)
    reader = {".json": _read_json, ".npz": _read_npz}[_suffix(path)]
    try:
        head, tables = reader(path)
        if head.get("format") in FORMATS[:-1]:
            tables["transfers"] = _with_protocol(tables["transfers"])
        if head.get("format") not in FORMATS:
            readable = f"this fakempi reads formats {FORMATS[0]} to {FORMAT}"
            raise TraceError(f"{path}: the trace has format {repr(head.get('format'))[:80]}; {readable}.")
        try:
            check_head(head)
            calls = [tuple(call) for call in head["calls"]]
            about = _cleaned(head.get("about", {}))  # files of earlier versions have no metadata
            texts = _texts(head.get("recording"), len(head["clocks"]))
            trace = Columns(head["clocks"], calls, head["names"], **tables, about=about, recording=texts)
            check(trace)
            check_about(about, trace.ranks, len(trace))
        except (TraceError, OverflowError) as error:
            raise TraceError(f"{path}: the trace is damaged: {error}.") from error
    except RecursionError as error:
        raise TraceError(f"{path}: not a trace: its values are nested too deeply.") from error
    except MemoryError as error:
        raise TraceError(f"{path}: not a trace, or not enough memory for it.") from error
    return trace


def _texts(record: Any, ranks: int) -> list[bytes]:
    """Return the calls of ranks that a head contains: already as texts (.npz), compressed (.json), or none."""
    if record is None or (isinstance(record, list) and all(type(text) is bytes for text in record)):
        return record or []
    try:
        return unpacked_texts(record, ranks)
    except TraceError as error:
        raise TraceError(f"the recorded calls: {error}") from None


def _suffix(path: Path) -> str:
    if path.suffix not in (".json", ".npz"):
        raise TraceError(f"{path}: the name of a trace file must end in .json or .npz, not {path.suffix!r}.")
    return path.suffix


def _head(trace: Columns) -> dict[str, Any]:
    calls = [list(call) for call in trace.calls]
    return {"format": FORMAT, "about": trace.about, "clocks": trace.clocks, "calls": calls, "names": trace.names}


def _cleaned(value: Any) -> Any:
    """Return a JSON value whose strings have no control characters, because views print these strings."""
    if isinstance(value, dict):
        return {printable(str(key)): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return printable(value, keep="\n") if isinstance(value, str) else value


def _tables(head: dict[str, Any]) -> dict[str, RowFormat]:
    return TABLES if head.get("format") == FORMAT else OLD_TABLES


def _with_protocol(old: Rows) -> Rows:
    """Add the protocol to transfers of an earlier format; one that starts when its receive is posted is synchronous."""
    rows = np.zeros(len(old), TRANSFERS.dtype)
    for name in old.dtype.names or ():
        rows[name] = old[name]
    rows["protocol"] = np.where(old["start"] < old["awaited"], EAGER, SYNCHRONOUS)
    rows["protocol"][(old["awaited"] < NEVER) & (old["receive_call"] == 0)] = ONE_SIDED
    return rows


def _rows(trace: Columns) -> dict[str, Rows]:
    return {"transfers": trace.transfer_rows, "computes": trace.compute_rows, "regions": trace.region_rows}


# -- npz --------------------------------------------------------------------------------------------------------------


def _write_npz(trace: Columns, path: Path) -> None:
    head, arrays = _head(trace), _rows(trace)
    if trace.recording:
        head["recording"] = [len(text) for text in trace.recording]
        arrays["recording"] = np.frombuffer(b"".join(trace.recording), np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(file, head=np.array(json.dumps(head)), **arrays)  # type: ignore[arg-type]  # the columns are keywords; numpy's stub takes them for allow_pickle


def _read_npz(path: Path) -> tuple[dict[str, Any], dict[str, Rows]]:
    try:
        data = read_bytes(path, MAX_BYTES)
        with zipfile.ZipFile(BytesIO(data)) as file:
            _check_members(file, len(data))
            text = str(_array(file, "head"))
            _check_rank_count(path, text)
            head = json.loads(text)
            tables = {name: _array(file, name) for name in TABLES}
            if isinstance(head, dict) and head.get("recording") is not None:
                head["recording"] = _recording(path, head, _array(file, "recording"))
    except TraceError:
        raise
    except BAD_ZIP as error:
        raise TraceError(f"{path}: not a trace: {_short(error)}.") from error
    if not isinstance(head, dict):
        raise TraceError(f"{path}: not a trace: it has no head.")
    for name, table in _tables(head).items():
        if head.get("format") in FORMATS and (tables[name].dtype != table.dtype or tables[name].ndim != 1):
            raise TraceError(f"{path}: the trace is damaged: {name} has columns {tables[name].dtype.names}.")
    return head, tables


def _recording(path: Path, head: dict[str, Any], joined: Rows) -> list[bytes]:
    """Return the calls of ranks from the array with all of them."""
    clocks = head.get("clocks")
    try:
        lengths = checked_lengths(head["recording"], len(clocks) if isinstance(clocks, list) else 0)
        if joined.dtype != np.uint8 or joined.shape != (sum(lengths),):
            raise TraceError(f"{sum(lengths):,} bytes are expected, but the array has the shape {joined.shape}")
    except TraceError as error:
        raise TraceError(f"{path}: the trace is damaged: the recorded calls: {error}.") from None
    return split_texts(joined.tobytes(), lengths)


def _check_rank_count(path: Path, text: str) -> None:
    try:
        check_rank_count(text)
    except TraceError as error:
        raise TraceError(f"{path}: the trace is damaged: {error}.") from None


def _array(file: zipfile.ZipFile, name: str) -> Rows:
    """Return an array without pickles; numpy's `load` returns the bytes of a member that is not an array."""
    member = file.getinfo(f"{name}.npy")
    with file.open(member) as stream:  # numpy allocates the memory that a header specifies
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, _, kind = readers[version](stream)
        if any(type(n) is not int for n in shape) or not 0 <= prod(shape) * kind.itemsize <= member.file_size:
            raise ValueError(f"{name} has {member.file_size:,} bytes, which its header contradicts")
    if kind.kind == "U" and (shape or kind.str[0] != "<"):
        raise ValueError(f"{name} is not one text")
    with file.open(member) as stream:
        array: Rows = np.lib.format.read_array(stream, allow_pickle=False)
    if kind.kind == "U" and array.nbytes and array.reshape(1).view("<u4").max() > MAX_CHARACTER:
        raise ValueError(f"{name} is not a text of Unicode")  # Python would raise SystemError, later
    return array


def _check_members(file: zipfile.ZipFile, size: int) -> None:
    """Raise ValueError if a small file would fill the memory when decompressed: traces have ratios below 300."""
    uncompressed = sum(member.file_size for member in file.infolist())
    if uncompressed > max(LARGE, 300 * size):
        raise ValueError(f"its {size:,} bytes would expand to {uncompressed:,}")
    if not {member.compress_type for member in file.infolist()} <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ValueError("it is compressed by a method that fakempi does not write")


# -- json -------------------------------------------------------------------------------------------------------------


def _write_json(trace: Columns, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ns",\n"otherData":{"fakempi":')
        columns = {name: packed(rows) for name, rows in _rows(trace).items()}
        if trace.recording:
            columns["recording"] = packed_texts(trace.recording)
        file.write(json.dumps({**_head(trace), **columns}, separators=(",", ":")))
        file.write('},\n"traceEvents":[\n')
        separator = ""
        for event in events(trace):
            file.write(separator + json.dumps(event, separators=(",", ":")))
            separator = ",\n"
        file.write("\n]}\n")


def _read_json(path: Path) -> tuple[dict[str, Any], dict[str, Rows]]:
    try:
        text = read_bytes(path, MAX_BYTES).decode("utf-8")
        _check_rank_count(path, text)
        content = json.loads(text)
        head = content["otherData"]["fakempi"]
        if head["format"] not in FORMATS:
            return {"format": head["format"]}, {}
        reader = _rows_from_lists if head["format"] == 1 else _unpacked
        return head, {name: reader(path, name, table, head[name]) for name, table in _tables(head).items()}
    except TraceError:
        raise
    except ValueError as error:  # not JSON, not UTF-8, or a number with too many digits
        raise TraceError(f"{path}: not JSON: {_short(error)}.") from error
    except LookupError as error:
        raise TraceError(f"{path}: JSON, but not a trace that fakempi wrote: {_short(error)} is missing.") from error
    except TypeError as error:
        raise TraceError(f"{path}: JSON, but not a trace that fakempi wrote: a part is not a table.") from error


def _unpacked(path: Path, name: str, table: RowFormat, record: dict[str, Any]) -> Rows:
    try:
        return unpacked(record, table)
    except TraceError as error:
        raise TraceError(f"{path}: the trace is damaged: {name}: {error}.") from error


def _rows_from_lists(path: Path, name: str, table: RowFormat, columns: dict[str, list[Any]]) -> Rows:
    """Return the rows of a table of format 1, whose columns are lists. NEVER is stored as null: JSON has no infinity."""
    if not all(isinstance(columns[column], list) for column in table.names):
        raise TraceError(f"{path}: the trace is damaged: the columns of {name} must be lists.")
    lengths = {len(columns[column]) for column in table.names}
    if len(lengths) > 1:
        raise TraceError(f"{path}: the trace is damaged: the columns of {name} have different lengths: {sorted(lengths)}.")
    rows = np.empty(lengths.pop(), table.dtype)
    for column in table.names:
        kinds = {int} if rows.dtype[column].kind == "i" else {int, float, type(None)}
        try:
            if not set(map(type, columns[column])) <= kinds:
                raise TypeError("not all values are numbers")
            rows[column] = [NEVER if item is None else item for item in columns[column]]
        except (ValueError, OverflowError, TypeError) as error:
            raise TraceError(f"{path}: the trace is damaged: {column} of {name}: {_short(error)}.") from error
    return rows


def _short(error: Exception) -> str:
    """Return the text of an error, cut to 200 characters: it may quote a whole file."""
    text = str(error).rstrip(".")
    return text if len(text) <= 200 else f"{text[:200]}..."
