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

DATATYPE_NULL = Datatype._permanent(NULL)

# The unique handles, in the order of `NAMED`, which a test compares. A type that this system lacks is a new null handle.
(
    PACKED, BYTE, AINT, OFFSET, COUNT, CHAR, WCHAR, SIGNED_CHAR, SHORT, INT, LONG, LONG_LONG, UNSIGNED_CHAR,
    UNSIGNED_SHORT, UNSIGNED, UNSIGNED_LONG, UNSIGNED_LONG_LONG, FLOAT, DOUBLE, LONG_DOUBLE, C_BOOL, INT8_T, INT16_T,
    INT32_T, INT64_T, UINT8_T, UINT16_T, UINT32_T, UINT64_T, FLOAT16_T, C_COMPLEX, C_DOUBLE_COMPLEX,
    C_LONG_DOUBLE_COMPLEX, CXX_BOOL, CXX_FLOAT_COMPLEX, CXX_DOUBLE_COMPLEX, CXX_LONG_DOUBLE_COMPLEX, CHARACTER, LOGICAL,
    INTEGER, REAL, DOUBLE_PRECISION, COMPLEX, DOUBLE_COMPLEX, INTEGER1, INTEGER2, INTEGER4, INTEGER8, REAL4, REAL8,
    REAL16, COMPLEX8, COMPLEX16, COMPLEX32, SHORT_INT, INT_INT, LONG_INT, FLOAT_INT, DOUBLE_INT, LONG_DOUBLE_INT,
    FLOAT32_T, FLOAT64_T, C_FLOAT_COMPLEX, TWOINT, UNSIGNED_INT, SIGNED_SHORT, SIGNED_INT, SIGNED_LONG,
    SIGNED_LONG_LONG, BOOL, SINT8_T, SINT16_T, SINT32_T, SINT64_T, F_BOOL, F_INT, F_FLOAT, F_DOUBLE, F_COMPLEX,
    F_FLOAT_COMPLEX, F_DOUBLE_COMPLEX, BFLOAT16_T, LOGICAL1, LOGICAL2, LOGICAL4, LOGICAL8, LOGICAL16, INTEGER16, REAL2,
    COMPLEX4,
) = [Datatype() if definition is NULL else Datatype._permanent(definition) for definition in NAMED.values()]  # fmt: skip

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
