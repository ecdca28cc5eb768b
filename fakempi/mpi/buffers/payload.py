"""What a message is made of: from what a program hands over to a payload, and from payload to payload.

A payload is a numpy array in C's order (most are: it is the program's own array), a `Span` where the bytes do not
follow each other, a `Phantom` without any, or, for Python objects, their pickle as bytes or the object itself in a
tuple of one (see `objects`).
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from numpy import frombuffer, ndarray

from fakempi.error_classes import ERR_BUFFER
from fakempi.errors import MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.buffers.element import check_element, datatype_of
from fakempi.mpi.buffers.overlap import check_places
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NOTHING, U1, Found, flat, memory_of
from fakempi.mpi.buffers.span import Span, spanned
from fakempi.mpi.buffers.specification import split
from fakempi.mpi.datatypes.basic import CODES, NATIVE
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.signature import ANYTHING, BYTES, UNKNOWN, Signature, of_dtype, of_type, travels_as

Payload = Any
"""An array, a `Span`, a `Phantom`, bytes, or a tuple of one object."""

PROTOCOL = pickle.HIGHEST_PROTOCOL  # mpi4py's default

# Numbers as this machine has them. Looking a dtype up here takes half the time of asking it for its properties.
_PLAIN = frozenset(np.dtype(letter) for letter in "?bBhHiIlLqQefdgFDG")


def describe(spec: Any) -> tuple[Payload, int]:
    """What to send, and its size in bytes."""
    if type(spec) is ndarray and spec.dtype in _PLAIN and spec.flags.c_contiguous:
        return spec, spec.nbytes
    return _described(spec, False)


def describe_target(spec: Any) -> tuple[Payload, int]:
    """Where to receive to, and how many bytes there is room for."""
    if type(spec) is ndarray and spec.dtype in _PLAIN and spec.flags.carray:  # contiguous, aligned and writable
        return spec, spec.nbytes
    return _described(spec, True)


def _described(spec: Any, writable: bool) -> tuple[Payload, int]:
    if type(spec) is Span or type(spec) is Phantom:  # a payload already; spans are blocks of collective calls
        return spec, spec.nbytes
    if type(spec) is bytearray or (type(spec) is bytes and not writable):  # as below, in a third of the time
        return frombuffer(spec, BYTES) if spec else NOTHING, len(spec)
    if not isinstance(spec, (list, tuple)):  # all of a buffer, whether or not there is a datatype for it
        found, element = memory_of(spec, writable, alone=True)
        if element not in _PLAIN:
            check_element(element)
        return _as_told(found, spec, element), found.nbytes
    buffer, count, displacement, kind, _ = split(spec)
    found, element = memory_of(buffer, writable, alone=False)
    datatype = datatype_of(kind, element)
    part = _part(found, count, displacement, datatype)
    if part is None:
        span = spanned(buffer, found, count, displacement, datatype)
        if writable and not datatype._dense:
            check_places(span)
        return payload_of(span), span.nbytes
    return part if kind is None and type(buffer) is ndarray else seen_as(part, datatype), part.nbytes


def _part(found: Found, count: Any, displacement: Any, datatype: Datatype) -> Any:
    """The payload of `[buffer, count, datatype]` and the like where it is all of an array, or a slice: the common cases.

    Nothing here is special but that it takes a third of the time; whatever is unusual is left to `spanned`.
    """
    size, nbytes = datatype._size, found.nbytes
    if not datatype._dense or not size or not nbytes or type(found) is not ndarray:
        return None
    if displacement is None:
        if count * size == nbytes if type(count) is int else count is None and not nbytes % size:
            datatype._usable()
            return found
        displacement = 0
    if datatype._dtype is not found.dtype or type(count) is not int or type(displacement) is not int:
        return None
    if count < 0 or displacement < 0 or (displacement + count) * size > nbytes:
        return None
    datatype._usable()
    return (found if found.ndim == 1 else found.reshape(-1))[displacement : displacement + count]


def payload_of(span: Span) -> Payload:
    """The simplest thing that can be copied from and to: an array, a phantom, or else the span itself."""
    memory, nbytes, datatype = span.memory, span.nbytes, span.datatype
    if type(memory) is Phantom:
        return Phantom(nbytes)
    if not datatype._dense:
        return span
    return seen_as(memory[span.offset : span.offset + nbytes], datatype)


def seen_as(array: Any, datatype: Datatype) -> Any:
    """An array of packed elements as one of numpy's type for them, which is how the receiver knows what came."""
    definition = datatype._definition
    dtype = definition.travels or travels_as(definition)
    return array if array.dtype is dtype or not array.nbytes else flat(array).view(dtype)


def _as_told(found: Found, spec: Any, element: Any) -> Any:
    """The memory of something that is not an array of numpy's, as what it calls its elements."""
    if type(spec) is ndarray or type(found) is not ndarray or not found.nbytes:
        return found
    if hasattr(spec, "_held"):  # an `MPI.buffer`
        return flat(found).view(BYTES)
    if isinstance(element, str):
        definition = CODES.get(element.lstrip(NATIVE))
        return found if definition is None else found.view(travels_as(definition))
    return found


def snapshot(payload: Payload) -> Payload:
    """A copy that nobody else has; what cannot change is its own copy."""
    if type(payload) is ndarray:
        return payload.copy()
    return seen_as(payload.packed(), payload.datatype) if type(payload) is Span else payload


def signature_of(payload: Payload) -> Signature:
    """What an array or a span consists of."""
    if type(payload) is ndarray:
        return of_dtype(payload.dtype)
    return of_type(payload.datatype._definition) if type(payload) is Span else ANYTHING


def is_called_bytes(payload: Payload) -> bool:
    """Whether an array or a span consists of BYTE, or PACKED, by name."""
    return (travels_as(payload.datatype._definition) if type(payload) is Span else payload.dtype) in (BYTES, UNKNOWN)


def copy_into(source: Payload, target: Payload, nbytes: int) -> None:
    """Copy a message of `nbytes` bytes, for which the target has room; the rest of the target stays as it is."""
    if type(source) is ndarray and source.dtype is target.dtype and target.nbytes == nbytes:
        try:
            # As many elements on both sides, so broadcasting can fail but not multiply.
            target[...] = source
            return
        except ValueError:
            pass
    _copy_bytes(source, target, nbytes)


def _copy_bytes(source: Payload, target: Payload, nbytes: int) -> None:
    if not nbytes or type(source) is Phantom or type(target) is Phantom:
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
        place = flat(target)
        (place if len(place) == nbytes else place[:nbytes])[...] = data


def as_bytes(payload: Payload, nbytes: int) -> bytes:
    """The first `nbytes` bytes of a message."""
    if type(payload) is bytes:
        found = payload
    elif type(payload) is tuple:
        found = pickle.dumps(payload[0], PROTOCOL)
    elif type(payload) is Phantom:
        raise complaint(ERR_BUFFER, f"a phantom of {payload.nbytes} bytes arrived: it has no contents.", MPITypeError)
    else:
        found = (payload.packed() if type(payload) is Span else payload).tobytes()
    return found if len(found) == nbytes else found[:nbytes]
