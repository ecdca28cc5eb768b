"""Memory of a child that calls use: its description for the parent, and the writing of results to it."""

from __future__ import annotations

import array
import ctypes
import sys
from typing import Any

Write = tuple[int, bytes]
"""An offset in bytes, and the bytes to write there."""


class Memory:
    """The memory of an object.

    Attributes
    ----------
    obj : the object
    kind : `("nd", dtype)`, `("array", type code)`, `("bytearray",)`, `("view", format)`
    shape : of an array, (shape, strides or None, offset of its first element)
    writable : whether results may be written to it
    """

    __slots__ = ("kind", "number", "obj", "shape", "span", "view", "writable")

    segment = None

    def __init__(
        self, obj: object, kind: tuple[Any, ...], shape: Any, writable: bool, view: Any, span: Any = None
    ) -> None:
        self.obj, self.kind, self.shape, self.writable = obj, kind, shape, writable
        self.view = view  # as bytes, if it is contiguous
        self.span = span  # else its address and size
        self.number = 0

    def contents(self) -> bytes:
        """A copy of the memory."""
        return bytes(self.view) if self.view is not None else ctypes.string_at(*self.span)

    def write(self, writes: list[Write]) -> None:
        """Write results."""
        for at, data in writes:
            if self.view is not None:
                self.view[at : at + len(data)] = data
            else:
                address, _ = self.span
                ctypes.memmove(address + at, bytes(data), len(data))


def describe(obj: Any) -> Memory | None:
    """Return the memory of an object; None if it has none."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(obj, numpy.ndarray):
        return _of_array(getattr(obj, "_memory", obj), obj)  # `_memory` of an MPI.buffer is empty after `release`
    kind = type(obj)
    if kind is bytearray:
        return Memory(obj, ("bytearray",), None, True, memoryview(obj))
    try:
        view = memoryview(obj)
    except (TypeError, ValueError, BufferError):
        return _of_interface(obj)
    if not view.c_contiguous:
        return None if numpy is None else _of_array(numpy.asarray(obj), obj)
    flat = view.cast("B") if view.nbytes else memoryview(bytearray())
    if numpy is not None and isinstance(obj, numpy.number):
        return Memory(obj, ("scalar", obj.dtype.str), None, False, flat)  # a number for calls that expect a number
    if kind is array.array:
        return Memory(obj, ("array", obj.typecode), None, True, flat)
    return Memory(obj, ("view", view.format), (view.shape, None, 0), not view.readonly, flat)


def _of_array(found: Any, obj: Any = None) -> Memory:
    dtype, flags = found.dtype, found.flags
    simple = dtype.isbuiltin == 1 and dtype.kind in "biufc"
    kind = ("nd", dtype.char if simple else dtype)
    obj = found if obj is None else obj
    if dtype.hasobject:
        return Memory(obj, kind, (found.shape, None, 0), False, memoryview(b""))
    if flags.c_contiguous:
        if not found.nbytes:
            flat = memoryview(bytearray())
        else:
            try:
                flat = memoryview(found).cast("B")
            except (TypeError, ValueError):  # complex numbers, dates, structures
                flat = memoryview(found.reshape(-1).view("u1"))
        return Memory(obj, kind, (found.shape, None, 0), flags.writeable, flat)
    low = sum(min(0, step * (size - 1)) for size, step in zip(found.shape, found.strides, strict=True))
    high = sum(max(0, step * (size - 1)) for size, step in zip(found.shape, found.strides, strict=True)) + found.itemsize
    if not found.size:
        low = high = 0
    span = found.ctypes.data + low, high - low
    return Memory(obj, kind, (found.shape, found.strides, -low), flags.writeable, None, span)


def _of_interface(obj: Any) -> Memory | None:
    """Return the memory of an object that exports it in another way (`__array_interface__`, `__dlpack__` ...)."""
    if hasattr(obj, "__dlpack__") or hasattr(obj, "__cuda_array_interface__"):
        from fakempi.mpi.base.array_protocols import protocol_array

        found = protocol_array(obj)
        return None if found is None else _of_array(found, obj)
    if hasattr(obj, "__array_interface__"):
        import numpy

        return _of_array(numpy.asarray(obj), obj)
    return None
