"""Sizes of message buffers in bytes, from the forms that mpi4py accepts.

A buffer is an object with memory, or a list `[memory, count or counts, displacements, datatype]` whose middle parts may be
absent. Nothing is read from the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class BufferSize(NamedTuple):
    """The bytes of a buffer, and of one of its elements."""

    nbytes: int
    itemsize: int


class BufferSizes:
    """Computes sizes, with the datatypes of a module mpi4py.MPI."""

    def __init__(self, mpi: Any) -> None:
        self._datatype: type[Any] = mpi.Datatype
        self._fromcode: Any = getattr(mpi.Datatype, "fromcode", None)
        self._in_place = mpi.IN_PLACE

    def given(self, buffer: Any) -> bool:
        """Return whether there is a buffer: not None, and not IN_PLACE."""
        return buffer is not None and buffer is not self._in_place

    def nbytes(self, buffer: Any) -> int:
        """Return the bytes of a buffer; 0 without one."""
        try:
            return int(buffer.nbytes)  # a numpy array, in most programs
        except AttributeError:
            return self.span(buffer).nbytes

    def span(self, buffer: Any) -> BufferSize:
        """Return the bytes of a buffer and of an element."""
        if not self.given(buffer):
            return BufferSize(0, 1)
        if not isinstance(buffer, list | tuple):
            return BufferSize(_memory(buffer), _itemsize(buffer))
        memory, counts, datatype = self._parts(buffer)
        size, extent = self._sizes(memory, datatype)
        if counts is None:
            return BufferSize(_memory(memory) // max(extent, 1) * size, max(size, 1))
        count = counts if isinstance(counts, int) else counts[0]  # or (count, displacement)
        return BufferSize(int(count) * size, max(size, 1))

    def blocks(self, buffer: Any, ranks: int) -> tuple[list[int], int]:
        """Return the bytes of the block of each rank in a buffer of a vector form, and of an element."""
        if not self.given(buffer):
            return [], 1
        memory, counts, datatype = self._parts(buffer) if isinstance(buffer, list | tuple) else (buffer, None, None)
        size, extent = self._sizes(memory, datatype)
        if counts is None:
            each, more = divmod(_memory(memory) // max(extent, 1), ranks)
            counts = [each + (rank < more) for rank in range(ranks)]
        elif isinstance(counts, int):
            counts = [counts] * ranks
        return [int(count) * size for count in counts], max(size, 1)

    def typed_blocks(self, buffer: Any) -> list[int]:
        """Return the bytes for each rank in a buffer of Alltoallw: `[memory, counts, displacements, datatypes]`."""
        if not self.given(buffer):
            return []
        counts = next((each for each in buffer[1:-1] if each is not None), None)
        datatypes = buffer[-1]
        if isinstance(counts, tuple) and len(counts) == 2 and _is_sequence(counts[0]):
            counts = counts[0]  # (counts, displacements)
        if counts is None:
            counts = [1] * len(datatypes)
        return [int(count) * each.Get_size() for count, each in zip(counts, datatypes, strict=False)]

    def _parts(self, buffer: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Return the memory, the count or the counts (None: all), and the datatype (None: from the memory)."""
        memory, *rest = buffer
        datatype = None
        if rest and (isinstance(rest[-1], self._datatype | str) or rest[-1] is None):
            datatype = rest.pop()
        counts = rest[0] if rest else None
        if isinstance(counts, list | tuple) and len(counts) == 2 and (counts[0] is None or _is_sequence(counts[0])):
            counts = counts[0]  # (counts, displacements)
        elif isinstance(counts, tuple) and len(counts) == 2 and len(rest) == 1 and isinstance(counts[1], list | tuple):
            counts = counts[0]
        if counts is not None and not isinstance(counts, list | tuple):
            counts = int(counts) if not _is_sequence(counts) else [int(each) for each in counts]
        return memory, counts, datatype

    def _sizes(self, memory: Any, datatype: Any) -> tuple[int, int]:
        """Return the size and the extent of an element."""
        if isinstance(datatype, str) and self._fromcode is not None:
            datatype = self._fromcode(datatype)
        if isinstance(datatype, self._datatype):
            return int(datatype.Get_size()), int(datatype.Get_extent()[1])
        size = _itemsize(memory)
        return size, size


def _is_sequence(found: Any) -> bool:
    return hasattr(found, "__len__") and not isinstance(found, str)


def _memory(buffer: Any) -> int:
    """Return the bytes of an object with memory; 0 for BOTTOM and for what is unknown."""
    found = getattr(buffer, "nbytes", None)
    if found is not None:
        return int(found)
    try:
        return memoryview(buffer).nbytes
    except TypeError:
        return 0


def _itemsize(buffer: Any) -> int:
    found = getattr(buffer, "itemsize", None)
    if found is None:
        try:
            found = memoryview(buffer).itemsize
        except TypeError:
            return 1
    return max(int(found), 1)
