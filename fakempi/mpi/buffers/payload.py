"""Step 5 of 5 of reading a buffer specification: the payload of a message, and copies from one payload to another.

The payload of a buffer is a numpy array in C order (in most cases the program's own array), a `Span` if its bytes are not
contiguous, or a `Phantom`. The payload of a Python object is its pickle as bytes, its pickle in parts (`Pickled`), or the
object itself in a tuple of one (see `objects`).
"""

from __future__ import annotations

import pickle
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy import frombuffer, ndarray

from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_BUFFER
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.buffers.out_of_band import PROTOCOL, Pickled
from fakempi.mpi.buffers.overlap import check_self_overlap
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NO_BYTES, U1, ArrayOrPhantom, Element, flat, memory_of
from fakempi.mpi.buffers.resolve import check_element, resolve
from fakempi.mpi.buffers.span import Payload, Span, make_span
from fakempi.mpi.datatypes.basic import CODES, NATIVE
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.signature import ANYTHING, BYTES, UNKNOWN, Signature, of_dtype, of_type, packed_dtype
from fakempi.mpi.interfaces.arrays import Array

ObjectPayload = bytes | Pickled | tuple[object]
MessagePayload = Payload | ObjectPayload

# Numbers in the byte order of this machine. Looking up a dtype here takes half the time of reading its properties.
_PLAIN = frozenset(np.dtype(letter) for letter in "?bBhHiIlLqQefdgFDG")


def describe(spec: object) -> tuple[Payload, int]:
    """Return the payload to send, and its size in bytes."""
    if type(spec) is ndarray and spec.dtype in _PLAIN and spec.flags.c_contiguous:
        return spec, spec.nbytes
    return _describe(spec, False)


def describe_target(spec: object) -> tuple[Payload, int]:
    """Return the payload to receive into, and its size in bytes."""
    if type(spec) is ndarray and spec.dtype in _PLAIN and spec.flags.carray:  # contiguous, aligned and writable
        return spec, spec.nbytes
    return _describe(spec, True)


def _describe(spec: object, writable: bool) -> tuple[Payload, int]:
    if type(spec) is Span or type(spec) is Phantom:  # a payload already; spans are blocks of collective calls
        return spec, spec.nbytes
    # handled below as well, but here in a third of the time
    if type(spec) is bytearray or (type(spec) is bytes and not writable):
        return frombuffer(spec, BYTES) if spec else NO_BYTES, len(spec)
    if not isinstance(spec, (list, tuple)):  # a whole buffer, whether or not there is a datatype for its elements
        memory, element = memory_of(spec, writable, bare=True)
        if element not in _PLAIN:
            check_element(element)
        return _view_as_element(memory, spec, element), memory.nbytes
    buffer, memory, count, displacement, datatype, typed = resolve(spec, writable)
    part = _slice(memory, count, displacement, datatype)
    if part is not None:
        return part if not typed and type(buffer) is ndarray else view_as(part, datatype), part.nbytes
    span = make_span(buffer, memory, count, displacement, datatype)
    if writable and not datatype._dense:
        check_self_overlap(span)
    return payload_of(span), span.nbytes


def _slice(
    memory: ArrayOrPhantom, count: SupportsIndex | None, displacement: SupportsIndex | None, datatype: Datatype
) -> Array | None:
    """Return the payload of `[buffer, count, datatype]` if it is a whole array or a slice of one, otherwise None.

    `make_span` does the same for these common cases, but takes three times as long.
    """
    size, nbytes = datatype._size, memory.nbytes
    if not datatype._dense or not size or not nbytes or type(memory) is not ndarray:
        return None
    if displacement is None:
        if count * size == nbytes if type(count) is int else count is None and not nbytes % size:
            datatype._usable()
            return memory
        displacement = 0
    if datatype._dtype is not memory.dtype or type(count) is not int or type(displacement) is not int:
        return None
    if count < 0 or displacement < 0 or (displacement + count) * size > nbytes:
        return None
    datatype._usable()
    return (memory if memory.ndim == 1 else memory.reshape(-1))[displacement : displacement + count]


