"""Compact messages in the parent: calls with simple arguments, and their results. `child.compact` writes and reads them."""

from __future__ import annotations

import marshal
import mmap
import os
from typing import Any

import numpy as np

from fakempi.mpi.files.file import File
from fakempi.mpi.point.request import Request
from fakempi.mpi.windows.win import Win
from fakempi.processes.mirrors import Mirror
from fakempi.processes.objects import Objects, PickledObject
from fakempi.processes.protocol import BUFFER, CONSTANT, DTYPES, HANDLE, LIST, PICKLED, READ_ONLY, SIMPLE, TUPLE

BY_CHAR: dict[str, Any] = {char: np.dtype(char) for char in DTYPES}


class ArrayMirror(Mirror):
    """A copy of a contiguous array of a child, in the parent's memory or in a segment that the child maps, too.

    `later` : whether an operation may change the array after the call, so that the changed part must be found. Otherwise the
    child waits, and everything is written back.
    """

    __slots__ = ("shared",)

    def __init__(self, number: int, dtype: Any, shape: Any, data: Any, segment: Any, later: bool) -> None:
        self.number, self.exact, self.shared = number, False, segment is not None
        self.data = bytearray(data) if segment is None else segment
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


class CompactMessages:
    """Reads calls of a child and writes results."""

    def __init__(self, objects: Objects, fd: int) -> None:
        self.objects, self.segments = objects, SharedSegments(fd)
        self.later = False  # whether the current call is nonblocking

    def arguments(self, values: list[Any], later: bool) -> tuple[Any, ...]:
        """Return the arguments of a call; their memory is added to `objects.arrived`, requests and windows to `targets`."""
        self.later = later
        value = self.value
        return tuple([value(item) if type(item) is tuple else item for item in values])

    def value(self, value: tuple[Any, ...]) -> Any:
        """Return the object of a placeholder."""
        kind, objects = value[0], self.objects
        if kind == CONSTANT:
            obj = objects.constants.get(value[1])
            return objects.constant(value[1]) if obj is None else obj
        if kind == HANDLE:
            obj = objects.by_number[value[1]]
            if isinstance(obj, (Request, Win, File)):
                objects.targets.append(obj)
            return obj
        if kind == READ_ONLY:
            _, char, shape, data = value
            if type(data) is tuple:
                obj = np.ndarray(shape, BY_CHAR[char], self.segments.find(*data))
                if self.later:
                    obj = obj.copy()
                obj.flags.writeable = False
                return obj
            return np.ndarray(shape, BY_CHAR[char], data)
        if kind == BUFFER:
            _, number, char, shape, data = value
            segment = self.segments.find(*data) if type(data) is tuple else None
            mirror = ArrayMirror(number, BY_CHAR[char], shape, data, segment, self.later)
            objects.mirrors[number] = mirror
            objects.by_object[id(mirror.obj)] = number
            objects.arrived.append(mirror)
            return mirror.obj
        if kind == PICKLED:
            return PickledObject(value[1], objects.callback)
        assert kind in (LIST, TUPLE)
        values = [self.value(item) if type(item) is tuple else item for item in value[1]]
        return values if kind == LIST else tuple(values)

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
