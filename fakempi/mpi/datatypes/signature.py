"""Type signatures: the sequence of basic types of a message, independent of its layout in memory.

A signature is a period of runs, `float64 x 3, int32 x 1`, which elements repeat. Equal signatures share one object, so
that in most cases comparing identity is enough. The sent signature must be a prefix of the received one (MPI 4.1, sections
3.3.1 and 5.1). The following types match:

    one type                                            another type           match?
    numbers of one kind and size: INT, INT32_T, INTEGER, int32                 yes, C's and Fortran's names too
    signed integers                                     unsigned integers      no, except those of one byte
    BYTE, CHAR, INT8_T, UINT8_T, C_BOOL, bytes, S1      one another            yes: mpi4py has BYTE for bytes, numpy uint8
    BYTE and all of these                               any longer number      no, as the standard says
    COMPLEX                                             two REALs              no
    a pair such as FLOAT_INT                            a FLOAT and an INT     yes
    derived types                                       others                 if their basic types match, in order
    PACKED                                              anything               yes
    numpy's void of more than one byte                  anything               yes: its meaning is unknown
    no bytes at all                                     anything               yes

Phantoms have no types. Objects are sent as pickles, which mpi4py sends as BYTE: a program may receive one into a bytes-like
object or as BYTE, and may send such bytes to a rank that receives an object.
"""

from __future__ import annotations

import math

import numpy as np

from fakempi.mpi.datatypes.definition import Definition
from fakempi.mpi.interfaces.arrays import Dtype

MAX_RUNS = 4096
"""Upper limit of runs in a period, and of steps of a comparison; longer ones are treated as matching."""

MAX_FIELDS = 64
"""Upper limit of runs with a numpy type; longer signatures are sent as UNKNOWN."""

BYTES = np.dtype("V1")
"""The numpy type of data sent as BYTE, to distinguish them from uint8."""

UNKNOWN = np.dtype([("unknown", "V1")])
"""The numpy type of PACKED and of data of unknown type, which match anything."""

Run = tuple[str, int]
"""numpy's code for a basic type, and a count; u1 represents all types of one byte."""


