"""Layouts of blocks in a buffer, and scratch memory.

Buffers are one-dimensional numpy arrays or phantoms (see `protocol.Buffer`), so no function here reads contents: blocks
are slices, copies are slice assignments, and `spare_memory` allocates memory of the same kind as a given buffer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from collectives.tools.numbers import ceil_div
from collectives.tools.protocol import Buffer


class Layout:
    """p contiguous blocks in order: the start of each block, in elements.

    >>> layout = Layout.nearly_equal(10, 4)
    >>> [layout.start(i) for i in range(5)], layout.size(1), layout.size(1, 3)
    ([0, 3, 6, 8, 10], 3, 5)
    >>> Layout.of([2, 0, 5]).size(2)
    5
    """

    __slots__ = ("_larger", "_small", "_starts", "p")

    def __init__(self, p: int, small: int, larger: int, starts: Sequence[int] | None) -> None:
        self.p = p
        self._small, self._larger, self._starts = small, larger, starts

    @classmethod
    def nearly_equal(cls, size: int, p: int) -> Layout:
        """Blocks that differ by at most one element, the larger ones first. O(1) memory for any p."""
        return cls(p, size // p, size % p, None)

    @classmethod
    def equal(cls, size: int, p: int) -> Layout:
        """p equal blocks of a buffer of `size` elements."""
        if size % p:
            raise ValueError(f"a buffer of {size} elements does not divide into {p} equal blocks, one per rank")
        return cls(p, size // p, 0, None)

    @classmethod
    def of(cls, counts: Sequence[int]) -> Layout:
        """Blocks of the given sizes."""
        return cls(len(counts), 0, 0, [0, *accumulate(map(int, counts))])

    @classmethod
    def of_ranks(cls, counts: Sequence[int] | None, p: int) -> Layout:
        """Blocks of the given sizes, one for each of p ranks; ValueError if their number is not p."""
        if counts is None or len(counts) != p:
            given = "none" if counts is None else str(len(counts))
            raise ValueError(f"counts must contain one block size for each of the {p} ranks, but there are {given}")
        return cls.of(counts)

    def start(self, i: int) -> int:
        """Start of block i; start(p) is the end of the last block."""
        if self._starts is not None:
            return self._starts[i]
        return i * self._small + (i if i < self._larger else self._larger)

    def size(self, i: int, stop: int | None = None) -> int:
        """Elements of block i, or of blocks i .. stop-1 together."""
        stop = i + 1 if stop is None else stop
        equal = not self._larger and self._starts is None  # the most frequent case; the method is called in every round
        return (stop - i) * self._small if equal else self.start(stop) - self.start(i)

    def at(self, element: int) -> int:
        """Number of the block that contains an element.

        >>> [Layout.nearly_equal(10, 4).at(element) for element in range(10)]
        [0, 0, 0, 1, 1, 1, 2, 2, 3, 3]
        >>> [Layout.of([2, 0, 3]).at(element) for element in range(5)]
        [0, 0, 2, 2, 2]
        """
        if self._starts is not None:
            return bisect_right(self._starts, element) - 1
        head = self._larger * (self._small + 1)
        return element // (self._small + 1) if element < head else self._larger + (element - head) // self._small

    @property
    def largest(self) -> int:
        """Elements of the largest block."""
        if self._starts is not None:
            return max(map(self.size, range(self.p)), default=0)
        return self._small + (self._larger > 0)

    def around(self, i: int, count: int) -> int:
        """Elements of the `count` blocks i, i+1, ... (mod p); i in 0 .. p-1, count at most p."""
        if i + count <= self.p:
            return self.size(i, i + count)
        return self.size(i, self.p) + self.size(0, i + count - self.p)

    def block(self, buf: Buffer, i: int, stop: int | None = None) -> Any:
        """The part of `buf` that is block i, or blocks i .. stop-1."""
        return buf[self.start(i) : self.start(i + 1 if stop is None else stop)]

    def put(self, buf: Buffer, i: int, contents: Buffer | None) -> None:
        """Copy `contents` to block i of `buf`; None means that the block is already there (in place)."""
        self.check_size(buf)
        if contents is None:
            return
        if contents.size != self.size(i):
            raise ValueError(f"rank {i} sends {contents.size} elements but its block has {self.size(i)}")
        buf[self.start(i) : self.start(i + 1)] = contents

    def take(self, buf: Buffer, i: int, into: Buffer | None) -> None:
        """Copy block i of `buf` to `into`; None means that the block stays in `buf` (in place)."""
        self.check_size(buf)
        if into is None:
            return
        if into.size != self.size(i):
            raise ValueError(f"rank {i} receives {self.size(i)} elements but its buffer holds {into.size}")
        into[0 : into.size] = self.block(buf, i)

    def check_size(self, buf: Buffer) -> None:
        """Raise ValueError if a buffer is too short for all blocks."""
        if buf.size < self.start(self.p):
            raise ValueError(f"a buffer of {buf.size} elements is too small for all blocks, {self.start(self.p)} elements")


Cut: TypeAlias = Callable[[Buffer, int], Layout]
"""Function (buffer, p) -> layout of the root's buffer; only the root calls it, since others may not know the layout."""

