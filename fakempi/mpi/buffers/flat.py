"""Buffers of collective calls in the form that algorithms take: one array, blocks contiguous in rank order.

If the program's memory has this form, it is used directly. Otherwise (derived datatypes with holes, displacements out of
order) `load` packs it into such an array, and `store` unpacks the array. Data that are only moved are treated as bytes,
because two ranks may describe one message by different datatypes. Reductions work on elements. Phantoms are divided like
arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import SupportsIndex

import numpy as np
from numpy import ndarray

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_BUFFER
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.buffers.address_constants import InPlaceType
from fakempi.mpi.buffers.overlap import check_self_overlap
from fakempi.mpi.buffers.payload import copy_into
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import ArrayOrPhantom, flat
from fakempi.mpi.buffers.resolve import resolve
from fakempi.mpi.buffers.span import Payload, Span, make_span
from fakempi.mpi.buffers.specification import buffer_in
from fakempi.mpi.buffers.vectors import Vector, VectorW, vector, vector_w
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import number_of
from fakempi.mpi.datatypes.signature import ANYTHING, Signature, of_type
from fakempi.mpi.interfaces.arrays import Array


class Flat:
    """Elements as contiguous bytes in `array`; for a reduction, `array` has an item for each element.

    `typed` is False for a phantom without a datatype: only the size of its elements is known.
    """

    __slots__ = ("_span", "array", "count", "datatype", "is_phantom", "nbytes", "typed")

    def __init__(self, span: Span, typed: bool, elements: bool) -> None:
        self.datatype, self.count, self.nbytes, self.typed = span.datatype, span.count, span.nbytes, typed
        self.is_phantom = type(span.memory) is Phantom
        self._span: Span | None = None  # to load from and store to, if not contiguous
        self.array: ArrayOrPhantom
        if self.is_phantom:
            self.array = Phantom(span.count, span.datatype._size) if elements else Phantom(span.nbytes)
        elif not span.datatype._dense and span.nbytes:
            self._span, self.array = span, np.empty(span.nbytes, np.uint8)
        else:
            self.array = span.memory[span.offset : span.offset + span.nbytes]
        if elements and not isinstance(self.array, Phantom):
            self.array = _as_elements(self.array, self.datatype)

    @classmethod
    def of(cls, spec: object, *, writable: bool = False, blocks: int = 1, elements: bool = False) -> Flat:
        """Describe a buffer specification; with `blocks`, it has that number of equal blocks."""
        if type(spec) is ndarray and spec.flags.carray and spec.nbytes:  # contiguous, aligned and writable
            number = number_of(spec.dtype)
            if number is not None and not spec.size % blocks:
                return cls._of_array(spec, number, elements)
        buffer, memory, count, displacement, datatype, typed = resolve(spec, writable)
        _reject_in_place(buffer)
        if displacement is None and type(memory) is ndarray and datatype._dense:
            array = _contiguous(memory, count, datatype, blocks)
            if array is not None:
                return cls._of_array(array, datatype, elements)
        span = make_span(buffer, memory, count, displacement, datatype, blocks)
        if writable and not datatype._dense:
            check_self_overlap(span)
        return cls(span, typed or type(span.memory) is not Phantom, elements)

    @classmethod
    def _of_array(cls, array: Array, datatype: Datatype, elements: bool) -> Flat:
        """Describe an array that consists of elements of a datatype."""
        self = cls.__new__(cls)
        self.datatype, self.typed, self.is_phantom, self._span = datatype, True, False, None
        self.nbytes = array.nbytes
        self.count = self.nbytes // datatype._size
        if elements and array.dtype is datatype._dtype:
            self.array = array.reshape(-1)  # a view, since the program may reshape its array
        else:
            self.array = _as_elements(flat(array), datatype) if elements else flat(array)
        if self.array is array:
            self.array = array.view()  # a view, since the program may make its array read-only
        return self

    def load(self) -> ArrayOrPhantom:
        """Return the array, with the current data of the program's memory."""
        if self._span is not None:
            self._span.pack_into(flat(self.array))  # type: ignore[arg-type]  # not a phantom
        return self.array

    def store(self) -> None:
        """Copy the array to the program's memory, if it is not a part of that memory."""
        if self._span is not None:
            self._span.unpack(flat(self.array))  # type: ignore[arg-type]  # not a phantom

    def detach(self) -> Callable[[bool], None]:
        """Work on a copy of the program's memory; return a function that ends this, and may store the copy."""
        span, array = self._span, self.array
        self._span, self.array = None, self.load().copy()

        def attach(store: bool) -> None:
            copy, self._span, self.array = self.array, span, array
            if store:
                array[...] = copy
                self.store()

        return attach

    @property
    def signature(self) -> Signature | None:
        """The type signature of the elements; None if there are none, or if it is not known."""
        return _known_signature(self.datatype) if self.typed and self.nbytes else None

    @property
    def parts(self) -> list[Payload]:
        """The elements in the program's memory, as payloads."""
        return [self.array if self._span is None else self._span]

    @property
    def memory(self) -> ArrayOrPhantom:
        """The program's memory."""
        return self.array if self._span is None else self._span.memory

    def type_text(self) -> str:
        """Return a description of the datatype; for a phantom without a datatype, the size of its elements."""
        return self.datatype._definition.describe() if self.typed else f"elements of {self.datatype._size} bytes"

    def head(self, count: int) -> Flat:
        """Return the first `count` elements."""
        part = Flat.__new__(Flat)
        part.datatype, part.count, part.nbytes, part.typed = self.datatype, count, count * self.datatype._size, self.typed
        part.is_phantom, part.array = self.is_phantom, self.array[:count]
        part._span = None if self._span is None else Span(self._span.memory, self._span.offset, count, self.datatype)
        return part


