"""Elements in memory: how many, and from where on.

The rules for what is left out are mpi4py's. Unlike there, elements must lie inside the buffer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi.error_classes import ERR_ARG, ERR_BUFFER, ERR_COUNT, ERR_TYPE
from fakempi.errors import MPIValueError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.buffers.element import datatype_of
from fakempi.mpi.buffers.places import BottomType
from fakempi.mpi.buffers.raw import Bytes, Found, Memory, at_address, bytes_of, flat, memory_of
from fakempi.mpi.buffers.specification import Parts, split
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import BYTE


class Span:
    """Elements of a datatype in memory: `count` of them, the first at byte `offset`; `nbytes` is their packed size."""

    __slots__ = ("count", "datatype", "memory", "nbytes", "offset")

    dtype = None  # not a numpy array, for those who ask
    base = True  # on somebody's memory, likewise

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.count

    def __init__(self, memory: Memory, offset: int, count: int, datatype: Datatype) -> None:
        self.memory, self.offset, self.count, self.datatype = memory, offset, count, datatype
        self.nbytes = count * datatype._size

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest byte, and the one after the highest, from `offset` on; (0, 0) if there are none."""
        return self.datatype._span(self.count)

    def packed(self) -> Bytes:
        """A copy of the bytes, in the order in which they travel."""
        assert isinstance(self.memory, np.ndarray)  # spans of phantoms travel as phantoms
        return self.datatype._pack(self.memory, self.offset, self.count)

    def pack_into(self, packed: Bytes) -> None:
        """The same into an array that has as many bytes."""
        assert isinstance(self.memory, np.ndarray)
        self.datatype._definition.layout.pack_into(packed, self.memory, self.offset, self.count)

    def copy_to(self, target: Any, nbytes: int) -> bool:
        """Copy all of it, if that is `nbytes`, without packing it first; whether that can be done."""
        if self.nbytes != nbytes:
            return False
        if type(target) is not Span:
            place = flat(target)
            self.pack_into(place if len(place) == nbytes else place[:nbytes])
            return True
        layout = self.datatype._definition.layout
        if layout is not target.datatype._definition.layout:
            return False
        return layout.copy(self.memory, self.offset, target.memory, target.offset, self.count)  # type: ignore[arg-type]

    def unpack(self, data: Bytes) -> None:
        """Put bytes that have travelled in their places; where there are too few, the rest stays as it is."""
        assert isinstance(self.memory, np.ndarray)
        self.datatype._unpack(data, self.memory, self.offset, self.count)


def parse(spec: Any, *, writable: bool = False, blocks: int = 1) -> Span:
    """What a specification says, as a span.

    With `blocks` > 1 the memory holds so many blocks of equal size; a count is that of one block, the span is of all.
    """
    return span_of(split(spec), writable=writable, blocks=blocks)


def span_of(parts: Parts, *, writable: bool = False, blocks: int = 1) -> Span:
    """As `parse`, from the parts of a specification."""
    buffer, count, displacement, kind, alone = parts
    found, element = memory_of(buffer, writable, alone)
    return spanned(buffer, found, count, displacement, datatype_of(kind, element), blocks)


def spanned(buffer: Any, found: Found, count: Any, displacement: Any, datatype: Datatype, blocks: int = 1) -> Span:
    """As `parse`, where memory and datatype are known."""
    memory = bytes_of(found)
    offset = _displaced(displacement, datatype, memory) if displacement is not None else 0
    if count is None:
        count = infer_count(len(memory) - offset, datatype)
        if blocks > 1 and count % blocks:
            words = f"cannot infer count, {count} entries are not a multiple of the required {blocks} blocks."
            raise complaint(ERR_COUNT, words, MPIValueError)
    else:
        count = integer("count", count)
        if count > 0 and blocks > 1:
            count *= blocks
    return checked(buffer, memory, offset, count, datatype)


def checked(buffer: Any, memory: Memory, offset: int, count: int, datatype: Datatype, block: int | None = None) -> Span:
    """A span, after a check that the datatype can be used and that all elements lie inside the memory."""
    if count < 0:
        where = "" if block is None else f" of block {block}"
        raise complaint(ERR_COUNT, f"count {count}{where} is negative.", MPIValueError)
    if not count:
        return Span(memory, offset, 0, datatype if datatype else BYTE)
    datatype._usable()
    if buffer is None:
        raise complaint(ERR_BUFFER, f"the buffer is None but count is {count}.", MPIValueError)
    low, high = datatype._span(count)
    if isinstance(buffer, BottomType) and high > low:
        return Span(at_address(offset + low, high - low), -low, count, datatype)
    if offset + low < 0 or offset + high > len(memory):
        words = (
            f"{'' if block is None else f'block {block}: '}count {count} of {datatype._definition.describe()} takes "
            f"bytes {offset + low} to {offset + high} of a buffer of {len(memory)} bytes."
        )
        raise complaint(ERR_BUFFER, words, MPIValueError)
    return Span(memory, offset, count, datatype)


def infer_count(nbytes: int, datatype: Datatype) -> int:
    """How many elements so many bytes hold."""
    if not nbytes:
        return 0
    if not datatype:
        raise complaint(ERR_TYPE, "cannot infer count, the datatype is DATATYPE_NULL.", MPIValueError)
    lb, extent = datatype._lb, datatype._extent
    if extent <= 0:
        words = f"cannot infer count, datatype extent {extent} (lb {lb}, ub {lb + extent}) is not positive."
        raise complaint(ERR_COUNT, words, MPIValueError)
    if nbytes % extent:
        words = (
            f"cannot infer count, buffer length {nbytes} is not a multiple of datatype extent {extent} "
            f"(lb {lb}, ub {lb + extent})."
        )
        raise complaint(ERR_COUNT, words, MPIValueError)
    return nbytes // extent


def _displaced(displacement: Any, datatype: Datatype, memory: Memory) -> int:
    """The byte at which a displacement in elements ends up."""
    number = integer("displacement", displacement)
    if number < 0:
        raise complaint(ERR_ARG, f"displacement {number} is negative.", MPIValueError)
    if not number:
        return 0
    if not datatype:
        raise complaint(ERR_TYPE, f"displacement {number} means nothing, the datatype is DATATYPE_NULL.", MPIValueError)
    extent = datatype._extent
    if extent <= 0:
        words = f"displacement {number} means nothing, datatype extent {extent} is not positive."
        raise complaint(ERR_ARG, words, MPIValueError)
    if number * extent > len(memory):
        words = f"displacement {number} is out of bounds, the buffer holds {len(memory) // extent} entries."
        raise complaint(ERR_ARG, words, MPIValueError)
    return number * extent
