"""Copying between memory and packed messages: the moves that a layout's pieces come to, for so many elements.

Both sides are one-dimensional arrays of bytes. A regular piece is one copy between two strided views, of as many dimensions
as it has loops; a table of runs is one `take`, or one assignment through an index array; a handful of bytes is one index for
all pieces. Views are made by `np.ndarray(..., buffer=)`, which refuses to look outside its buffer.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from numpy import ndarray

from fakempi.mpi.datatypes.typemap import Loop, Offsets, Piece, Spots, each_step, repeat, written_out

Bytes = npt.NDArray[np.uint8]

SMALL = 512  # up to so many bytes, a place for each of them may be written down
_PER_MOVE = 192  # bytes that one index fetches in the time of one more move
_ROW = 256  # runs from here on are copied as rows of bytes; below, as opaque items, which numpy moves up to 3x faster
LONG = 64  # runs from here on are carried from memory to memory; shorter ones are packed in between in no more time
_DEEPEST = 24  # numpy 1 knows 32 dimensions; deeper loops are peeled off in Python
_BYTE = np.dtype(np.uint8)


class Move(Protocol):
    """Copies bytes between a memory, from a byte on, and a packed array, from a byte on."""

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Out of memory."""

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Into memory."""


class Strided:
    """A regular piece: a view on each side, with an axis for every loop."""

    __slots__ = ("here", "item", "run", "shape", "source", "target", "there")

    def __init__(self, piece: Piece) -> None:
        run = self.run = piece.run
        row = (run,) if run >= _ROW else ()
        self.item = _BYTE if row else item_of(run)
        self.shape = tuple([loop[0] for loop in piece.loops]) + row
        self.there, self.here = [tuple([loop[side] for loop in piece.loops]) + (1,) * len(row) for side in (1, 2)]
        self.source, self.target = piece.source, piece.target

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Out of memory."""
        there: Any = ndarray(self.shape, self.item, memory, offset + self.source, self.there)
        ndarray(self.shape, self.item, packed, at + self.target, self.here)[...] = there

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Into memory."""
        here: Any = ndarray(self.shape, self.item, packed, at + self.target, self.here)
        ndarray(self.shape, self.item, memory, offset + self.source, self.there)[...] = here

    def carry(self, memory: Bytes, offset: int, other: Bytes, at: int) -> None:
        """From memory to the same places of another one."""
        there: Any = ndarray(self.shape, self.item, memory, offset + self.source, self.there)
        ndarray(self.shape, self.item, other, at + self.source, self.there)[...] = there


class Table:
    """Short runs in no order, through an index of all their units."""

    __slots__ = ("index", "item", "source", "step", "target", "units")

    def __init__(self, spots: Spots, index: Offsets, source: int, target: int) -> None:
        self.item, self.index, self.units = item_of(spots.unit), index, (spots.high - spots.low) // spots.unit
        self.source, self.target = source + spots.low, target
        self.step = (spots.unit,)  # only if it is told strides does numpy refuse an offset below 0

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Out of memory; all units are there, so that there is nothing to wrap: it is the quickest way to `take`."""
        units: Any = ndarray(self.units, self.item, memory, offset + self.source, self.step)
        units.take(self.index, 0, ndarray(len(self.index), self.item, packed, at + self.target), "wrap")

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Into memory."""
        units: Any = ndarray(self.units, self.item, memory, offset + self.source, self.step)
        units[self.index] = ndarray(len(self.index), self.item, packed, at + self.target)


class Runs:
    """Long runs in no order, one by one; by slices of memoryviews, since numpy's views take ten times as long."""

    __slots__ = ("low", "rows")

    def __init__(self, spots: Spots, source: int, target: int) -> None:
        starts, targets = spots.starts + source, spots.targets() + target
        self.rows = list(zip(starts.tolist(), targets.tolist(), spots.lengths.tolist(), strict=True))
        self.low = source + spots.low

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Out of memory."""
        self._copy(memory.data, offset, packed.data, at, out=True)

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Into memory."""
        self._copy(memory.data, offset, packed.data, at, out=False)

    def _copy(self, there: memoryview, offset: int, here: memoryview, at: int, *, out: bool) -> None:
        if offset + self.low < 0:
            raise IndexError(f"byte {offset + self.low} of a memory of {len(there)}")
        for start, target, length in self.rows:
            begin, place = offset + start, at + target
            if out:
                here[place : place + length] = there[begin : begin + length]
            else:
                there[begin : begin + length] = here[place : place + length]