class FlatVector:
    """Blocks of different `sizes` in bytes, in rank order."""

    __slots__ = ("_starts", "_vector", "array", "datatype", "is_phantom", "nbytes", "sizes")

    def __init__(self, blocks: Vector) -> None:
        counts, displs, self.datatype = blocks.counts, blocks.displs, blocks.datatype
        size = blocks.datatype._size if any(counts) else 0
        self.sizes = [count * size for count in counts]
        self._starts = list(accumulate(self.sizes, initial=0))
        self.nbytes = self._starts[-1]
        self.is_phantom = type(blocks.memory) is Phantom
        self._vector: Vector | None = None  # to load from and store to, if not contiguous
        self.array: ArrayOrPhantom
        if self.is_phantom:
            self.array = Phantom(self.nbytes)
        elif blocks.dense and (
            displs == list(accumulate(counts[:-1], initial=0))  # the common case
            or all(not n or displ * size == start for n, displ, start in zip(counts, displs, self._starts, strict=False))
        ):
            self.array = blocks.memory[: self.nbytes]
        else:
            self._vector, self.array = blocks, np.empty(self.nbytes, np.uint8)

    @classmethod
    def of(cls, spec: object, size: int, *, writable: bool = False) -> FlatVector:
        """Describe a specification with counts and displacements."""
        _reject_in_place(buffer_in(spec))
        return cls(vector(spec, size, writable=writable))

    def load(self) -> ArrayOrPhantom:
        """Return the array, with the current data of the program's memory."""
        if self._vector is not None:
            for i, size in enumerate(self.sizes):
                copy_into(self._vector.at(i), self._block(i), size)
        return self.array

    def store(self) -> None:
        """Copy the blocks to the program's memory, if the array is not a part of that memory."""
        if self._vector is not None:
            for i, size in enumerate(self.sizes):
                copy_into(self._block(i), self._vector.at(i), size)

    def detach(self) -> Callable[[bool], None]:
        """Work on a copy of the program's memory; return a function that ends this, and may store the copy."""
        vector, array = self._vector, self.array
        self._vector, self.array = None, self.load().copy()

        def attach(store: bool) -> None:
            copy, self._vector, self.array = self.array, vector, array
            if store:
                array[...] = copy
                self.store()

        return attach

    @property
    def signature(self) -> Signature | None:
        """The type signature of the elements of all blocks; None if there are none, or if it is not known."""
        return _known_signature(self.datatype) if self.nbytes and not self.is_phantom else None

    @property
    def parts(self) -> list[Payload]:
        """The blocks in the program's memory, as payloads; one payload if they are contiguous."""
        blocks = self._vector
        return [self.array] if blocks is None else [blocks.at(i) for i, size in enumerate(self.sizes) if size]

    @property
    def memory(self) -> ArrayOrPhantom:
        """The program's memory."""
        return self.array if self._vector is None else self._vector.memory

    def _block(self, i: int) -> ArrayOrPhantom:
        return self.array[self._starts[i] : self._starts[i + 1]]


def blocks_w(spec: object, size: int, *, writable: bool = False) -> list[Payload]:
    """Return the blocks of a specification with a datatype for each, as payloads."""
    _reject_in_place(buffer_in(spec))
    blocks: VectorW = vector_w(spec, size, writable=writable)
    return [blocks.at(i) for i in range(size)]


def _known_signature(datatype: Datatype) -> Signature | None:
    signature = of_type(datatype._definition)
    return None if signature is ANYTHING else signature


def _reject_in_place(buffer: object) -> None:
    if isinstance(buffer, InPlaceType):
        raise mpi_error(ERR_BUFFER, "IN_PLACE is not allowed here: a buffer is needed.", MPIValueError)


def _contiguous(array: Array, count: SupportsIndex | None, datatype: Datatype, blocks: int) -> Array | None:
    """Return the part of an array that a specification without displacement and holes describes, or None for other forms.

    `make_span` does the same for these common cases, but takes three times as long.
    """
    size, nbytes = datatype._size * blocks, array.nbytes
    if not size or not nbytes:
        return None
    if count is None:
        if nbytes % size:
            return None
    elif type(count) is not int or not 0 < count * size <= nbytes:
        return None
    elif count * size < nbytes:
        array = flat(array)[: count * size]
    datatype._usable()
    return array


def _as_elements(array: Array, datatype: Datatype) -> Array:
    """Return bytes as an array of elements: of the datatype's dtype if it has one, otherwise of numpy's void type."""
    dtype, size = datatype._dtype, datatype._size
    if dtype is None or dtype.itemsize != size:
        dtype = np.dtype((np.void, size)) if size else np.dtype(np.uint8)
    return array.view(dtype) if array.size else np.empty(0, dtype)
