"""Marshaled messages in the parent: calls with simple arguments, and their results; see `child.compact`."""

from __future__ import annotations

import marshal
import math
import mmap
import os
from typing import Any

import numpy as np

from fakempi.processes.generate import ChildCall
from fakempi.processes.mirrors import Mirror
from fakempi.processes.objects import Objects, PickledObject
from fakempi.processes.protocol import ARRAY, DTYPES, HANDLE, MARSHAL_VERSION, PICKLED, TUPLE, TUPLE_MARK, segment_size

SIMPLE = frozenset((int, float, bool, str, bytes, type(None)))
"""Types of results that are sent as they are."""

BY_CHAR: dict[str, Any] = {char: np.dtype(char) for char in DTYPES}


class ArrayMirror(Mirror):
    """A copy of a contiguous array of a child, in the parent's memory or in a segment that the child maps, too.

    `later` : whether an operation may change the array after the call, so that the changed part must be found. Otherwise the
    child waits, and everything is written back.
    """

    __slots__ = ()

    def __init__(self, number: int, obj: Any, data: Any, shared: bool, later: bool) -> None:
        self.number, self.exact, self.shared = number, False, shared
        self.obj, self.data = obj, data
        self.known = bytes(data) if later else None

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

    def __init__(self, objects: Objects, calls: list[ChildCall], blocking: Any, fd: int) -> None:
        self.objects, self.calls, self.blocking = objects, calls, blocking
        self.segments = SharedSegments(fd)

    def read(self, data: Any) -> tuple[int, Any, Any, Any, Any]:
        """Return a call: its number, its line, notes, the target, and the arguments.

        Memory that it may change is added to `objects.arrived`; requests, windows and files to `objects.targets`.
        """
        if data[0] == TUPLE_MARK:
            number, site, (kind, key), char, shape, contents, memory, others = marshal.loads(data)
            objects = self.objects
            target = objects.by_number[key] if kind == HANDLE else objects.constant(key)
            if memory:
                contents = bytearray(contents)
            array = np.ndarray(shape, BY_CHAR[char], contents)
            if memory:
                objects.arrived.append(ArrayMirror(memory, array, contents, False, number not in self.blocking))
            return number, site, None, target, (array, *others)
        number, site, notes, target, args, others = marshal.loads(data)
        if target is not None:
            target = self.objects.value(*target)
        for index in others:
            args[index] = self._value(args[index], number)
        return number, site, notes, target, args

    def _value(self, value: Any, call: int) -> Any:
        if type(value) is list:
            return [self._value(one, call) if type(one) in (tuple, list) else one for one in value]
        if value[0] == ARRAY:
            return self._array(call, *value[1:])
        if value[0] == TUPLE:
            return tuple(self._value(value[1], call))
        return self.objects.value(*value)

    def _array(self, call: int, char: str, shape: tuple[int, ...], contents: Any, number: int) -> Any:
        dtype, later = BY_CHAR[char], self.calls[call].name.startswith("I")
        if type(contents) is bytes:
            data: Any = bytearray(contents) if number else contents
            array = np.ndarray(shape, dtype, data)
            if number:
                self.objects.arrived.append(ArrayMirror(number, array, data, False, later))
            return array
        nbytes = dtype.itemsize * math.prod(shape)
        data = self.segments.find(contents, segment_size(nbytes))
        array = np.ndarray(shape, dtype, data)
        if number:
            self.objects.arrived.append(ArrayMirror(number, array, memoryview(data)[:nbytes], True, later))
            return array
        if later:  # the child may use the segment for another call
            array = array.copy()
        array.flags.writeable = False
        return array

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
        try:
            return marshal.dumps((value, writes, kept, clock), MARSHAL_VERSION)
        except ValueError:  # more than 2 GB
            return None
