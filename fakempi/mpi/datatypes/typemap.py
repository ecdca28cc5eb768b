"""Type maps as a few regular pieces.

A type map says which byte of memory goes where in a packed message. Written out it is as long as the message; here it
is a handful of `Piece`s, each a run of bytes repeated by nested loops, so that a vector or a subarray of a billion
elements takes as much room as one of two. Lists of irregular blocks become one piece with a table of runs (`Spots`).
All offsets are bytes, relative to where the element begins, in memory (`source`) and in the packed form (`target`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Loop = tuple[int, int, int]  # times, source stride, target stride

FEW = 16  # so many separate pieces cost less than a table of runs
SHORT = 64  # runs of at most so many units are fetched through an index array, longer ones one by one


class Piece(NamedTuple):
    """Equal runs of bytes, regularly repeated; or, if there are `spots`, a table of runs, regularly repeated."""

    source: int
    target: int
    run: int  # bytes in a row; for spots, bytes in the whole table
    loops: tuple[Loop, ...] = ()  # outermost first
    spots: Spots | None = None

    def shifted(self, source: int, target: int) -> Piece:
        """The same piece elsewhere."""
        return Piece(self.source + source, self.target + target, self.run, self.loops, self.spots)

    def repeated(self, times: int, stride: int, packed_stride: int) -> Piece:
        """The piece within one more loop, folded into what is there where the bytes follow each other."""
        run, loops = self.run, ((times, stride, packed_stride), *self.loops)
        if self.spots is None and loops[-1][1:] == (run, run):
            run, loops = run * loops[-1][0], loops[:-1]
        if len(loops) > 1:
            (outer, source, target), (inner, near, packed_near) = loops[:2]
            if source == inner * near and target == inner * packed_near:
                loops = ((outer * inner, near, packed_near), *loops[2:])
        return Piece(self.source, self.target, run, loops, self.spots)

    def bounds(self) -> tuple[int, int]:
        """The lowest byte of memory touched, and the one after the highest."""
        low = high = self.source
        for times, stride, _ in self.loops:
            low += min(0, (times - 1) * stride)
            high += max(0, (times - 1) * stride)
        if self.spots is None:
            return low, high + self.run
        return low + self.spots.low, high + self.spots.high

    def runs(self) -> int:
        """How many runs of bytes the piece consists of."""
        return math.prod(times for times, _, _ in self.loops) * (1 if self.spots is None else len(self.spots.starts))


class Spots:
    """A table of runs, in packed order."""

    __slots__ = ("_index", "high", "lengths", "low", "starts", "unit")

    def __init__(self, starts: Offsets, lengths: Offsets) -> None:
        self.starts, self.lengths = starts, lengths
        self.low, self.high = int(starts.min()), int((starts + lengths).max())
        # Everything is counted in the largest unit that divides it: an index per double, not per byte. Small units are
        # powers of two: numpy fetches 3 times 8 bytes in 2/3 of the time of once 24, and stores twice 16 in half that of 32.
        unit = math.gcd(int(np.gcd.reduce(lengths)), int(np.gcd.reduce(starts - self.low)))
        self.unit = unit if unit >= 64 else math.gcd(unit, 16)
        self._index: Offsets | None = None

    def index(self) -> Offsets | None:
        """The array of units that fetches all runs at once, counted from `low`; None if the runs are long."""
        if self._index is None and int(self.lengths.sum()) <= SHORT * self.unit * len(self.lengths):
            self._index = each_step((self.starts - self.low) // self.unit, self.lengths // self.unit, 1)
        return self._index

    def targets(self) -> Offsets:
        """Where each run is in the packed form."""
        ends: Offsets = np.cumsum(self.lengths)
        return ends - self.lengths


def each_step(starts: Offsets, lengths: Offsets, stride: int) -> Offsets:
    """`starts[0], starts[0] + stride, ...` (`lengths[0]` of them), then the same for the other blocks."""
    begins = np.cumsum(lengths) - lengths
    return np.repeat(starts - begins * stride, lengths) + np.arange(int(lengths.sum()), dtype=np.int64) * stride


def repeat(pieces: tuple[Piece, ...], size: int, times: int, stride: int) -> tuple[Piece, ...]:
    """The pieces of an element of `size` packed bytes, `times` over, at every `stride` bytes."""
    if times == 1:
        return pieces
    return tuple(piece.repeated(times, stride, size) for piece in pieces) if times and size else ()


def concatenate(parts: Iterable[tuple[int, tuple[Piece, ...], int]]) -> tuple[Piece, ...]:
    """One part after the other: (where in memory, its pieces, its packed size)."""
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
    if len(joined) > FEW and all(map(_plain, joined)):
        return from_runs(_offsets(piece.source for piece in joined), _offsets(piece.run for piece in joined))
    return tuple(joined)


def blocks(pieces: tuple[Piece, ...], size: int, extent: int, lengths: Offsets, starts: Offsets) -> tuple[Piece, ...]:
    """Blocks of `lengths[i]` elements, the i-th at byte `starts[i]`; an element has these pieces, size and extent."""
    kept = lengths > 0
    lengths, starts = lengths[kept], starts[kept]
    if not size or not len(lengths):
        return ()
    whole = len(pieces) == 1 and _plain(pieces[0])
    if whole and extent == size:
        return from_runs(starts + pieces[0].source, lengths * size)
    # Writing every run down pays only if there are many small blocks; otherwise each block is a loop of its own.
    in_block = int(lengths.mean()) * sum(piece.runs() for piece in pieces)
    if len(lengths) <= FEW or in_block > SHORT:
        return concatenate(
            (start, repeat(pieces, size, length, extent), size * length)
            for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
        )
    runs, run_lengths = written_out(pieces)
    elements = each_step(starts, lengths, extent)
    return from_runs((elements[:, None] + runs).ravel(), np.tile(run_lengths, len(elements)))


def from_runs(starts: Offsets, lengths: Offsets) -> tuple[Piece, ...]:
    """Runs of bytes in packed order as few pieces: neighbours joined, regular ones as a loop, others as a table."""
    fresh = np.flatnonzero(np.r_[True, starts[1:] != starts[:-1] + lengths[:-1]])
    starts, lengths = starts[fresh], np.add.reduceat(lengths, fresh)
    run, steps = int(lengths[0]), np.diff(starts)
    if (lengths == run).all() and (not len(steps) or (steps == steps[0]).all()):
        piece = Piece(int(starts[0]), 0, run)
        return (piece.repeated(len(starts), int(steps[0]), run) if len(steps) else piece,)
    if len(starts) <= FEW // 2:
        targets = np.cumsum(lengths) - lengths
        rows = zip(starts.tolist(), targets.tolist(), lengths.tolist(), strict=True)
        return tuple(Piece(*row) for row in rows)
    return (Piece(0, 0, int(lengths.sum()), (), Spots(starts, lengths)),)


def written_out(pieces: tuple[Piece, ...]) -> tuple[Offsets, Offsets]:
    """Every run of the pieces, in packed order: where it starts, and its length."""
    starts, targets, lengths = [], [], []
    for piece in pieces:
        if piece.spots is None:
            source, length = _offsets([piece.source]), _offsets([piece.run])
        else:
            source, length = piece.source + piece.spots.starts, piece.spots.lengths
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
    """Is it a single run of bytes?"""
    return not piece.loops and piece.spots is None


def _offsets(values: Iterable[Any]) -> Offsets:
    return np.fromiter(values, dtype=np.int64)
