"""The element type of a comparison: its name and its size in bytes, on which the cuts of reductions depend."""

from __future__ import annotations

from typing import Final, NamedTuple

from collectives.trials.cases import UNSIZED
from fakempi.core.options import unknown_name
from fakempi.tuning.rule import REDUCING

SIZES: Final = {
    "char": 1, "byte": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8,
    "int8": 1, "uint8": 1, "int16": 2, "int32": 4, "int64": 8, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""Bytes of an element by name: the C types of MPI, then the names of numpy."""

MOVED: Final = "char"
REDUCED: Final = "float"
"""Defaults for operations that move data and for reductions.

The Intel MPI benchmarks and version 5 of the OSU benchmarks reduce floats. Version 7.5 reduces ints, of 4 bytes, too; output
of versions between them has MPI_CHAR.
"""


class Elements(NamedTuple):
    """An element type."""

    dtype: str
    itemsize: int


BYTES: Final = Elements("", 1)
"""The elements of operations without data."""


def elements_of(operation: str, dtype: str = "") -> Elements:
    """Return the element type with that name, or the default of the operation."""
    name = dtype or (REDUCED if operation in REDUCING else MOVED)
    if name not in SIZES:
        raise unknown_name("element type", name, SIZES)
    return BYTES if operation in UNSIZED else Elements(name, SIZES[name])
