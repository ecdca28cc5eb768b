"""Copies between memory and packed messages, for the pieces of a layout and a number of elements.

Both sides are one-dimensional arrays of bytes. A regular piece is copied by one assignment between two strided views, with
one dimension for each loop. A table of irregular runs is copied by one `take`, or by one assignment through an index array.
If all pieces together have at most `MAX_INDEXED_BYTES` bytes, one index array with an entry for each byte copies all of
them. Views are made by `np.ndarray(..., buffer=)`, which rejects views beyond its buffer.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
import numpy.typing as npt
from numpy import ndarray

from fakempi.mpi.datatypes.typemap import Loop, Offsets, Piece, RunTable, all_runs, each_step, repeat
from fakempi.mpi.interfaces.arrays import Array, Dtype

Bytes = npt.NDArray[np.uint8]

MAX_INDEXED_BYTES = 512  # up to this number of bytes, an index array with an entry for each byte is used
_BYTES_PER_MOVE = 192  # copying this number of bytes through an index array takes as long as one move
_ROW_BYTES = 256  # runs of at least this length are copied as rows of bytes; shorter ones as opaque items: up to 3x faster
LONG_RUN = 64  # runs of at least this many bytes are copied from memory to memory; packing shorter ones takes no longer
_MAX_DIMENSIONS = 24  # numpy 1 supports 32 dimensions; further loops run in Python
_BYTE = np.dtype(np.uint8)


class Move(Protocol):
    """Copies bytes between memory and a packed array, each from an offset on."""

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from memory to the packed array."""

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from the packed array to memory."""


class Strided:
    """A regular piece: one view of each side, with an axis for every loop."""

    __slots__ = ("item", "memory_strides", "packed_strides", "run", "shape", "source", "target")

    def __init__(self, piece: Piece) -> None:
        run = self.run = piece.run
        row = (run,) if run >= _ROW_BYTES else ()
        self.item = _BYTE if row else item_of(run)
        self.shape = tuple([loop[0] for loop in piece.loops]) + row
        strides = [tuple([loop[side] for loop in piece.loops]) + (1,) * len(row) for side in (1, 2)]
        self.memory_strides, self.packed_strides = strides
        self.source, self.target = piece.source, piece.target

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from memory to the packed array."""
        in_memory: Array = ndarray(self.shape, self.item, memory, offset + self.source, self.memory_strides)
        ndarray(self.shape, self.item, packed, at + self.target, self.packed_strides)[...] = in_memory

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from the packed array to memory."""
        in_packed: Array = ndarray(self.shape, self.item, packed, at + self.target, self.packed_strides)
        ndarray(self.shape, self.item, memory, offset + self.source, self.memory_strides)[...] = in_packed

    def copy(self, memory: Bytes, offset: int, other: Bytes, at: int) -> None:
        """Copy the bytes of the piece to another buffer with the same layout, without packing them."""
        in_memory: Array = ndarray(self.shape, self.item, memory, offset + self.source, self.memory_strides)
        ndarray(self.shape, self.item, other, at + self.source, self.memory_strides)[...] = in_memory


class IndexedRuns:
    """Short irregular runs, copied through an index array of all their units."""

    __slots__ = ("index", "item", "source", "step", "target", "units")

    def __init__(self, table: RunTable, index: Offsets, source: int, target: int) -> None:
        self.item, self.index, self.units = item_of(table.unit), index, (table.high - table.low) // table.unit
        self.source, self.target = source + table.low, target
        self.step = (table.unit,)  # numpy rejects an offset below 0 only if strides are given

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from memory to the packed array; "wrap" is the fastest mode of `take`, and no index is out of bounds."""
        units: Array = ndarray(self.units, self.item, memory, offset + self.source, self.step)
        units.take(self.index, 0, ndarray(len(self.index), self.item, packed, at + self.target), "wrap")

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from the packed array to memory."""
        units: Array = ndarray(self.units, self.item, memory, offset + self.source, self.step)
        units[self.index] = ndarray(len(self.index), self.item, packed, at + self.target)


class SeparateRuns:
    """Long irregular runs, copied one by one as slices of memoryviews, since numpy's views take ten times as long."""

    __slots__ = ("low", "rows")

    def __init__(self, table: RunTable, source: int, target: int) -> None:
        starts, targets = table.starts + source, table.targets() + target
        self.rows = list(zip(starts.tolist(), targets.tolist(), table.lengths.tolist(), strict=True))
        self.low = source + table.low

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from memory to the packed array."""
        self._copy(memory.data, offset, packed.data, at, out=True)

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from the packed array to memory."""
        self._copy(memory.data, offset, packed.data, at, out=False)

    def _copy(self, memory: memoryview, offset: int, packed: memoryview, at: int, *, out: bool) -> None:
        if offset + self.low < 0:
            raise IndexError(f"byte {offset + self.low} of a memory of {len(memory)}")
        for start, target, length in self.rows:
            begin, packed_begin = offset + start, at + target
            if out:
                packed[packed_begin : packed_begin + length] = memory[begin : begin + length]
            else:
                memory[begin : begin + length] = packed[packed_begin : packed_begin + length]


