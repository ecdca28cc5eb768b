"""Read samples from CSV files: times of pairs of cores with their placement, or rows that have a level.

Files of pairs have the columns a, b (cores or ranks), bytes and seconds (one way). Files of placements have the columns
core, node and, optionally, socket and cache. `fakempi calibrate --csv` writes the columns level, kind, pairs, bytes and
seconds.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TextIO

from fakempi.core.network.models.multi_level import LEVELS
from fakempi.errors.files import read_bytes
from fakempi.machines.samples import KINDS, Sample, input_error, parse_positive, parse_size

Names = tuple[str, str, str]
"""The names of a core's node, socket and last-level cache; empty: unknown."""

COLUMNS = ("level", "kind", "pairs", "bytes", "seconds")
"""The columns of a file that `write_samples` writes."""


def read_placement(path: str) -> dict[str, Names]:
    """Return the placement of each core, from a file with the columns core, node and, optionally, socket and cache."""
    found: dict[str, Names] = {}
    for where, row in _rows(path, ("core", "node")):
        core, node = row["core"].strip(), row["node"].strip()
        if not core or not node:
            raise input_error(f"{where}: core and node must not be empty.")
        if core in found:
            raise input_error(f"{where}: core {core} has a place already; each core must occur once.")
        found[core] = node, (row.get("socket") or "").strip(), (row.get("cache") or "").strip()
    if not found:
        raise input_error(f"{path} has no rows: write a line core,node,socket for each core.")
    return found


def read_samples(path: str, placement: Mapping[str, Names] | None = None, level: str = "") -> list[Sample]:
    """Return the samples in a CSV file.

    The level of a row is `level` if that is given, otherwise that of the column level, otherwise it follows from the
    placement of the cores a and b.
    """
    with csv_lines(path) as lines:
        names = lines.fieldnames or ()
    needed = ("bytes", "seconds") if level else ("level", "bytes", "seconds") if "level" in names else _PAIRS
    return list(_samples(path, needed, placement, level))


_PAIRS = ("a", "b", "bytes", "seconds")


def _samples(path: str, needed: Sequence[str], placement: Mapping[str, Names] | None, level: str) -> Iterator[Sample]:
    for where, row in _rows(path, needed):
        kind = (row.get("kind") or "time").strip()
        if kind not in KINDS:
            raise input_error(f"{where}: kind {kind!r} is unknown; known: {', '.join(KINDS)}.")
        found = level or (row["level"].strip() if "level" in needed else _level_of(where, row, placement))
        if found not in LEVELS:
            raise input_error(f"{where}: level {found!r} is unknown; known: {', '.join(LEVELS)}.")
        text = row["seconds"].strip()
        seconds = float(text == "1") if kind == "eager" and text in ("0", "1") else parse_positive(text, "seconds", where)
        pairs = parse_size(row.get("pairs") or "1", where)
        yield Sample(found, kind, parse_size(row["bytes"].strip(), where), seconds, pairs, where)


def _level_of(where: str, row: Mapping[str, str], placement: Mapping[str, Names] | None) -> str:
    one, other = row["a"].strip(), row["b"].strip()
    if placement is None:
        raise input_error(
            f"{where}: the placement of cores {one} and {other} is unknown: add --placement cores.csv, or, if all pairs are "
            "on one level, write the level before the file: --from node:FILE"
        )
    for core in (one, other):
        if core not in placement:
            raise input_error(f"{where}: core {core} is not in the file of --placement.")
    if one == other:
        raise input_error(f"{where}: core {one} exchanges messages with itself: two ranks shared a core; remove the row.")
    shared = "network"
    for level, here, there in zip(("node", "socket", "cache"), placement[one], placement[other], strict=True):
        if here != there or not here:
            return shared
        shared = level
    return shared


def open_text(path: str) -> TextIO:
    """Return the text of a file as a stream; an error for a file that cannot be read, or is not in UTF-8.

    Spreadsheet programs write a byte order mark, which is skipped.
    """
    try:
        return StringIO(read_bytes(path).decode("utf-8-sig"), newline="")
    except OSError as error:
        raise input_error(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise input_error(f"{path} is not a text in UTF-8.") from None


@contextmanager
def csv_lines(path: str) -> Iterator[csv.DictReader[str]]:
    """Open a CSV file; raise an error with the line if it is not one, or if two columns have the same name."""
    lines = csv.DictReader(open_text(path))
    try:
        names = [name.strip() for name in lines.fieldnames or ()]
        if twice := [name for name in names if name and names.count(name) > 1][:1]:
            raise input_error(f"{path} has two columns {twice[0][:80]!r}.")
        lines.fieldnames = names
        yield lines
    except csv.Error as error:
        raise input_error(f"{path} line {lines.reader.line_num}: not CSV: {error}.") from None


def _rows(path: str, needed: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield file and line, and the values, of each row; raise an error if a needed column is missing."""
    with csv_lines(path) as lines:
        names = list(lines.fieldnames or ())
        missing = [name for name in needed if name not in names]
        if missing:
            columns = "column" if len(missing) == 1 else "columns"
            found = f"has the columns {', '.join(names)}" if names else "is empty"
            raise input_error(f"{path} {found}, and not the {columns} {', '.join(missing)}.")
        for row in lines:
            where = f"{path} line {lines.line_num}"
            if any(row[name] is None for name in needed) or None in row:
                raise input_error(f"{where}: the row does not have {len(names)} values.")
            yield where, {name: value or "" for name, value in row.items()}


def write_samples(file: TextIO, samples: Iterable[Sample]) -> None:
    """Write samples as CSV, in a form that `read_samples` reads."""
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(COLUMNS)
    for one in samples:
        seconds = int(one.seconds) if one.kind == "eager" else repr(one.seconds)
        lines.writerow([one.level, one.kind, one.pairs, one.nbytes, seconds])
