"""Pack and Unpack: between a program's buffers and packed bytes, native or in MPI's portable form (external32).

external32 is big-endian with fixed sizes: C's long takes 4 bytes there, wchar_t 2, long double 16 (IEEE quadruple).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi.errors import MPIBufferError, MPITypeError, MPIValueError
from fakempi.errors.classes import (
    ERR_ARG,
    ERR_BUFFER,
    ERR_COMM,
    ERR_CONVERSION,
    ERR_COUNT,
    ERR_TRUNCATE,
    ERR_UNSUPPORTED_DATAREP,
)
from fakempi.mpi.base.array_protocols import protocol_array
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.datatypes.definition import Definition
from fakempi.mpi.datatypes.layout import Bytes
from fakempi.mpi.datatypes.long_doubles import from_quadruple, to_quadruple
from fakempi.mpi.datatypes.padding import clear_packed, has_padding
from fakempi.mpi.interfaces.arrays import Array, Dtype
from fakempi.mpi.interfaces.buffers import Buffer

_BYTE = np.dtype(np.uint8)
_NO_BYTES: Bytes = np.empty(0, _BYTE)
_EXTERNAL = {"l": ">i4", "L": ">u4", "U": ">u2"}  # where the portable form has another size, by type code


def pack(definition: Definition, inbuf: Buffer, outbuf: Buffer, position: int, *, external: bool) -> int:
    """Pack `inbuf` into `outbuf[position:]`; return the position after it."""
    memory, space = _memory(inbuf, "inbuf"), _memory(outbuf, "outbuf", write=True)
    count = _fitting(definition, memory, "inbuf")
    needed = count * (external_size(definition) if external else definition.layout.size)
    _check_space(space, position, needed, "outbuf")
    packed = space[position : position + needed]
    if external:
        packed[...] = converted(definition, definition.layout.pack(memory, 0, count), count, outward=True)
    else:
        definition.layout.pack_into(packed, memory, 0, count)
        if has_padding(definition):
            clear_packed(definition, packed, count)
    return position + needed


def unpack(definition: Definition, inbuf: Buffer, position: int, outbuf: Buffer, *, external: bool) -> int:
    """Unpack `inbuf[position:]` into `outbuf`; return the position after it."""
    data, memory = _memory(inbuf, "inbuf"), _memory(outbuf, "outbuf", write=True)
    count = _fitting(definition, memory, "outbuf")
    needed = count * (external_size(definition) if external else definition.layout.size)
    _check_space(data, position, needed, "inbuf")
    packed = data[position : position + needed]
    definition.layout.unpack(converted(definition, packed, count, outward=False) if external else packed, memory, 0, count)
    return position + needed


def check_comm(comm: object) -> None:
    """Raise an error unless `comm` is a communicator; packing does not depend on it."""
    if comm is None:
        raise mpi_error(ERR_COMM, "comm is None, not a communicator.", MPITypeError)
    if not comm:
        raise mpi_error(ERR_COMM, "comm is COMM_NULL.", MPIValueError)


def check_representation(datarep: object) -> None:
    """Raise an error unless the representation is external32, the only one that MPI defines for packing."""
    if datarep != "external32":
        sentence = f"{datarep!r} is not a data representation for packing: use 'external32'."
        raise mpi_error(ERR_UNSUPPORTED_DATAREP, sentence, MPIValueError)


def external_size(definition: Definition) -> int:
    """Return the size of one element in bytes in external32."""
    if definition.parts:
        return sum(times * external_size(part) for times, part in definition.parts)
    if not definition.layout.size:  # a struct without members, which numpy has no type for
        return 0
    letter = _numbers(definition).char
    if letter in "gG":
        return 16 if letter == "g" else 32
    return np.dtype(_EXTERNAL[definition.code]).itemsize if definition.code in _EXTERNAL else definition.layout.size


def converted(definition: Definition, data: Bytes, count: int, *, outward: bool) -> Bytes:
    """Convert `count` packed elements from native form to external32 (`outward`), or back."""
    if not len(data):
        return data
    if not definition.parts:
        return _converted_basic(definition, data, outward)
    (times, only), *others = definition.parts
    if not others:
        return converted(only, data, count * times, outward=outward)
    rows, columns, begin = data.reshape(count, -1), [], 0
    for times, part in definition.parts:
        width = times * (part.layout.size if outward else external_size(part))
        column = np.ascontiguousarray(rows[:, begin : begin + width]).ravel()
        columns.append(converted(part, column, count * times, outward=outward).reshape(count, -1))
        begin += width
    return np.concatenate(columns, axis=1).ravel()


def _converted_basic(definition: Definition, data: Bytes, outward: bool) -> Bytes:
    """Convert numbers of one basic type; raise an error if a number does not fit."""
    native = _numbers(definition)
    if native.char in "gG":
        return to_quadruple(data) if outward else from_quadruple(data)
    portable = np.dtype(_EXTERNAL[definition.code]) if definition.code in _EXTERNAL else native.newbyteorder(">")
    old, new = (native, portable) if outward else (portable, native)
    values = np.ascontiguousarray(data).view(old)
    converted = values.astype(new)
    if new.itemsize < old.itemsize and not np.array_equal(converted, values):
        worst = values[converted != values][0]
        raise mpi_error(ERR_CONVERSION, f"{worst} does not fit in {new.itemsize} bytes.", MPIValueError)
    return converted.view(np.uint8)


def _numbers(definition: Definition) -> Dtype:
    """Return numpy's type for a basic type; characters are converted as integers."""
    assert definition.dtype is not None  # only types without parts get here, and those are numpy's
    return np.dtype("u4") if definition.code == "U" else definition.dtype