class Signature:
    """A period of runs. `dtype` is numpy's type for packed data of this signature."""

    __slots__ = ("dtype", "runs", "size")

    def __init__(self, runs: tuple[Run, ...]) -> None:
        self.runs = runs
        self.size = sum(_size(code) * times for code, times in runs)
        self.dtype = _dtype(runs)

    def agrees(self, other: Signature, nbytes: int | None = None) -> bool:
        """Whether messages of `nbytes` bytes match; without a number, messages of any length."""
        if self is other or nbytes == 0 or ANYTHING in (self, other):
            return True
        period = math.lcm(self.size, other.size)
        remaining = period if nbytes is None else min(nbytes, period)
        cursor, other_cursor = _Cursor(self.runs), _Cursor(other.runs)
        for _ in range(MAX_RUNS):
            if remaining <= 0:
                return True
            if cursor.code != other_cursor.code:
                return False
            step = min(cursor.remaining, other_cursor.remaining)
            remaining -= step * _size(cursor.code)
            cursor.advance(step)
            other_cursor.advance(step)
        return True

    def describe(self, nbytes: int) -> str:
        """Return a description of `nbytes` bytes: `4 float32`, `16 bytes`, `2 x (1 int32, 3 float64)`."""
        if self is ANYTHING:
            return f"{nbytes} packed bytes"
        if len(self.runs) == 1:
            return _named(self.runs[0][0], nbytes // self.size)
        return f"{max(1, nbytes // self.size)} x {self.name}"

    @property
    def name(self) -> str:
        """A description of its elements: `float32`, `bytes`, `(1 int32, 3 float64)`."""
        if len(self.runs) <= 1:
            return _named(self.runs[0][0], 2).partition(" ")[2] if self.runs else "anything"
        return "(" + ", ".join(_named(*run) for run in self.runs[:4]) + ", ..." * (len(self.runs) > 4) + ")"


class _Cursor:
    """A position in a period that repeats without end."""

    __slots__ = ("at", "code", "remaining", "runs")

    def __init__(self, runs: tuple[Run, ...]) -> None:
        self.runs, self.at = runs, 0
        self.code, self.remaining = runs[0]

    def advance(self, steps: int) -> None:
        self.remaining -= steps
        if not self.remaining:
            self.at = (self.at + 1) % len(self.runs)
            self.code, self.remaining = self.runs[self.at]


def _size(code: str) -> int:
    return int(code[1:])


def _dtype(runs: tuple[Run, ...]) -> Dtype:
    if not runs or len(runs) > MAX_FIELDS:
        return UNKNOWN
    if len(runs) == 1:
        return _NUMPY_TYPES.get(runs[0][0]) or np.dtype(runs[0][0])
    fields: list[object] = [(f"f{i}", _NUMPY_TYPES.get(code, code), (times,)) for i, (code, times) in enumerate(runs)]
    return np.dtype(fields)


def _named(code: str, count: int) -> str:
    if code == "u1":
        return "1 byte" if count == 1 else f"{count} bytes"
    return f"{count} {'wide characters' if code == 'U4' else np.dtype(code).name}"


_NUMPY_TYPES: dict[str, Dtype] = {"U4": np.dtype("U1"), "u1": np.dtype(np.uint8)}
_signatures: dict[tuple[Run, ...], Signature] = {}
_by_dtype: dict[Dtype, Signature] = {}


def _interned(runs: list[Run]) -> Signature:
    """Return the object for these runs; the period of a single run is one item."""
    key = tuple(runs) if len(runs) > 1 else ((runs[0][0], 1),) if runs else ()
    signature = _signatures.get(key)
    if signature is None:
        signature = _signatures[key] = Signature(key)
    return signature


ANYTHING = _interned([])
"""The unknown signature, which matches any other."""


def of_dtype(dtype: Dtype) -> Signature:
    """Return the signature of an array's elements."""
    signature = _by_dtype.get(dtype)
    if signature is None:
        runs = None if dtype == UNKNOWN else _runs_of(dtype)
        signature = _by_dtype[dtype] = ANYTHING if runs is None else _interned(_merged(runs))
    return signature


def of_type(definition: Definition) -> Signature:
    """Return the signature of a datatype."""
    if definition.signature is None:
        definition.signature = _of_definition(definition)
    signature: Signature = definition.signature
    return signature


def packed_dtype(definition: Definition) -> Dtype:
    """Return numpy's type for packed data of a datatype, from which the receiver derives the signature."""
    if definition.packed_dtype is None:
        basic, own = definition.basic, definition.dtype
        if definition.label == "BYTE":
            definition.packed_dtype = BYTES
        elif basic is not None and basic is not definition and not definition.opaque:
            definition.packed_dtype = packed_dtype(basic)
        elif own is None or definition.label == "PACKED" or not definition.layout.dense:
            definition.packed_dtype = of_type(definition).dtype
        else:
            definition.packed_dtype = own
    return definition.packed_dtype


def _of_definition(definition: Definition) -> Signature:
    if definition.label == "PACKED" or definition.opaque:
        return ANYTHING
    if not definition.parts:
        return ANYTHING if definition.dtype is None else of_dtype(definition.dtype)
    parts = [(times, part, of_type(part)) for times, part in definition.parts if times and part.layout.size]
    if not parts or any(signature is ANYTHING for _, _, signature in parts):
        return ANYTHING
    if all(signature is parts[0][2] for _, _, signature in parts):
        return parts[0][2]
    runs: list[Run] = []
    for times, part, signature in parts:
        periods = times * part.layout.size // signature.size
        if len(signature.runs) == 1:
            runs.append((signature.runs[0][0], periods))
        elif len(runs) + periods * len(signature.runs) > MAX_RUNS:
            return ANYTHING
        else:
            runs.extend(signature.runs * periods)
    return _interned(_merged(runs))


def _merged(runs: list[Run]) -> list[Run]:
    joined: list[Run] = []
    for code, times in runs:
        if joined and joined[-1][0] == code:
            joined[-1] = code, joined[-1][1] + times
        else:
            joined.append((code, times))
    return joined


def _runs_of(dtype: Dtype) -> list[Run] | None:
    """Return the runs of an element; None if they are unknown, for example if the type has holes."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        inside, times = _runs_of(base), math.prod(shape)
        if inside is None or len(inside) == 1:
            return inside and [(inside[0][0], inside[0][1] * times)]
        return inside * times if len(inside) * times <= MAX_RUNS else None
    if dtype.fields is not None:
        runs: list[Run] = []
        end = 0
        for part, at in sorted(((field[0], field[1]) for field in dtype.fields.values()), key=lambda field: field[1]):
            inside = _runs_of(part)
            if at != end or inside is None:
                return None
            runs, end = runs + inside, end + part.itemsize
        return runs if end == dtype.itemsize else None
    kind, size = dtype.kind, dtype.itemsize
    if not size or (kind == "V" and size > 1):
        return None
    if size == 1 or kind == "S":
        return [("u1", size)]
    if kind == "U":
        return [("U4", size // 4)]
    return [(f"i{size}" if kind in "mM" else f"{kind}{size}", 1)]
