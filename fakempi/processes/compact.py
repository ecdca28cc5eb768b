"""Compact messages in the parent: calls with simple arguments, and their results. `child.compact` writes and reads them."""

from __future__ import annotations

import marshal
import math
import mmap
import os
from collections.abc import Iterator
from struct import Struct
from typing import Any

import numpy as np

from fakempi.mpi.files.file import File
from fakempi.mpi.point.request import Request
from fakempi.mpi.windows.win import Win
from fakempi.processes.generate import BLOCKING, ChildCall
from fakempi.processes.mirrors import Mirror
from fakempi.processes.objects import Objects, PickledObject
from fakempi.processes.protocol import (
    BUFFER,
    BYTES,
    COMPACT_CALL,
    CONSTANT,
    DTYPES,
    FLOAT,
    HANDLE,
    LIST,
    PICKLED,
    READ_ONLY,
    TUPLE,
    VALUE,
    segment_size,
)

SIMPLE = frozenset((int, float, bool, str, bytes, type(None)))
"""Types of results that are sent as they are."""

START = COMPACT_CALL.size

BY_CHAR: dict[str, Any] = {char: np.dtype(char) for char in DTYPES}


class ArrayMirror(Mirror):
    """A copy of a contiguous array of a child, in the parent's memory or in a segment that the child maps, too.

    `later` : whether an operation may change the array after the call, so that the changed part must be found. Otherwise the
    child waits, and everything is written back.
    """

    __slots__ = ()

    def __init__(self, number: int, dtype: Any, shape: Any, data: Any, segment: Any, later: bool) -> None:
        self.number, self.exact, self.shared = number, False, segment is not None
        self.data: Any = bytearray(data) if segment is None else segment
        self.obj = np.ndarray(shape, dtype, self.data)
        if segment is not None:
            self.data = memoryview(self.obj.reshape(-1).view("u1"))
        self.known = bytes(self.data) if later else None

    def changes(self, exact: bool = False) -> list[tuple[int, Any]]:
        """Return the changes by calls; for a segment, numbers of bytes instead of contents."""
        if self.known is None:
            return [(0, len(self.data) if self.shared else bytes(self.data))] if len(self.data) else []
        found: list[tuple[int, Any]] = super().changes(exact)
        return [(start, len(contents)) for start, contents in found] if self.shared else found


