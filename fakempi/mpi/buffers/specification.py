"""Step 1 of 5 of reading a buffer specification: split `[buffer, (count, displacement), datatype]`, or a shorter form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_BUFFER, ERR_COUNT
from fakempi.mpi.base.mpi_errors import mpi_error, use_objects
from fakempi.mpi.buffers.address_constants import InPlaceType
from fakempi.mpi.datatypes.datatype import Datatype

Unchecked = Any
"""An item of a specification before its check: a count, a displacement, or a sequence of these."""

Parts = tuple[object, Unchecked, Unchecked, object, bool]
"""Buffer, count, displacement, datatype, each None if left out; and whether the buffer is bare, that is, not in a list."""


def split(spec: object, pairs: tuple[type, ...] = (list, tuple)) -> Parts:
    """Split a specification. `pairs` are the types of sequences that hold count and displacement in place of a count."""
    if not isinstance(spec, (list, tuple)):
        return spec, None, None, None, True
    length = len(spec)
    if length == 3:
        buffer, count, type_spec = spec
    elif length == 2:
        buffer, count, type_spec = spec[0], spec[1], None
        if isinstance(count, (Datatype, str)):
            return buffer, None, None, count, False
    else:
        _check_length(spec)
        return spec[0], spec[1], spec[2], spec[3], False
    if type(count) is int or not isinstance(count, pairs):
        return buffer, count, None, type_spec, False
    pair: Unchecked = count
    if len(pair) != 2:
        raise _not_a_pair("count and displacement", pair)
    return buffer, pair[0], pair[1], type_spec, False


def split_w(spec: object) -> tuple[object, Unchecked, Unchecked, Unchecked]:
    """Split a specification with a datatype for each block: buffer, counts, displacements, datatypes."""
    if not isinstance(spec, (list, tuple)):
        sentence = f"expecting a list like [buffer, counts, displacements, datatypes], not {type(spec).__name__!r}."
        raise mpi_error(ERR_BUFFER, sentence, MPITypeError)
    _check_length(spec)
    counts, displacements = spec[1:3] if len(spec) == 4 else (None, None)
    if len(spec) == 3:
        pair = spec[1]
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise _not_a_pair("counts and displacements", pair)
        counts, displacements = pair
    return spec[0], counts, displacements, spec[-1]


def buffer_in(spec: object) -> object:
    """The buffer of a specification that has not been checked."""
    return spec[0] if isinstance(spec, (list, tuple)) and spec else spec


def is_in_place(spec: object) -> bool:
    """Whether a specification is IN_PLACE in any of its forms. As in mpi4py, None is one of them."""
    return spec is None or isinstance(buffer_in(spec), InPlaceType)


def _check_length(spec: Sequence[object]) -> None:
    if not 2 <= len(spec) <= 4:
        advice = use_objects(spec) if spec and isinstance(spec[0], (int, float, str)) else ""
        sentence = f"expecting 2 to 4 items in a buffer specification, got {len(spec)}.{advice}"
        raise mpi_error(ERR_BUFFER, sentence, MPIValueError)


def _not_a_pair(what: str, value: object) -> MPIError:
    if isinstance(value, (list, tuple)):
        return mpi_error(ERR_COUNT, f"expecting a pair of {what}, got {len(value)} items.", MPIValueError)
    return mpi_error(ERR_COUNT, f"expecting a pair of {what}, not {type(value).__name__!r}.", MPITypeError)
