"""Type signatures: what a message consists of, whatever memory it comes from or goes to.

A signature is a period of runs, `float64 x 3, int32 x 1`, which elements repeat. There is one object for each, so that in
most cases a look at the object is enough. What arrives must be the beginning of what is awaited (MPI 4.1, sections 3.3.1
and 5.1). Here is what counts as the same:

    one of these                                        the other              the same?
    numbers of one kind and size: INT, INT32_T, INTEGER, int32                 yes, C's and Fortran's names likewise
    signed integers                                     unsigned integers      no, but those of one byte
    BYTE, CHAR, INT8_T, UINT8_T, C_BOOL, bytes, S1      one another            yes: mpi4py has BYTE for bytes, numpy uint8
    BYTE and all those                                  any longer number      no, as the standard says
    COMPLEX                                             two REALs              no
    a pair such as FLOAT_INT                            a FLOAT and an INT     yes
    derived types                                       others                 if their basic types are, in their order
    PACKED                                              anything               yes
    a structured array in a list, without a datatype    anything               yes: it travels as bytes
    no bytes at all                                     anything               yes

Phantoms have no types. Objects travel as pickles, which mpi4py sends as BYTE: a program may receive one into a bytes-like
object or as BYTE, and may send such bytes to whoever receives an object.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fakempi.mpi.datatypes.definition import Definition

MOST = 4096
"""Runs in a period, and steps of a comparison, beyond which it is not looked at."""

FIELDS = 64
"""Runs for which there is a type of numpy's; copies of longer ones may be anything."""

BYTES = np.dtype("V1")
"""How bytes travel that are BYTE by name: numpy's own bytes are uint8."""

UNKNOWN = np.dtype([("unknown", "V1")])
"""How PACKED travels, and whatever else may be anything."""

Run = tuple[str, int]
"""numpy's code for a basic type, and how many of them; u1 stands for all types of one byte."""