class Looped:
    """A move within a loop in Python."""

    __slots__ = ("inner", "loop")

    def __init__(self, loop: Loop, inner: Move) -> None:
        self.loop, self.inner = loop, inner

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from memory to the packed array."""
        times, stride, packed_stride = self.loop
        for i in range(times):
            self.inner.gather(memory, offset + i * stride, packed, at + i * packed_stride)

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from the packed array to memory."""
        times, stride, packed_stride = self.loop
        for i in range(times):
            self.inner.scatter(memory, offset + i * stride, packed, at + i * packed_stride)


class IndexedBytes:
    """A few bytes, copied through one index array."""

    __slots__ = ("high", "index", "low")

    def __init__(self, index: Offsets) -> None:
        self.low, self.high = int(index.min()), int(index.max()) + 1
        self.index = index - self.low

    def fetch(self, memory: Bytes, offset: int) -> Bytes:
        """Return a new array of the bytes."""
        return checked_slice(memory, offset + self.low, offset + self.high)[self.index]

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from memory to the packed array."""
        packed[at : at + len(self.index)] = self.fetch(memory, offset)

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Copy from the packed array to memory."""
        checked_slice(memory, offset + self.low, offset + self.high)[self.index] = packed[at : at + len(self.index)]


def moves(pieces: tuple[Piece, ...], size: int, extent: int, count: int) -> tuple[Move, ...]:
    """Return the moves that copy `count` elements of these pieces, packed size and extent; the size is not 0."""
    pieces = repeat(pieces, size, count, extent)
    result = tuple([move for piece in pieces for move in _moves_of(piece)])
    if size * count <= min(MAX_INDEXED_BYTES, _BYTES_PER_MOVE * len(result)):
        starts, lengths = all_runs(pieces)
        return (IndexedBytes(each_step(starts, lengths, 1)),)
    return result


def _moves_of(piece: Piece) -> list[Move]:
    """Return the moves of one piece. A table in loops is copied run by run if it has more iterations than runs."""
    table, loops = piece.table, piece.loops
    if table is None or not loops or len(table.starts) > math.prod([times for times, _, _ in loops]):
        return [_move(piece)]
    rows = zip(table.starts.tolist(), table.targets().tolist(), table.lengths.tolist(), strict=True)
    return [_move(Piece(piece.source + start, piece.target + at, run, loops)) for start, at, run in rows]


def _move(piece: Piece) -> Move:
    """Return one move, within Python loops where numpy has not enough axes."""
    table, loops = piece.table, piece.loops
    if len(loops) > (_MAX_DIMENSIONS if table is None else 0):
        return Looped(loops[0], _move(piece._replace(loops=loops[1:])))
    if table is None:
        return Strided(piece)
    index = table.index()
    if index is None:
        return SeparateRuns(table, piece.source, piece.target)
    return IndexedRuns(table, index, piece.source, piece.target)


def checked_slice(memory: Bytes, begin: int, end: int) -> Bytes:
    """Return a slice of memory; raise IndexError if it exceeds the memory."""
    if begin < 0 or end > len(memory):
        raise IndexError(f"bytes {begin} to {end} of a memory of {len(memory)}")
    return memory[begin:end]


def item_of(size: int) -> Dtype:
    """Return a numpy type of `size` opaque bytes, without alignment."""
    return np.dtype((np.void, size))
