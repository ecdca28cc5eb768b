"""The basic datatypes: MPI's names for the types of C and Fortran, numpy's names for them, and lookups."""

from __future__ import annotations

import math
import sys

import numpy as np

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_OTHER, ERR_TYPE
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.datatypes.definition import NULL, Definition, basic_type, pair_type
from fakempi.mpi.interfaces.arrays import Dtype

# Name in the MPI module, mpi4py's type code; with a numpy type if the code is not one, an MPI name if it differs.
_TABLE = """
    PACKED B              BYTE B                  AINT p                 OFFSET p                COUNT p
    CHAR c:S1             WCHAR U:U1              SIGNED_CHAR b          SHORT h                 INT i
    LONG l                LONG_LONG q::LONG_LONG_INT                     UNSIGNED_CHAR B         UNSIGNED_SHORT H
    UNSIGNED I            UNSIGNED_LONG L         UNSIGNED_LONG_LONG Q   FLOAT f                 DOUBLE d
    LONG_DOUBLE g         C_BOOL b1               INT8_T i1              INT16_T i2              INT32_T i4
    INT64_T i8            UINT8_T u1              UINT16_T u2            UINT32_T u4             UINT64_T u8
    FLOAT16_T e           C_COMPLEX F             C_DOUBLE_COMPLEX D     C_LONG_DOUBLE_COMPLEX G CXX_BOOL ?
    CXX_FLOAT_COMPLEX F   CXX_DOUBLE_COMPLEX D    CXX_LONG_DOUBLE_COMPLEX G                      CHARACTER c:S1
    LOGICAL i             INTEGER i               REAL f                 DOUBLE_PRECISION d      COMPLEX F
    DOUBLE_COMPLEX D      INTEGER1 i1             INTEGER2 i2            INTEGER4 i4             INTEGER8 i8
    REAL4 f4              REAL8 f8                REAL16 f16             COMPLEX8 c8             COMPLEX16 c16
    COMPLEX32 c32
"""
_PAIRS = """
    SHORT_INT SHORT  INT_INT INT  LONG_INT LONG  FLOAT_INT FLOAT  DOUBLE_INT DOUBLE  LONG_DOUBLE_INT LONG_DOUBLE
"""
_ALIASES = """
    FLOAT32_T FLOAT             FLOAT64_T DOUBLE          C_FLOAT_COMPLEX C_COMPLEX     TWOINT INT_INT
    UNSIGNED_INT UNSIGNED       SIGNED_SHORT SHORT        SIGNED_INT INT                SIGNED_LONG LONG
    SIGNED_LONG_LONG LONG_LONG  BOOL C_BOOL               SINT8_T INT8_T                SINT16_T INT16_T
    SINT32_T INT32_T            SINT64_T INT64_T          F_BOOL LOGICAL                F_INT INTEGER
    F_FLOAT REAL                F_DOUBLE DOUBLE_PRECISION F_COMPLEX COMPLEX             F_FLOAT_COMPLEX COMPLEX
    F_DOUBLE_COMPLEX DOUBLE_COMPLEX
"""
# Optional types of MPI without a numpy type: their names are DATATYPE_NULL, as in mpi4py.
ABSENT = ["BFLOAT16_T", "LOGICAL1", "LOGICAL2", "LOGICAL4", "LOGICAL8", "LOGICAL16", "INTEGER16", "REAL2", "COMPLEX4"]


def _basics() -> dict[str, Definition]:
    named: dict[str, Definition] = {}
    words = iter(_TABLE.split())
    for label, column in zip(words, words, strict=True):
        code, numpy_code, name = [*column.split(":"), "", ""][:3]
        try:
            dtype = np.dtype(numpy_code or code)
        except TypeError:  # REAL16 and COMPLEX32 where C's long double is shorter
            named[label] = NULL
            continue
        named[label] = basic_type(label, "MPI_" + (name or label), code, dtype)
    words = iter(_PAIRS.split())
    for label, value in zip(words, words, strict=True):
        name = "MPI_" + label.replace("INT_INT", "2INT")
        named[label] = pair_type(label, name, named[value], named["INT"])
    words = iter(_ALIASES.split())
    named.update((alias, named[label]) for alias, label in zip(words, words, strict=True))
    named.update((label, NULL) for label in ABSENT)
    return named


NAMED: dict[str, Definition] = _basics()


def _unsigned(dtype: str) -> str:
    return f"UINT{8 * np.dtype(dtype).itemsize}_T"


def _codes() -> dict[str, Definition]:
    """mpi4py's type codes: C's letters, sized ones, and a few of the struct module's and numpy's spellings."""
    letters = "b SIGNED_CHAR h SHORT i INT l LONG q LONG_LONG B UNSIGNED_CHAR H UNSIGNED_SHORT I UNSIGNED"
    letters += " L UNSIGNED_LONG Q UNSIGNED_LONG_LONG e FLOAT16_T f FLOAT d DOUBLE g LONG_DOUBLE ? C_BOOL b1 C_BOOL"
    letters += " F C_COMPLEX D C_DOUBLE_COMPLEX G C_LONG_DOUBLE_COMPLEX"
    letters += " Zf C_COMPLEX Zd C_DOUBLE_COMPLEX Zg C_LONG_DOUBLE_COMPLEX"
    letters += " i1 INT8_T i2 INT16_T i4 INT32_T i8 INT64_T u1 UINT8_T u2 UINT16_T u4 UINT32_T u8 UINT64_T"
    letters += " n COUNT p AINT c CHAR a CHAR S CHAR S1 CHAR s CHAR 1s CHAR U WCHAR U1 WCHAR w WCHAR 1w WCHAR"
    letters += " u UINT16_T 1u UINT16_T M INT64_T M8 INT64_T m INT64_T m8 INT64_T"
    words = iter(letters.split())
    by_code = {code: NAMED[label] for code, label in zip(words, words, strict=True)}
    for code in "NP":
        by_code[code] = NAMED["UNSIGNED_LONG" if np.dtype("L").itemsize == np.dtype("P").itemsize else _unsigned("P")]
    for kind, letters in (("f", "efdg"), ("c", "FDG")):
        for letter in letters:  # of two types with the same size, the first one is used
            by_code.setdefault(f"{kind}{np.dtype(letter).itemsize}", by_code[letter])
    return by_code


