"""Read times that were measured on a machine, to compare them with modeled times.

`python -m collectives.measure --csv` writes such files. Other files have the columns operation, algorithm, ranks, bytes,
seconds and, optionally, placement: the number of ranks per node. The output of an OSU or Intel MPI benchmark of a collective
operation is read as `osu_bcast.txt:algorithm=binomial,ranks=16`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from collectives.loading import SCHEDULE_SUFFIXES, is_path
from fakempi.core.network.cost import MAX_PROCESSES
from fakempi.core.options import MAX_BYTES, algorithm_names
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.machines.benchmark_texts import read_tables
from fakempi.machines.csv_files import csv_lines
from fakempi.machines.samples import LONGEST, MIXED

Key = tuple[str, int, int, int, str]
_NUMBERS = ("p", "q", "bytes")
_KEY = ("algorithm", *_NUMBERS, "distribution")
_COLUMNS = ("operation", "kind", *_KEY, "seconds")

LONGEST_NAME = 1000
LIBRARY = "default"
"""Value of the column `algorithm` in rows for which the MPI library chose the algorithm."""


@dataclass(frozen=True)
class Measurements:
    """Seconds of one operation as measured on a machine.

    Keys are algorithm, ranks of both groups, bytes and distribution, in the order of the file.
    """

    path: str
    seconds: Mapping[Key, float]
    placement: int | None = None
    dtype: str = ""
    """The element type of the measurements; empty if the file does not state it."""

    @property
    def algorithms(self) -> list[str]:
        """The measured algorithms, without the library's default."""
        return list(dict.fromkeys(key[0] for key in self.seconds if key[0] != LIBRARY))

    @property
    def ranks(self) -> list[tuple[int, int]]:
        """The measured numbers of ranks, as (p, q)."""
        return list(dict.fromkeys(key[1:3] for key in self.seconds))

    @property
    def sizes(self) -> list[int]:
        """The measured sizes in bytes."""
        return list(dict.fromkeys(key[3] for key in self.seconds))

    @property
    def distributions(self) -> list[str]:
        """The measured distributions of block sizes."""
        return list(dict.fromkeys(key[4] for key in self.seconds))

    def renamed(self, names: Mapping[str, str]) -> Measurements:
        """Return a copy with other names for some algorithms."""
        return replace(self, seconds={(names.get(key[0], key[0]), *key[1:]): time for key, time in self.seconds.items()})

    def placed(self, cost: str) -> str:
        """Return the text of a cost model with the number of ranks per node of the measurements, if the file has one."""
        return cost if self.placement is None else f"{cost}{',' if ':' in cost else ':'}ranks_per_node={self.placement}"


def read_measurements(path: str, operation: str, kind: str = "intra", placement: int | None = None) -> Measurements:
    """Return the measurements of one operation in a file; `placement` selects the rows with that number of ranks per node.

    The file may also be a CSV file of `fakempi compare`, or `FILE:algorithm=NAME,ranks=N` for the output of a benchmark.
    """
    text, _, parameters = path.rpartition(":")
    if text and "=" in parameters:
        return _read_benchmark(text, parameters, operation)
    with csv_lines(path) as lines:
        names = lines.fieldnames or ()
        # `python -m collectives.measure` measures with elements of one byte, and has no column for their type.
        dtypes = set() if "dtype" in names or "ranks" in names else {"char"}
        _check_columns(path, names)
        by_placement: dict[Any, dict[Any, float]] = {}
        other_operations: dict[str, None] = {}
        for line in lines:
            if None in line or None in line.values():
                raise _file_error(f"{path} line {lines.line_num}: the row does not have {len(names)} values.")
            line_kind = line.get("kind") or "intra"
            if (line["operation"], line_kind) != (operation, kind):
                other_operations[line["operation"] if line_kind == "intra" else f"{line_kind}:{line['operation']}"] = None
            elif line["seconds"]:  # empty if the algorithm rejected the case
                line_placement, key, seconds = _parse_row(path, lines.line_num, line)
                if key in by_placement.setdefault(line_placement, {}):
                    fields = ", ".join(str(field) for field in key if field != "")
                    raise _file_error(f"{path} line {lines.line_num}: duplicate row: {fields}.")
                by_placement[line_placement][key] = seconds
                dtypes.update(filter(None, [line.get("dtype")]))
    if not by_placement:
        raise _file_error(f"{path} has no rows for {kind} {operation}; it has {', '.join(other_operations) or 'no rows'}.")
    if placement is None and len(by_placement) > 1:
        known = ", ".join(map(str, by_placement))
        raise _file_error(f"{path} has the placements {known} (ranks per node): choose one with --placement.")
    if placement is not None and placement not in by_placement:
        known = "the placements " + ", ".join(map(str, by_placement)) if None not in by_placement else "rows without one"
        raise _file_error(f"{path} has no rows with the placement {placement}; it has {known}.")
    chosen = next(iter(by_placement)) if placement is None else placement
    if "ranks" in names:  # otherwise a program of this project wrote the file, in seconds
        _check_units(path, by_placement[chosen])
    return Measurements(path, by_placement[chosen], chosen, _only_type(path, dtypes))


def _only_type(path: str, dtypes: Collection[str]) -> str:
    """Return the element type of all measurements; empty if it is unknown."""
    if len(dtypes) > 1:
        raise _file_error(f"{path} has measurements with several element types: {', '.join(sorted(dtypes))}.")
    return "".join(dtypes)


