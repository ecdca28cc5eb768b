"""Pack and Unpack: between a program's buffers and packed bytes, native or in MPI's portable form (external32).

external32 is big-endian with fixed sizes: C's long takes 4 bytes there, wchar_t 2, long double 16 (IEEE quadruple).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fakempi.error_classes import (
    ERR_ARG,
    ERR_BUFFER,
    ERR_COMM,
    ERR_CONVERSION,
    ERR_COUNT,
    ERR_TRUNCATE,
    ERR_UNSUPPORTED_DATAREP,
)
from fakempi.errors import MPIBufferError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.foreign import foreign_array
from fakempi.mpi.datatypes.definition import Definition
from fakempi.mpi.datatypes.layout import Bytes
from fakempi.mpi.datatypes.quadruple import from_quadruple, is_extended, to_quadruple

_BYTE = np.dtype(np.uint8)
_NOTHING: Bytes = np.empty(0, _BYTE)
_EXTERNAL = {"l": ">i4", "L": ">u4", "U": ">u2"}  # where the portable form has another size, by type code


def pack(made: Definition, inbuf: Any, outbuf: Any, position: int, *, external: bool) -> int:
    """Pack all of `inbuf` to `outbuf[position:]`; the position after it."""
    memory, room = _memory(inbuf, "inbuf"), _memory(outbuf, "outbuf", write=True)
    count = _fitting(made, memory, "inbuf")
    needed = count * (external_size(made) if external else made.layout.size)
    _check_room(room, position, needed, "outbuf")
    place = room[position : position + needed]
    if external:
        place[...] = converted(made, made.layout.pack(memory, 0, count), count, outward=True)
    else:
        made.layout.pack_into(place, memory, 0, count)
    return position + needed


def unpack(made: Definition, inbuf: Any, position: int, outbuf: Any, *, external: bool) -> int:
    """Fill `outbuf` from `inbuf[position:]`; the position after what was read."""
    data, memory = _memory(inbuf, "inbuf"), _memory(outbuf, "outbuf", write=True)
    count = _fitting(made, memory, "outbuf")
    needed = count * (external_size(made) if external else made.layout.size)
    _check_room(data, position, needed, "inbuf")
    found = data[position : position + needed]
    made.layout.unpack(converted(made, found, count, outward=False) if external else found, memory, 0, count)
    return position + needed


def check_comm(comm: Any) -> None:
    """Packing needs a communicator, though nothing depends on which."""
    if comm is None:
        raise complaint(ERR_COMM, "comm is None, not a communicator.", MPITypeError)
    if not comm:
        raise complaint(ERR_COMM, "comm is COMM_NULL.", MPIValueError)


def check_representation(datarep: Any) -> None:
    """The only portable form MPI defines is external32."""
    if datarep != "external32":
        words = f"{datarep!r} is not a representation to pack to; MPI knows only 'external32'."
        raise complaint(ERR_UNSUPPORTED_DATAREP, words, MPIValueError)


def external_size(made: Definition) -> int:
    """Bytes that one element takes in external32."""
    if made.parts:
        return sum(times * external_size(part) for times, part in made.parts)
    letter = _numbers(made).char
    if letter in "gG":
        return 16 if letter == "g" else 32
    return np.dtype(_EXTERNAL[made.code]).itemsize if made.code in _EXTERNAL else made.layout.size


def converted(made: Definition, data: Bytes, count: int, *, outward: bool) -> Bytes:
    """`count` packed elements from native form to external32, or back."""
    if not len(data):
        return data
    if not made.parts:
        return _converted_basic(made, data, outward)
    (times, only), *others = made.parts
    if not others:
        return converted(only, data, count * times, outward=outward)
    rows, columns, begin = data.reshape(count, -1), [], 0
    for times, part in made.parts:
        width = times * (part.layout.size if outward else external_size(part))
        column = np.ascontiguousarray(rows[:, begin : begin + width]).ravel()
        columns.append(converted(part, column, count * times, outward=outward).reshape(count, -1))
        begin += width
    return np.concatenate(columns, axis=1).ravel()


def _converted_basic(made: Definition, data: Bytes, outward: bool) -> Bytes:
    """The numbers of one basic type, converted; they must fit where they go."""
    native = _numbers(made)
    if native.char in "gG" and np.finfo(np.longdouble).nmant != 112:
        if not is_extended():
            raise NotImplementedError("external32 of long double: this machine has it in neither 80 nor 128 bits.")
        return to_quadruple(data) if outward else from_quadruple(data)
    portable = np.dtype(_EXTERNAL[made.code]) if made.code in _EXTERNAL else native.newbyteorder(">")
    old, new = (native, portable) if outward else (portable, native)
    values = np.ascontiguousarray(data).view(old)
    converted = values.astype(new)
    if new.itemsize < old.itemsize and not np.array_equal(converted, values):
        worst = values[converted != values][0]
        raise complaint(ERR_CONVERSION, f"{worst} does not fit the {new.itemsize} bytes it gets.", MPIValueError)
    return converted.view(np.uint8)


def _numbers(made: Definition) -> np.dtype[Any]:
    """numpy's type for a basic type; characters are converted by their numbers."""
    assert made.dtype is not None  # only types without parts get here, and those are numpy's
    return np.dtype("u4") if made.code == "U" else made.dtype


def _memory(thing: Any, what: str, *, write: bool = False) -> Bytes:
    """The bytes of a program's buffer."""
    found: npt.NDArray[Any]
    if isinstance(thing, np.ndarray):
        found = thing
    else:
        found = _shown(thing, what)
    if found.dtype.hasobject:
        raise complaint(ERR_BUFFER, f"{what} holds Python objects, not numbers.", MPITypeError)
    flags = found.flags
    if not (flags.c_contiguous or flags.f_contiguous):
        raise complaint(ERR_BUFFER, f"{what} is not contiguous.", MPIBufferError)
    if write and not flags.writeable:
        raise complaint(ERR_BUFFER, f"{what} is read-only.", MPIBufferError)
    if not found.nbytes:
        return _NOTHING
    return (found if found.ndim == 1 else found.ravel(order="K")).view(_BYTE)


def _shown(thing: Any, what: str) -> npt.NDArray[Any]:
    """An array on the memory of something that is none."""
    try:
        view = memoryview(thing)
    except TypeError:
        found = foreign_array(thing)
        if found is None:
            words = f"{what} is {type(thing).__name__}, which has no bytes to offer."
            raise complaint(ERR_BUFFER, words, MPITypeError) from None
        return found
    return np.frombuffer(view, _BYTE) if view.c_contiguous and view.nbytes else np.asarray(view)


def _fitting(made: Definition, memory: Bytes, what: str) -> int:
    """How many elements the buffer holds, counted in extents as mpi4py does; all their bytes must be inside it."""
    layout = made.layout
    if layout.extent < 0:
        raise complaint(ERR_COUNT, f"extent {layout.extent} is negative: no way to count in {what}.", MPIValueError)
    count = len(memory) // layout.extent if layout.extent else 0
    low, high = layout.span(count)
    if low < 0 or high > len(memory):
        words = f"{count} elements of {made.describe()} touch bytes {low} to {high}, {what} has {len(memory)}."
        raise complaint(ERR_BUFFER, words, MPIValueError)
    return count


def _check_room(room: Bytes, position: int, needed: int, what: str) -> None:
    if position < 0:
        raise complaint(ERR_ARG, f"position {position} is negative.", MPIValueError)
    if position + needed > len(room):
        words = f"{needed} bytes at position {position} go beyond the {len(room)} bytes of {what}."
        raise complaint(ERR_TRUNCATE, words, MPIValueError)
