"""The predefined datatypes, under their names in the MPI module, and lookups by type code and by numpy's types."""

from __future__ import annotations

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_TYPE
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.resource_tracker import untrack
from fakempi.mpi.datatypes.basic import CODES, NAMED, NATIVE
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.definition import NULL
from fakempi.mpi.interfaces.arrays import Dtype


def _predefined(label: str) -> Datatype:
    """Return the unique handle of a type; for a type that this system does not have, a new null handle."""
    definition = NAMED[label]
    if definition is NULL:
        return Datatype()
    return Datatype._permanent(definition)


DATATYPE_NULL = Datatype._permanent(NULL)
PACKED = _predefined("PACKED")
BYTE = _predefined("BYTE")
AINT = _predefined("AINT")
OFFSET = _predefined("OFFSET")
COUNT = _predefined("COUNT")
CHAR = _predefined("CHAR")
WCHAR = _predefined("WCHAR")
SIGNED_CHAR = _predefined("SIGNED_CHAR")
SHORT = _predefined("SHORT")
INT = _predefined("INT")
LONG = _predefined("LONG")
LONG_LONG = _predefined("LONG_LONG")
UNSIGNED_CHAR = _predefined("UNSIGNED_CHAR")
UNSIGNED_SHORT = _predefined("UNSIGNED_SHORT")
UNSIGNED = _predefined("UNSIGNED")
UNSIGNED_LONG = _predefined("UNSIGNED_LONG")
UNSIGNED_LONG_LONG = _predefined("UNSIGNED_LONG_LONG")
FLOAT = _predefined("FLOAT")
DOUBLE = _predefined("DOUBLE")
LONG_DOUBLE = _predefined("LONG_DOUBLE")
C_BOOL = _predefined("C_BOOL")
INT8_T = _predefined("INT8_T")
INT16_T = _predefined("INT16_T")
INT32_T = _predefined("INT32_T")
INT64_T = _predefined("INT64_T")
UINT8_T = _predefined("UINT8_T")
UINT16_T = _predefined("UINT16_T")
UINT32_T = _predefined("UINT32_T")
UINT64_T = _predefined("UINT64_T")
FLOAT16_T = _predefined("FLOAT16_T")
FLOAT32_T = _predefined("FLOAT32_T")
FLOAT64_T = _predefined("FLOAT64_T")
BFLOAT16_T = _predefined("BFLOAT16_T")
C_COMPLEX = _predefined("C_COMPLEX")
C_FLOAT_COMPLEX = _predefined("C_FLOAT_COMPLEX")
C_DOUBLE_COMPLEX = _predefined("C_DOUBLE_COMPLEX")
C_LONG_DOUBLE_COMPLEX = _predefined("C_LONG_DOUBLE_COMPLEX")
CXX_BOOL = _predefined("CXX_BOOL")
CXX_FLOAT_COMPLEX = _predefined("CXX_FLOAT_COMPLEX")
CXX_DOUBLE_COMPLEX = _predefined("CXX_DOUBLE_COMPLEX")
CXX_LONG_DOUBLE_COMPLEX = _predefined("CXX_LONG_DOUBLE_COMPLEX")
SHORT_INT = _predefined("SHORT_INT")
INT_INT = _predefined("INT_INT")
TWOINT = _predefined("TWOINT")
LONG_INT = _predefined("LONG_INT")
FLOAT_INT = _predefined("FLOAT_INT")
DOUBLE_INT = _predefined("DOUBLE_INT")
LONG_DOUBLE_INT = _predefined("LONG_DOUBLE_INT")
CHARACTER = _predefined("CHARACTER")
LOGICAL = _predefined("LOGICAL")
INTEGER = _predefined("INTEGER")
REAL = _predefined("REAL")
DOUBLE_PRECISION = _predefined("DOUBLE_PRECISION")
COMPLEX = _predefined("COMPLEX")
DOUBLE_COMPLEX = _predefined("DOUBLE_COMPLEX")
LOGICAL1 = _predefined("LOGICAL1")
LOGICAL2 = _predefined("LOGICAL2")
LOGICAL4 = _predefined("LOGICAL4")
LOGICAL8 = _predefined("LOGICAL8")
LOGICAL16 = _predefined("LOGICAL16")
INTEGER1 = _predefined("INTEGER1")
INTEGER2 = _predefined("INTEGER2")
INTEGER4 = _predefined("INTEGER4")
INTEGER8 = _predefined("INTEGER8")
INTEGER16 = _predefined("INTEGER16")
REAL2 = _predefined("REAL2")
REAL4 = _predefined("REAL4")
REAL8 = _predefined("REAL8")
REAL16 = _predefined("REAL16")
COMPLEX4 = _predefined("COMPLEX4")
COMPLEX8 = _predefined("COMPLEX8")
COMPLEX16 = _predefined("COMPLEX16")
COMPLEX32 = _predefined("COMPLEX32")
UNSIGNED_INT = _predefined("UNSIGNED_INT")
SIGNED_SHORT = _predefined("SIGNED_SHORT")
SIGNED_INT = _predefined("SIGNED_INT")
SIGNED_LONG = _predefined("SIGNED_LONG")
SIGNED_LONG_LONG = _predefined("SIGNED_LONG_LONG")
BOOL = _predefined("BOOL")
SINT8_T = _predefined("SINT8_T")
SINT16_T = _predefined("SINT16_T")
SINT32_T = _predefined("SINT32_T")
SINT64_T = _predefined("SINT64_T")
F_BOOL = _predefined("F_BOOL")
F_INT = _predefined("F_INT")
F_FLOAT = _predefined("F_FLOAT")
F_DOUBLE = _predefined("F_DOUBLE")
F_COMPLEX = _predefined("F_COMPLEX")
F_FLOAT_COMPLEX = _predefined("F_FLOAT_COMPLEX")
F_DOUBLE_COMPLEX = _predefined("F_DOUBLE_COMPLEX")