class Looped:
    """A move within a loop of Python's."""

    __slots__ = ("inner", "loop")

    def __init__(self, loop: Loop, inner: Move) -> None:
        self.loop, self.inner = loop, inner

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Out of memory."""
        times, stride, packed_stride = self.loop
        for i in range(times):
            self.inner.gather(memory, offset + i * stride, packed, at + i * packed_stride)

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Into memory."""
        times, stride, packed_stride = self.loop
        for i in range(times):
            self.inner.scatter(memory, offset + i * stride, packed, at + i * packed_stride)


class Few:
    """A few bytes, wherever they are, all at once."""

    __slots__ = ("high", "index", "low")

    def __init__(self, index: Offsets) -> None:
        self.low, self.high = int(index.min()), int(index.max()) + 1
        self.index = index - self.low

    def fetch(self, memory: Bytes, offset: int) -> Bytes:
        """A fresh array of them."""
        return stretch(memory, offset + self.low, offset + self.high)[self.index]

    def gather(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Out of memory."""
        packed[at : at + len(self.index)] = self.fetch(memory, offset)

    def scatter(self, memory: Bytes, offset: int, packed: Bytes, at: int) -> None:
        """Into memory."""
        stretch(memory, offset + self.low, offset + self.high)[self.index] = packed[at : at + len(self.index)]


def moves(pieces: tuple[Piece, ...], size: int, extent: int, count: int) -> tuple[Move, ...]:
    """What copies `count` elements of these pieces, packed size and extent; their bytes are more than none."""
    pieces = repeat(pieces, size, count, extent)
    found = tuple([move for piece in pieces for move in _moves_of(piece)])
    if size * count <= min(SMALL, _PER_MOVE * len(found)):
        starts, lengths = written_out(pieces)
        return (Few(each_step(starts, lengths, 1)),)
    return found


def _moves_of(piece: Piece) -> list[Move]:
    """What copies one piece. A table in loops goes run by run if there are more rounds than runs, else round by round."""
    spots, loops = piece.spots, piece.loops
    if spots is None or not loops or len(spots.starts) > math.prod([times for times, _, _ in loops]):
        return [_move(piece)]
    rows = zip(spots.starts.tolist(), spots.targets().tolist(), spots.lengths.tolist(), strict=True)
    return [_move(Piece(piece.source + start, piece.target + at, run, loops)) for start, at, run in rows]


def _move(piece: Piece) -> Move:
    """One move, within loops of Python's where numpy has no axis for them."""
    spots, loops = piece.spots, piece.loops
    if len(loops) > (_DEEPEST if spots is None else 0):
        return Looped(loops[0], _move(piece._replace(loops=loops[1:])))
    if spots is None:
        return Strided(piece)
    index = spots.index()
    return Runs(spots, piece.source, piece.target) if index is None else Table(spots, index, piece.source, piece.target)


def stretch(memory: Bytes, begin: int, end: int) -> Bytes:
    """A slice that must lie inside."""
    if begin < 0 or end > len(memory):
        raise IndexError(f"bytes {begin} to {end} of a memory of {len(memory)}")
    return memory[begin:end]


@lru_cache(None)
def item_of(size: int) -> np.dtype[Any]:
    """A numpy type of that many bytes that numpy moves without looking inside, wherever they are."""
    return np.dtype((np.void, size))