class Signature:
    """A period of runs. `dtype` is numpy's type for packed data of this signature; most have one that is shared by all."""

    __slots__ = ("dtype", "runs", "size")

    def __init__(self, runs: tuple[Run, ...]) -> None:
        self.runs = runs
        self.size = sum(_size(code) * times for code, times in runs)
        self.dtype = _dtype(runs)

    def agrees(self, other: Signature, nbytes: int | None = None) -> bool:
        """Whether messages of so many bytes consist of the same; without a number, those of any length."""
        if self is other or nbytes == 0 or ANYTHING in (self, other):
            return True
        period = math.lcm(self.size, other.size)
        rest = period if nbytes is None else min(nbytes, period)
        mine, theirs = _Walk(self.runs), _Walk(other.runs)
        for _ in range(MOST):
            if rest <= 0:
                return True
            if mine.code != theirs.code:
                return False
            step = min(mine.left, theirs.left)
            rest -= step * _size(mine.code)
            mine.go(step)
            theirs.go(step)
        return True

    def words(self, nbytes: int) -> str:
        """So many bytes of it: `4 float32`, `16 bytes`, `2 x (1 int32, 3 float64)`."""
        if self is ANYTHING:
            return f"{nbytes} packed bytes"
        if len(self.runs) == 1:
            return _named(self.runs[0][0], nbytes // self.size)
        return f"{max(1, nbytes // self.size)} x {self.name}"

    @property
    def name(self) -> str:
        """Its elements: `float32`, `bytes`, `(1 int32, 3 float64)`."""
        if len(self.runs) <= 1:
            return _named(self.runs[0][0], 2).partition(" ")[2] if self.runs else "anything"
        return "(" + ", ".join(_named(*run) for run in self.runs[:4]) + ", ..." * (len(self.runs) > 4) + ")"


class _Walk:
    """Where one is in a period that is repeated for ever."""

    __slots__ = ("at", "code", "left", "runs")

    def __init__(self, runs: tuple[Run, ...]) -> None:
        self.runs, self.at = runs, 0
        self.code, self.left = runs[0]

    def go(self, steps: int) -> None:
        self.left -= steps
        if not self.left:
            self.at = (self.at + 1) % len(self.runs)
            self.code, self.left = self.runs[self.at]


def _size(code: str) -> int:
    return int(code[1:])


def _dtype(runs: tuple[Run, ...]) -> np.dtype[Any]:
    if not runs or len(runs) > FIELDS:
        return UNKNOWN
    if len(runs) == 1:
        return _NUMPYS.get(runs[0][0]) or np.dtype(runs[0][0])
    fields: list[Any] = [(f"f{i}", _NUMPYS.get(code, code), (times,)) for i, (code, times) in enumerate(runs)]
    return np.dtype(fields)


def _named(code: str, count: int) -> str:
    if code == "u1":
        return "1 byte" if count == 1 else f"{count} bytes"
    return f"{count} {'wide characters' if code == 'U4' else np.dtype(code).name}"


_NUMPYS: dict[str, np.dtype[Any]] = {"U4": np.dtype("U1"), "u1": np.dtype(np.uint8)}
_known: dict[tuple[Run, ...], Signature] = {}
_by_dtype: dict[np.dtype[Any], Signature] = {}


def _one(runs: list[Run]) -> Signature:
    """The object for these runs; of a single one the period is one item."""
    key = tuple(runs) if len(runs) > 1 else ((runs[0][0], 1),) if runs else ()
    found = _known.get(key)
    if found is None:
        found = _known[key] = Signature(key)
    return found


ANYTHING = _one([])
"""What is not known, and so never wrong."""


def of_dtype(dtype: np.dtype[Any]) -> Signature:
    """The signature of an array's elements."""
    found = _by_dtype.get(dtype)
    if found is None:
        runs = None if dtype == UNKNOWN else _runs_of(dtype)
        found = _by_dtype[dtype] = ANYTHING if runs is None else _one(_merged(runs))
    return found


def of_type(definition: Definition) -> Signature:
    """The signature of a datatype."""
    if definition.signature is None:
        definition.signature = _of_definition(definition)
    found: Signature = definition.signature
    return found


def travels_as(definition: Definition) -> np.dtype[Any]:
    """numpy's type for packed data of a datatype, by which the receiver knows what came."""
    if definition.travels is None:
        basic, own = definition.basic, definition.dtype
        if definition.label == "BYTE":
            definition.travels = BYTES
        elif basic is not None and basic is not definition and not definition.opaque:
            definition.travels = travels_as(basic)
        elif own is None or definition.label == "PACKED" or not definition.layout.dense:
            definition.travels = of_type(definition).dtype
        else:
            definition.travels = own
    return definition.travels


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
        elif len(runs) + periods * len(signature.runs) > MOST:
            return ANYTHING
        else:
            runs.extend(signature.runs * periods)
    return _one(_merged(runs))


def _merged(runs: list[Run]) -> list[Run]:
    joined: list[Run] = []
    for code, times in runs:
        if joined and joined[-1][0] == code:
            joined[-1] = code, joined[-1][1] + times
        else:
            joined.append((code, times))
    return joined


def _runs_of(dtype: np.dtype[Any]) -> list[Run] | None:
    """What an element consists of; None if that is not known, as where there are holes."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        inside, times = _runs_of(base), math.prod(shape)
        if inside is None or len(inside) == 1:
            return inside and [(inside[0][0], inside[0][1] * times)]
        return inside * times if len(inside) * times <= MOST else None
    if dtype.fields is not None:
        found: list[Run] = []
        end = 0
        for part, at in sorted(((field[0], field[1]) for field in dtype.fields.values()), key=lambda field: field[1]):
            inside = _runs_of(part)
            if at != end or inside is None:
                return None
            found, end = found + inside, end + part.itemsize
        return found if end == dtype.itemsize else None
    kind, size = dtype.kind, dtype.itemsize
    if not size:
        return None
    if size == 1 or kind in "SV":
        return [("u1", size)]
    if kind == "U":
        return [("U4", size // 4)]
    return [(f"i{size}" if kind in "mM" else f"{kind}{size}", 1)]
