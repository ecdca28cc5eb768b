"""Pickles with large buffers in parts: a large buffer is copied once, from the sender's object to the receiver's.

A pickler that writes to a file writes a large buffer without a copy, after an opcode with its length. The joined parts are
therefore the bytes that `pickle.dumps` returns, and their size is the size of the message. To load them, each of these
opcodes is replaced by that of protocol 5 for an out-of-band buffer, which needs no further copy.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.mpi.interfaces.arrays import Array

LARGE = 1 << 16
"""The size in bytes from which a buffer is outside the frames of a pickle, and is a separate part."""

PROTOCOL = pickle.HIGHEST_PROTOCOL  # mpi4py's default

LargeBuffer = bytearray | Array
Part = bytes | LargeBuffer
"""A part of a pickle: bytes of the stream, or a large buffer; a large buffer that is bytes is a part of the stream."""

_NEXT_BUFFER = pickle.NEXT_BUFFER
_HEADER = 9  # bytes of opcode and length before a writable buffer, or one of 4 GB
_SHORT_HEADER = 5  # before a smaller buffer that is read-only


class Pickled(tuple[Part, ...]):
    """A pickle that no other object uses: bytes of the stream, and copies of large buffers, each after its header."""

    __slots__ = ()

    def load(self, *, take: bool) -> Any:
        """Return the object. Its large buffers are copies, or with `take`, the buffers of this pickle."""
        stream: list[bytes] = []
        buffers: list[LargeBuffer] = []
        for part in self:
            if isinstance(part, bytes):
                stream.append(part)
            else:
                stream[-1] = stream[-1][: -_header_size(part)] + _NEXT_BUFFER
                buffers.append(part if take else _copy(part))
        return pickle.loads(b"".join(stream), buffers=buffers)


class _Writer:
    """The part of a file's interface that a pickler uses."""

    __slots__ = ("write",)

    def __init__(self, parts: list[bytes | bytearray | pickle.PickleBuffer]) -> None:
        self.write = parts.append


def parts_of(obj: object) -> list[Part]:
    """Pickle an object in parts: bytes, and the large buffers of the object itself."""
    parts: list[bytes | bytearray | pickle.PickleBuffer] = []
    pickle.Pickler(_Writer(parts), PROTOCOL).dump(obj)
    return [part if isinstance(part, bytes) else _as_buffer(part) for part in parts]


def has_large_buffer(parts: Iterable[Part]) -> bool:
    """Whether one of the parts is a large buffer."""
    return any([type(part) is not bytes for part in parts])


def copied(parts: list[Part]) -> bytes | Pickled:
    """Return a pickle that cannot change, with copies of large buffers; as bytes if there is none."""
    if has_large_buffer(parts):
        return Pickled([_copy(part) for part in parts])
    stream: Any = parts  # numpy's stubs lack the buffer protocol before 2.5
    return b"".join(stream)


def _as_buffer(part: bytearray | pickle.PickleBuffer) -> Part:
    """Return an array for the memory of an array, a bytearray for a bytearray, and bytes or a bytearray for others."""
    if isinstance(part, bytearray):
        return part
    raw = part.raw()
    if isinstance(raw.obj, ndarray) and type(raw.obj) is ndarray:
        return np.frombuffer(raw, np.uint8)
    return bytes(raw) if raw.readonly else bytearray(raw)


def _copy(part: Any) -> Any:
    """Copy a large buffer. numpy copies large arrays in a fifth of the time of Python, since it uses large pages."""
    if type(part) is bytes:
        return part
    copy = part.copy()
    if type(part) is ndarray:
        copy.flags.writeable = part.flags.writeable
    return copy


def _header_size(part: LargeBuffer) -> int:
    if isinstance(part, bytearray) or part.flags.writeable:
        return _HEADER
    return _HEADER if part.nbytes >= 1 << 32 else _SHORT_HEADER
