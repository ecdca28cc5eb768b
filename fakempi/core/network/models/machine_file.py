"""Machine files: a `MultiLevel` cost model as TOML, which people can read, edit and share.

    version = 1                              # of this format
    eager_limit = 65536                      # this and the keys below it, up to [provenance], are optional
    ranks_per_node = 32
    [provenance]                             # any keys with texts
    source = "osu_latency on two nodes"
    [level.node]                             # cache, socket, node, network: at least one of them
    time = [[0, 5e-7, 2e-10], [8193, 1.5e-6, 1e-10]]     # from this size on: start-up seconds, seconds per byte
    [level.network]
    time = [[0, 2e-6, 1e-9]]
    gap = [[0, 4e-7, 1e-9]]                  # optional, like overhead, ports, port_t_w, port_gap and errors

Every value is checked for its type. Every error names the file, the line and the key.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from datetime import date, time
from numbers import Real
from typing import Any, NoReturn

from fakempi.core.network.models.multi_level import LEVELS, ErrorRange, Level, MultiLevel, PiecewiseLinear
from fakempi.errors import MPIError, MPIValueError, printable
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.files import read_bytes
from fakempi.errors.similar import get_close_matches

VERSION = 1
"""The version of the format that this module reads and `fakempi calibrate` writes."""

OPTIONS = tuple(each.name for each in MultiLevel.parameters() if each.name not in ("levels", "provenance", "files"))
"""Keys outside of tables that are parameters of the model; `cluster.toml:eager_limit=0` overrides them."""

_COSTS = ("time", "gap", "overhead")

_TEXTS = (str, int, float, date, time)
"""Types of values in [provenance], which are kept as texts."""

LENGTH = 80
"""Maximum number of characters of a value in a message."""

MAX_ROWS = 1000
"""Upper limit of the rows of a cost: a fit to measurements has less than ten."""

_LONG_KEY = re.compile(r"(?:\.[^.\n\[\]=,]{1,200}){50}")
"""Part of a key such as a.b.c with more than 50 parts, for which tomllib needs memory that grows with their square."""


def is_machine_file(text: str) -> bool:
    """Return whether a text that specifies a cost model names a machine file: `cluster.toml`, or with `:key=value,...`."""
    return re.match(r".*\.toml\s*(:|$)", text.strip(), re.IGNORECASE) is not None


def load_machine(path: str, overrides: Mapping[str, Any] | None = None) -> MultiLevel:
    """Return the cost model of a machine file; `overrides` replace its options."""
    try:
        data = read_bytes(path)
    except OSError as error:
        raise MPIValueError(ERR_ARG, f"{path} cannot be read: {error.strerror}.") from None
    try:
        return parse_machine(data.decode("utf-8-sig"), path, overrides)
    except UnicodeDecodeError:
        raise MPIValueError(ERR_ARG, f"{path} is not a text in UTF-8.") from None


def parse_machine(text: str, path: str = "machine file", overrides: Mapping[str, Any] | None = None) -> MultiLevel:
    """Return the cost model of the text of a machine file."""
    if _LONG_KEY.search(text):
        raise MPIValueError(ERR_ARG, f"{path} is not a machine file: a key has more than 50 parts.")
    if sys.version_info >= (3, 11):  # imported by runs that read a machine file
        import tomllib
    else:
        import tomli as tomllib
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MPIValueError(ERR_ARG, f"{path} is not valid TOML: {error}.") from None
    except ValueError as error:  # an integer with thousands of digits
        raise MPIValueError(ERR_ARG, f"{path} cannot be read: {error}.") from None
    except RecursionError:
        raise MPIValueError(ERR_ARG, f"{path} is not a machine file: its values are nested too deeply.") from None
    return _Reader(path, text).machine(values, dict(overrides or {}))


class _Reader:
    """Checks the values of one file."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.lines = path, _lines_of_keys(text)

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise an error for a key, with the line of the key or of its table."""
        line = self.lines.get(key) or self.lines.get(key.rpartition(".")[0])
        raise MPIValueError(ERR_ARG, f"{self.path}{f' line {line}' if line else ''}: {_cut(printable(key))}: {problem}")

    def machine(self, values: dict[str, Any], overrides: dict[str, Any]) -> MultiLevel:
        """Return the model of all values."""
        if "version" not in values:
            self.fail("version", f"this key is missing: write version = {VERSION}.")
        version = values["version"]
        if type(version) is not int or version != VERSION:
            self.fail("version", f"{_shown(version)} is unknown; this release of fakempi reads version {VERSION}.")
        self.check_known("", values, ("version", *OPTIONS, "provenance", "level"))
        tables = self.table("level", values.get("level", {}))
        if not tables:
            self.fail("level", f"there is no table [level.NAME]; NAME is one of {', '.join(LEVELS)}.")
        self.check_known("level", tables, LEVELS)
        provenance = self.table("provenance", values.get("provenance", {}))
        options = {name: values[name] for name in OPTIONS if name in values}
        for name, value in options.items():
            if problem := _option_problem(name, value):
                self.fail(name, problem)
        for name, value in overrides.items():
            may_be_none = name.startswith("ranks_per_")
            if not (value is None and may_be_none) and (problem := _option_problem(name, value)):
                raise MPIValueError(ERR_ARG, f"{self.path}:{name}: {problem}")
        for name, value in provenance.items():
            if not isinstance(value, _TEXTS):
                self.fail(f"provenance.{name}", f"{_shown(value)} is not a text.")
        try:
            tables = {name: self.table(f"level.{name}", value) for name, value in tables.items()}
            levels = {name: self.level(f"level.{name}", table) for name, table in tables.items()}
            texts = [(name, str(value)) for name, value in provenance.items()]
            MultiLevel(levels, **options)
            return MultiLevel(levels, **{**options, **overrides}, provenance=texts)
        except MPIError as error:
            if str(error).startswith(self.path):
                raise
            key = next((name for name in options if f"{name}=" in str(error)), "")
            line = f" line {self.lines[key]}" if key in self.lines and key not in overrides else ""
            raise MPIValueError(ERR_ARG, f"{self.path}{line}: {str(error).removeprefix('MultiLevel: ')}") from None

    def level(self, key: str, values: dict[str, Any]) -> Level:
        """Return one level."""
        self.check_known(key, values, Level._fields)
        if "time" not in values:
            self.fail(f"{key}.time", "this key is missing: write rows [from bytes, start-up seconds, seconds per byte].")
        fields: dict[str, Any] = {name: self.costs(f"{key}.{name}", values[name]) for name in _COSTS if name in values}
        fields.update({name: values[name] for name in ("ports", "port_t_w", "port_gap") if name in values})
        for name in ("ports", "port_t_w", "port_gap"):
            value = fields.get(name, 1)
            self.check_number(f"{key}.{name}", value)
            if value < (name == "ports") or (name == "ports" and not isinstance(value, int)):
                required = "an integer of at least 1" if name == "ports" else "at least 0"
                self.fail(f"{key}.{name}", f"{_shown(value)} is not {required}.")
        if "errors" in values:
            rows = self.rows(f"{key}.errors", values["errors"], 4, "from bytes, to bytes, median error, worst error")
            for number, row in enumerate(rows, 1):
                if not all(isinstance(size, int) for size in row[:2]) or not 0 <= row[0] <= row[1]:
                    self.fail(f"{key}.errors", f"row {number}: {_shown(row[:2])} is not a range of bytes.")
                if min(row[2:]) < 0:
                    self.fail(f"{key}.errors", f"row {number} has a negative error, {_shown(min(row[2:]))}.")
            fields["errors"] = tuple(ErrorRange(*row) for row in rows)
        return Level(**fields)

    def costs(self, key: str, value: Any) -> PiecewiseLinear:
        """Return a piecewise-linear cost."""
        rows = self.rows(key, value, 3, "from bytes, start-up seconds, seconds per byte")
        for number, row in enumerate(rows, 1):
            if not isinstance(row[0], int):
                self.fail(key, f"row {number} starts at {_shown(row[0])} bytes, which is not an integer.")
            for name, cell in (("start-up time", row[1]), ("time per byte", row[2])):
                if cell < 0:
                    self.fail(key, f"row {number} has a negative {name}, {_shown(cell)}.")
            if number == 1 and row[0] != 0:
                self.fail(key, f"the first row must start at 0 bytes, not at {row[0]}.")
            if number > 1 and row[0] <= rows[number - 2][0]:
                before = rows[number - 2][0]
                self.fail(key, f"row {number} starts at {row[0]} bytes, and the row before it at {before}: sort the rows.")
        return PiecewiseLinear(rows)

    def rows(self, key: str, value: Any, width: int, meaning: str) -> list[list[Any]]:
        """Return the rows of an array of arrays of numbers."""
        if not isinstance(value, list) or not value or not all(isinstance(row, list) for row in value):
            self.fail(key, f"{_shown(value)} is not a list of rows [{meaning}].")
        if len(value) > MAX_ROWS:
            self.fail(key, f"{len(value):,} rows are too many; the maximum is {MAX_ROWS:,}.")
        for number, row in enumerate(value, 1):
            if len(row) != width:
                self.fail(key, f"row {number} has {len(row)} numbers, not {width}: [{meaning}].")
            for cell in row:
                self.check_number(key, cell, f"row {number}: ")
        return value

    def check_number(self, key: str, value: Any, where: str = "") -> None:
        """Raise an error unless a value is a finite number."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
            self.fail(key, f"{where}{_shown(value)} is not a finite number.")

    def table(self, key: str, value: Any) -> dict[str, Any]:
        """Return a table, or raise an error if the value is something else."""
        if not isinstance(value, dict):
            self.fail(key, f"{_shown(value)} is not a table: write [{key}].")
        return value

    def check_known(self, table: str, values: Mapping[str, Any], names: tuple[str, ...]) -> None:
        """Raise an error for the first key that is unknown."""
        for name in values:
            if name not in names:
                close = get_close_matches(name, names, n=1)
                hint = f" Did you mean {close[0]}?" if close else ""
                self.fail(f"{table}.{name}".lstrip("."), f"this key is unknown.{hint} Known: {', '.join(names)}.")


