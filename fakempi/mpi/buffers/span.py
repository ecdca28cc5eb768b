"""Step 4 of 5 of reading a buffer specification: the number of elements, and the address of the first one.

Defaults for a missing count or displacement are those of mpi4py. Unlike mpi4py, all elements must be inside the buffer.
"""

from __future__ import annotations

from typing import SupportsIndex, final

import numpy as np

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_BUFFER, ERR_COUNT, ERR_TYPE
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.buffers.address_constants import BottomType
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import ArrayOrPhantom, Bytes, Memory, at_address, bytes_of, flat
from fakempi.mpi.buffers.resolve import resolve
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import BYTE
from fakempi.mpi.interfaces.arrays import Array

MAX_OVERLAPPING = 1 << 30
"""Upper limit of the packed size of overlapping elements, in bytes. Other elements are limited by the size of the memory."""


@final
class Span:
    """Elements of a datatype in memory: `count` of them, the first at byte `offset`; `nbytes` is their packed size."""

    __slots__ = ("count", "datatype", "memory", "nbytes", "offset")

    dtype = None  # differs from the dtype of every array
    base = True  # not None, as for an array that is a view

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.count

    def __init__(self, memory: Memory, offset: int, count: int, datatype: Datatype) -> None:
        self.memory, self.offset, self.count, self.datatype = memory, offset, count, datatype
        self.nbytes = count * datatype._size

    @property
    def bounds(self) -> tuple[int, int]:
        """The first byte and the byte after the last, relative to `offset`; (0, 0) if there are no elements."""
        return self.datatype._span(self.count)

    def packed(self) -> Bytes:
        """Return a packed copy of the elements."""
        assert isinstance(self.memory, np.ndarray)  # the payload of a phantom is a phantom
        return self.datatype._pack(self.memory, self.offset, self.count)

    def pack_into(self, packed: Bytes) -> None:
        """Pack the elements into an array of `nbytes` bytes."""
        assert isinstance(self.memory, np.ndarray)
        self.datatype._definition.layout.pack_into(packed, self.memory, self.offset, self.count)

    def copy_to(self, target: Array | Span, nbytes: int) -> bool:
        """Copy all elements without a packed copy; return False if this is impossible or if their size is not `nbytes`."""
        if self.nbytes != nbytes:
            return False
        if type(target) is not Span:
            packed = flat(target)
            self.pack_into(packed if len(packed) == nbytes else packed[:nbytes])
            return True
        layout = self.datatype._definition.layout
        if layout is not target.datatype._definition.layout:
            return False
        return layout.copy(self.memory, self.offset, target.memory, target.offset, self.count)  # type: ignore[arg-type]  # spans of phantoms travel as phantoms

    def unpack(self, data: Bytes) -> None:
        """Unpack bytes into the elements. Elements for which there are no bytes keep their values."""
        assert isinstance(self.memory, np.ndarray)
        self.datatype._unpack(data, self.memory, self.offset, self.count)


Payload = Array | Span | Phantom
"""The payload of a buffer: an array in C order, elements that are not contiguous, or a phantom."""


def span_of(spec: object, *, writable: bool = False, blocks: int = 1) -> Span:
    """Return the elements of a buffer specification.

    With `blocks` > 1 the memory holds that number of blocks of equal size: a given count is the count of one block, and the
    span has the elements of all blocks. With `blocks` = 0 a given count is ignored, so the memory may be empty.
    """
    buffer, memory, count, displacement, datatype, _ = resolve(spec, writable)
    return make_span(buffer, memory, count, displacement, datatype, blocks)


def make_span(
    buffer: object, raw: ArrayOrPhantom, count: SupportsIndex | None, displacement: SupportsIndex | None, datatype: Datatype,
    blocks: int = 1,
) -> Span:  # fmt: skip
    """Return the elements of a resolved buffer specification; `blocks` is the number of blocks, as in `span_of`."""
    memory = bytes_of(raw)
    offset = _byte_offset(displacement, datatype, memory) if displacement is not None else 0
    if count is None:
        number = infer_count(len(memory) - offset, datatype)
        if blocks > 1 and number % blocks:
            sentence = f"cannot infer count, {number} entries are not a multiple of the required {blocks} blocks."
            raise mpi_error(ERR_COUNT, sentence, MPIValueError)
    else:
        number = integer("count", count, 64)
        if number > 0 and blocks > 1:
            number *= blocks
        elif number > 0 and not blocks and buffer is not None:
            number = 0
    return checked_span(buffer, memory, offset, number, datatype)


