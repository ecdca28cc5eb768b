"""The buffers of a collective call, and the arrays that an algorithm gets: one class for each form.

`load` returns the arguments of the algorithm, with the program's current data; `store` copies results to the program's
memory. `uses` are the buffers that the call reads and those that it writes; a check of buffers may replace their contents.
A repeated call passes its buffers, and then `lists`; if `lists` is None, its buffers have another form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fakempi.mpi.buffers.flat import Flat, FlatVector
from fakempi.mpi.buffers.payload import copy_into, snapshot
from fakempi.mpi.buffers.span import Payload

Uses = tuple[Sequence[Any], Sequence[Any]]


class Operands:
    """The operands of a barrier: none."""

    __slots__ = ("lists", "uses")

    def __init__(self, reads: Sequence[Any] = (), writes: Sequence[Any] = (), lists: tuple[object, ...] | None = ()) -> None:
        self.uses: Uses = reads, writes
        self.lists = lists

    def load(self) -> Sequence[Any]:
        """Return the arguments of the algorithm."""
        return ()

    def store(self) -> None:
        """Copy the result to the program's memory."""


class BufferPair(Operands):
    """A buffer to send from and one to receive into; either may be absent."""

    __slots__ = ("_into", "_out")

    def __init__(self, out: Flat | FlatVector | None = None, into: Flat | FlatVector | None = None, *lists: object) -> None:
        super().__init__((out,), (into,), lists)
        self._out, self._into = out, into

    def load(self) -> Sequence[Any]:
        """Return both arrays, and the lists."""
        out, into = self._out, self._into
        return [None if out is None else out.load(), None if into is None else into.load(), *(self.lists or ())]

    def store(self) -> None:
        """Store the received data."""
        if self._into is not None:
            self._into.store()


class ElementArrays(Operands):
    """The arrays of a reduction of objects, and its operation."""

    __slots__ = ("_arrays",)

    def __init__(self, arrays: tuple[Any, ...]) -> None:
        super().__init__()
        self._arrays = arrays

    def load(self) -> Sequence[Any]:
        """Return the arrays."""
        return self._arrays


class BcastBuffer(Operands):
    """The buffer of a broadcast, which is read at the root and written elsewhere."""

    __slots__ = ("_data", "_is_root")

    def __init__(self, data: Flat, is_root: bool) -> None:
        super().__init__(*(((data,), ()) if is_root else ((), (data,))))
        self._data, self._is_root = data, is_root

    def load(self) -> Sequence[Any]:
        """Return the array."""
        array = self._data.load()
        if isinstance(array, np.ndarray) and not array.flags.writeable:
            array = array.copy()  # the root's buffer: some algorithms also receive pieces of it at the root
        return (array,)

    def store(self) -> None:
        """Store the received data."""
        if not self._is_root:
            self._data.store()


class InPlaceBuffer(Operands):
    """One buffer, whose first `share` elements the result overwrites, or all: the algorithm sends from a copy."""

    __slots__ = ("_arguments", "_into", "_share", "_whole")

    def __init__(self, whole: Any, share: int | None, *arguments: object) -> None:
        super().__init__((), (whole,), None)
        self._whole, self._share, self._arguments = whole, share, arguments

    def load(self) -> Sequence[Any]:
        """Return a copy of the array, the array for the result, and other arguments."""
        array = self._whole.load()
        self._into = self._whole if self._share is None else self._whole.head(self._share)
        return [array.copy(), array if self._share is None else self._into.load(), *self._arguments]

    def store(self) -> None:
        """Store the result."""
        self._into.store()


class TypedBlocks(Operands):
    """The blocks of an alltoallw, each with its datatype. `own` is the rank's block for itself, None if it has none."""

    __slots__ = ("_in_place", "_own")

    def __init__(self, out: Sequence[Payload], into: Sequence[Payload], own: int | None) -> None:
        super().__init__(() if out is into else out, into, None)
        self._in_place, self._own = out is into, own

    def load(self) -> Sequence[Any]:
        """Return both lists of blocks."""
        (reads, into), own = self.uses, self._own
        out = [snapshot(block) for block in into] if self._in_place else reads
        if own is not None:  # it is not sent
            copy_into(out[own], into[own], into[own].nbytes)
        # Algorithms test whether an array is empty, which fails for a span of elements without bytes.
        return [[b if b.nbytes and i != own else None for i, b in enumerate(blocks)] for blocks in (out, into)]