class SharedSegments:
    """The memory that a child shares with the parent; the child allocates it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.maps: dict[int, Any] = {}  # offset -> memory

    def find(self, offset: int, size: int) -> Any:
        """Return the memory of a segment."""
        found = self.maps.get(offset)
        if found is None:
            if size <= 0 or offset < 0 or os.fstat(self.fd).st_size < offset + size:  # a read beyond the end is SIGBUS
                raise ValueError(f"a segment of {size} bytes at {offset} is beyond the end of the shared file.")
            found = self.maps[offset] = mmap.mmap(self.fd, size, offset=offset)
        return found


class CompactCall:
    """A description of the arguments of calls.

    Attributes
    ----------
    number, name : of the call
    values : the target, the arguments, and the values of sequences in them; None where calls differ
    arguments : positions of the target and the arguments in `values`
    numbers, handles : positions of numbers, and of those that stand for MPI objects
    contents : position, kind, dtype, shape and size of values whose contents follow; None and 0 for bytes
    sequences : position, type, and positions of the values; inner sequences precede outer ones
    """

    def __init__(self, key: list[Any], objects: Objects, calls: list[ChildCall]) -> None:
        codes = iter(key)
        self.objects, self.number = objects, next(codes)
        self.name = calls[self.number].name
        self.is_blocking, self.later = self.name in BLOCKING, self.name.startswith("I")
        self.values: list[Any] = []
        self.numbers: list[int] = []
        self.handles: list[int] = []
        self.contents: list[tuple[int, int, Any, Any, int]] = []
        self.sequences: list[tuple[int, type, list[int]]] = []
        self.form = ""
        self.arguments = [self._add(kind, codes) for kind in codes]
        form = Struct("<" + self.form)
        self.unpack_from, self.size = form.unpack_from, form.size

    def _add(self, kind: int, codes: Iterator[Any]) -> int:
        """Add a value and return its position."""
        position = len(self.values)
        self.values.append(None)
        if kind == VALUE:
            self.values[position] = next(codes)
        elif kind == CONSTANT:
            self.values[position] = self.objects.constant(next(codes))
        elif kind in (LIST, TUPLE):
            parts = [self._add(next(codes), codes) for _ in range(next(codes))]
            self.sequences.append((position, list if kind == LIST else tuple, parts))
        elif kind in (READ_ONLY, BUFFER):
            dtype, shape = BY_CHAR[next(codes)], next(codes)
            nbytes = dtype.itemsize * math.prod(shape)
            self.contents.append((position, kind, dtype, shape, nbytes))
            if next(codes):
                self._add_number(position)
        else:
            self._add_number(position, "d" if kind == FLOAT else "q")
            if kind == HANDLE:
                self.handles.append(position)
            elif kind in (BYTES, PICKLED):
                self.contents.append((position, kind, None, None, 0))
        return position

    def _add_number(self, position: int, form: str = "q") -> None:
        self.numbers.append(position)
        self.form += form


class CompactMessages:
    """Reads calls of a child and writes results."""

    def __init__(self, objects: Objects, calls: list[ChildCall], fd: int) -> None:
        self.objects, self.calls = objects, calls
        self.segments = SharedSegments(fd)
        self.described: dict[int, CompactCall] = {}  # line -> its last description

    def read(self, data: bytes) -> tuple[CompactCall, int, list[Any], Any]:
        """Return the description of a call, the number of its line, the target and the arguments, and notes.

        Memory that it may change is added to `objects.arrived`; requests, windows and files to `objects.targets`.
        """
        _, line, size, number = COMPACT_CALL.unpack_from(data)
        at, notes, objects = START, None, self.objects
        if size:
            at += size
            key, notes = marshal.loads(data[START:at])
            self.described[line] = CompactCall(key, objects, self.calls)
        call = self.described[line]
        values = call.values.copy()
        for position, value in zip(call.numbers, call.unpack_from(data, at)):  # noqa: B905  checking takes time
            values[position] = value
        for position in call.handles:
            values[position] = found = objects.by_number[values[position]]
            if isinstance(found, (Request, Win, File)):
                objects.targets.append(found)
        at += call.size
        for position, kind, dtype, shape, nbytes in call.contents:
            segment = None
            if dtype is None:
                start, at = at, at + values[position]
            elif values[position] is None:
                start, at = at, at + nbytes
            else:
                segment = self.segments.find(values[position], segment_size(nbytes))
            contents = data[start:at] if segment is None else segment
            if kind == READ_ONLY:
                values[position] = np.ndarray(shape, dtype, contents)
                if segment is not None:
                    values[position] = _read_only(values[position], call.later)
            elif kind == BUFFER:
                mirror = ArrayMirror(number, dtype, shape, contents, segment, call.later)
                objects.arrived.append(mirror)
                values[position] = mirror.obj
                number += 1
            else:
                values[position] = contents if kind == BYTES else PickledObject(contents, objects.callback)
        if call.sequences:
            for position, sequence, parts in call.sequences:
                values[position] = sequence([values[part] for part in parts])
            values = [values[position] for position in call.arguments]
        return call, line, values, notes

    def result(self, value: Any, writes: Any, kept: Any, clock: float) -> bytes | None:
        """Return the result of a call as bytes; None if it needs a pickle."""
        kind = type(value)
        if kind not in SIMPLE:
            if kind is PickledObject:
                value = PICKLED, value.data
            else:
                number = self.objects.class_numbers.get(kind)
                if number is None:
                    return None
                value = self.objects.placeholder(value, False)
        return marshal.dumps((value, writes, kept, clock))


def _read_only(array: Any, later: bool) -> Any:
    if later:  # the child may use the segment for another call
        array = array.copy()
    array.flags.writeable = False
    return array
