"""Read the output of benchmark programs: the OSU Micro-Benchmarks and the Intel MPI Benchmarks.

A text becomes tables (`BenchmarkTable`): a name, a number of processes if the text has one, and rows of size and value. The
unit is taken from the header above the rows. A text without a known unit is rejected: a wrong unit gives a wrong model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from fakempi.errors.files import read_bytes
from fakempi.machines.samples import Sample, input_error, parse_positive, parse_size

_UNITS = {"us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "ns": 1e-9, "s": 1.0, "sec": 1.0}
_COLLECTIVES = {
    "broadcast": "bcast", "bcast": "bcast", "allgather": "allgather", "allgatherv": "allgatherv", "allreduce": "allreduce",
    "alltoall": "alltoall", "all-to-all": "alltoall", "alltoallv": "alltoallv", "gather": "gather", "gatherv": "gatherv",
    "reduce": "reduce", "reduce_scatter": "reduce_scatter", "scatter": "scatter", "scatterv": "scatterv",
    "barrier": "barrier", "scan": "scan", "exscan": "exscan",
}  # fmt: skip
_OSU_TITLE = re.compile(r"#\s*OSU MPI(?:-\w+)?\s+(.*?)\s+Test\b", re.IGNORECASE)
_IMB_TITLE = re.compile(r"#\s*Benchmarking\s+(\S+)")


class BenchmarkTable(NamedTuple):
    """Rows of one benchmark: `name` is latency, bandwidth, rate or an operation; values are seconds, or bytes per second.

    `dtype` is the element type, such as "char", if the program prints it.
    """

    name: str
    processes: int
    rows: list[tuple[int, float, str]]
    dtype: str = ""


def is_benchmark_text(path: str) -> bool:
    """Return whether a file has the title line of a supported benchmark program."""
    try:
        lines = read_bytes(path).decode("utf-8", "replace").splitlines()
        return any(_OSU_TITLE.match(line) or _IMB_TITLE.match(line) for line in lines)
    except OSError as error:
        raise input_error(f"{path} cannot be read: {error.strerror}.") from None


def read_tables(path: str) -> list[BenchmarkTable]:
    """Return the tables in the output of a benchmark program."""
    try:
        lines = read_bytes(path).decode("utf-8", "replace").splitlines()
    except OSError as error:
        raise input_error(f"{path} cannot be read: {error.strerror}.") from None
    found = list(_tables(path, lines))
    if not any(table.rows for table in found):
        raise input_error(f"{path} has no rows of an OSU or Intel MPI benchmark: write the program's output to the file.")
    return [table for table in found if table.rows]


def _tables(path: str, lines: list[str]) -> Iterator[BenchmarkTable]:
    table, columns = BenchmarkTable("", 0, []), (0, 0.0)
    for number, line in enumerate(lines, 1):
        where = f"{path} line {number}"
        if title := _OSU_TITLE.match(line) or _IMB_TITLE.match(line):
            yield table
            table, columns = BenchmarkTable(_name(title[1]), 0, []), (0, 0.0)
        elif match := re.search(r"#processes\s*=\s*(\d+)", line):
            table = table._replace(processes=parse_size(match[1], where))
        elif match := re.match(r"#\s*Datatype:\s*MPI_(\w+)", line):
            table = table._replace(dtype=match[1].lower())
        elif match := re.search(r"\[\s*pairs:\s*(\d+)\s*\]", line):
            table = table._replace(processes=2 * parse_size(match[1], where))
        elif re.match(r"\s*#\s*(Size|bytes|#?repetitions)|\s*#bytes|\s*#repetitions|#\s*Avg Lat", line, re.IGNORECASE):
            columns = _value_column(where, line, table.name)
        elif line.strip() and not line.lstrip().startswith("#") and re.match(r"[\d.]+$", line.split()[0]):
            if table.name and columns[1]:
                table.rows.append(_row(where, line.split(), columns, table.name))
            elif table.name:
                raise input_error(f"{where}: there is no header with the unit above this row, such as 'Latency (us)'.")
    yield table


def _name(title: str) -> str:
    low = title.lower().removeprefix("non-blocking ")
    if "message rate" in low:
        return "rate"
    if "bandwidth" in low:
        return "" if "bi-" in low else "bandwidth"
    if low in ("latency", "pingpong"):
        return "latency"
    return _COLLECTIVES.get(low.strip().partition(" ")[0].rstrip(":"), "")


def _value_column(where: str, line: str, name: str) -> tuple[int, float]:
    """Return the column of the value, and the factor that converts it to seconds or bytes per second."""
    imb = line.split()[0] in ("#bytes", "#repetitions")  # the OSU benchmarks have names of two words, two blanks apart
    cells = line.split() if imb else re.split(r"\s{2,}|\t", line.strip().lstrip("#").strip())
    for number, cell in enumerate(cells):
        low = cell.lower()
        if name in ("bandwidth", "rate"):
            if match := re.search(r"\b([kmg]?)(?:b|bytes)/s", low):
                return number, {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}[match[1]]
        elif match := re.fullmatch(r"(?:avg |avg|t_avg|t|.*latency)\s*[(\[]\s*(\w+)\s*[)\]]", low):
            if match[1] not in _UNITS:
                raise input_error(f"{where}: the unit {match[1]!r} is unknown; known: {', '.join(_UNITS)}.")
            return number, _UNITS[match[1]]
    return 0, 0.0


def _row(where: str, cells: list[str], columns: tuple[int, float], name: str) -> tuple[int, float, str]:
    column, factor = columns
    if name == "barrier":
        return 0, parse_positive(cells[min(column, len(cells) - 1)], "time", where) * factor, where
    if column >= len(cells):
        raise input_error(f"{where}: the row has {len(cells)} values, and the header at least {column + 1}.")
    what = "bandwidth" if name in ("bandwidth", "rate") else "latency"
    return parse_size(cells[0], where), parse_positive(cells[column], what, where) * factor, where


def samples_of(tables: list[BenchmarkTable], level: str) -> list[Sample]:
    """Return the samples in the tables of point-to-point benchmarks, for a level."""
    found: list[Sample] = []
    for table in tables:
        pairs = max(1, table.processes // 2)
        for nbytes, value, where in table.rows:
            if table.name == "latency":
                found.append(Sample(level, "time", nbytes, value, 1, where))
            elif table.name in ("bandwidth", "rate") and nbytes:
                kind = "gap" if table.name == "bandwidth" or pairs == 1 else "concurrent"
                found.append(Sample(level, kind, nbytes, pairs * nbytes / value, pairs, where))
    return found