def payload_of(span: Span) -> Payload:
    """Return the simplest payload for a span: an array, a phantom, or otherwise the span itself."""
    memory, nbytes, datatype = span.memory, span.nbytes, span.datatype
    if isinstance(memory, Phantom):
        return Phantom(nbytes)
    if not datatype._dense:
        return span
    return view_as(memory[span.offset : span.offset + nbytes], datatype)


def view_as(array: Array, datatype: Datatype) -> Array:
    """Return an array of packed elements with the datatype's dtype, so that the receiver can compare datatypes."""
    definition = datatype._definition
    dtype = definition.packed_dtype or packed_dtype(definition)
    return array if array.dtype is dtype or not array.nbytes else flat(array).view(dtype)


def _view_as_element(memory: ArrayOrPhantom, spec: object, element: Element | None) -> ArrayOrPhantom:
    """Return the memory of an object that is not a numpy array, with the dtype of its elements."""
    if type(spec) is ndarray or type(memory) is not ndarray or not memory.nbytes:
        return memory
    if hasattr(spec, "_memory"):  # an `MPI.buffer`
        return flat(memory).view(BYTES)
    if isinstance(element, str):
        definition = CODES.get(element.lstrip(NATIVE))
        return memory if definition is None else memory.view(packed_dtype(definition))
    return memory


@overload
def snapshot(payload: Payload) -> Array | Phantom:
    """Return a copy of the payload of a buffer."""


@overload
def snapshot(payload: ObjectPayload) -> ObjectPayload:
    """Return the payload of an object, which is immutable."""


def snapshot(payload: MessagePayload) -> MessagePayload:
    """Return a copy that no other object uses; an immutable payload is its own copy."""
    if type(payload) is ndarray:
        return payload.copy()
    return view_as(payload.packed(), payload.datatype) if type(payload) is Span else payload


def signature_of(payload: MessagePayload) -> Signature:
    """Return the type signature of an array or a span; of other payloads, one that agrees with every other."""
    if type(payload) is ndarray:
        return of_dtype(payload.dtype)
    return of_type(payload.datatype._definition) if type(payload) is Span else ANYTHING


def is_byte_type(payload: Array | Span) -> bool:
    """Whether an array or a span has elements of BYTE or PACKED."""
    return (packed_dtype(payload.datatype._definition) if type(payload) is Span else payload.dtype) in (BYTES, UNKNOWN)


def copy_into(source: MessagePayload, target: Payload, nbytes: int) -> None:
    """Copy a message of `nbytes` bytes, which the target has room for; the rest of the target keeps its values."""
    if type(source) is ndarray and source.dtype is target.dtype and target.nbytes == nbytes:
        try:
            # Equal numbers of elements, so broadcasting can fail but cannot repeat elements.
            target[...] = source
            return
        except ValueError:
            pass
    _copy_bytes(source, target, nbytes)


def _copy_bytes(source: MessagePayload, target: Payload, nbytes: int) -> None:
    if not nbytes or type(source) is Phantom or isinstance(target, Phantom):
        return
    if type(source) is ndarray:
        if source.dtype is target.dtype and source.ndim == target.ndim == 1 and source.nbytes == nbytes:
            target[: len(source)] = source  # a message that is shorter than its buffer
            return
        data = flat(source)
    elif type(source) is Span:
        if source.copy_to(target, nbytes):
            return
        data = source.packed()
    else:
        data = frombuffer(as_bytes(source, nbytes), U1)
    if len(data) != nbytes:
        data = data[:nbytes]
    if type(target) is Span:
        target.unpack(data)
    else:
        memory = flat(target)
        (memory if len(memory) == nbytes else memory[:nbytes])[...] = data


def as_bytes(payload: MessagePayload, nbytes: int) -> bytes:
    """Return the first `nbytes` bytes of a message."""
    if isinstance(payload, bytes):
        data = payload
    elif isinstance(payload, Pickled):
        parts: Any = payload  # numpy's stubs lack the buffer protocol before 2.5
        data = b"".join(parts)
    elif isinstance(payload, tuple):
        data = pickle.dumps(payload[0], PROTOCOL)
    elif isinstance(payload, Phantom):
        raise mpi_error(ERR_BUFFER, f"a phantom of {payload.nbytes} bytes arrived: it has no contents.", MPITypeError)
    else:
        data = (payload.packed() if type(payload) is Span else payload).tobytes()
    return data if len(data) == nbytes else data[:nbytes]
