"""What the predefined operations do: to two Python objects, and to two numpy arrays, element by element.

Which elements an operation takes is MPI's table, read as MPICH reads it: C's integers include CHAR (as a signed number)
and the multi-language types, logical operations take no floating-point numbers and none of Fortran's integers, and the
operations of one-sided communication, REPLACE and NO_OP, reduce nothing. One thing is numpy's: MAX and MIN of a NaN and
a number are NaN. MPICH takes the one or the other by their order, so that results depend on the algorithm.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np

from fakempi.mpi.base.constants import COMBINER_F90_INTEGER
from fakempi.mpi.datatypes.basic import NAMED
from fakempi.mpi.datatypes.definition import Definition

Kernel = Callable[..., Any]
"""Called with (inbuf, inoutbuf, out=inoutbuf), as ufuncs are."""

# -- families of elements ----------------------------------------------------------------------------------------------

_INTEGERS = ("integer", "Fortran integer")
_KINDS = {"b": "logical", "i": "integer", "u": "integer", "f": "real", "c": "complex"}  # by numpy's kind
_FAMILIES = {"BYTE": "byte", "CHAR": "integer", "LOGICAL": "logical", "PACKED": "", "WCHAR": "", "CHARACTER": ""}
_FAMILIES.update((label, "Fortran integer") for label in ("INTEGER", "INTEGER1", "INTEGER2", "INTEGER4", "INTEGER8"))
_PAIRS: dict[str, Any] = {label: pair.dtype for label, pair in NAMED.items() if pair.parts}

# What to calculate with where it is not the type's own dtype: any byte but 0 is true, and the last of several pairs need
# not have the padding that the others have.
_CALCULATED: dict[str, np.dtype[Any]] = {
    "CHAR": np.dtype("i1"),
    "C_BOOL": np.dtype("u1"),
    "CXX_BOOL": np.dtype("u1"),
    **{
        label: np.dtype({
            "names": ["value", "index"],
            "formats": [dtype["value"], dtype["index"]],
            "offsets": [0, dtype.fields["index"][1]],
        })
        for label, dtype in _PAIRS.items()
    },
}  # fmt: skip


def family(definition: Definition) -> str:
    """What kind of elements a datatype stands for, as far as operations care; nothing for derived types."""
    dtype = definition.dtype
    if dtype is None or not definition.permanent:
        return ""
    if definition.combiner == COMBINER_F90_INTEGER:
        return "Fortran integer"
    if definition.parts:
        return "pair"
    found = _FAMILIES.get(definition.label)
    return _KINDS[dtype.kind] if found is None else found


def calculable(definition: Definition) -> np.dtype[Any]:
    """numpy's type to calculate with, for a datatype that belongs to a family."""
    assert definition.dtype is not None  # or it would not belong to one
    return _CALCULATED.get(definition.label, definition.dtype)


# -- arrays ------------------------------------------------------------------------------------------------------------


class _Calm(threading.local):
    """A context per OS thread in which numpy does not warn: in MPI, numbers overflow in silence.

    numpy 2 keeps what it warns about in a context variable, so entering a context that was prepared once is enough:
    0.1 microseconds, where `np.errstate` takes 1.3.
    """

    def __init__(self) -> None:
        context = Context()
        context.run(np.seterr, all="ignore")
        self.run: Callable[..., Any] = context.run


_calm = _Calm() if int(np.__version__.split(".")[0]) >= 2 else None


def _calmly(kernel: Kernel) -> Kernel:
    """The same without warnings."""
    if _calm is None:  # numpy 1, where the setting is the thread's

        def with_setting(source: Any, target: Any, out: Any) -> None:
            with np.errstate(all="ignore"):
                kernel(source, target, out=out)

        return with_setting
    here = _calm

    def in_context(source: Any, target: Any, out: Any) -> None:
        here.run(kernel, source, target, out=out)

    return in_context