def _option_problem(name: str, value: Any) -> str:
    """Return why an option cannot have a value of this type; empty if it can. The model checks the range of numbers."""
    if name == "duplex":
        problem = "" if isinstance(value, bool) else "not true or false"
    elif name == "compute_per_byte":
        problem = "not a number" if isinstance(value, bool) or not isinstance(value, Real) else ""
    elif isinstance(value, int) and not isinstance(value, bool):
        problem = ""
    else:
        problem = "" if name == "eager_limit" and value == float("inf") else "not an integer"
    return problem and f"{_shown(value)} is {problem}."


def _shown(value: Any) -> str:
    """Return a value as in Python, cut if it is long. A repr has no control characters."""
    try:
        return _cut(str(value) if isinstance(value, Real) else repr(value))
    except (RecursionError, ValueError):  # nested deeply, or an integer with thousands of digits
        return f"a {type(value).__name__}"


def _cut(text: str) -> str:
    return text if len(text) <= LENGTH else f"{text[:LENGTH]}..."


def _lines_of_keys(text: str) -> dict[str, int]:
    """Return the line of each table and key, by the full name of the key. Quoted keys are not found."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"\s*\[\s*([\w.\- ]+?)\s*\]\s*(#.*)?$", line):
            table = re.sub(r"\s*\.\s*", ".", match[1])
            found.setdefault(table, number)
        elif match := re.match(r"\s*([A-Za-z_][\w.\-]*)\s*=", line):
            found.setdefault(f"{table}.{match[1]}".lstrip("."), number)
    return found


def machine_parameters(text: str, parse: Callable[[str], Any]) -> tuple[str, dict[str, Any]]:
    """Return path and overrides of `cluster.toml:ranks_per_node=4,eager_limit=0`; `parse` parses a number."""
    match = re.fullmatch(r"(.*?\.toml)\s*(?::(.*))?", text.strip(), re.IGNORECASE | re.DOTALL)
    assert match is not None
    overrides: dict[str, Any] = {}
    for part in filter(None, (each.strip() for each in (match[2] or "").split(","))):
        key, equals, value = (each.strip() for each in part.partition("="))
        if key not in OPTIONS or not equals or not value:
            names = ", ".join(OPTIONS)
            raise MPIValueError(ERR_ARG, f"{text}: {part!r} is not a parameter with a value; parameters: {names}.")
        overrides[key] = None if value.lower() == "none" else parse(value)
    return match[1], overrides
