"""What a message is made of: from what a program hands over to a payload, and from payload to payload.

A payload is a numpy array in C's order (most are: it is the program's own array), a `Span` where the bytes do not
follow each other, a `Phantom` without any, or, for Python objects, their pickle as bytes or the object itself in a
tuple of one (see `objects`).
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.error_classes import ERR_BUFFER
from fakempi.errors import MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.places import BottomType, InPlaceType
from fakempi.mpi.buffers.raw import NOTHING, U1, check_byte_order, contiguous, flat, memory_of
from fakempi.mpi.buffers.span import Span, datatype_of, span_of, split

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
    if type(spec) is Span:  # described already: a block of a collective call
        return spec, spec.nbytes
    if isinstance(spec, ndarray):
        array = contiguous(spec, writable=writable)
        check_byte_order(array.dtype)
        return array, array.nbytes
    if type(spec) is Phantom:
        return spec, spec.nbytes
    if type(spec) is bytearray or (type(spec) is bytes and not writable):
        return np.frombuffer(spec, U1) if spec else NOTHING, len(spec)
    buffer, count, displacement, kind = split(spec)
    if buffer is spec and not isinstance(spec, (BottomType, InPlaceType)):
        memory, element = memory_of(spec, writable=writable)
        check_byte_order(element)
        return memory, memory.nbytes
    if type(buffer) is ndarray:
        part = _part(buffer, count, displacement, kind, writable)
        if part is not None:
            return part, part.nbytes
    span = span_of(buffer, count, displacement, kind, writable=writable)
    return span.payload(), span.nbytes


def _part(buffer: Any, count: Any, displacement: Any, kind: Any, writable: bool) -> Any:
    """What `[array, count, datatype]` and the like mean where it is all of an array, or a slice: the common cases.

    Nothing here is special but that it takes a third of the time; whatever is unusual is left to `span_of`.
    """
    array = contiguous(buffer, writable=writable)
    datatype = datatype_of(kind, array.dtype)
    size, nbytes = datatype._size, array.nbytes
    if not datatype._dense or not size or not nbytes:
        return None
    if displacement is None:
        if count * size == nbytes if type(count) is int else count is None and not nbytes % size:
            datatype._usable()
            return array
        displacement = 0
    if datatype._dtype is not array.dtype or type(count) is not int or type(displacement) is not int:
        return None
    if count < 0 or displacement < 0 or (displacement + count) * size > nbytes:
        return None
    datatype._usable()
    return (array if array.ndim == 1 else array.reshape(-1))[displacement : displacement + count]


def snapshot(payload: Payload) -> Payload:
    """A copy that nobody else has; what cannot change is its own copy."""
    if type(payload) is ndarray:
        return payload.copy()
    return payload.packed() if type(payload) is Span else payload


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
        data = source.packed()
    else:
        data = np.frombuffer(as_bytes(source, nbytes), U1)
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
