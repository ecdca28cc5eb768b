"""The predefined datatypes, under their names in the MPI module, and lookups by type code and by numpy's types."""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi.error_classes import ERR_TYPE
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.duties import done
from fakempi.mpi.datatypes.basic import CODES, NAMED, NATIVE
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.definition import NULL


def _known(label: str) -> Datatype:
    """The one handle that everybody uses for the type; absent types get a null handle each."""
    definition = NAMED[label]
    if definition is NULL:
        return Datatype()
    return Datatype._permanent(definition)


DATATYPE_NULL = Datatype._permanent(NULL)
PACKED = _known("PACKED")
BYTE = _known("BYTE")
AINT = _known("AINT")
OFFSET = _known("OFFSET")
COUNT = _known("COUNT")
CHAR = _known("CHAR")
WCHAR = _known("WCHAR")
SIGNED_CHAR = _known("SIGNED_CHAR")
SHORT = _known("SHORT")
INT = _known("INT")
LONG = _known("LONG")
LONG_LONG = _known("LONG_LONG")
UNSIGNED_CHAR = _known("UNSIGNED_CHAR")
UNSIGNED_SHORT = _known("UNSIGNED_SHORT")
UNSIGNED = _known("UNSIGNED")
UNSIGNED_LONG = _known("UNSIGNED_LONG")
UNSIGNED_LONG_LONG = _known("UNSIGNED_LONG_LONG")
FLOAT = _known("FLOAT")
DOUBLE = _known("DOUBLE")
LONG_DOUBLE = _known("LONG_DOUBLE")
C_BOOL = _known("C_BOOL")
INT8_T = _known("INT8_T")
INT16_T = _known("INT16_T")
INT32_T = _known("INT32_T")
INT64_T = _known("INT64_T")
UINT8_T = _known("UINT8_T")
UINT16_T = _known("UINT16_T")
UINT32_T = _known("UINT32_T")
UINT64_T = _known("UINT64_T")
FLOAT16_T = _known("FLOAT16_T")
FLOAT32_T = _known("FLOAT32_T")
FLOAT64_T = _known("FLOAT64_T")
BFLOAT16_T = _known("BFLOAT16_T")
C_COMPLEX = _known("C_COMPLEX")
C_FLOAT_COMPLEX = _known("C_FLOAT_COMPLEX")
C_DOUBLE_COMPLEX = _known("C_DOUBLE_COMPLEX")
C_LONG_DOUBLE_COMPLEX = _known("C_LONG_DOUBLE_COMPLEX")
CXX_BOOL = _known("CXX_BOOL")
CXX_FLOAT_COMPLEX = _known("CXX_FLOAT_COMPLEX")
CXX_DOUBLE_COMPLEX = _known("CXX_DOUBLE_COMPLEX")
CXX_LONG_DOUBLE_COMPLEX = _known("CXX_LONG_DOUBLE_COMPLEX")
SHORT_INT = _known("SHORT_INT")
INT_INT = _known("INT_INT")
TWOINT = _known("TWOINT")
LONG_INT = _known("LONG_INT")
FLOAT_INT = _known("FLOAT_INT")
DOUBLE_INT = _known("DOUBLE_INT")
LONG_DOUBLE_INT = _known("LONG_DOUBLE_INT")
CHARACTER = _known("CHARACTER")
LOGICAL = _known("LOGICAL")
INTEGER = _known("INTEGER")
REAL = _known("REAL")
DOUBLE_PRECISION = _known("DOUBLE_PRECISION")
COMPLEX = _known("COMPLEX")
DOUBLE_COMPLEX = _known("DOUBLE_COMPLEX")
LOGICAL1 = _known("LOGICAL1")
LOGICAL2 = _known("LOGICAL2")
LOGICAL4 = _known("LOGICAL4")
LOGICAL8 = _known("LOGICAL8")
LOGICAL16 = _known("LOGICAL16")
INTEGER1 = _known("INTEGER1")
INTEGER2 = _known("INTEGER2")
INTEGER4 = _known("INTEGER4")
INTEGER8 = _known("INTEGER8")
INTEGER16 = _known("INTEGER16")
REAL2 = _known("REAL2")
REAL4 = _known("REAL4")
REAL8 = _known("REAL8")
REAL16 = _known("REAL16")
COMPLEX4 = _known("COMPLEX4")
COMPLEX8 = _known("COMPLEX8")
COMPLEX16 = _known("COMPLEX16")
COMPLEX32 = _known("COMPLEX32")
UNSIGNED_INT = _known("UNSIGNED_INT")
SIGNED_SHORT = _known("SIGNED_SHORT")
SIGNED_INT = _known("SIGNED_INT")
SIGNED_LONG = _known("SIGNED_LONG")
SIGNED_LONG_LONG = _known("SIGNED_LONG_LONG")
BOOL = _known("BOOL")
SINT8_T = _known("SINT8_T")
SINT16_T = _known("SINT16_T")
SINT32_T = _known("SINT32_T")
SINT64_T = _known("SINT64_T")
F_BOOL = _known("F_BOOL")
F_INT = _known("F_INT")
F_FLOAT = _known("F_FLOAT")
F_DOUBLE = _known("F_DOUBLE")
F_COMPLEX = _known("F_COMPLEX")
F_FLOAT_COMPLEX = _known("F_FLOAT_COMPLEX")
F_DOUBLE_COMPLEX = _known("F_DOUBLE_COMPLEX")

BY_NAME: dict[str, Datatype] = {name: thing for name, thing in globals().items() if isinstance(thing, Datatype)}


def from_code(code: str) -> Datatype:
    """The predefined type with that type code; numpy's mark of the byte order may stand before it if it is ours."""
    bare = code[1:] if isinstance(code, str) and code[:1] in NATIVE else code
    if bare not in CODES:
        raise complaint(ERR_TYPE, f"no datatype has the type code {code!r}.", MPIValueError)
    return Datatype._permanent(CODES[bare])


_numbers = {letter: Datatype._permanent(CODES[letter]) for letter in "?bBhHiIlLqQefdgFDG"}
_opaque: dict[int, Datatype] = {}


def number_of(dtype: np.dtype[Any]) -> Datatype | None:
    """The datatype for numbers as this machine has them."""
    # By letter and not by dtype: numpy holds C's long and long long for equal where they have the same size.
    return _numbers.get(dtype.char) if dtype.isnative else None


def from_dtype(dtype: np.dtype[Any]) -> Datatype:
    """The datatype for elements of a numpy array; what MPI does not know travels as so many bytes."""
    found = number_of(dtype)
    if found is not None:
        return found
    if dtype.hasobject:
        raise complaint(ERR_TYPE, f"arrays of {dtype} hold Python objects; send those in lower case.", MPITypeError)
    if dtype.isnative and dtype.str[1:] in ("S1", "U1"):
        return CHAR if dtype.char == "S" else WCHAR
    return _opaque_bytes(dtype.itemsize)


def _opaque_bytes(size: int) -> Datatype:
    """A committed type of `size` bytes, one for all arrays with elements of that size."""
    if size not in _opaque:
        made = _opaque[size] = BYTE.Create_contiguous(size).Commit()
        done("datatype-leak", made._definition)  # it is ours, and stays
        made._definition.opaque = True
    return _opaque[size]
