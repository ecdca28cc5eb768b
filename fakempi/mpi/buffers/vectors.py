"""Buffers of collective calls: one block per rank, in equal blocks or with counts and displacements.

`block` is for Gather, Scatter, Allgather and Alltoall, `vector` for the variants with v, `vector_w` for those with w.
`at(i)` is the payload of rank i.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from operator import add
from typing import SupportsIndex

import numpy as np

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_COUNT, ERR_TYPE
from fakempi.mpi.base.mpi_errors import fits, integer, integer_items, mpi_error
from fakempi.mpi.buffers.address_constants import BottomType
from fakempi.mpi.buffers.overlap import have_overlap, report_overlap
from fakempi.mpi.buffers.payload import payload_of
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import Memory, address_of, bytes_of, memory_of
from fakempi.mpi.buffers.resolve import resolve
from fakempi.mpi.buffers.span import Payload, Span, checked_span, infer_count, span_of
from fakempi.mpi.buffers.specification import Unchecked, split_w
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.signature import packed_dtype

_INTEGERS = frozenset([int])
BLOCKS_OVERLAP = "blocks of recvbuf overlap"


class Blocks:
    """`size` blocks of `count` elements each, one after the other."""

    __slots__ = ("count", "datatype", "nbytes", "size", "span")

    def __init__(self, span: Span, size: int) -> None:
        self.span, self.size, self.datatype = span, size, span.datatype
        self.count = span.count // size if size > 1 else span.count
        self.nbytes = self.count * self.datatype._size

    def at(self, i: int) -> Payload:
        """Block i."""
        _check_block(i, self.size)
        span, datatype, count = self.span, self.datatype, self.count
        return payload_of(Span(span.memory, span.offset + i * count * datatype._extent, count, datatype))


class Vector:
    """Blocks of `counts[i]` elements, displaced by `displs[i]` elements."""

    __slots__ = ("_units", "buffer", "counts", "datatype", "dense", "displs", "memory", "size")

    def __init__(self, buffer: object, memory: Memory, datatype: Datatype, counts: list[int], displs: list[int]) -> None:
        self.buffer, self.memory, self.datatype = buffer, memory, datatype
        self.counts, self.displs, self.size = counts, displs, len(counts)
        self.dense = datatype._dense and not isinstance(buffer, BottomType)  # blocks are slices of the memory
        self._units: tuple[Memory, int] | None = None  # the memory as an array, and its items per element

    def check(self) -> None:
        """Raise an error if a block is not inside the memory."""
        counts, displs = self.counts, self.displs
        if not counts:
            return
        if self.dense and min(counts) >= 0:
            # Every rank checks the counts of all ranks, so check the extremes first.
            self.datatype._usable()
            if min(displs) >= 0 and max(map(add, counts, displs)) * self.datatype._size <= len(self.memory):
                return
        _check_fit(counts, displs)
        for i in range(self.size):
            self._span(i)

    def at(self, i: int) -> Payload:
        """Block i."""
        _check_block(i, self.size)
        if not self.dense or not self.counts[i]:
            return payload_of(self._span(i))
        units, scale = self._units or self._as_units()
        start = self.displs[i] * scale
        return units[start : start + self.counts[i] * scale]

    def overlaps_itself(self) -> bool:
        """Whether two blocks have bytes in common."""
        if self.dense:
            bounds = sorted((start, start + count) for start, count in zip(self.displs, self.counts, strict=True) if count)
            return any(one[1] > other[0] for one, other in pairwise(bounds))
        return have_overlap([self.at(i) for i, count in enumerate(self.counts) if count])

    def _as_units(self) -> tuple[Memory, int]:
        memory, dtype, scale = self.memory, packed_dtype(self.datatype._definition), self.datatype._size
        if isinstance(memory, np.ndarray) and len(memory):
            self._units = memory[: len(memory) // scale * scale].view(dtype), scale // dtype.itemsize
        else:
            self._units = memory, scale
        return self._units

    def _span(self, i: int) -> Span:
        datatype = self.datatype
        offset = self.displs[i] * datatype._extent
        return checked_span(self.buffer, self.memory, offset, self.counts[i], datatype, block=i)


class VectorW:
    """Blocks of `counts[i]` elements of `datatypes[i]`, displaced by `displs[i]` bytes, all of them inside the memory."""

    __slots__ = ("bottom", "datatypes", "size", "spans")

    def __init__(
        self, buffer: object, memory: Memory, datatypes: list[Datatype], counts: list[int], displs: list[int]
    ) -> None:
        self.datatypes, self.size, self.bottom = datatypes, len(counts), isinstance(buffer, BottomType)
        _check_fit(counts, displs)
        blocks = enumerate(zip(displs, counts, datatypes, strict=True))
        self.spans = [
            checked_span(buffer, memory, displ, count, datatype, block=i) for i, (displ, count, datatype) in blocks
        ]

    def at(self, i: int) -> Payload:
        """Block i."""
        _check_block(i, self.size)
        return payload_of(self.spans[i])

    def overlaps_itself(self) -> bool:
        """Whether two blocks have bytes in common, or two elements of one block."""
        bounds = sorted([self._bounds(span) for span in self.spans if span.nbytes])
        if any(one[1] > other[0] for one, other in pairwise(bounds)):
            solid = all(span.datatype._dense and type(span.memory) is np.ndarray for span in self.spans if span.nbytes)
            return solid or have_overlap(self.spans)
        return any(have_overlap((span,)) for span in self.spans if not span.datatype._dense)

    def _bounds(self, span: Span) -> tuple[int, int]:
        """Where a block begins and ends: relative to the memory, or with BOTTOM, by address."""
        start = span.offset + (address_of(span.memory) if self.bottom else 0)  # type: ignore[arg-type]  # not a phantom
        low, high = span.bounds
        return start + low, start + high


def block(spec: object, size: int, *, writable: bool = False) -> Blocks:
    """Return equal blocks for `size` ranks; a count is that of one block."""
    return Blocks(span_of(spec, writable=writable, blocks=size), size)


def vector(spec: object, size: int, *, writable: bool = False) -> Vector:
    """Return blocks for `size` ranks.

    Without counts, elements are distributed evenly, and the first ranks get one more. One integer is the count of every
    rank. Without displacements, blocks are contiguous. One integer is the distance between adjacent blocks.
    """
    buffer, raw, counts, displs, datatype, _ = resolve(spec, writable, pairs=(tuple,))
    memory = bytes_of(raw)
    if counts is None:
        share, rest = divmod(infer_count(len(memory), datatype), size) if size else (0, 0)
        numbers = [share + 1] * rest + [share] * (size - rest)
    else:
        single = _maybe_integer(counts)
        numbers = [single] * size if single is not None else _integers("counts", counts, size)
    if displs is None:
        offsets = list(accumulate(numbers, initial=0))[:size]
    else:
        single = _maybe_integer(displs)
        offsets = [i * single for i in range(size)] if single is not None else _integers("displacements", displs, size)
    result = Vector(buffer, memory, datatype, numbers, offsets)
    result.check()
    if writable and (displs is not None or not datatype._dense) and result.overlaps_itself():
        report_overlap(BLOCKS_OVERLAP)
    return result


def vector_w(spec: object, size: int, *, writable: bool = False) -> VectorW:
    """Return blocks for `size` ranks with a datatype each. Without counts and displacements, each has one element at 0."""
    buffer, counts, displs, types = split_w(spec)
    raw, _ = memory_of(buffer, writable, bare=False)
    datatypes = _datatypes(types, size)
    if (counts is None or displs is None) and (buffer is None or isinstance(buffer, BottomType)):
        raise mpi_error(ERR_COUNT, "without a buffer, counts and displacements are needed.", MPIValueError)
    if counts is None and displs is None:
        numbers, offsets = [1] * size, [0] * size
    else:
        numbers, offsets = _integers("counts", counts, size), _integers("displacements", displs, size)
    result = VectorW(buffer, bytes_of(raw), datatypes, numbers, offsets)
    if writable and result.overlaps_itself():
        report_overlap(BLOCKS_OVERLAP)
    return result


def _maybe_integer(value: object) -> int | None:
    """Return an integer, or None for a sequence; a numpy array of one element has `__index__` but is a sequence."""
    if type(value) is list:  # the common case
        return None
    return integer("count", value, 64) if isinstance(value, SupportsIndex) and not _has_length(value) else None


def _has_length(value: object) -> bool:
    return np.ndim(value) > 0 if isinstance(value, np.ndarray) else hasattr(value, "__len__")


def _integers(what: str, values: Unchecked, size: int) -> list[int]:
    if type(values) is list and len(values) == size and _INTEGERS.issuperset(map(type, values)):
        return values.copy()  # the common case, in a third of the time
    items = _as_list(what, values, size)
    return integer_items(what, items, 64)


def _check_fit(counts: list[int], displs: list[int]) -> None:
    """Raise an error if an integer does not fit in 64 bits; large blocks that do fit are reported as outside the memory."""
    for what, values in (("counts", counts), ("displacements", displs)):
        if values and not (fits(min(values), 64) and fits(max(values), 64)):
            integer_items(what, values, 64)


def _datatypes(types: Unchecked, size: int) -> list[Datatype]:
    datatypes = _as_list("datatypes", types, size)
    for i, datatype in enumerate(datatypes):
        if not isinstance(datatype, Datatype):
            raise mpi_error(ERR_TYPE, f"item {i} of datatypes is {datatype!r}, not a datatype.", MPITypeError)
    return [datatype._pin() for datatype in datatypes]


def _as_list(what: str, values: Unchecked, size: int) -> list[Unchecked]:
    """Return a sequence of `size` items as a list."""
    if isinstance(values, Phantom) or not _has_length(values):
        raise mpi_error(ERR_ARG, f"{what} are {values!r}, not a sequence of {size} items.", MPITypeError)
    items: list[Unchecked] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(items) != size:
        raise mpi_error(ERR_ARG, f"expecting {size} {what}, got {len(items)}.", MPIValueError)
    return items


def _check_block(i: int, size: int) -> None:
    if not 0 <= i < size:
        raise IndexError(f"block {i} of {size}")