scratch_meter: ContextVar[Callable[[int], object] | None] = ContextVar("scratch_meter", default=None)
"""Callback that receives the bytes of each allocation of `spare_memory`; one per rank, on greenlets and on threads."""


def spare_memory(like: Buffer, size: int) -> Any:
    """Allocate memory for `size` elements of the type that `like` holds."""
    if (record := scratch_meter.get()) is not None:
        record(size * like.itemsize)
    if isinstance(like, np.ndarray):
        return np.empty(size, like.dtype)
    return like.empty(size)  # type: ignore[attr-defined]  # a phantom


scratch = spare_memory  # the earlier name


def copy_of(buf: Buffer) -> Any:
    """Copy of a buffer in scratch memory."""
    copy = spare_memory(buf, buf.size)
    copy[0 : buf.size] = buf
    return copy


def load(recvbuf: Buffer, sendbuf: Buffer | None) -> None:
    """Copy the whole `sendbuf` to `recvbuf`; None means that `recvbuf` already holds the data (in place)."""
    if sendbuf is not None:
        check_same_size(sendbuf, recvbuf)
        recvbuf[0 : recvbuf.size] = sendbuf


def check_same_size(sendbuf: Buffer, recvbuf: Buffer) -> None:
    """Raise ValueError if the two buffers have different sizes."""
    if sendbuf.size != recvbuf.size:
        raise ValueError(f"sendbuf has {sendbuf.size} elements but recvbuf has {recvbuf.size}")


def cut(buf: Buffer, counts: Sequence[int] | None, displs: Sequence[int] | None, p: int) -> list[Any]:
    """The p blocks of `buf` with the given sizes and displacements; without displacements, contiguous blocks.

    >>> cut(np.arange(6), [2, 1], [4, 0], 2)
    [array([4, 5]), array([0])]
    """
    layout = Layout.of_ranks(counts, p)
    starts = [layout.start(i) for i in range(p)] if displs is None else [int(start) for start in displs]
    if len(starts) != p:
        raise ValueError(f"there must be one displacement for each of the {p} blocks, but there are {len(starts)}")
    for i, start in enumerate(starts):
        if (size := layout.size(i)) and not 0 <= start <= buf.size - size:
            raise ValueError(f"block {i} of {size} elements at {start} is not inside a buffer of {buf.size} elements")
    return [buf[start : start + layout.size(i)] for i, start in enumerate(starts)]


def required(buf: Buffer | None, role: str) -> Buffer:
    """Return `buf`, or raise ValueError if it is None; `role` names the rank in the message."""
    if buf is None:
        raise ValueError(f"{role} must pass a buffer, not None")
    return buf


def segments(size: int, itemsize: int, segment_bytes: int) -> Layout:
    """Cut `size` elements into the fewest nearly equal segments of at most `segment_bytes`, the larger ones first.

    There is at least one segment, and a segment has at least one element, so that a pipeline makes progress.

    >>> layout = segments(10, 8, 32)
    >>> layout.p, [layout.size(k) for k in range(layout.p)]
    (3, [4, 3, 3])
    """
    longest = max(1, segment_bytes // itemsize)
    return Layout.nearly_equal(size, max(1, ceil_div(size, longest)))
