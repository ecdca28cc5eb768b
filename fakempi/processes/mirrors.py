"""Memory of children in the parent: calls of the emulator use a copy, and their changes are written back."""

from __future__ import annotations

import array
from typing import Any

import numpy as np


class Mirror:
    """A copy of memory of a child.

    Attributes
    ----------
    number : the number that the child gave it
    data : the contents, which calls may change
    known : the contents as the child has them; None if the memory is read-only
    obj : the object for the call: an array, a bytearray ...
    shared : whether the child has mapped the same memory
    """

    __slots__ = ("data", "exact", "known", "number", "obj", "shared")

    def __init__(self, number: int, kind: tuple[Any, ...], data: Any, shape: Any, writable: bool) -> None:
        self.number, self.exact, self.shared = number, False, False
        self.data: Any = bytearray(data) if writable else data
        self.known: bytes | None = data if writable else None
        self.obj = self._object(kind, shape)

    def offset_of(self, memory: Any) -> int | None:
        """Return the offset of an array in this memory; None if it is not part of it."""
        start = np.frombuffer(self.data, np.uint8).ctypes.data if len(self.data) else 0
        offset = int(memory.ctypes.data) - start
        return offset if start and 0 <= offset < len(self.data) else None

    def _object(self, kind: tuple[Any, ...], shape: Any) -> Any:
        if kind[0] == "nd":
            dtype = np.dtype(kind[1])
            if dtype.hasobject:
                return np.empty(shape[0], dtype)
            return np.ndarray(shape[0], dtype, self.data, shape[2], shape[1])
        if kind[0] == "bytearray":
            return self.data
        if kind[0] == "array":
            copy = array.array(kind[1])
            copy.frombytes(self.data)
            self.data = memoryview(copy).cast("B") if len(copy) else b""
            return copy
        if kind[0] == "scalar":
            return np.frombuffer(self.data, kind[1])[0]
        view = memoryview(self.data)
        if not view.nbytes:
            return view
        form = kind[1].lstrip("<=@|")
        try:
            return view.cast(form, shape[0]) if form != "B" or len(shape[0]) != 1 else view
        except (TypeError, ValueError):
            return np.frombuffer(self.data, kind[1]).reshape(shape[0]).data

    def refresh(self, data: Any) -> None:
        """Replace the contents by those of the child."""
        if self.known is not None:
            self.known = data
        if len(data):
            np.frombuffer(self.data, np.uint8)[:] = np.frombuffer(data, np.uint8)

    def changes(self, exact: bool = False) -> list[tuple[int, bytes]]:
        """Return the changes by calls since the last call of this method: offsets and new contents.

        Without `exact`, bytes between two changed ones are included; the child must not have changed them meanwhile.
        """
        known, data = self.known, self.data
        if known is None or data == known:
            return []
        new, old = np.frombuffer(data, np.uint8), np.frombuffer(known, np.uint8)
        changed = np.flatnonzero(new != old)
        self.known = bytes(data)
        if not exact:
            first, last = int(changed[0]), int(changed[-1]) + 1
            return [(first, bytes(self.known[first:last]))]
        ends = np.flatnonzero(np.diff(changed) > 1)
        starts = [int(changed[0]), *(int(changed[end + 1]) for end in ends)]
        stops = [*(int(changed[end]) + 1 for end in ends), int(changed[-1]) + 1]
        return [(start, self.known[start:stop]) for start, stop in zip(starts, stops, strict=True)]


def overwrite(target: Any, contents: bytes) -> None:
    """Replace the contents of an array."""
    flat = np.ndarray((len(contents),), np.uint8, target.data if target.nbytes else b"")
    if contents:
        flat[:] = np.frombuffer(contents, np.uint8)