def _check_columns(path: str, names: Collection[str]) -> None:
    needed = ("operation", "algorithm", "ranks", "bytes", "seconds") if "ranks" in names else _COLUMNS
    missing = [name for name in needed if name not in names]
    if missing:
        expected = "add it" if "ranks" in names else "it is not from python -m collectives.measure --csv"
        raise _file_error(f"{path} has no column {missing[0]!r}: {expected}.")


def _parse_row(path: str, number: int, line: Mapping[str, Any]) -> tuple[int | None, tuple[Any, ...], float]:
    """Return placement, key and seconds of a row."""
    row = {"q": "0", "distribution": "", **line}
    row["p"] = row.get("p") or row.get("ranks")
    where = f"{path} line {number}"

    def integer(name: str, minimum: int) -> int:
        text = row[name].strip()
        column = "ranks" if name == "p" and "p" not in line else name
        if not text.removeprefix("-").isdecimal() or (len(text) < 20 and int(text) < minimum):
            raise _file_error(f"{where}: {column} is {row[name][:80]!r}, and must be an integer of at least {minimum}.")
        most = MAX_BYTES if name == "bytes" else MAX_PROCESSES
        if len(text) >= 20 or int(text) > most:
            raise _file_error(f"{where}: {column} is {text[:40]}, and the maximum is {most:,}.")
        return int(text)

    numbers = {"p": integer("p", 1), "q": integer("q", 0), "bytes": integer("bytes", 0)}
    key = tuple(numbers.get(name, row[name]) for name in _KEY)
    placement = integer("placement", 1) if row.get("placement") else None
    try:
        seconds = float(row["seconds"])
    except ValueError:
        raise _file_error(f"{where}: seconds is {row['seconds'][:80]!r}, and must be a number.") from None
    if not 0 < seconds < inf:
        raise _file_error(f"{where}: seconds is {row['seconds']}, and must be positive.")
    return placement, key, seconds


def _check_units(path: str, seconds_by_key: Mapping[Key, float]) -> None:
    """Raise an error if times of one case differ by so much that they have different units, or none is in seconds."""
    by_case: dict[tuple[int, int, int, str], list[float]] = {}
    for (_, p, q, nbytes, distribution), seconds in seconds_by_key.items():
        by_case.setdefault((p, q, nbytes, distribution), []).append(seconds)
    for (p, q, nbytes, _), times in by_case.items():
        case = f"{path}: {p + q} ranks, {nbytes:,} bytes"
        if max(times) > 0.999 * max(MIXED, 4 * (p + q)) * min(times):  # a linear algorithm on many ranks is that slow
            raise _file_error(f"{case}: {min(times):g} s and {max(times):g} s have different units; write seconds.")
        if nbytes <= 64 and min(times) > LONGEST:
            raise _file_error(f"{case}: {min(times):g} s is too long; write seconds, not microseconds.")


def _read_benchmark(path: str, parameters: str, operation: str) -> Measurements:
    """Return the measurements in the output of a benchmark; `parameters` are algorithm, ranks and placement."""
    options = {"algorithm": LIBRARY, **dict(part.split("=", 1) for part in parameters.split(",") if "=" in part)}
    unknown = [name for name in options if name not in ("algorithm", "ranks", "placement")]
    if unknown or not all(options.get(name, "1").isdecimal() for name in ("ranks", "placement")):
        raise _file_error(f"{path}:{parameters}: use FILE:algorithm=NAME,ranks=N, and placement=N for the ranks per node.")
    seconds_by_key: dict[Any, float] = {}
    dtypes: set[str] = set()
    for table in read_tables(path):
        ranks = int(options.get("ranks", 0)) or table.processes
        if table.name == operation and not ranks:
            raise _file_error(f"{path} does not contain the number of processes. Add it: {path}:ranks=N")
        if table.name == operation:
            algorithm = options["algorithm"]
            dtypes.add(table.dtype)
            seconds_by_key.update({(algorithm, ranks, 0, nbytes, ""): seconds for nbytes, seconds, _ in table.rows})
    if not seconds_by_key:
        raise _file_error(f"{path} has no results of {operation}.")
    placement = int(options["placement"]) if "placement" in options else None
    return Measurements(path, seconds_by_key, placement, _only_type(path, dtypes))


def requests(measured: Measurements) -> list[tuple[str, dict[str, Any]]]:
    """Return the measured algorithms as requests. A file of measurements cannot choose a Python file, which is executed."""
    found = []
    for name in measured.algorithms:
        try:
            [request] = algorithm_names(name if len(name) <= LONGEST_NAME else "")
        except ValueError:
            raise _file_error(f"{measured.path}: {name[:80]!r} is not the name of an algorithm.") from None
        if any(is_path(text) and not text.endswith(SCHEDULE_SUFFIXES) for text in _texts(request)):
            raise _file_error(
                f"{measured.path} names a file with an algorithm, which would be executed. If you trust that file, "
                f"choose it yourself: --algorithms {name[:80]}."
            )
        found.append(request)
    return found


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a request: names of algorithms, of parameters, and values."""
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


def _file_error(sentence: str) -> MPIValueError:
    return MPIValueError(ERR_ARG, sentence)
