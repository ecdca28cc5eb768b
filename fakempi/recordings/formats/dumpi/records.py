"""The file of a rank in a DUMPI trace: its parts, and its records one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import Struct, calcsize, unpack_from
from struct import error as StructError
from typing import Any, NamedTuple, NoReturn

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.formats.dumpi.layouts import FUNCTIONS, NUMBERS, OLDER, ROOT_TEST

MAGIC = b"\xff\xaa\xddDUMPI"
STATUSES, CPU, WALL, THREAD, COUNTERS = 3, 4, 8, 64, 128
"""Bits of the mask of a record: what it contains."""

BUILTIN_SIZES = (0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20)
"""Bytes of the predefined datatypes by their number, for traces before version 0.6.6, which have no sizes."""

CODES = {"i": "i", "h": "H", "d": "H", "b": "B", "q": "q"}
ITEMS = {"I": "i", "D": "H", "H": "H", "B": "B"}
WRONG = (StructError, IndexError, KeyError, ValueError, OverflowError)


class Status(NamedTuple):
    """A status: bytes, source and tag (None before version 0.6.3)."""

    nbytes: int
    source: int
    tag: int | None


class Record(NamedTuple):
    """A call: its function, start and end in seconds (None without times), its fields, and where it is in the file."""

    name: str
    start: float | None
    end: float | None
    values: list[Any]
    offset: int


class Layout(NamedTuple):
    """The fields of a function: fixed ones are unpacked at once."""

    name: str
    parts: tuple[Struct | str, ...]
    root_parts: tuple[Struct | str, ...]
    last_parts: tuple[Struct | str, ...]
    root_test: tuple[int, int] | None


def compiled(name: str, fields: str) -> Layout:
    """Return the layout of a function."""
    first, on_root, last = [*fields.split("|"), "", ""][:3]
    return Layout(name, _parts(first), _parts(on_root), _parts(last), ROOT_TEST.get(name))


def _parts(fields: str) -> tuple[Struct | str, ...]:
    found: list[Struct | str] = []
    fixed = ""
    for field in [*fields, ""]:
        if field in CODES:
            fixed += CODES[field]
        else:
            if fixed:
                found.append(Struct(f">{fixed}"))
                fixed = ""
            if field:
                found.append(field)
    return tuple(found)


class DumpiFile:
    """The file of one rank."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.data = path.read_bytes()
        except OSError as problem:
            raise RecordingError(f"cannot be read: {problem.strerror}.", path) from None
        self._read_index()
        try:
            self.version: tuple[int, int, int] = unpack_from(">BBB", self.data, self.header)
            self.sizes = self._read_sizes()
            self.cpu_offset, self.wall_offset = unpack_from(">ii", self.data, self.body)
        except StructError:
            self.reject(len(self.data), "the file is cut off.")
        older = {name: fields for name, (since, fields) in OLDER.items() if self.version < since}
        self.layouts = [compiled(name, older.get(name, fields)) for name, fields in FUNCTIONS]

    def reject(self, offset: int, reason: str) -> NoReturn:
        """Raise RecordingError at a place in the file."""
        raise RecordingError(reason, self.path, offset=offset) from None

    def _read_index(self) -> None:
        """Find the offsets at the end, which follow the magic number; older versions have fewer of them."""
        data, size = self.data, len(self.data)
        if not data.startswith(MAGIC):
            self.reject(0, "the file does not start with the magic number of DUMPI.")
        at = next((size - 8 * words for words in (8, 7, 6, 5) if data[size - 8 * words :].startswith(MAGIC)), -1)
        if at < len(MAGIC):
            self.reject(size, "the file has no index at its end: it is cut off.")
        offsets = unpack_from(f">{(size - at) // 8 - 1}Q", data, at + 8)
        self.header, self.body, footer, _ = offsets[-4:]
        self.size_table = offsets[-7] if len(offsets) == 7 else 0
        names = {"header": self.header, "calls": self.body, "footer": footer, "sizes": self.size_table}
        for name, offset in names.items():
            if offset > at:
                self.reject(at, f"the offset of the {name}, {offset:,}, is behind the end of the file.")
        self.end = min([each for each in (self.header - 2, footer, at) if each >= self.body + 8], default=at)

    def _read_sizes(self) -> tuple[int, ...]:
        """Return the bytes of datatypes by their number."""
        if not self.size_table:
            return BUILTIN_SIZES
        (count,) = unpack_from(">I", self.data, self.size_table)
        return unpack_from(f">{self._bounded(self.size_table, count, 4)}i", self.data, self.size_table + 4)

    def _bounded(self, offset: int, count: int, size: int) -> int:
        """Return the length of an array, which must fit into the file: a wrong one may be four billion."""
        if count * size > len(self.data) - offset:
            self.reject(offset, f"an array of {count:,} elements is longer than the file.")
        return count

    def records(self) -> Iterator[Record]:
        """Yield the calls in their order."""
        data, offset, layouts = self.data, self.body + 8, self.layouts
        unknown, after = NUMBERS["ALL_FUNCTIONS"], NUMBERS["END_OF_STREAM"]
        while offset < self.end:
            begin = offset
            try:
                function, mask = _START(data, offset)
                offset += 3
                if function >= after:
                    if function == after:
                        return
                    self.reject(begin, f"there is no function {function}.")
                if function == unknown:
                    self.reject(begin, f"there is no function {function}.")
                start, end, offset = self._times(mask, offset)
                layout = layouts[function]
                values: list[Any] = []
                offset = self._fields(layout.parts, mask, offset, values)
                if layout.root_test is not None:
                    if values[layout.root_test[0]] == values[layout.root_test[1]]:
                        offset = self._fields(layout.root_parts, mask, offset, values)
                    offset = self._fields(layout.last_parts, mask, offset, values)
            except RecordingError:  # which is a ValueError
                raise
            except WRONG:
                self.reject(begin, "the record of a call does not fit into the file.")
            yield Record(layout.name, start, end, values, begin)

    def _times(self, mask: int, offset: int) -> tuple[float | None, float | None, int]:
        """Return start, end and the offset behind thread, times and counters; wall time is preferred to CPU time."""
        start = end = None
        if mask & THREAD:
            offset += 2
        for bit, bias in ((CPU, self.cpu_offset), (WALL, self.wall_offset)):
            if mask & bit:
                seconds, nanoseconds, last_seconds, last_nanoseconds = _TIMES(self.data, offset)
                start = bias + seconds + nanoseconds * 1e-9
                end = bias + last_seconds + last_nanoseconds * 1e-9
                offset += 12
        if mask & COUNTERS:
            offset += 1 + 16 * self.data[offset]
        return start, end, offset

    def _fields(self, parts: tuple[Struct | str, ...], mask: int, offset: int, values: list[Any]) -> int:
        """Append the values of fields; returns the offset behind them."""
        data = self.data
        for part in parts:
            if isinstance(part, Struct):
                values.extend(part.unpack_from(data, offset))
                offset += part.size
            elif part in ITEMS:
                count = self._bounded(offset, _LENGTH(data, offset)[0], calcsize(f">{ITEMS[part]}"))
                code = f">{count}{ITEMS[part]}"
                values.append(unpack_from(code, data, offset + 4))
                offset += 4 + calcsize(code)
            elif part == "S":
                offset = self._statuses(mask, offset, values)
            else:
                offset = self._nested(part, offset, values)
        return offset

    def _statuses(self, mask: int, offset: int, values: list[Any]) -> int:
        found: list[Status] = []
        if mask & STATUSES:
            with_tag = self.version >= (0, 6, 3)
            size = 14 if with_tag else 10
            count = self._bounded(offset, _LENGTH(self.data, offset)[0], size)
            offset += 4
            for _ in range(count):
                nbytes, source = unpack_from(">ii", self.data, offset)
                tag = unpack_from(">i", self.data, offset + 10)[0] if with_tag else None
                found.append(Status(nbytes, source, tag))
                offset += size
        values.append(found)
        return offset

    def _nested(self, part: str, offset: int, values: list[Any]) -> int:
        """Arrays of arrays, and characters."""
        count = self._bounded(offset, _LENGTH(self.data, offset)[0], 1)
        offset += 4
        if part == "C":
            values.append(self.data[offset : offset + count])
            return offset + count
        if part == "Z":
            offset += 4
        if part == "?":
            raise ValueError
        found: list[Any] = []
        for _ in range(count):
            offset = self._fields(({"J": "I", "K": "C", "Z": "C", "L": "K"}[part],), 0, offset, found)
        values.append(found)
        return offset


_START, _TIMES, _LENGTH = Struct(">HB").unpack_from, Struct(">HIHI").unpack_from, Struct(">I").unpack_from
