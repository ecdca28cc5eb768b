"""The layout of one element of a datatype in memory; packing and unpacking of elements.

Memory and packed data are one-dimensional arrays of bytes. A `Move` copies bytes between the two. The moves
for the last few element counts are cached.
"""

from __future__ import annotations

import numpy as np

from fakempi.mpi.datatypes.copying import LONG_RUN, Bytes, IndexedBytes, Move, Strided, checked_slice, moves
from fakempi.mpi.datatypes.typemap import MAX_SEPARATE_PIECES, Piece

__all__ = ["Bytes", "TypeLayout"]

_COUNTS = 4  # number of element counts with cached moves; programs use one or two


class TypeLayout:
    """The pieces, bounds and derived properties of one element. Immutable.

    `cacheable` is True if the layout takes little memory: few pieces, and none with a table of runs.
    """

    __slots__ = ("_cached_moves", "cacheable", "dense", "extent", "lb", "pieces", "size", "true_extent", "true_lb")

    def __init__(self, pieces: tuple[Piece, ...], size: int, lb: int, extent: int) -> None:
        self.pieces, self.size, self.lb, self.extent = pieces, size, lb, extent
        if len(pieces) == 1:
            low, high = pieces[0].bounds()
            self.cacheable = pieces[0].table is None
        else:
            bounds = [piece.bounds() for piece in pieces] or [(0, 0)]
            low, high = min([low for low, _ in bounds]), max([high for _, high in bounds])
            self.cacheable = len(pieces) <= MAX_SEPARATE_PIECES and all([piece.table is None for piece in pieces])
        self.true_lb, self.true_extent = low, high - low
        self._cached_moves: dict[int, tuple[Move, ...]] = {}
        self.dense = lb == 0 and extent == size and (not size or pieces == (Piece(0, 0, size),))

    def span(self, count: int) -> tuple[int, int]:
        """Return the offsets of the lowest byte of `count` elements and after the highest; (0, 0) if there are no bytes."""
        if not count or not self.size:
            return 0, 0
        far = (count - 1) * self.extent
        return self.true_lb + min(0, far), self.true_lb + self.true_extent + max(0, far)

    def pack(self, memory: Bytes, offset: int, count: int) -> Bytes:
        """Return the bytes of `count` elements, the first of which begins at `offset`, as a new array."""
        total = count * self.size
        if self.dense:
            return checked_slice(memory, offset, offset + total).copy()
        if total:
            first = self._moves(count)[0]
            if type(first) is IndexedBytes:
                return first.fetch(memory, offset)
        packed = np.empty(total, np.uint8)
        self.pack_into(packed, memory, offset, count)
        return packed

    def pack_into(self, packed: Bytes, memory: Bytes, offset: int, count: int) -> None:
        """Pack into an existing array of the right size."""
        if not len(packed):
            return
        if self.dense:
            packed[...] = checked_slice(memory, offset, offset + len(packed))
            return
        todo = self._moves(count)
        # `IndexedBytes` reads all bytes before it writes any.
        if type(todo[0]) is not IndexedBytes and np.may_share_memory(packed, memory):
            packed[...] = self.pack(memory, offset, count)
            return
        for move in todo:
            move.gather(memory, offset, packed, 0)

    def unpack(self, data: Bytes, memory: Bytes, offset: int, count: int) -> None:
        """Unpack bytes to memory; if they are fewer than `count` elements, the rest stays unchanged."""
        if self.dense:
            memory[offset : offset + len(data)] = data
            return
        if not self.size:
            return
        data = np.ascontiguousarray(data)
        whole, rest = divmod(min(len(data), count * self.size), self.size)
        if whole:
            for move in self._moves(whole):
                move.scatter(memory, offset, data, 0)
        if rest:
            # A partial element: read it, replace the bytes that arrived, write it back.
            place = offset + whole * self.extent
            element = self.pack(memory, place, 1)
            element[:rest] = data[whole * self.size : whole * self.size + rest]
            self.unpack(element, memory, place, 1)

    def copy(self, memory: Bytes, offset: int, other: Bytes, at: int, count: int) -> bool:
        """Copy elements from `memory` at `offset` to `other` at `at` without packing; return whether this was done.

        This is done only if all runs are regular and have at least `LONG_RUN` bytes, and if the arrays cannot overlap.
        """
        todo = self._moves(count)
        strided = [move for move in todo if type(move) is Strided and move.run >= LONG_RUN]
        if len(strided) < len(todo) or np.may_share_memory(memory, other):
            return False
        for move in strided:
            move.copy(memory, offset, other, at)
        return True

    def _moves(self, count: int) -> tuple[Move, ...]:
        """Return the moves that copy `count` elements; `count` and `size` must be positive."""
        cached = self._cached_moves
        result = cached.get(count)
        if result is None:
            if len(cached) == _COUNTS:
                cached.clear()
            result = cached[count] = moves(self.pieces, self.size, self.extent, count)
        return result
