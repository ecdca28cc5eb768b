"""Prepared calls of a child: a blocking call that a line repeats is sent as a number, its integers and its arrays.

Calls are of the same kind if they have the same line, method and communicator, and the same type of each argument; for
arrays also the same element type and shape. The first call of a kind is sent as a compact message, which also gives the kind
a number. Later calls of that kind contain only the arguments that differ, so neither side has to describe or to read the
others again. A `Send` and a `Recv` of 8 bytes then take 105 us instead of 125 us.
"""

from __future__ import annotations

import sys
from struct import Struct, error
from typing import Any

from fakempi.processes.child.compact import ArrayMemory
from fakempi.processes.child.encoding import Default, Encoder, Proxy
from fakempi.processes.protocol import (
    CONSTANT,
    DTYPES,
    HEADER,
    PREPARED_ANSWER,
    PREPARED_CALL,
    PREPARED_KINDS,
    PREPARED_MARK,
    SMALLEST_SEGMENT,
)

START_OF_ARRAYS = PREPARED_ANSWER.size


class PreparedKind:
    """A kind of calls: its number, and the encoding of a call."""

    __slots__ = ("count", "key", "number", "pack", "size")

    def __init__(self, key: tuple[Any, ...], count: int, integers: int, nbytes: int) -> None:
        form = Struct(HEADER.format + PREPARED_CALL.format.lstrip("<") + "q" * integers)
        self.key, self.count, self.number = key, count, count % PREPARED_KINDS
        self.pack, self.size = form.pack, form.size + nbytes - HEADER.size


class PreparedCalls:
    """The kinds of calls that the parent knows."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.kinds: dict[tuple[Any, ...], PreparedKind] = {}
        self.by_number: dict[int, PreparedKind] = {}
        self.made = 0
        self.ndarray: Any = None
        self.chars: dict[int, str] = {}  # id of a dtype of numbers -> its character

    def message(
        self, number: int, site: int, target: Any, args: tuple[Any, ...], reads: int
    ) -> tuple[bytes | PreparedKind, list[Any]] | None:
        """Return a call as bytes, and the arrays that it may change; None if calls like it cannot be prepared.

        The bits of `reads` are set for arguments that are only read. If the parent does not know the kind of the call yet,
        the result is that kind instead of bytes.
        """
        if self.ndarray is None and not self._find_numpy():
            return None
        ndarray, chars = self.ndarray, self.chars
        key: list[Any] = [site, number, target._key]
        integers: list[int] = []
        data, arrays, writes = b"", [], []  # type: bytes, list[Any], list[Any]
        for arg in args:
            kind = type(arg)
            if kind is int:
                integers.append(arg)
                key.append(int)
            elif kind is ndarray:
                flags, char = arg.flags, chars.get(id(arg.dtype))
                if char is None or not flags.c_contiguous or not 0 < arg.nbytes < SMALLEST_SEGMENT:
                    return None
                if arrays:
                    if any(one is arg for one in arrays):  # the parent must see the same array twice, too
                        return None
                    data += arg.tobytes()
                else:
                    data = arg.tobytes()
                arrays.append(arg)
                key += char, arg.shape
                if not reads & 1 and flags.writeable:
                    writes.append(arg)
                    key.append(True)
            elif kind is Default or arg is None:
                key.append(arg)
            elif issubclass(kind, Proxy) and arg._key[0] == CONSTANT:
                key.append(arg._key)
            else:
                return None
            reads >>= 1
        found = self.kinds.get(tuple(key))
        if found is None:
            self.made += 1
            return PreparedKind(tuple(key), self.made, len(integers), len(data)), writes
        encoder = self.encoder
        first = encoder.count + 1
        encoder.count += len(writes)
        try:
            return found.pack(found.size, PREPARED_MARK, found.number, first, *integers) + data, writes
        except error:  # an integer with more than 64 bits
            return None

    def finish(self, answer: bytes | bytearray, writes: list[Any]) -> float:
        """Write the results of a call to arrays; returns the modeled time."""
        _, clock = PREPARED_ANSWER.unpack_from(answer)
        at = START_OF_ARRAYS
        for array in writes:
            nbytes = array.nbytes
            try:
                memoryview(array).cast("B")[:] = answer[at : at + nbytes]
            except (TypeError, ValueError):  # complex numbers
                array.reshape(-1).view("u1").data[:] = answer[at : at + nbytes]
            at += nbytes
        return float(clock)

    def memory(self, writes: list[Any]) -> dict[int, Any]:
        """Return the arrays of the last call by number, for an answer that is not a prepared one."""
        first = self.encoder.count - len(writes) + 1
        return {first + index: ArrayMemory(array, first + index, None) for index, array in enumerate(writes)}

    def add(self, kind: PreparedKind) -> None:
        """Add a kind that the parent knows now, and replace the one that had its number."""
        if self.made - kind.count >= PREPARED_KINDS:  # callbacks of the call have used its number
            return
        before = self.by_number.get(kind.number)
        if before is not None:
            self.kinds.pop(before.key, None)
        self.by_number[kind.number] = self.kinds[kind.key] = kind

    def _find_numpy(self) -> bool:
        numpy: Any = sys.modules.get("numpy")
        if not hasattr(numpy, "ndarray") or not hasattr(numpy, "dtype"):
            return False
        self.ndarray = numpy.ndarray
        self.chars = {id(numpy.dtype(char)): char for char in DTYPES}
        return True
