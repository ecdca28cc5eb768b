"""Pickles with large memory in them, in parts: what is large is copied once, from the sender's object to the receiver's.

A pickler that writes to a file hands over large memory as it is, after the opcode that announces its length. So the parts
joined are the bytes that `pickle.dumps` makes, and the size of a message is theirs. To load them, each of these opcodes
gives way to one that takes memory from beside the pickle (protocol 5), which needs no further copy.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray

LARGE = 1 << 16
"""Memory of so many bytes stays out of a pickle's frames, and is handed over by itself."""

PROTOCOL = pickle.HIGHEST_PROTOCOL  # mpi4py's default

_NEXT = pickle.NEXT_BUFFER
_ANNOUNCED = 9  # bytes of opcode and length before memory that can be changed; read-only memory below 4 GB has a shorter one
_ANNOUNCED_SHORT = 5


class Pickled(tuple[Any, ...]):
    """A pickle that nobody else has: bytes as they are in it, and copies of large memory, each after its announcement."""

    __slots__ = ()

    def load(self, *, take: bool) -> Any:
        """The object. Its memory is a copy, or, if nobody will ask again, taken from here."""
        stream: list[bytes] = []
        memory: list[Any] = []
        for part in self:
            if type(part) is bytes:
                stream.append(part)
            else:
                stream[-1] = stream[-1][: -_announced(part)] + _NEXT
                memory.append(part if take else _copy(part))
        return pickle.loads(b"".join(stream), buffers=memory)


class _Sink:
    """A file, as far as picklers ask of one."""

    __slots__ = ("write",)

    def __init__(self, parts: list[Any]) -> None:
        self.write = parts.append


def parts_of(obj: Any) -> list[Any]:
    """The pickle of an object in parts: bytes, and large memory as the object has it."""
    parts: list[Any] = []
    pickle.Pickler(_Sink(parts), PROTOCOL).dump(obj)
    return [part if type(part) is bytes else _as_memory(part) for part in parts]


def has_memory(parts: Iterable[Any]) -> bool:
    """Whether there is any that was handed over as it is."""
    return any([type(part) is not bytes for part in parts])


def copied(parts: list[Any]) -> bytes | Pickled:
    """The same parts, which nobody can change; in one if there is no large memory."""
    return Pickled([_copy(part) for part in parts]) if has_memory(parts) else b"".join(parts)


def _as_memory(part: Any) -> Any:
    """An array for an array's memory, a bytearray for a bytearray, bytes or a bytearray for any other."""
    if type(part) is bytearray:
        return part
    raw = part.raw()
    if type(raw.obj) is ndarray:
        return np.frombuffer(raw, np.uint8)
    return bytes(raw) if raw.readonly else bytearray(raw)


def _copy(part: Any) -> Any:
    """Of large arrays, numpy makes a copy in a fifth of the time that Python needs: it asks for large pages."""
    if type(part) is bytes:
        return part
    made = part.copy()
    if type(part) is ndarray:
        made.flags.writeable = part.flags.writeable
    return made


def _announced(part: Any) -> int:
    writable = type(part) is bytearray or part.flags.writeable
    return _ANNOUNCED if writable or part.nbytes >= 1 << 32 else _ANNOUNCED_SHORT
