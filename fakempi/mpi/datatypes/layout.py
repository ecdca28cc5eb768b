"""How one element of a datatype lies in memory, and the copying of some elements out of memory and into it.

Memory and packed data are one-dimensional arrays of bytes. How they are copied is worked out once for a number of elements.
"""

from __future__ import annotations

import numpy as np

from fakempi.mpi.datatypes.copying import LONG, Bytes, Few, Move, Strided, moves, stretch
from fakempi.mpi.datatypes.typemap import FEW, Piece

__all__ = ["Bytes", "Layout"]

_COUNTS = 4  # so many numbers of elements are remembered; programs use one or two


class Layout:
    """The pieces of one element, its bounds, and what follows from them. Immutable.

    `light` if it takes next to no memory, so that it may be kept for whoever asks for the same again.
    """

    __slots__ = ("_kept", "dense", "extent", "lb", "light", "pieces", "size", "true_extent", "true_lb")

    def __init__(self, pieces: tuple[Piece, ...], size: int, lb: int, extent: int) -> None:
        self.pieces, self.size, self.lb, self.extent = pieces, size, lb, extent
        if len(pieces) == 1:
            low, high = pieces[0].bounds()
            self.light = pieces[0].spots is None
        else:
            bounds = [piece.bounds() for piece in pieces] or [(0, 0)]
            low, high = min([low for low, _ in bounds]), max([high for _, high in bounds])
            self.light = len(pieces) <= FEW and all([piece.spots is None for piece in pieces])
        self.true_lb, self.true_extent = low, high - low
        self._kept: dict[int, tuple[Move, ...]] = {}
        self.dense = lb == 0 and extent == size and (not size or pieces == (Piece(0, 0, size),))

    def span(self, count: int) -> tuple[int, int]:
        """The lowest byte that `count` elements touch, and the one after the highest; (0, 0) if they touch none."""
        if not count or not self.size:
            return 0, 0
        far = (count - 1) * self.extent
        return self.true_lb + min(0, far), self.true_lb + self.true_extent + max(0, far)

    def pack(self, memory: Bytes, offset: int, count: int) -> Bytes:
        """The bytes of `count` elements, the first of which begins at `offset`, as a fresh array."""
        total = count * self.size
        if self.dense:
            return stretch(memory, offset, offset + total).copy()
        if total:
            first = self._moves(count)[0]
            if type(first) is Few:
                return first.fetch(memory, offset)
        packed = np.empty(total, np.uint8)
        self.pack_into(packed, memory, offset, count)
        return packed

    def pack_into(self, packed: Bytes, memory: Bytes, offset: int, count: int) -> None:
        """The same into an array that has as many bytes."""
        if not len(packed):
            return
        if self.dense:
            packed[...] = stretch(memory, offset, offset + len(packed))
            return
        todo = self._moves(count)
        if type(todo[0]) is not Few and np.may_share_memory(packed, memory):  # few are read before any is written
            packed[...] = self.pack(memory, offset, count)
            return
        for move in todo:
            move.gather(memory, offset, packed, 0)

    def unpack(self, data: Bytes, memory: Bytes, offset: int, count: int) -> None:
        """Put packed bytes in their places; if they are fewer than `count` elements, the rest stays as it is."""
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
            # The element that comes in part: read it, change what came, write it back.
            place = offset + whole * self.extent
            element = self.pack(memory, place, 1)
            element[:rest] = data[whole * self.size : whole * self.size + rest]
            self.unpack(element, memory, place, 1)

    def copy(self, memory: Bytes, offset: int, other: Bytes, at: int, count: int) -> bool:
        """Copy elements to the same places of another memory, unless it is better to pack them; whether it is done."""
        todo = self._moves(count)
        strided = [move for move in todo if type(move) is Strided and move.run >= LONG]
        if len(strided) < len(todo) or np.may_share_memory(memory, other):
            return False
        for move in strided:
            move.carry(memory, offset, other, at)
        return True

    def _moves(self, count: int) -> tuple[Move, ...]:
        """How so many elements are copied; these must have bytes."""
        kept = self._kept
        found = kept.get(count)
        if found is None:
            if len(kept) == _COUNTS:
                kept.clear()
            found = kept[count] = moves(self.pieces, self.size, self.extent, count)
        return found