def checked_span(
    buffer: object, memory: Memory, offset: int, count: int, datatype: Datatype, block: int | None = None
) -> Span:  # fmt: skip
    """Return a span, or raise an error if the datatype is not committed or an element is outside the memory.

    `block` is the index of a block, for error messages.
    """
    if count < 0:
        where = "" if block is None else f" of block {block}"
        raise mpi_error(ERR_COUNT, f"count {count}{where} is negative.", MPIValueError)
    if not count:
        return Span(memory, offset, 0, datatype if datatype else BYTE)
    datatype._usable()
    if buffer is None:
        raise mpi_error(ERR_BUFFER, f"the buffer is None but count is {count}.", MPIValueError)
    low, high = datatype._span(count)
    if (nbytes := count * datatype._size) > MAX_OVERLAPPING and nbytes > high - low and not isinstance(memory, Phantom):
        sentence = (
            f"count {count} of {datatype._definition.describe()} is {nbytes:,} bytes, in the same {high - low:,} bytes of "
            f"memory; elements that overlap may have at most {MAX_OVERLAPPING:,} bytes."
        )
        raise mpi_error(ERR_COUNT, sentence, MPIValueError)
    if isinstance(buffer, BottomType) and high > low:
        memory_at = running_process().memory_at or at_address
        return Span(memory_at(offset + low, high - low), -low, count, datatype)
    if offset + low < 0 or offset + high > len(memory):
        sentence = (
            f"{'' if block is None else f'block {block}: '}count {count} of {datatype._definition.describe()} takes "
            f"bytes {offset + low} to {offset + high} of a buffer of {len(memory)} bytes."
        )
        raise mpi_error(ERR_BUFFER, sentence, MPIValueError)
    return Span(memory, offset, count, datatype)


def infer_count(nbytes: int, datatype: Datatype) -> int:
    """Return the number of elements in `nbytes` bytes: `nbytes` divided by the extent."""
    if not nbytes:
        return 0
    if not datatype:
        raise mpi_error(ERR_TYPE, "cannot infer count, the datatype is DATATYPE_NULL.", MPIValueError)
    lb, extent = datatype._lb, datatype._extent
    if extent <= 0:
        sentence = f"cannot infer count, datatype extent {extent} (lb {lb}, ub {lb + extent}) is not positive."
        raise mpi_error(ERR_COUNT, sentence, MPIValueError)
    if nbytes % extent:
        sentence = (
            f"cannot infer count, buffer length {nbytes} is not a multiple of datatype extent {extent} "
            f"(lb {lb}, ub {lb + extent})."
        )
        raise mpi_error(ERR_COUNT, sentence, MPIValueError)
    return nbytes // extent


def _byte_offset(displacement: SupportsIndex, datatype: Datatype, memory: Memory) -> int:
    """Convert a displacement from elements to bytes."""
    number = integer("displacement", displacement, 64)
    if number < 0:
        raise mpi_error(ERR_ARG, f"displacement {number} is negative.", MPIValueError)
    if not number:
        return 0
    if not datatype:
        raise mpi_error(ERR_TYPE, f"displacement {number} cannot be used: the datatype is DATATYPE_NULL.", MPIValueError)
    extent = datatype._extent
    if extent <= 0:
        sentence = f"displacement {number} cannot be used: datatype extent {extent} is not positive."
        raise mpi_error(ERR_ARG, sentence, MPIValueError)
    if number * extent > len(memory):
        sentence = f"displacement {number} is out of bounds, the buffer holds {len(memory) // extent} entries."
        raise mpi_error(ERR_ARG, sentence, MPIValueError)
    return number * extent
