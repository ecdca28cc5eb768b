"""Type maps as a few regular pieces.

A type map assigns bytes of memory to positions in a packed message. A complete list would be as long as the message. Here a
type map is a few `Piece`s, each a run of bytes repeated by nested loops, so a vector or a subarray of a billion elements
takes no more memory than one of two elements. Lists of irregular blocks become one piece with a table of runs (`RunTable`).
All offsets are bytes, relative to where the element begins, in memory (`source`) and in the packed form (`target`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Loop = tuple[int, int, int]  # times, source stride, target stride

MAX_SEPARATE_PIECES = 16  # up to this number, separate pieces cost less than a table of runs
SHORT_RUN = 64  # runs of at most this number of units are copied through an index array, longer ones one by one


class Piece(NamedTuple):
    """Equal runs of bytes, regularly repeated; or, if there is a `table`, a table of runs, regularly repeated."""

    source: int
    target: int
    run: int  # bytes in a row; for a table, bytes in the whole table
    loops: tuple[Loop, ...] = ()  # outermost first
    table: RunTable | None = None

    def shifted(self, source: int, target: int) -> Piece:
        """Return the same piece at other offsets."""
        return Piece(self.source + source, self.target + target, self.run, self.loops, self.table)

    def repeated(self, times: int, stride: int, packed_stride: int) -> Piece:
        """Return the piece within one more loop, merged with inner loops where the bytes are adjacent."""
        run, loops = self.run, ((times, stride, packed_stride), *self.loops)
        if self.table is None and loops[-1][1:] == (run, run):
            run, loops = run * loops[-1][0], loops[:-1]
        if len(loops) > 1:
            (outer, source, target), (inner, near, packed_near) = loops[:2]
            if source == inner * near and target == inner * packed_near:
                loops = ((outer * inner, near, packed_near), *loops[2:])
        return Piece(self.source, self.target, run, loops, self.table)

    def bounds(self) -> tuple[int, int]:
        """Return the lowest byte of memory, and the one after the highest."""
        low = high = self.source
        for times, stride, _ in self.loops:
            low += min(0, (times - 1) * stride)
            high += max(0, (times - 1) * stride)
        if self.table is None:
            return low, high + self.run
        return low + self.table.low, high + self.table.high

    def runs(self) -> int:
        """Return the number of runs of bytes in the piece."""
        return math.prod(times for times, _, _ in self.loops) * (1 if self.table is None else len(self.table.starts))


class RunTable:
    """A table of runs, in packed order."""

    __slots__ = ("_index", "high", "lengths", "low", "starts", "unit")

    def __init__(self, starts: Offsets, lengths: Offsets) -> None:
        self.starts, self.lengths = starts, lengths
        self.low, self.high = int(starts.min()), int((starts + lengths).max())
        # Offsets and lengths are counted in the largest unit that divides all of them: one index per double, not per byte.
        # Small units are powers of two: numpy fetches three units of 8 bytes in 2/3 of the time of one unit of 24 bytes, and
        # stores two units of 16 bytes in half the time of one unit of 32 bytes.
        unit = math.gcd(int(np.gcd.reduce(lengths)), int(np.gcd.reduce(starts - self.low)))
        self.unit = unit if unit >= 64 else math.gcd(unit, 16)
        self._index: Offsets | None = None

    def index(self) -> Offsets | None:
        """Return the index array that copies all runs at once, in units from `low`; None if the runs are long."""
        if self._index is None and int(self.lengths.sum()) <= SHORT_RUN * self.unit * len(self.lengths):
            self._index = each_step((self.starts - self.low) // self.unit, self.lengths // self.unit, 1)
        return self._index

    def targets(self) -> Offsets:
        """Return the offset of each run in the packed form."""
        ends: Offsets = np.cumsum(self.lengths)
        return ends - self.lengths


def each_step(starts: Offsets, lengths: Offsets, stride: int) -> Offsets:
    """`starts[0], starts[0] + stride, ...` (`lengths[0]` of them), then the same for the other blocks."""
    begins = np.cumsum(lengths) - lengths
    return np.repeat(starts - begins * stride, lengths) + np.arange(int(lengths.sum()), dtype=np.int64) * stride


def repeat(pieces: tuple[Piece, ...], size: int, times: int, stride: int) -> tuple[Piece, ...]:
    """The pieces of an element of `size` packed bytes, repeated `times` times at a distance of `stride` bytes."""
    if times == 1:
        return pieces
    return tuple(piece.repeated(times, stride, size) for piece in pieces) if times and size else ()


def concatenate(parts: Iterable[tuple[int, tuple[Piece, ...], int]]) -> tuple[Piece, ...]:
    """The pieces of consecutive parts; a part is (its offset in memory, its pieces, its packed size)."""
    joined: list[Piece] = []
    target = 0
    for where, pieces, size in parts:
        for piece in pieces:
            placed = piece.shifted(where, target)
            last = joined[-1] if joined else None
            if last and _plain(last) and _plain(placed) and last.source + last.run == placed.source:
                joined[-1] = Piece(last.source, last.target, last.run + placed.run)
            else:
                joined.append(placed)
        target += size
    if len(joined) > MAX_SEPARATE_PIECES and all(map(_plain, joined)):
        return from_runs(_offsets(piece.source for piece in joined), _offsets(piece.run for piece in joined))
    return tuple(joined)


def blocks(pieces: tuple[Piece, ...], size: int, extent: int, lengths: Offsets, starts: Offsets) -> tuple[Piece, ...]:
    """Blocks of `lengths[i]` elements, the i-th at byte `starts[i]`; an element has these pieces, size and extent."""
    nonempty = lengths > 0
    lengths, starts = lengths[nonempty], starts[nonempty]
    if not size or not len(lengths):
        return ()
    whole = len(pieces) == 1 and _plain(pieces[0])
    if whole and extent == size:
        return from_runs(starts + pieces[0].source, lengths * size)
    # A table of all runs is faster only for many small blocks; otherwise each block is a separate loop.
    in_block = int(lengths.mean()) * sum(piece.runs() for piece in pieces)
    if len(lengths) <= MAX_SEPARATE_PIECES or in_block > SHORT_RUN:
        return concatenate(
            (start, repeat(pieces, size, length, extent), size * length)
            for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
        )
    runs, run_lengths = all_runs(pieces)
    elements = each_step(starts, lengths, extent)
    return from_runs((elements[:, None] + runs).ravel(), np.tile(run_lengths, len(elements)))


def from_runs(starts: Offsets, lengths: Offsets) -> tuple[Piece, ...]:
    """Runs of bytes in packed order as few pieces: neighbors joined, regular ones as a loop, others as a table."""
    fresh = np.flatnonzero(np.r_[True, starts[1:] != starts[:-1] + lengths[:-1]])
    starts, lengths = starts[fresh], np.add.reduceat(lengths, fresh)
    run, steps = int(lengths[0]), np.diff(starts)
    if (lengths == run).all() and (not len(steps) or (steps == steps[0]).all()):
        piece = Piece(int(starts[0]), 0, run)
        return (piece.repeated(len(starts), int(steps[0]), run) if len(steps) else piece,)
    if len(starts) <= MAX_SEPARATE_PIECES // 2:
        targets = np.cumsum(lengths) - lengths
        rows = zip(starts.tolist(), targets.tolist(), lengths.tolist(), strict=True)
        return tuple(Piece(*row) for row in rows)
    return (Piece(0, 0, int(lengths.sum()), (), RunTable(starts, lengths)),)


def all_runs(pieces: tuple[Piece, ...]) -> tuple[Offsets, Offsets]:
    """Every run of the pieces, in packed order: where it starts, and its length."""
    starts, targets, lengths = [], [], []
    for piece in pieces:
        if piece.table is None:
            source, length = _offsets([piece.source]), _offsets([piece.run])
        else:
            source, length = piece.source + piece.table.starts, piece.table.lengths
        target = piece.target + np.cumsum(length) - length
        for times, stride, packed_stride in reversed(piece.loops):
            steps = np.arange(times, dtype=np.int64)[:, None]
            source, target = (source + steps * stride).ravel(), (target + steps * packed_stride).ravel()
            length = np.tile(length, times)
        starts.append(source)
        targets.append(target)
        lengths.append(length)
    order = np.argsort(np.concatenate(targets), kind="stable")
    return np.concatenate(starts)[order], np.concatenate(lengths)[order]


def _plain(piece: Piece) -> bool:
    """Whether it is a single run of bytes."""
    return not piece.loops and piece.table is None


def _offsets(values: Iterable[int]) -> Offsets:
    return np.fromiter(values, dtype=np.int64)