CODES: dict[str, Definition] = _codes()


def by_code(code: str) -> Definition:
    """Return the type with an mpi4py type code: `i`, `d`, `f8` ..."""
    definition = CODES.get(code) if isinstance(code, str) else None
    if definition is None:
        raise mpi_error(ERR_TYPE, f"no datatype has the type code {code!r}.", MPIValueError)
    return definition


NATIVE = "@=|" + ("<" if sys.byteorder == "little" else ">!")


def by_class(typeclass: int, size: int) -> Definition:
    """Return Fortran's type of a class and size in bytes."""
    classes = {
        c.TYPECLASS_INTEGER: ("INTEGER", (1, 2, 4, 8)),
        c.TYPECLASS_REAL: ("REAL", (4, 8, 16)),
        c.TYPECLASS_COMPLEX: ("COMPLEX", (8, 16, 32)),
        c.TYPECLASS_LOGICAL: ("LOGICAL", (4,)),
    }
    if typeclass not in classes:
        raise mpi_error(ERR_ARG, f"type class {typeclass} is not one of MPI.TYPECLASS_...", MPIValueError)
    kind, sizes = classes[typeclass]
    definition = NAMED["LOGICAL" if kind == "LOGICAL" else f"{kind}{size}"] if size in sizes else NULL
    if definition is NULL:
        raise mpi_error(ERR_ARG, f"there is no {kind} type of {size} bytes.", MPIValueError)
    return definition


def by_pair(value: Definition, index: Definition) -> Definition:
    """Return the predefined pair of two types, or NULL."""
    wanted = ((1, value), (1, index))
    return next((pair for pair in NAMED.values() if pair.parts == wanted), NULL)


_fortran: dict[tuple[int, int, int], Definition] = {}


def by_precision(combiner: int, digits: int, exponent: int = c.UNDEFINED) -> Definition:
    """Return the smallest type with given digits and exponents, as Fortran's selected_int_kind and selected_real_kind."""
    key = (combiner, digits, exponent)
    if key not in _fortran:
        kind = {c.COMBINER_F90_INTEGER: "integer", c.COMBINER_F90_REAL: "real"}.get(combiner, "complex")
        models = {"integer": _INTEGERS, "real": _reals("efdg"), "complex": _reals("FDG")}[kind]
        fitting = [code for max_digits, range_, code in models if digits <= max_digits and exponent <= range_]
        if not fitting:
            wanted = f"{digits} digits" + ("" if kind == "integer" else f" and exponents up to {exponent}")
            raise mpi_error(ERR_OTHER, f"there is no {kind} type with {wanted}.", MPIValueError)
        base = CODES[fitting[0]]
        definition = Definition(combiner, base.layout, params={"r": digits}, align=base.align)
        if kind != "integer":
            definition.params = {"p": digits, "r": exponent}
        definition.dtype, definition.code, definition.basic = base.dtype, f"{_kind(base.dtype)}{base.layout.size}", base
        definition.committed = definition.permanent = True
        _fortran[key] = definition
    return _fortran[key]


_INTEGERS: list[tuple[int, int, str]] = [(2, 0, "i1"), (4, 0, "i2"), (9, 0, "i4"), (18, 0, "i8")]


def _reals(codes: str) -> list[tuple[int, int, str]]:
    """Return decimal digits and decimal exponents of numpy's floating-point types, smallest first."""
    reals: list[tuple[int, int, str]] = []
    for code in codes:
        about = np.finfo(np.dtype(code))
        # Fortran's `range`: the power of ten that both the largest number and the smallest normal one reach.
        exponents = int(min(about.maxexp, -about.minexp) * math.log10(2))
        reals.append((int(about.precision), exponents, code))
    return reals


def _kind(dtype: Dtype | None) -> str:
    return "" if dtype is None else dtype.kind


def undo_duplicate(definition: Definition) -> Definition:
    """Return the type that a duplicate was made from."""
    while definition.combiner == c.COMBINER_DUP:
        definition = definition.parts[0][1]
    return definition


def type_string(definition: Definition) -> tuple[str, str]:
    """Return mpi4py's `typechar` and `typestr`: numpy's letter and type string, or V and the extent."""
    definition = undo_duplicate(definition)
    if definition is NULL:
        return "", ""
    if definition.dtype is None or not definition.code:
        return "V", f"V{max(0, definition.layout.extent)}"
    letter = definition.code if len(definition.code) == 1 else definition.dtype.char
    return letter, "U1" if letter == "U" else f"{definition.dtype.kind}{definition.dtype.itemsize}"
