"""A specification, `[buffer, (count, displacement), datatype]` or a shorter form of it, in parts. The forms are mpi4py's."""

from __future__ import annotations

from typing import Any

from fakempi.error_classes import ERR_BUFFER, ERR_COUNT
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.buffers.places import InPlaceType
from fakempi.mpi.datatypes.datatype import Datatype

Parts = tuple[Any, Any, Any, Any, bool]
"""Buffer, count, displacement, datatype, with None for what was left out; and whether the buffer was not in a list."""


def split(spec: Any, pairs: tuple[type, ...] = (list, tuple)) -> Parts:
    """The parts of a specification. `pairs` are the sequences that hold count and displacement in place of a count."""
    if not isinstance(spec, (list, tuple)):
        return spec, None, None, None, True
    length = len(spec)
    if length == 3:
        buffer, count, kind = spec
    elif length == 2:
        buffer, count, kind = spec[0], spec[1], None
        if isinstance(count, (Datatype, str)):
            return buffer, None, None, count, False
    else:
        _check_length(length)
        return spec[0], spec[1], spec[2], spec[3], False
    if type(count) is int or not isinstance(count, pairs):
        return buffer, count, None, kind, False
    pair: Any = count
    if len(pair) != 2:
        raise _no_pair("count and displacement", pair)
    return buffer, pair[0], pair[1], kind, False


def split_w(spec: Any) -> tuple[Any, Any, Any, Any]:
    """As `split`, of a specification with a datatype for each block: buffer, counts, displacements, datatypes."""
    if not isinstance(spec, (list, tuple)):
        words = f"expecting a list like [buffer, counts, displacements, datatypes], not {type(spec).__name__!r}."
        raise complaint(ERR_BUFFER, words, MPITypeError)
    _check_length(len(spec))
    counts, displacements = spec[1:3] if len(spec) == 4 else (None, None)
    if len(spec) == 3:
        pair = spec[1]
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise _no_pair("counts and displacements", pair)
        counts, displacements = pair
    return spec[0], counts, displacements, spec[-1]


def buffer_in(spec: Any) -> Any:
    """What stands where a specification has its buffer, before anything is checked."""
    return spec[0] if isinstance(spec, (list, tuple)) and spec else spec


def is_in_place(spec: Any) -> bool:
    """Whether a buffer is IN_PLACE, in any of its forms; as in mpi4py, None is one."""
    return spec is None or isinstance(buffer_in(spec), InPlaceType)


def _check_length(length: int) -> None:
    if not 2 <= length <= 4:
        words = f"expecting 2 to 4 items in a buffer specification, got {length}."
        raise complaint(ERR_BUFFER, words, MPIValueError)


def _no_pair(what: str, value: Any) -> MPIError:
    if isinstance(value, (list, tuple)):
        return complaint(ERR_COUNT, f"expecting a pair of {what}, got {len(value)} items.", MPIValueError)
    return complaint(ERR_COUNT, f"expecting a pair of {what}, not {type(value).__name__!r}.", MPITypeError)