BY_NAME: dict[str, Datatype] = {name: value for name, value in globals().items() if isinstance(value, Datatype)}


def from_code(code: str) -> Datatype:
    """Return the predefined type with a type code, which may have numpy's prefix for the native byte order."""
    bare = code[1:] if isinstance(code, str) and code[:1] in NATIVE else code
    if bare not in CODES:
        raise mpi_error(ERR_TYPE, f"no datatype has the type code {code!r}.", MPIValueError)
    return Datatype._permanent(CODES[bare])


_numbers = {letter: Datatype._permanent(CODES[letter]) for letter in "?bBhHiIlLqQefdgFDG"}
_opaque: dict[int, Datatype] = {}


def number_of(dtype: Dtype) -> Datatype | None:
    """Return the datatype for a dtype of numbers in native byte order; None for any other dtype."""
    # By letter and not by dtype: numpy's long and long long compare equal where they have the same size.
    return _numbers.get(dtype.char) if dtype.isnative else None


def from_dtype(dtype: Dtype) -> Datatype:
    """Return the datatype for elements of a numpy array; types unknown to MPI are sent as bytes."""
    datatype = number_of(dtype)
    if datatype is not None:
        return datatype
    if dtype.hasobject:
        raise mpi_error(ERR_TYPE, f"arrays of {dtype} hold Python objects: send them with lower-case methods.", MPITypeError)
    if dtype.isnative and dtype.str[1:] in ("S1", "U1"):
        return CHAR if dtype.kind == "S" else WCHAR
    return _opaque_bytes(dtype.itemsize)


def _opaque_bytes(size: int) -> Datatype:
    """Return a committed type of `size` bytes, shared by all arrays with elements of that size."""
    if size not in _opaque:
        datatype = _opaque[size] = BYTE.Create_contiguous(size).Commit()
        untrack("datatype-leak", datatype._definition)  # it is fakempi's, and is never freed
        datatype._definition.opaque = True
    return _opaque[size]
