"""Buffers of collective calls as the algorithms want them: one array, blocks in rank order, nothing between.

Where the program's memory is like that already it is used as it stands. Where it is not (derived datatypes with holes,
displacements out of order) `load` copies it to such an array, and `store` puts the array's contents in their places.
Data that are only moved are bytes, whatever each rank calls them: two ranks may describe one message by different
datatypes, and a phantom is cut into the same pieces as an array. Reductions work on elements.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.error_classes import ERR_BUFFER
from fakempi.errors import MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.buffers.element import datatype_of
from fakempi.mpi.buffers.overlap import check_places
from fakempi.mpi.buffers.payload import copy_into
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.places import InPlaceType
from fakempi.mpi.buffers.raw import flat, memory_of
from fakempi.mpi.buffers.span import Span, spanned
from fakempi.mpi.buffers.specification import buffer_in, split
from fakempi.mpi.buffers.vectors import Vector, VectorW, vector, vector_w
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import number_of
from fakempi.mpi.datatypes.signature import ANYTHING, Signature, of_type


class Flat:
    """`nbytes` bytes in a row: `count` elements of a datatype, of which `array` makes items if it is for a reduction."""

    __slots__ = ("_span", "array", "count", "datatype", "hollow", "nbytes", "told")

    def __init__(self, span: Span, told: bool, elements: bool) -> None:
        self.datatype, self.count, self.nbytes, self.told = span.datatype, span.count, span.nbytes, told
        self.hollow = type(span.memory) is Phantom
        self._span: Span | None = None  # what to load from and store to, if it is not in a row
        self.array: Any
        if self.hollow:
            self.array = Phantom(span.count, span.datatype._size) if elements else Phantom(span.nbytes)
        elif not span.datatype._dense and span.nbytes:
            self._span, self.array = span, np.empty(span.nbytes, np.uint8)
        else:
            self.array = span.memory[span.offset : span.offset + span.nbytes]
        if elements and not self.hollow:
            self.array = _as_elements(self.array, self.datatype)

    @classmethod
    def of(cls, spec: Any, *, writable: bool = False, blocks: int = 1, elements: bool = False) -> Flat:
        """What a buffer specification describes; with `blocks`, so many equal ones."""
        if type(spec) is ndarray and spec.flags.carray and spec.nbytes:  # contiguous, aligned and writable
            number = number_of(spec.dtype)
            if number is not None and not spec.size % blocks:
                return cls._made(spec, number, elements)
        buffer, count, displacement, kind, alone = split(spec)
        _refuse_in_place(buffer)
        found, element = memory_of(buffer, writable, alone)
        datatype = datatype_of(kind, element)
        if displacement is None and type(found) is ndarray and datatype._dense:
            array = _in_a_row(found, count, datatype, blocks)
            if array is not None:
                return cls._made(array, datatype, elements)
        span = spanned(buffer, found, count, displacement, datatype, blocks)
        if writable and not datatype._dense:
            check_places(span)
        return cls(span, kind is not None or type(span.memory) is not Phantom, elements)

    @classmethod
    def _made(cls, array: Any, datatype: Datatype, elements: bool) -> Flat:
        """Of an array that holds these elements and nothing else."""
        self = cls.__new__(cls)
        self.datatype, self.told, self.hollow, self._span = datatype, True, False, None
        self.nbytes = array.nbytes
        self.count = self.nbytes // datatype._size
        if elements and array.dtype is datatype._dtype:
            self.array = array.reshape(-1)  # a view, since the program may give its array another shape meanwhile
        else:
            self.array = _as_elements(flat(array), datatype) if elements else flat(array)
        if self.array is array:
            self.array = array.view()  # likewise, or make it read-only
        return self

    def load(self) -> Any:
        """The array, with what the program's memory holds now."""
        if self._span is not None:
            self._span.pack_into(flat(self.array))
        return self.array

    def store(self) -> None:
        """Put the array's contents where the program wants them, if they are not there."""
        if self._span is not None:
            self._span.unpack(flat(self.array))

    @property
    def signature(self) -> Signature | None:
        """Of what its elements are; None if it has none, or does not say."""
        return _told(self.datatype) if self.told and self.nbytes else None

    @property
    def parts(self) -> list[Any]:
        """What it consists of, in that memory."""
        return [self.array if self._span is None else self._span]

    @property
    def memory(self) -> Any:
        """The program's, of which it is a part."""
        return self.array if self._span is None else self._span.memory

    def kind_in_words(self) -> str:
        """The datatype; a phantom alone says only how large its elements are."""
        return self.datatype._definition.describe() if self.told else f"elements of {self.datatype._size} bytes"

    def head(self, count: int) -> Flat:
        """The first elements alone."""
        part = Flat.__new__(Flat)
        part.datatype, part.count, part.nbytes, part.told = self.datatype, count, count * self.datatype._size, self.told
        part.hollow, part.array = self.hollow, self.array[:count]
        part._span = None if self._span is None else Span(self._span.memory, self._span.offset, count, self.datatype)
        return part


