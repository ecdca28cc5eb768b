"""Buffers of collective calls: one block of memory per rank, in equal blocks or with counts and displacements.

`block` is for Gather, Scatter, Allgather, Alltoall; `vector` for those with a v, `vector_w` for those with a w. `at(i)`
is what rank i gets or gives, as a payload.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from operator import add
from typing import Any

import numpy as np

from fakempi.error_classes import ERR_ARG, ERR_COUNT, ERR_TYPE
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.buffers.element import datatype_of
from fakempi.mpi.buffers.overlap import is_crowded, tell_of_overlap
from fakempi.mpi.buffers.payload import Payload, payload_of
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.places import BottomType
from fakempi.mpi.buffers.raw import Memory, address_of, bytes_of, memory_of
from fakempi.mpi.buffers.span import Span, checked, infer_count, parse
from fakempi.mpi.buffers.specification import split, split_w
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.signature import travels_as

_WHOLE = frozenset([int])
CROWDED = "blocks of recvbuf overlap"


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

    def __init__(self, buffer: Any, memory: Memory, datatype: Datatype, counts: list[int], displs: list[int]) -> None:
        self.buffer, self.memory, self.datatype = buffer, memory, datatype
        self.counts, self.displs, self.size = counts, displs, len(counts)
        self.dense = datatype._dense and not isinstance(buffer, BottomType)  # blocks can be cut out of the memory as it is
        self._units: tuple[Any, int] | None = None  # as an array, and how many of its items an element is

    def check(self) -> None:
        """Complain about a block that does not lie inside the memory."""
        counts, displs = self.counts, self.displs
        if not counts:
            return
        if self.dense and min(counts) >= 0:
            # Most are right, and all ranks check all counts, so look at the extremes first.
            self.datatype._usable()
            if min(displs) >= 0 and max(map(add, counts, displs)) * self.datatype._size <= len(self.memory):
                return
        for i in range(self.size):
            self._span(i)

    def at(self, i: int) -> Payload:
        """Block i."""
        _check_block(i, self.size)
        if not self.dense or not self.counts[i]:
            return payload_of(self._span(i))
        units, scale = self._units or self._cut_up()
        start = self.displs[i] * scale
        return units[start : start + self.counts[i] * scale]

    def is_crowded(self) -> bool:
        """Whether two blocks have bytes in common."""
        if self.dense:
            taken = sorted((at, at + count) for at, count in zip(self.displs, self.counts, strict=True) if count)
            return any(one[1] > other[0] for one, other in pairwise(taken))
        return is_crowded([self.at(i) for i, count in enumerate(self.counts) if count])

    def _cut_up(self) -> tuple[Any, int]:
        memory, dtype, scale = self.memory, travels_as(self.datatype._definition), self.datatype._size
        if isinstance(memory, np.ndarray) and len(memory):
            self._units = memory[: len(memory) // scale * scale].view(dtype), scale // dtype.itemsize
        else:
            self._units = memory, scale
        return self._units

    def _span(self, i: int) -> Span:
        datatype = self.datatype
        return checked(self.buffer, self.memory, self.displs[i] * datatype._extent, self.counts[i], datatype, block=i)


class VectorW:
    """Blocks of `counts[i]` elements of `datatypes[i]`, displaced by `displs[i]` bytes, all of them inside the memory."""

    __slots__ = ("bottom", "datatypes", "size", "spans")

    def __init__(
        self, buffer: Any, memory: Memory, datatypes: list[Datatype], counts: list[int], displs: list[int]
    ) -> None:
        self.datatypes, self.size, self.bottom = datatypes, len(counts), isinstance(buffer, BottomType)
        blocks = enumerate(zip(displs, counts, datatypes, strict=True))
        self.spans = [checked(buffer, memory, at, count, datatype, block=i) for i, (at, count, datatype) in blocks]

    def at(self, i: int) -> Payload:
        """Block i."""
        _check_block(i, self.size)
        return payload_of(self.spans[i])

    def is_crowded(self) -> bool:
        """Whether two blocks have bytes in common, or one by itself."""
        bounds = sorted([self._bounds(span) for span in self.spans if span.nbytes])
        if any(one[1] > other[0] for one, other in pairwise(bounds)):
            solid = all(span.datatype._dense and type(span.memory) is np.ndarray for span in self.spans if span.nbytes)
            return solid or is_crowded(self.spans)
        return any(is_crowded((span,)) for span in self.spans if not span.datatype._dense)

    def _bounds(self, span: Span) -> tuple[int, int]:
        """Where a block begins and ends: in the memory, or, with BOTTOM, where each has its own, at all."""
        at = span.offset + (address_of(span.memory) if self.bottom else 0)  # type: ignore[arg-type]  # no phantom there
        low, high = span.bounds
        return at + low, at + high


def block(spec: Any, size: int, *, writable: bool = False) -> Blocks:
    """Equal blocks for `size` ranks; a count is that of one block."""
    return Blocks(parse(spec, writable=writable, blocks=size), size)


def vector(spec: Any, size: int, *, writable: bool = False) -> Vector:
    """Blocks for `size` ranks.

    Without counts the elements are dealt out evenly, the first ranks getting one more; one integer is everybody's
    count. Without displacements blocks follow each other; one integer is the distance between neighbours.
    """
    buffer, counts, displs, kind, alone = split(spec, pairs=(tuple,))
    found, element = memory_of(buffer, writable, alone)
    datatype, memory = datatype_of(kind, element), bytes_of(found)
    if counts is None:
        share, rest = divmod(infer_count(len(memory), datatype), size) if size else (0, 0)
        numbers = [share + 1] * rest + [share] * (size - rest)
    else:
        one = _maybe_integer(counts)
        numbers = [one] * size if one is not None else _integers("counts", counts, size)
    if displs is None:
        places = list(accumulate(numbers, initial=0))[:size]
    else:
        one = _maybe_integer(displs)
        places = [i * one for i in range(size)] if one is not None else _integers("displacements", displs, size)
    made = Vector(buffer, memory, datatype, numbers, places)
    made.check()
    if writable and (displs is not None or not datatype._dense) and made.is_crowded():
        tell_of_overlap(CROWDED)
    return made


def vector_w(spec: Any, size: int, *, writable: bool = False) -> VectorW:
    """Blocks for `size` ranks, of a datatype each. Without counts and displacements it is one element each, at 0."""
    buffer, counts, displs, types = split_w(spec)
    found, _ = memory_of(buffer, writable, alone=False)
    datatypes = _datatypes(types, size)
    if (counts is None or displs is None) and (buffer is None or isinstance(buffer, BottomType)):
        raise complaint(ERR_COUNT, "without a buffer, counts and displacements are needed.", MPIValueError)
    if counts is None and displs is None:
        numbers, places = [1] * size, [0] * size
    else:
        numbers, places = _integers("counts", counts, size), _integers("displacements", displs, size)
    made = VectorW(buffer, bytes_of(found), datatypes, numbers, places)
    if writable and made.is_crowded():
        tell_of_overlap(CROWDED)
    return made


def _maybe_integer(value: Any) -> int | None:
    """An integer, if it is one; sequences are not, whatever numpy's arrays of one element say."""
    if type(value) is list:  # nearly always
        return None
    return integer("count", value) if hasattr(value, "__index__") and not _has_length(value) else None