def _located(better: Callable[[Any, Any], Any]) -> Kernel:
    """The pair with the better value; of equally good ones that with the smaller index."""

    def kernel(source: Any, _target: Any, out: Any) -> None:
        value, index, best, at = source["value"], source["index"], out["value"], out["index"]
        ahead, level = better(value, best), value == best
        np.copyto(best, value, where=ahead)
        np.copyto(at, index, where=ahead)
        np.minimum(at, index, out=at, where=level)

    return kernel


# -- objects -----------------------------------------------------------------------------------------------------------


def _located_object(better: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The same for two pairs that Python objects hold."""

    def choose(x: Any, y: Any) -> tuple[Any, Any]:
        (u, i), (v, j) = x, y
        if better(u, v):
            return u, i
        if better(v, u) or j < i:
            return v, j
        return u, i

    return choose


# -- operations --------------------------------------------------------------------------------------------------------


class Arithmetic:
    """What one operation does: `objects` to Python objects; to arrays, by family of elements and by numpy's dtype."""

    __slots__ = ("by_dtype", "by_family", "objects", "takes")

    def __init__(self, objects: Callable[[Any, Any], Any], kernel: Any, takes: str, *families: str) -> None:
        self.objects, self.takes = objects, takes
        self.by_family: dict[str, Kernel] = {one: kernel if one in _EXACT else _calmly(kernel) for one in families}
        self.by_dtype = {dtype: self.by_family[one] for one in families for dtype in _DTYPES.get(one, ())}


_EXACT = {*_INTEGERS, "logical", "byte"}  # numpy has nothing to warn about
_DTYPES = {_KINDS[np.dtype(letters[0]).kind]: list(map(np.dtype, letters)) for letters in ("?", "bBhHiIlLqQ", "efdg", "FDG")}
_DTYPES["pair"] = list(_PAIRS.values())

_NUMBERS, _ORDERED = (*_INTEGERS, "real", "complex"), (*_INTEGERS, "real")
_SUMMED, _COMPARED = "integers, floating-point and complex numbers", "integers and floating-point numbers"
_LOGICAL, _BITWISE, _PAIRED = "C's integers and truth values", "integers and bytes", "pairs like DOUBLE_INT"

ARITHMETIC: dict[str, Arithmetic] = {
    "MAX": Arithmetic(max, np.maximum, _COMPARED, *_ORDERED),
    "MIN": Arithmetic(min, np.minimum, _COMPARED, *_ORDERED),
    "SUM": Arithmetic(operator.add, np.add, _SUMMED, *_NUMBERS),
    "PROD": Arithmetic(operator.mul, np.multiply, _SUMMED, *_NUMBERS),
    "LAND": Arithmetic(lambda x, y: bool(x) & bool(y), np.logical_and, _LOGICAL, "integer", "logical"),
    "BAND": Arithmetic(operator.and_, np.bitwise_and, _BITWISE, *_INTEGERS, "byte"),
    "LOR": Arithmetic(lambda x, y: bool(x) | bool(y), np.logical_or, _LOGICAL, "integer", "logical"),
    "BOR": Arithmetic(operator.or_, np.bitwise_or, _BITWISE, *_INTEGERS, "byte"),
    "LXOR": Arithmetic(lambda x, y: bool(x) ^ bool(y), np.logical_xor, _LOGICAL, "integer", "logical"),
    "BXOR": Arithmetic(operator.xor, np.bitwise_xor, _BITWISE, *_INTEGERS, "byte"),
    "MAXLOC": Arithmetic(_located_object(operator.gt), _located(np.greater), _PAIRED, "pair"),
    "MINLOC": Arithmetic(_located_object(operator.lt), _located(np.less), _PAIRED, "pair"),
    "REPLACE": Arithmetic(lambda x, y: y, None, ""),
    "NO_OP": Arithmetic(lambda x, y: x, None, ""),
}
