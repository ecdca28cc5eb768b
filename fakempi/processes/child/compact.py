"""Marshaled messages of a child: calls whose arguments are numbers, texts, MPI objects, pickles and numpy arrays.

Most calls are of this kind, and pickling them takes six times as long. They follow work of other processes, so their code is
not in the caches of the core, and each step counts: a short call takes 3.5 us less in the child than another one.
"""

from __future__ import annotations

import marshal
import sys
from io import BytesIO
from operator import attrgetter
from typing import Any

from fakempi.processes.child.encoding import Default, Encoder, OpaquePickle, Proxy
from fakempi.processes.child.segments import Segment, Segments
from fakempi.processes.protocol import (
    ARRAY,
    CONSTANT,
    DTYPES,
    HANDLE,
    MARSHAL_VERSION,
    PICKLED,
    SMALLEST_SEGMENT,
    TUPLE,
)

DESCRIPTION = attrgetter("dtype", "nbytes", "shape")
"""Reads attributes of an array in one step."""

PLAIN = frozenset((int, float, str, bytes, bool, type(None)))
"""Types of values that are marshaled as they are."""

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
        return _bytes(self.obj)

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
    """Writes compact calls, and reads their results."""

    def __init__(self, encoder: Encoder, segments: Segments) -> None:
        self.encoder, self.segments = encoder, segments
        self.ndarray: Any = None
        self.chars: dict[int, str] = {}  # id of a dtype of numbers -> its character

    def short(
        self, number: int, site: Any, target: Any, args: tuple[Any, ...], reads: int, memory: list[ArrayMemory]
    ) -> bytes | None:
        """Return a call as bytes; None unless its line is known, its first argument is a small array, others are simple."""
        array, *others = args
        if type(site) is tuple or type(array) is not self.ndarray or not PLAIN.issuperset(map(type, others)):
            return None
        dtype, nbytes, shape = DESCRIPTION(array)
        char = self.chars.get(id(dtype))
        if char is None or nbytes >= SMALLEST_SEGMENT:
            return None
        written = 0
        if not reads & 1 and array.flags.writeable:
            self.encoder.count = written = self.encoder.count + 1
        try:
            data = marshal.dumps((number, site, target._key, char, shape, array, written, others), MARSHAL_VERSION)
        except ValueError:  # the array is not contiguous
            return None
        if written:
            memory.append(ArrayMemory(array, written, None))
        return data

    def call(self, call: list[Any], args: tuple[Any, ...], reads: int, memory: list[ArrayMemory]) -> bytes | None:
        """Return a call as bytes, and add memory that it uses to `memory`; None if the call needs a pickle.

        `call` contains the number of the call, its line, notes, and the target. The bits of `reads` are set for arguments
        that are only read. It is negative if the call may keep memory.
        """
        target, values, others, arrays = call[3], [*args], [], []  # type: Any, list[Any], list[int], list[Any]
        if self.ndarray is None and "numpy" in sys.modules:
            self._find_numpy()
        if target is not None:
            if not isinstance(target, Proxy):
                return None
            call[3] = target._key
        for index, arg in enumerate(args):
            if type(arg) not in PLAIN:
                value = self._other(arg, reads if reads < 0 else reads >> index & 1, arrays, memory)
                if value is None:
                    return None
                values[index] = value
                others.append(index)
        call += values, others
        try:
            return marshal.dumps(call, MARSHAL_VERSION)
        except ValueError:  # more than 2 GB
            return None

    def _find_numpy(self) -> None:
        numpy = sys.modules["numpy"]
        self.ndarray = getattr(numpy, "ndarray", None)
        if self.ndarray is not None and hasattr(numpy, "dtype"):
            self.chars = {id(numpy.dtype(char)): char for char in DTYPES}  # they exist as long as numpy

    def _other(self, arg: Any, reads: int, arrays: list[Any], memory: list[ArrayMemory], depth: int = 0) -> Any:
        """Return what stands for a value in a call; None if there is nothing."""
        kind = type(arg)
        if issubclass(kind, Proxy):
            return arg._key
        if kind is OpaquePickle:
            return PICKLED, arg.data
        if kind is Default:
            return CONSTANT, arg.name
        if kind is self.ndarray:
            return None if reads < 0 else self._array(arg, reads, arrays, memory)
        if kind is not list and kind is not tuple:
            name = self.encoder.constants.get(kind)
            return None if name is None else (CONSTANT, name)
        if depth == DEEPEST:
            return None
        values = []
        for one in arg:
            value = one if type(one) in PLAIN else self._other(one, reads, arrays, memory, depth + 1)
            if value is None and one is not None:
                return None
            values.append(value)
        return values if kind is list else (TUPLE, values)

    def _array(self, array: Any, reads: int, arrays: list[Any], memory: list[ArrayMemory]) -> Any:
        """Return what stands for an array; `arrays` are those that the call already contains."""
        char, flags = self.chars.get(id(array.dtype)) or _char(array.dtype), array.flags
        if not char or not flags.c_contiguous:
            return None
        if arrays and any(one is array for one in arrays):  # the parent must see the same array twice, too
            return None
        arrays.append(array)
        number, contents, segment = 0, array, None
        if not reads and flags.writeable:
            self.encoder.count = number = self.encoder.count + 1
        if array.nbytes >= SMALLEST_SEGMENT:
            segment = self.segments.allocate(array.nbytes)
            if segment is not None:
                segment.view[: array.nbytes] = _bytes(array)
                contents = segment.offset
        if number or segment is not None:
            memory.append(ArrayMemory(array, number, segment))
        return ARRAY, char, array.shape, contents, number

    def release(self, memory: Any) -> None:
        """Free the segment of memory that no call uses any more."""
        segment = getattr(memory, "segment", None)
        if segment is not None:
            memory.segment = None
            self.segments.release(segment)

    def finish(self, contents: list[bytes], memory: list[ArrayMemory]) -> None:
        """Write the contents in the answer to a call that has returned None."""
        for one in memory:
            if one.segment is None:
                BytesIO(contents.pop(0)).readinto(one.obj)
            else:
                if one.number:
                    one.write([(0, one.obj.nbytes)])
                self.release(one)

    def value(self, value: Any) -> Any:
        """Return the result of a call from an answer: tuples are placeholders."""
        if type(value) is not tuple:
            return value
        kind = value[0]
        if kind in (HANDLE, CONSTANT):
            return self.encoder.make_proxy(*value)
        assert kind == PICKLED
        return self.encoder.loads(value[1])


def _bytes(array: Any) -> Any:
    """Return the memory of an array as bytes."""
    try:
        return memoryview(array).cast("B")  # three times as fast as the alternative below
    except (TypeError, ValueError):  # complex numbers; no elements
        return array.reshape(-1).view("u1").data


def _char(dtype: Any) -> str:
    """Return the character of a dtype of numbers; empty for others."""
    return dtype.char if dtype.isbuiltin == 1 and dtype.kind in "biufc" else ""
