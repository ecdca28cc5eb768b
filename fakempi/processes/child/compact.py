"""Compact messages of a child: calls whose arguments are numbers, texts, MPI objects, pickles and numpy arrays.

Most calls are of this kind. A call that describes its arguments as the last one of its line did is sent without the
description, so neither side has to write or read it again: pickling takes six times as long as that.
"""

from __future__ import annotations

import marshal
import sys
from itertools import repeat
from struct import Struct, error
from typing import Any

from fakempi.processes.child.encoding import Default, Encoder, OpaquePickle, Proxy
from fakempi.processes.child.segments import Segment, Segments
from fakempi.processes.child.sites import CallInstruction
from fakempi.processes.protocol import (
    BUFFER,
    BYTES,
    COMPACT_CALL,
    COMPACT_MARK,
    CONSTANT,
    DONE,
    DTYPES,
    FLOAT,
    HANDLE,
    INTEGER,
    LIST,
    PICKLED,
    READ_ONLY,
    SMALLEST_SEGMENT,
    TUPLE,
    VALUE,
)

DEEPEST = 2
"""Sequences in sequences of an argument; deeper ones are pickled."""


class ArrayMemory:
    """The memory of a contiguous array that a call uses; see `child.memory.Memory`. Its number is 0 if it is only read."""

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


Parts = tuple[list[Any], list[Any], list[Any], list[ArrayMemory]]
"""The description of a call; numbers and contents, which it does not contain; memory that the call uses and has to free."""


class Compact:
    """Writes compact calls, and reads their results."""

    def __init__(self, encoder: Encoder, segments: Segments) -> None:
        self.encoder, self.segments = encoder, segments
        self.ndarray: Any = None
        self.chars: dict[int, str] = {}  # id of a dtype of numbers -> its character

    def call(
        self,
        number: int,
        site: CallInstruction,
        target: Any,
        args: tuple[Any, ...],
        notes: Any,
        reads: int,
        memory: list[ArrayMemory],
    ) -> bytes | None:
        """Return a call as bytes, and add memory that it uses to `memory`; None if the call needs a pickle.

        The bits of `reads` are set for arguments that are only read. It is negative if the call may keep memory.
        """
        key, numbers, contents, ndarray = [number], [], [], self.ndarray  # type: list[Any], list[Any], list[Any], Any
        parts, first = (key, numbers, contents, memory), self.encoder.count + 1
        if ndarray is None and "numpy" in sys.modules:
            ndarray = self._find_numpy()
        if target is None:
            key += VALUE, None
        elif not isinstance(target, Proxy) or not self._other(target, parts):
            return None
        for arg in args:
            kind = type(arg)
            if kind is int:
                key.append(INTEGER)
                numbers.append(arg)
            elif kind is ndarray:
                if reads < 0 or not self._array(arg, reads & 1, parts):
                    return None
            elif kind is Default:
                key += CONSTANT, arg.name
            elif not self._other(arg, parts, reads if reads < 0 else reads & 1):
                return None
            reads >>= 1
        try:
            if notes is None and key == site.key:
                head: bytes = site.pack(COMPACT_MARK, site.number, 0, first, *numbers)
                return head + b"".join(contents)
            form = "".join(["d" if type(one) is float else "q" for one in numbers])
            packed = Struct("<" + form).pack(*numbers)
        except error:  # an integer with more than 64 bits
            return None
        described = marshal.dumps((key, notes))
        site.key, site.pack = key, Struct(COMPACT_CALL.format + form).pack
        head = COMPACT_CALL.pack(COMPACT_MARK, site.number, len(described), first)
        return b"".join((head, described, packed, *contents))

    def _find_numpy(self) -> Any:
        numpy = sys.modules["numpy"]
        self.ndarray = getattr(numpy, "ndarray", None)
        if self.ndarray is not None and hasattr(numpy, "dtype"):
            self.chars = {id(numpy.dtype(char)): char for char in DTYPES}  # they exist as long as numpy
        return self.ndarray

    def _other(self, arg: Any, parts: Parts, reads: int = 0, depth: int = 0) -> bool:
        """Add a value to the parts of a call; return whether that is possible."""
        kind = type(arg)
        key, numbers, contents, _ = parts
        if issubclass(kind, Proxy):
            if arg._key[0] == HANDLE:
                key.append(HANDLE)
                numbers.append(arg._key[1])
            else:
                key += arg._key
        elif arg is None or kind is str or kind is bool:
            key += VALUE, arg
        elif kind is int or kind is float:
            key.append(INTEGER if kind is int else FLOAT)
            numbers.append(arg)
        elif kind is OpaquePickle or kind is bytes:
            data = arg.data if kind is OpaquePickle else arg
            key.append(PICKLED if kind is OpaquePickle else BYTES)
            numbers.append(len(data))
            contents.append(data)
        elif kind is Default:
            key += CONSTANT, arg.name
        elif kind is self.ndarray:
            return reads >= 0 and self._array(arg, reads, parts)
        elif kind is list or kind is tuple:
            key += LIST if kind is list else TUPLE, len(arg)
            return depth < DEEPEST and all(map(self._other, arg, repeat(parts), repeat(reads), repeat(depth + 1)))
        else:
            name = self.encoder.constants.get(kind)
            key += CONSTANT, name
            return name is not None
        return True

    def _array(self, array: Any, reads: int, parts: Parts) -> bool:
        key, numbers, contents, memory = parts
        flags = array.flags
        char = self.chars.get(id(array.dtype)) or _char(array.dtype)
        if not char or not flags.c_contiguous:
            return False
        # the parent must see the same array twice, too
        if (contents or memory) and any([one is array for one in (*contents, *[each.obj for each in memory])]):
            return False
        segment, number = None, 0
        if not reads and flags.writeable:
            self.encoder.count = number = self.encoder.count + 1
        if array.nbytes >= SMALLEST_SEGMENT:
            segment = self.segments.allocate(array.nbytes)
        key += BUFFER if number else READ_ONLY, char, array.shape, segment is not None
        if segment is None:
            contents.append(array)
        else:
            segment.view[: array.nbytes] = array.reshape(-1).view("u1").data
            numbers.append(segment.offset)
        if number or segment is not None:
            memory.append(ArrayMemory(array, number, segment))
        return True

    def release(self, memory: Any) -> None:
        """Free the segment of memory that no call uses any more."""
        segment = getattr(memory, "segment", None)
        if segment is not None:
            memory.segment = None
            self.segments.release(segment)

    def finish(self, answer: bytes | bytearray, memory: list[ArrayMemory]) -> float:
        """Write the contents in the answer to a call that has returned None; return the modeled time."""
        at = DONE.size
        for one in memory:
            if one.segment is None:
                before, at = at, at + one.obj.nbytes
                one.view[:] = answer[before:at]
            else:
                if one.number:
                    one.write([(0, one.obj.nbytes)])
                self.release(one)
        clock: float = DONE.unpack_from(answer)[1]
        return clock

    def value(self, value: tuple[Any, ...]) -> Any:
        """Return the object of a placeholder in an answer."""
        kind = value[0]
        if kind in (HANDLE, CONSTANT):
            return self.encoder.make_proxy(*value)
        assert kind == PICKLED
        return self.encoder.loads(value[1])


def _char(dtype: Any) -> str:
    """Return the character of a dtype of numbers; empty for others."""
    return dtype.char if dtype.isbuiltin == 1 and dtype.kind in "biufc" else ""
