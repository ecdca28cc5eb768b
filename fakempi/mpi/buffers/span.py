"""Buffer specifications: from `[buffer, (count, displacement), datatype]` and its shorter forms to a `Span`.

The forms and the rules for what is left out are mpi4py's. Unlike there, elements must lie inside the buffer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi.error_classes import ERR_ARG, ERR_BUFFER, ERR_COUNT, ERR_TYPE
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.places import BottomType, InPlaceType
from fakempi.mpi.buffers.raw import NOTHING, Bytes, Element, at_address, check_byte_order, has_memory, memory_of
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import BYTE, from_code, from_dtype

Memory = Bytes | Phantom


class MPIKeyError(MPIError, KeyError):
    """An `MPIError` that is also a `KeyError`: something that stands for no datatype."""


class Span:
    """Elements of a datatype in memory: `count` of them, the first at byte `offset`; `nbytes` is their packed size."""

    __slots__ = ("count", "datatype", "memory", "nbytes", "offset")

    dtype = None  # not a numpy array, for those who ask

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.count

    def __init__(self, memory: Memory, offset: int, count: int, datatype: Datatype) -> None:
        self.memory, self.offset, self.count, self.datatype = memory, offset, count, datatype
        self.nbytes = count * datatype._size

    def payload(self) -> Any:
        """The simplest thing that can be copied from and to: an array, a phantom, or else the span itself."""
        memory, nbytes = self.memory, self.nbytes
        if type(memory) is Phantom:
            return Phantom(nbytes)
        if not self.datatype._dense:
            return self
        found = memory[self.offset : self.offset + nbytes]
        dtype = self.datatype._dtype
        return found if dtype is None or not nbytes else found.view(dtype)

    def packed(self) -> Bytes:
        """A copy of the bytes, in the order in which they travel."""
        assert isinstance(self.memory, np.ndarray)  # spans of phantoms travel as phantoms
        return self.datatype._pack(self.memory, self.offset, self.count)

    def unpack(self, data: Bytes) -> None:
        """Put bytes that have travelled in their places; where there are too few, the rest stays as it is."""
        assert isinstance(self.memory, np.ndarray)
        self.datatype._unpack(data, self.memory, self.offset, self.count)


def parse(spec: Any, *, writable: bool = False, blocks: int = 1) -> Span:
    """What a specification says, as a span.

    With `blocks` > 1 the memory holds so many blocks of equal size; a count is that of one block, the span is of all.
    """
    return span_of(*split(spec), writable=writable, blocks=blocks)


def span_of(buffer: Any, count: Any, displacement: Any, kind: Any, *, writable: bool = False, blocks: int = 1) -> Span:
    """As `parse`, from the parts of a specification."""
    memory, element = locate(buffer, writable=writable)
    datatype = datatype_of(kind, element)
    offset = _displaced(displacement, datatype, memory) if displacement is not None else 0
    if count is None:
        total = infer_count(len(memory) - offset, datatype)
        if blocks > 1 and total % blocks:
            words = f"cannot infer count, {total} entries are not a multiple of the required {blocks} blocks."
            raise complaint(ERR_COUNT, words, MPIValueError)
    else:
        count = integer("count", count)
        if count < 0:
            raise complaint(ERR_COUNT, f"count {count} is negative.", MPIValueError)
        total = count * max(blocks, 1)
    return make_span(buffer, memory, offset, total, datatype)


def make_span(
    buffer: Any, memory: Memory, offset: int, count: int, datatype: Datatype, block: int | None = None
) -> Span:
    """A span, after a check that the datatype can be used and that all elements lie inside the memory."""
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


def split(spec: Any, pairs: tuple[type, ...] = (list, tuple)) -> tuple[Any, Any, Any, Any]:
    """The four parts of a specification: buffer, count, displacement, datatype; None for what is not there.

    `pairs` are the types of sequence that hold count and displacement in place of a count.
    """
    if not isinstance(spec, (list, tuple)):
        if not isinstance(spec, (BottomType, InPlaceType)) and not has_memory(spec):
            words = f"expecting a buffer or a list like [buffer, count, datatype], not {type(spec).__name__!r}."
            raise complaint(ERR_BUFFER, words, MPITypeError)
        return spec, None, None, None
    if len(spec) == 4:
        return spec[0], spec[1], spec[2], spec[3]
    if len(spec) == 3:
        buffer, count, kind = spec
    elif len(spec) == 2:
        buffer, count, kind = spec[0], spec[1], None
        if isinstance(count, (Datatype, str)):
            return buffer, None, None, count
    else:
        words = f"expecting 2 to 4 items in a buffer specification, got {len(spec)}."
        raise complaint(ERR_BUFFER, words, MPIValueError)
    if not isinstance(count, pairs):
        return buffer, count, None, kind
    pair: Any = count
    if len(pair) != 2:
        raise complaint(ERR_COUNT, f"expecting a pair of count and displacement, got {len(pair)} items.", MPIValueError)
    return buffer, pair[0], pair[1], kind


def locate(buffer: Any, *, writable: bool) -> tuple[Memory, Element | None]:
    """The memory of the buffer in a specification, and its elements, if it has any."""
    if buffer is None or isinstance(buffer, BottomType):
        return NOTHING, None
    if isinstance(buffer, InPlaceType):
        return NOTHING, NOTHING.dtype
    return memory_of(buffer, writable=writable)


def datatype_of(kind: Any, element: Element | None) -> Datatype:
    """The datatype that a specification names, or that its buffer's elements have."""
    if kind is None:
        if element is None:
            raise complaint(ERR_TYPE, "without a buffer a datatype is needed, cannot infer it.", MPIKeyError)
        check_byte_order(element)
        return from_dtype(element) if isinstance(element, np.dtype) else _coded(element)
    if isinstance(kind, Datatype):
        return kind
    return _coded(kind)


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


def _coded(code: Any) -> Datatype:
    if isinstance(code, str):
        try:
            return from_code(code)
        except MPIError:
            pass
    raise complaint(ERR_TYPE, f"cannot map {code!r} to an MPI datatype.", MPIKeyError)
