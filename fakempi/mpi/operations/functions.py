"""The predefined reduction operations on two Python objects, and on two numpy arrays, element by element.

The accepted types are those of MPI's table, as MPICH interprets it: C's integers include CHAR (signed) and the
multi-language types, logical operations accept no floating-point numbers and no Fortran integers, and the operations of
one-sided communication, REPLACE and NO_OP, are not reductions. One difference comes from numpy: MAX and MIN of a NaN and a
number are NaN. In MPICH the result depends on the order of the operands, and so on the algorithm.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any, TypeAlias

import numpy as np

from fakempi.mpi.base.constants import COMBINER_F90_INTEGER
from fakempi.mpi.datatypes.basic import NAMED
from fakempi.mpi.datatypes.definition import Definition
from fakempi.mpi.datatypes.padding import clear_padding, padding_of
from fakempi.mpi.interfaces.arrays import Array, Dtype

Kernel = Callable[..., object]
"""Called with (inbuf, inoutbuf, out=inoutbuf), as ufuncs are."""

Binary: TypeAlias = Callable[[Any, Any], Any]
"""A function of two operands."""

# -- families of elements ----------------------------------------------------------------------------------------------

_INTEGERS = ("integer", "Fortran integer")
_KINDS = {"b": "logical", "i": "integer", "u": "integer", "f": "real", "c": "complex"}  # by numpy's kind
_FAMILIES = {"BYTE": "byte", "CHAR": "integer", "LOGICAL": "logical", "PACKED": "", "WCHAR": "", "CHARACTER": ""}
_FAMILIES.update((label, "Fortran integer") for label in ("INTEGER", "INTEGER1", "INTEGER2", "INTEGER4", "INTEGER8"))
_PAIRS: dict[str, Any] = {label: pair.dtype for label, pair in NAMED.items() if pair.parts}

# The dtypes for arithmetic that differ from the datatype's dtype, for three reasons: CHAR is a signed integer; any nonzero
# byte of a bool is true; the last of several pairs may lack the padding at its end.
_CALCULATED: dict[str, Dtype] = {
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
    """Return the family of a datatype's elements, which determines the accepted operations; empty if there are none."""
    dtype = definition.dtype
    if dtype is None or not definition.permanent:
        return ""
    if definition.combiner == COMBINER_F90_INTEGER:
        return "Fortran integer"
    if definition.parts:
        return "pair"
    name = _FAMILIES.get(definition.label)
    return _KINDS[dtype.kind] if name is None else name


def arithmetic_dtype(definition: Definition) -> Dtype:
    """Return numpy's type for arithmetic, for a datatype that belongs to a family."""
    assert definition.dtype is not None  # true for every family
    return _CALCULATED.get(definition.label, definition.dtype)


# -- arrays ------------------------------------------------------------------------------------------------------------


class _NoWarnings(threading.local):
    """A context per OS thread in which numpy does not warn, because MPI does not report overflow.

    numpy 2 keeps its error settings in a context variable, so it suffices to enter a prepared context: 0.1 microseconds,
    compared with 1.3 of `np.errstate`.
    """

    def __init__(self) -> None:
        context = Context()
        context.run(np.seterr, all="ignore")
        self.run: Callable[..., object] = context.run


_no_warnings = _NoWarnings() if int(np.__version__.split(".")[0]) >= 2 else None


def _without_warnings(kernel: Kernel) -> Kernel:
    """Return a kernel that does not warn."""
    if _no_warnings is None:  # numpy 1 keeps the setting per thread

        def with_setting(source: Array, target: Array, out: Array) -> None:
            with np.errstate(all="ignore"):
                kernel(source, target, out=out)

        return with_setting
    context = _no_warnings

    def in_context(source: Array, target: Array, out: Array) -> None:
        context.run(kernel, source, target, out=out)

    return in_context


def _has_long_doubles(dtype: Dtype) -> bool:
    return any(padding_of(dtype[name]) for name in dtype.names) if dtype.names else bool(padding_of(dtype))


def _clearing_padding(kernel: Kernel) -> Kernel:
    """Return a kernel that sets the padding of results to zero, instead of keeping the content of the target memory."""

    def and_clear(source: Array, target: Array, out: Array) -> None:
        kernel(source, target, out=out)
        clear_results(out)

    return and_clear


def clear_results(out: Array) -> None:
    """Set the padding of long doubles to zero; the padding between the members of a pair is not changed."""
    dtype = out.dtype
    if dtype.names is None:
        clear_padding(out)
    else:
        for name in dtype.names:
            clear_padding(out[name])


def _location_kernel(better: Binary) -> Kernel:
    """Return a kernel that keeps the pair with the better value; of equal values, the pair with the smaller index."""

    def kernel(source: Array, _target: Array, out: Array) -> None:
        value, index, best, best_index = source["value"], source["index"], out["value"], out["index"]
        is_better, is_equal = better(value, best), value == best
        np.copyto(best, value, where=is_better)
        np.copyto(best_index, index, where=is_better)
        np.minimum(best_index, index, out=best_index, where=is_equal)

    return kernel


# -- objects -----------------------------------------------------------------------------------------------------------


def _location_of_objects(better: Binary) -> Binary:
    """Return a function for two pairs of Python objects that chooses a pair as `_location_kernel` does."""

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
    """One operation: the function for Python `objects`, the kernels for arrays, and the accepted types as text (`takes`)."""

    __slots__ = ("by_dtype", "by_family", "objects", "takes")

    def __init__(self, objects: Binary, kernel: Any, takes: str, *families: str) -> None:
        self.objects, self.takes = objects, takes
        self.by_family: dict[str, Kernel] = {
            name: kernel if name in _EXACT else _without_warnings(kernel) for name in families
        }
        self.by_dtype: dict[Dtype, Kernel] = {}
        for name in families:
            kernel = self.by_family[name]
            for dtype in _DTYPES.get(name, ()):
                self.by_dtype[dtype] = _clearing_padding(kernel) if _has_long_doubles(dtype) else kernel


_EXACT = {*_INTEGERS, "logical", "byte"}  # numpy does not warn for these
_DTYPES = {_KINDS[np.dtype(letters[0]).kind]: list(map(np.dtype, letters)) for letters in ("?", "bBhHiIlLqQ", "efdg", "FDG")}
_DTYPES["pair"] = list(_PAIRS.values())

_NUMBERS, _ORDERED = (*_INTEGERS, "real", "complex"), (*_INTEGERS, "real")
_SUMMED, _COMPARED = "integers, floating-point and complex numbers", "integers and floating-point numbers"
_LOGICAL, _BITWISE, _PAIRED = "C integers and logical values", "integers and bytes", "pairs like DOUBLE_INT"

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
    "MAXLOC": Arithmetic(_location_of_objects(operator.gt), _location_kernel(np.greater), _PAIRED, "pair"),
    "MINLOC": Arithmetic(_location_of_objects(operator.lt), _location_kernel(np.less), _PAIRED, "pair"),
    "REPLACE": Arithmetic(lambda x, y: y, None, ""),
    "NO_OP": Arithmetic(lambda x, y: x, None, ""),
}
