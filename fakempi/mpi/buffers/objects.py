"""How Python objects travel: pickled, as on a real wire; simple values that nobody can change travel as they are.

The size of a message is that of the pickle either way. For simple values it is computed, by the rules of pickle's
protocol 5, instead of measured. Large arrays stay beside the pickle (see `parts`).
"""

from __future__ import annotations

import pickle as _pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.mpi.buffers.parts import LARGE, PROTOCOL, Pickled, copied, has_memory, parts_of
from fakempi.mpi.buffers.payload import Payload, as_bytes, describe_target
from fakempi.mpi.buffers.pickling import Pickle, PickleSettings, outside, pickle
from fakempi.mpi.buffers.raw import U1

__all__ = ["Pickle", "PickleSettings", "in_a_row", "pack", "pickle", "room_for", "unpack"]

_dumps, _loads = _pickle.dumps, _pickle.loads

# Pickling in parts takes 2 us more, so it is for large arrays (in C's order or Fortran's: others numpy copies anyway), and
# for objects of a type of which one was large lately: it is tried so many times in vain before the type is forgotten. Types
# are known by name here, so that nobody's class is kept alive.
_CHANCES = 4
_lately: dict[str, int] = {}


def pack(obj: Any, pickler: PickleSettings | None = None) -> tuple[Payload, int]:
    """What to send for an object, and its size; `pickler` is None unless the rank has settings of its own."""
    if pickler is None:
        pickler = outside.settings
        if pickler is None:
            kind = type(obj)
            if kind is int and -1 < obj < 256:
                return (obj,), 5
            size = _SIZES.get(kind)
            if size is not None:
                nbytes = size(obj)
                if nbytes:
                    return (obj,), nbytes
            if obj.nbytes >= LARGE and obj.flags.forc if kind is ndarray else _lately and kind.__name__ in _lately:
                parts = _in_parts(obj)
                return copied(parts), sum(map(len, parts))
            data = _dumps(obj, PROTOCOL)
            nbytes = len(data)
            if nbytes >= LARGE:
                _lately[kind.__name__] = _CHANCES
            return data, nbytes
    data = pickler.dumps(obj)
    return data, len(data)


def unpack(payload: Payload, nbytes: int, pickler: PickleSettings | None = None, *, take: bool = False) -> Any:
    """The object in a message; if the message was sent from a buffer, that should hold a pickle.

    With `take` the message is not asked again, so that the object may have the memory that travelled.
    """
    if pickler is None:
        pickler = outside.settings
        if pickler is None:
            if type(payload) is tuple:
                return payload[0]
            kind = type(payload)
            if kind is bytes and len(payload) == nbytes:
                return _loads(payload)
            if kind is Pickled:
                return payload.load(take=take)
            if kind is ndarray and payload.dtype is U1 and payload.size == nbytes:
                return _loads(payload.data)
            return _loads(as_bytes(payload, nbytes))
    return pickler.loads(as_bytes(payload, nbytes))


def in_a_row(objects: Iterable[Any], pickler: PickleSettings | None) -> tuple[Any, Any]:
    """The pickles of objects in a row, as an array of bytes, and their sizes."""
    parts: list[Any] = []
    sizes = []
    for obj in objects:
        if pickler is outside.settings is None and type(obj) is ndarray and obj.nbytes >= LARGE:
            found = _in_parts(obj)  # to be copied now, so not before
        else:
            content, nbytes = pack(obj, pickler)
            found = list(content) if type(content) is Pickled else [as_bytes(content, nbytes)]
        parts += found
        sizes.append(sum(map(len, found)))
    return joined(parts), np.array(sizes, np.int64)


def joined(parts: list[Any]) -> Any:
    """Bytes and memory as one array of bytes; if it is large, numpy makes it in a fifth of the time."""
    total = sum(map(len, parts))
    if total < LARGE:
        return np.frombuffer(bytearray().join(parts), U1)
    data, at = np.empty(total, U1), 0
    for part in parts:
        data[at : at + len(part)] = np.frombuffer(part, U1)
        at += len(part)
    return data


def _in_parts(obj: Any) -> list[Any]:
    """The pickle of an object that may be large, in parts; and whether it was is noted."""
    parts, name = parts_of(obj), type(obj).__name__
    chances = _CHANCES if has_memory(parts) else _lately.get(name, 0) - 1
    if chances > 0:
        _lately[name] = chances
    else:
        _lately.pop(name, None)
    return parts


def room_for(buf: Any) -> tuple[Payload | None, int]:
    """Where a program wants an object's pickle, and how many bytes of it there is room for; an integer is room alone."""
    return (None, int(buf)) if isinstance(buf, (int, np.integer)) else describe_target(buf)


# How long a pickle is: what stands for the value, 2 bytes for the protocol before it, 1 for the end after it, and 9 for
# a frame if value and end have at least 4 bytes. Strings from 64 KiB on are left out of frames. 0 stands for a case
# that is better measured than computed.


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
    """Of a string or byte string: its length takes 1 or 4 bytes, and it gets a number in the pickle's memory."""
    if nbytes < 0x10000:
        return _size(nbytes + 3 if nbytes <= 0xFF else nbytes + 6)
    return nbytes + 9 if nbytes < 0x100000000 else 0


def _str_size(value: str) -> int:
    return _string_size(len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass")))


def _tuple_size(items: tuple[Any, ...]) -> int:
    """Of up to four numbers. Strings are measured: it would matter whether two of them are the same object."""
    count = len(items)
    if not 0 < count <= 4:
        return 0
    body = 2 if count <= 3 else 3
    for item in items:
        kind = type(item)
        if kind is int:
            inside = _int_body(item)
            if not inside:
                return 0
            body += inside
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