def _memory(obj: object, what: str, *, write: bool = False) -> Bytes:
    """Return the bytes of a program's buffer."""
    array: Array
    if isinstance(obj, np.ndarray):
        array = obj
    else:
        array = _exported_array(obj, what)
    if array.dtype.hasobject:
        raise mpi_error(ERR_BUFFER, f"{what} holds Python objects, not numbers.", MPITypeError)
    flags = array.flags
    if not (flags.c_contiguous or flags.f_contiguous):
        raise mpi_error(ERR_BUFFER, f"{what} is not contiguous.", MPIBufferError)
    if write and not flags.writeable:
        raise mpi_error(ERR_BUFFER, f"{what} is read-only.", MPIBufferError)
    if not array.nbytes:
        return _NO_BYTES
    return (array if array.ndim == 1 else array.ravel(order="K")).view(_BYTE)


def _exported_array(obj: Any, what: str) -> Array:
    """Return an array on the memory of an object that exports a buffer."""
    try:
        view = memoryview(obj)
    except TypeError:
        array = protocol_array(obj)
        if array is None:
            sentence = f"{what} is {type(obj).__name__}, which does not export a buffer."
            raise mpi_error(ERR_BUFFER, sentence, MPITypeError) from None
        return array
    return np.frombuffer(view, _BYTE) if view.c_contiguous and view.nbytes else np.asarray(view)


def _fitting(definition: Definition, memory: Bytes, what: str) -> int:
    """Return the number of elements in a buffer, counted in extents as in mpi4py; raise an error if they exceed it."""
    layout = definition.layout
    if layout.extent < 0:
        raise mpi_error(ERR_COUNT, f"extent {layout.extent} is negative: cannot count elements in {what}.", MPIValueError)
    count = len(memory) // layout.extent if layout.extent else 0
    low, high = layout.span(count)
    if low < 0 or high > len(memory):
        sentence = f"{count} elements of {definition.describe()} touch bytes {low} to {high}, {what} has {len(memory)}."
        raise mpi_error(ERR_BUFFER, sentence, MPIValueError)
    return count


def _check_space(space: Bytes, position: int, needed: int, what: str) -> None:
    if position < 0:
        raise mpi_error(ERR_ARG, f"position {position} is negative.", MPIValueError)
    if position + needed > len(space):
        sentence = f"{needed} bytes at position {position} go beyond the {len(space)} bytes of {what}."
        raise mpi_error(ERR_TRUNCATE, sentence, MPIValueError)
