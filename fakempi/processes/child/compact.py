"""Compact messages of a child: calls whose arguments are numbers, strings, MPI objects, pickles and numpy arrays.

Most calls are of this kind. They are marshaled, because pickling with a function that examines each object takes six times
as long.
"""

from __future__ import annotations

import marshal
import sys
from typing import Any

from fakempi.processes.child.encoding import Default, Encoder, OpaquePickle, Proxy
from fakempi.processes.child.segments import Segment, Segments
from fakempi.processes.protocol import (
    BUFFER,
    CONSTANT,
    DTYPES,
    HANDLE,
    LIST,
    PICKLED,
    READ_ONLY,
    SIMPLE,
    SMALLEST_SEGMENT,
    TUPLE,
)


class ArrayMemory:
    """The memory of a contiguous array that a call uses; see `child.memory.Memory`."""

    __slots__ = ("number", "obj", "segment")

    def __init__(self, obj: Any, number: int, segment: Segment | None) -> None:
        self.obj, self.number, self.segment = obj, number, segment

    @property
    def view(self) -> Any:
        """The memory as bytes."""
        try:
            return memoryview(self.obj).cast("B")  # three times as fast as the alternative below
        except (TypeError, ValueError):  # complex numbers; no elements
            return self.obj.reshape(-1).view("u1").data

    def contents(self) -> bytes:
        """A copy of the memory."""
        found: bytes = self.obj.tobytes()
        return found

    def write(self, writes: list[tuple[int, Any]]) -> None:
        """Write results: bytes, or a number of bytes that are in the segment."""
        view = self.view
        for at, data in writes:
            if type(data) is int:
                assert self.segment is not None
                view[at : at + data] = self.segment.view[at : at + data]
            else:
                view[at : at + len(data)] = data


class Compact:
    """Writes compact messages and reads them."""

    def __init__(self, encoder: Encoder, segments: Segments) -> None:
        self.encoder, self.segments = encoder, segments
        self.ndarray: Any = None
        self.borrowed: list[Segment] = []  # for memory that pending calls only read
        self.seen: list[Any] = []  # arrays in the current call
        self.chars: dict[int, str] = {}  # id of a dtype of numbers -> its character

    def call(
        self, number: int, site: int, target: Any, args: tuple[Any, ...], notes: Any, reads: int, memory: dict[int, Any],
        kind: int,
    ) -> bytes | None:
        """Return a call as bytes, and add the memory that it may change; None if the call needs a pickle.

        The bits of `reads` are set for arguments that are only read. It is negative if the call may keep memory. `kind` is
        the number under which the parent prepares further calls of this kind; it is negative if there is none.
        """
        if target is not None:
            if not isinstance(target, Proxy):
                return None
            target = target._key
        ndarray = self.ndarray
        if ndarray is None and "numpy" in sys.modules:
            self._find_numpy()
            ndarray = self.ndarray
        values: list[Any] = []
        before = len(self.borrowed)
        self.seen.clear()
        for arg in args:
            type_of = type(arg)
            if type_of in SIMPLE:
                values.append(arg)
            else:
                if type_of is ndarray and reads >= 0:
                    value = self._array(arg, reads & 1, memory)
                elif type_of is Default:
                    value = CONSTANT, arg.name
                else:
                    value = self._value(arg, reads if reads < 0 else reads & 1, memory, 0)
                if value is None:
                    for one in memory.values():
                        self.release(one)
                    memory.clear()
                    self.finish(before)
                    return None
                values.append(value)
            reads >>= 1
        return marshal.dumps((number, site, target, values, notes, kind))

    def _find_numpy(self) -> None:
        numpy = sys.modules["numpy"]
        self.ndarray = getattr(numpy, "ndarray", None)
        if self.ndarray is not None and hasattr(numpy, "dtype"):
            self.chars = {id(numpy.dtype(char)): char for char in DTYPES}  # they exist as long as numpy

    def _value(self, arg: Any, reads: int, memory: dict[int, Any], depth: int) -> Any:
        kind = type(arg)
        if kind is Default:
            return CONSTANT, arg.name
        if kind is OpaquePickle:
            return PICKLED, arg.data
        if kind is self.ndarray:
            return None if reads < 0 else self._array(arg, reads, memory)
        if kind is list or kind is tuple:
            if depth > 1:
                return None
            values = []
            for one in arg:
                value = one if type(one) in SIMPLE else self._value(one, reads, memory, depth + 1)
                if value is None and one is not None:  # None itself is simple
                    return None
                values.append(value)
            return LIST if kind is list else TUPLE, values
        if issubclass(kind, Proxy):
            return arg._key
        name = self.encoder.constants.get(kind)
        return None if name is None else (CONSTANT, name)

    def _array(self, array: Any, reads: int, memory: dict[int, Any]) -> Any:
        flags, seen = array.flags, self.seen
        char = self.chars.get(id(array.dtype)) or _char(array.dtype)
        if not char or not flags.c_contiguous:
            return None
        if seen and any(one is array for one in seen):  # the parent must see the same array twice, too
            return None
        seen.append(array)
        nbytes = array.nbytes
        segment = self.segments.allocate(nbytes) if nbytes >= SMALLEST_SEGMENT else None
        if segment is None:
            data: Any = array.tobytes()
        else:
            segment.view[:nbytes] = array.reshape(-1).view("u1").data
            data = segment.offset, segment.size
        if reads or not flags.writeable:
            if segment is not None:
                self.borrowed.append(segment)
            return READ_ONLY, char, array.shape, data
        self.encoder.count += 1
        number = self.encoder.count
        memory[number] = ArrayMemory(array, number, segment)
        return BUFFER, number, char, array.shape, data

    def release(self, memory: Any) -> None:
        """Free the segment of memory that no call uses any more."""
        segment = getattr(memory, "segment", None)
        if segment is not None:
            memory.segment = None
            self.segments.release(segment)

    def finish(self, before: int) -> None:
        """Free segments that a call only read; `before` is their number when it began."""
        while len(self.borrowed) > before:
            self.segments.release(self.borrowed.pop())

    def value(self, value: Any) -> Any:
        """Return the object of a placeholder in an answer."""
        kind = value[0]
        if kind in (HANDLE, CONSTANT):
            return self.encoder.make_proxy(*value)
        assert kind == PICKLED
        return self.encoder.loads(value[1])


def _char(dtype: Any) -> str:
    """Return the character of a dtype of numbers; empty for others."""
    return dtype.char if dtype.isbuiltin == 1 and dtype.kind in "biufc" else ""
