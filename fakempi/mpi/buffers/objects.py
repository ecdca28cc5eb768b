"""Payloads of Python objects: a pickle, or for simple immutable values the object itself.

The size of a message is that of the pickle in both cases. For simple values it is computed by the rules of pickle protocol
5, without pickling. Large arrays are separate parts (see `out_of_band`).
"""

from __future__ import annotations

import pickle as _pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import ndarray

from fakempi.mpi.buffers.out_of_band import LARGE, PROTOCOL, Part, Pickled, copied, has_large_buffer, parts_of
from fakempi.mpi.buffers.payload import MessagePayload, ObjectPayload, as_bytes, describe_target
from fakempi.mpi.buffers.pickling import Pickle, PickleSettings, pickle, process_wide
from fakempi.mpi.buffers.raw import U1, Bytes
from fakempi.mpi.buffers.span import Payload

__all__ = ["Pickle", "PickleSettings", "pack", "pack_all", "pickle", "pickle_target", "unpack"]

_dumps, _loads = _pickle.dumps, _pickle.loads

# Pickling in parts takes 2 us more, so it is used for large arrays (in C or Fortran order: numpy copies others anyway), and
# for types that had a large object recently. After _TRIES objects without a large buffer the type is removed. Types are
# stored by name, so that no class is kept alive.
_TRIES = 4
_large_types: dict[str, int] = {}


def pack(obj: Any, pickler: PickleSettings | None = None) -> tuple[ObjectPayload, int]:
    """Return the payload of an object, and its size; `pickler` is None unless the rank has set `MPI.pickle`."""
    if pickler is None:
        pickler = process_wide.settings
        if pickler is None:
            kind = type(obj)
            if kind is int and -1 < obj < 256:
                return (obj,), 5
            size = _SIZES.get(kind)
            if size is not None:
                nbytes = size(obj)
                if nbytes:
                    return (obj,), nbytes
            if obj.nbytes >= LARGE and obj.flags.forc if kind is ndarray else _large_types and kind.__name__ in _large_types:
                parts = _in_parts(obj)
                return copied(parts), sum(map(len, parts))
            data = _dumps(obj, PROTOCOL)
            nbytes = len(data)
            if nbytes >= LARGE:
                _large_types[kind.__name__] = _TRIES
            return data, nbytes
    data = pickler.dumps(obj)
    return data, len(data)


def unpack(payload: MessagePayload, nbytes: int, pickler: PickleSettings | None = None, *, take: bool = False) -> Any:
    """Return the object of a message; a payload of a buffer must hold a pickle.

    With `take` no other code uses the payload afterwards, so the object may use its memory without a copy.
    """
    if pickler is None:
        pickler = process_wide.settings
        if pickler is None:
            if type(payload) is tuple:
                return payload[0]
            if type(payload) is bytes and len(payload) == nbytes:
                return _loads(payload)
            if type(payload) is Pickled:
                return payload.load(take=take)
            if type(payload) is ndarray and payload.dtype is U1 and payload.size == nbytes:
                return _loads(payload.data)
            return _loads(as_bytes(payload, nbytes))
    return pickler.loads(as_bytes(payload, nbytes))


def pack_all(objects: Iterable[object], pickler: PickleSettings | None) -> tuple[Bytes, npt.NDArray[np.int64]]:
    """Return the pickles of objects, one after the other in an array of bytes, and their sizes."""
    parts: list[Part] = []
    sizes = []
    for obj in objects:
        if pickler is process_wide.settings is None and type(obj) is ndarray and obj.nbytes >= LARGE:
            pickled = _in_parts(obj)  # `joined` makes the only copy
        else:
            payload, nbytes = pack(obj, pickler)
            pickled = list(payload) if type(payload) is Pickled else [as_bytes(payload, nbytes)]
        parts += pickled
        sizes.append(sum(map(len, pickled)))
    return joined(parts), np.array(sizes, np.int64)


def joined(parts: Sequence[Part]) -> Bytes:
    """Join bytes and buffers to one array of bytes. numpy copies large ones in a fifth of the time of Python."""
    total = sum(map(len, parts))
    if total < LARGE:
        buffers: Any = parts  # numpy's stubs lack the buffer protocol before 2.5
        return np.frombuffer(bytearray().join(buffers), U1)
    data, at = np.empty(total, U1), 0
    for part in parts:
        data[at : at + len(part)] = np.frombuffer(part, U1)
        at += len(part)
    return data


def _in_parts(obj: object) -> list[Part]:
    """Pickle an object in parts, and record whether its type has large buffers."""
    parts, name = parts_of(obj), type(obj).__name__
    tries = _TRIES if has_large_buffer(parts) else _large_types.get(name, 0) - 1
    if tries > 0:
        _large_types[name] = tries
    else:
        _large_types.pop(name, None)
    return parts


def pickle_target(buf: object) -> tuple[Payload | None, int]:
    """Return the target for a pickle, and its size in bytes. An integer specifies a size without a target."""
    return (None, int(buf)) if isinstance(buf, (int, np.integer)) else describe_target(buf)


# The size of a pickle: the opcodes of the value, 2 bytes for the protocol before them, 1 for the end after them, and 9 for
# a frame if value and end have at least 4 bytes. Strings from 64 KiB on are outside frames. A result of 0 means that the
# object has to be pickled.


def _size(body: int) -> int:
    return body + 12 if body > 2 else body and body + 3


def _int_body(value: int) -> int:
    if -0x80000000 <= value <= 0x7FFFFFFF:
        if 0 <= value <= 0xFFFF:
            return 2 if value <= 0xFF else 3
        return 5
    nbytes = (value if value >= 0 else ~value).bit_length() // 8 + 1
    return 2 + nbytes if nbytes <= 0xFF else 0


def _string_size(nbytes: int) -> int:
    """The size for a string or bytes: the length takes 1 or 4 bytes, and an opcode puts the value into the memo."""
    if nbytes < 0x10000:
        return _size(nbytes + 3 if nbytes <= 0xFF else nbytes + 6)
    return nbytes + 9 if nbytes < 0x100000000 else 0


def _str_size(value: str) -> int:
    return _string_size(len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass")))


def _tuple_size(items: tuple[object, ...]) -> int:
    """The size for a tuple of up to four numbers. With strings it depends on object identity, so these are pickled."""
    count = len(items)
    if not 0 < count <= 4:
        return 0
    body = 2 if count <= 3 else 3
    for item in items:
        kind = type(item)
        if type(item) is int:
            size = _int_body(item)
            if not size:
                return 0
            body += size
        elif kind is float:
            body += 9
        elif item is None or kind is bool:
            body += 1
        else:
            return 0
    return _size(body)


_COMPLEX_SIZE = len(_dumps(1j, PROTOCOL))
_SIZES: dict[type, Callable[[Any], int]] = {
    int: lambda value: _size(_int_body(value)),
    float: lambda _: 21,
    bool: lambda _: 4,
    type(None): lambda _: 4,
    complex: lambda _: _COMPLEX_SIZE,
    bytes: lambda value: _string_size(len(value)),
    str: _str_size,
    tuple: _tuple_size,
}
if PROTOCOL != 5:
    _SIZES.clear()
