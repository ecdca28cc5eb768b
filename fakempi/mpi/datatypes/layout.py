"""How one element of a datatype lies in memory, and the copying between memory and packed messages.

Memory and packed data are one-dimensional arrays of bytes. Copies are numpy's: a strided view on each side, never a
loop over elements. Views are made by `np.ndarray(..., buffer=)`, which refuses to look outside its buffer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fakempi.mpi.datatypes.typemap import FEW, Loop, Piece, Spots

Bytes = npt.NDArray[np.uint8]

_WORDS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
_ROW = 256  # runs from here on are copied as rows of bytes; below, as opaque items, which numpy moves up to 3x faster
_DEEPEST = 24  # numpy 1 knows 32 dimensions; deeper loops are peeled off in Python


class Layout:
    """The pieces of one element, its bounds, and what follows from them. Immutable.

    `light` if it takes next to no memory, so that it may be kept for whoever asks for the same again.
    """

    __slots__ = ("dense", "extent", "lb", "light", "pieces", "size", "true_extent", "true_lb")

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
            if not 0 <= offset <= len(memory) - total:
                raise IndexError(f"bytes {offset} to {offset + total} of a memory of {len(memory)}")
            copied: Bytes = memory[offset : offset + total].copy()
            return copied
        packed = np.empty(total, np.uint8)
        if total:
            for piece in self.pieces:
                _copy(memory, packed, piece, self._over(count), offset, 0, out=True)
        return packed

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
            for piece in self.pieces:
                _copy(memory, data, piece, self._over(whole), offset, 0, out=False)
        if rest:
            # The element that comes in part: read it, change what came, write it back.
            place = offset + whole * self.extent
            element = self.pack(memory, place, 1)
            element[:rest] = data[whole * self.size : whole * self.size + rest]
            self.unpack(element, memory, place, 1)

    def _over(self, count: int) -> tuple[Loop, ...]:
        return ((count, self.extent, self.size),) if count > 1 else ()


def _copy(
    memory: Bytes, packed: Bytes, piece: Piece, over: tuple[Loop, ...], offset: int, at: int, *, out: bool
) -> None:
    """Copy a piece, within the loops `over` it, out of memory or into it."""
    loops = over + piece.loops
    if len(loops) > _DEEPEST:
        (times, stride, packed_stride), inner = loops[0], piece._replace(loops=loops[1:])
        for i in range(times):
            _copy(memory, packed, inner, (), offset + i * stride, at + i * packed_stride, out=out)
        return
    source, target = offset + piece.source, at + piece.target
    if piece.spots is not None:
        _copy_spots(memory, packed, piece.spots, loops, source, target, out=out)
        return
    run = piece.run
    item = _item(run) if run < _ROW else _WORDS[1]
    row = () if run == item.itemsize else (run,)
    there = _view(memory, item, loops, 1, row, source)
    here = _view(packed, item, loops, 2, row, target)
    if out:
        here[...] = there
    else:
        there[...] = here


def _copy_spots(
    memory: Bytes, packed: Bytes, spots: Spots, loops: tuple[Loop, ...], source: int, target: int, *, out: bool
) -> None:
    """Copy a table of runs: through its index array, or one run after the other if they are long."""
    index = spots.index()
    if index is None:
        rows = zip(spots.starts.tolist(), spots.lengths.tolist(), strict=True)
        if loops:
            for start, length in rows:
                _copy(memory, packed, Piece(start, 0, length, loops), (), source, target, out=out)
                target += length
            return
        if source + spots.low < 0:
            raise IndexError(f"byte {source + spots.low} of a memory of {len(memory)}")
        # Slices of memoryviews, because here the overhead of every run counts: numpy's views take ten times as long.
        there, here = memory.data, packed.data
        for start, length in rows:
            begin = source + start
            if out:
                here[target : target + length] = there[begin : begin + length]
            else:
                there[begin : begin + length] = here[target : target + length]
            target += length
        return
    item = _item(spots.unit)
    units = _view(memory, item, loops, 1, ((spots.high - spots.low) // spots.unit,), source + spots.low)
    row = _view(packed, item, loops, 2, (len(index),), target)
    if out:
        row[...] = units[..., index]
    else:
        units[..., index] = row


def _item(size: int) -> np.dtype[Any]:
    """A numpy type of that many bytes that numpy moves without looking inside."""
    return _WORDS[size] if size in _WORDS else np.dtype((np.void, size))


def _view(
    buffer: Bytes, item: np.dtype[Any], loops: tuple[Loop, ...], side: int, row: tuple[int, ...], offset: int
) -> npt.NDArray[Any]:
    """A view on the buffer with an axis for every loop, and a last one along a row of items if there is one."""
    shape = tuple(loop[0] for loop in loops) + row
    strides = tuple(loop[side] for loop in loops) + (item.itemsize,) * len(row)
    view: npt.NDArray[Any] = np.ndarray(shape, item, buffer, offset, strides)
    return view