def _has_length(value: Any) -> bool:
    return np.ndim(value) > 0 if isinstance(value, np.ndarray) else hasattr(value, "__len__")


def _integers(what: str, values: Any, size: int) -> list[int]:
    if type(values) is list and len(values) == size and _WHOLE.issuperset(map(type, values)):
        return values.copy()  # nearly always, in a third of the time
    found = _listed(what, values, size)
    return [integer(f"item {i} of {what}", value) if type(value) is not int else value for i, value in enumerate(found)]


def _datatypes(types: Any, size: int) -> list[Datatype]:
    found = _listed("datatypes", types, size)
    for i, datatype in enumerate(found):
        if not isinstance(datatype, Datatype):
            raise complaint(ERR_TYPE, f"item {i} of datatypes is {datatype!r}, not a datatype.", MPITypeError)
    return found


def _listed(what: str, values: Any, size: int) -> list[Any]:
    """A sequence of `size` items, as a list."""
    if isinstance(values, Phantom) or not _has_length(values):
        raise complaint(ERR_ARG, f"{what} are {values!r}, not a sequence of {size} items.", MPITypeError)
    found = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(found) != size:
        raise complaint(ERR_ARG, f"expecting {size} {what}, got {len(found)}.", MPIValueError)
    return found


def _check_block(i: int, size: int) -> None:
    if not 0 <= i < size:
        raise IndexError(f"block {i} of {size}")
