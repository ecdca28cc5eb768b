"""Decode prepared calls in the parent: blocking calls that a line of a child's program repeats.

The child encodes them (`child.prepared`): a message has only the arguments that differ from call to call.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

import numpy as np

from fakempi.processes.compact import BY_CHAR, ArrayMirror, CompactMessages
from fakempi.processes.mirrors import Mirror
from fakempi.processes.protocol import BUFFER, HANDLE, HEADER, PREPARED_ANSWER, PREPARED_CALL, PREPARED_MARK, READ_ONLY
from fakempi.processes.sites import Caller

_ANSWER = Struct(HEADER.format + PREPARED_ANSWER.format.lstrip("<"))


class PreparedCall:
    """A kind of prepared call: the arguments that all calls share, and the positions of integers and arrays, which differ.

    Attributes
    ----------
    name : the method that is called
    call_from : a function that calls the method as if from the line of the child's program
    """

    def __init__(self, name: str, call_from: Caller, target: Any, values: list[Any], compact: CompactMessages) -> None:
        self.name, self.call_from = name, call_from
        self.handle = target[1] if target[0] == HANDLE else 0  # not the object: the child may free it
        self.target = None if self.handle else compact.value(target)
        self.by_number = compact.objects.by_number
        self.args: list[Any] = []
        self.integers: list[int] = []  # positions in `args`
        self.arrays: list[tuple[int, Any, Any, int, int]] = []  # position, dtype, shape, start, end (0: read only)
        integers = sum(type(value) is int for value in values)
        form = Struct(PREPARED_CALL.format + "q" * integers)
        self.unpack_from, start, self.answer_size = form.unpack_from, form.size, PREPARED_ANSWER.size
        for position, value in enumerate(values):
            if type(value) is int:
                self.integers.append(position)
                self.args.append(None)
            elif type(value) is tuple and value[0] in (READ_ONLY, BUFFER):
                char, shape, data = value[-3:]
                written = len(data) if value[0] == BUFFER else 0
                self.arrays.append((position, BY_CHAR[char], shape, start, start + written if written else 0))
                self.args.append(None)
                start += len(data)
                self.answer_size += written
            else:
                self.args.append(compact.value(value) if type(value) is tuple else value)

    def read(self, data: bytes) -> tuple[Any, list[Any], list[bytearray]]:
        """Decode a call: return the bound method, its arguments, and the arrays' memory that the call may change."""
        _, _, _, *integers = self.unpack_from(data)
        args = self.args.copy()
        for position, value in zip(self.integers, integers, strict=True):
            args[position] = value
        written: list[bytearray] = []
        for position, dtype, shape, start, stop in self.arrays:
            if stop:
                memory = bytearray(data[start:stop])
                written.append(memory)
                args[position] = np.ndarray(shape, dtype, memory)
            else:
                args[position] = np.ndarray(shape, dtype, data, start)
        target = self.by_number[self.handle] if self.handle else self.target
        return getattr(target, self.name), args, written

    def answer(self, written: list[bytearray], clock: float) -> bytes:
        """Encode the answer to a call that has returned None."""
        return _ANSWER.pack(self.answer_size, PREPARED_MARK, clock) + b"".join(written)

    def mirrors(self, data: bytes, written: list[bytearray]) -> list[Mirror]:
        """Return the memory that a call may have changed, for an answer in the general format."""
        number = self.unpack_from(data)[2]
        arrays = [entry for entry in self.arrays if entry[-1]]
        return [
            ArrayMirror(number + index, dtype, shape, memory, None, False)
            for index, ((_, dtype, shape, _, _), memory) in enumerate(zip(arrays, written, strict=True))
        ]