class FlatVector:
    """Blocks of different `sizes` in bytes, in rank order."""

    __slots__ = ("_starts", "_vector", "array", "datatype", "hollow", "nbytes", "sizes")

    def __init__(self, blocks: Vector) -> None:
        counts, displs, self.datatype = blocks.counts, blocks.displs, blocks.datatype
        size = blocks.datatype._size if any(counts) else 0
        self.sizes = [count * size for count in counts]
        self._starts = list(accumulate(self.sizes, initial=0))
        self.nbytes = self._starts[-1]
        self.hollow = type(blocks.memory) is Phantom
        self._vector: Vector | None = None  # what to load from and store to, if it is not in a row
        self.array: Any
        if self.hollow:
            self.array = Phantom(self.nbytes)
        elif blocks.dense and (
            displs == list(accumulate(counts[:-1], initial=0))  # most are, or else:
            or all(not n or at * size == start for n, at, start in zip(counts, displs, self._starts, strict=False))
        ):
            self.array = blocks.memory[: self.nbytes]
        else:
            self._vector, self.array = blocks, np.empty(self.nbytes, np.uint8)

    @classmethod
    def of(cls, spec: Any, size: int, *, writable: bool = False) -> FlatVector:
        """What a specification with counts and displacements describes."""
        _refuse_in_place(buffer_in(spec))
        return cls(vector(spec, size, writable=writable))

    def load(self) -> Any:
        """The array, with what the program's memory holds now."""
        if self._vector is not None:
            for i, size in enumerate(self.sizes):
                copy_into(self._vector.at(i), self._block(i), size)
        return self.array

    def store(self) -> None:
        """Put the blocks where the program wants them, if they are not there."""
        if self._vector is not None:
            for i, size in enumerate(self.sizes):
                copy_into(self._block(i), self._vector.at(i), size)

    @property
    def signature(self) -> Signature | None:
        """Of what the elements of all blocks are; None if there are none, or it does not say."""
        return _told(self.datatype) if self.nbytes and not self.hollow else None

    @property
    def parts(self) -> list[Any]:
        """What they consist of, in that memory: a payload for each, or one for all if they are in a row."""
        blocks = self._vector
        return [self.array] if blocks is None else [blocks.at(i) for i, size in enumerate(self.sizes) if size]

    @property
    def memory(self) -> Any:
        """The program's, of which they are a part."""
        return self.array if self._vector is None else self._vector.memory

    def _block(self, i: int) -> Any:
        return self.array[self._starts[i] : self._starts[i + 1]]


def blocks_w(spec: Any, size: int, *, writable: bool = False) -> list[Any]:
    """The blocks of a w form, as things that can be sent and received."""
    _refuse_in_place(buffer_in(spec))
    blocks: VectorW = vector_w(spec, size, writable=writable)
    return [blocks.at(i) for i in range(size)]


def _told(datatype: Datatype) -> Signature | None:
    found = of_type(datatype._definition)
    return None if found is ANYTHING else found


def _refuse_in_place(buffer: Any) -> None:
    if isinstance(buffer, InPlaceType):
        raise complaint(ERR_BUFFER, "IN_PLACE stands where a buffer is needed.", MPIValueError)


def _in_a_row(found: Any, count: Any, datatype: Datatype, blocks: int) -> Any:
    """The part of an array that a specification without a displacement means, where there are no holes; most are like that.

    Nothing here is special but that it takes a third of the time; whatever is unusual is left to `spanned`.
    """
    size, nbytes = datatype._size * blocks, found.nbytes
    if not size or not nbytes:
        return None
    if count is None:
        if nbytes % size:
            return None
    elif type(count) is not int or not 0 < count * size <= nbytes:
        return None
    elif count * size < nbytes:
        found = flat(found)[: count * size]
    datatype._usable()
    return found


def _as_elements(array: Any, datatype: Datatype) -> Any:
    """Bytes as items, one for each element: of the datatype's own kind if numpy has it, else so many bytes."""
    dtype, size = datatype._dtype, datatype._size
    if dtype is None or dtype.itemsize != size:
        dtype = np.dtype((np.void, size)) if size else np.dtype(np.uint8)
    return array.view(dtype) if array.size else np.empty(0, dtype)
