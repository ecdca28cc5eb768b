"""Padding: bytes of an element that hold no part of its value, such as 6 of the 16 bytes of an 80-bit long double.

Their content is arbitrary, so two runs that compute the same values may hold different bytes. Padding is set to zero
where bytes leave the program's own buffers: in files, in packed data, in hashes and comparisons of contents, and in the
results of reductions. For types without padding this costs one lookup.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from fakempi.mpi.datatypes.definition import Definition
from fakempi.mpi.datatypes.long_doubles import NATIVE, Bytes, LongDoubleFormat
from fakempi.mpi.interfaces.arrays import Array, Dtype


@lru_cache(256)
def padding_of(dtype: Dtype, form: LongDoubleFormat = NATIVE) -> tuple[int, ...]:
    """The bytes of an element that hold no part of its value: padding of long doubles, and holes between fields."""
    return tuple(np.flatnonzero(~_used(dtype, form)).tolist())


def _used(dtype: Dtype, form: LongDoubleFormat) -> npt.NDArray[np.bool_]:
    """For each byte of an element, whether it holds a part of its value."""
    if dtype.subdtype is not None:
        base, _ = dtype.subdtype
        return np.tile(_used(base, form), dtype.itemsize // base.itemsize if base.itemsize else 0)
    used = np.ones(dtype.itemsize, np.bool_)
    if dtype.fields is not None:
        used[:] = False
        for field in dtype.fields.values():
            used[field[1] : field[1] + field[0].itemsize] |= _used(field[0], form)
    elif dtype.char in "gG":
        parts = used.reshape(-1, form.size)
        parts[:, list(form.padding())] = False
        if not dtype.isnative:
            parts[...] = parts[:, ::-1].copy()
    return used


@lru_cache(256)
def _holes(dtype: Dtype) -> Dtype | None:
    """A dtype whose fields are the runs of padding in an element, or None if there is no padding."""
    padding = padding_of(dtype)
    starts = [i for i in padding if i - 1 not in padding]
    if not starts:
        return None
    ends = [i + 1 for i in padding if i + 1 not in padding]
    formats = [f"V{end - start}" for start, end in zip(starts, ends, strict=True)]
    names = [f"hole {start}" for start in starts]
    return np.dtype({"names": names, "formats": formats, "offsets": starts, "itemsize": dtype.itemsize})


def clear_padding(array: Array) -> None:
    """Set the padding of an array's elements to zero, in place."""
    holes = _holes(array.dtype)
    if holes is not None:
        padding = array.view(holes)  # elements of the same size, so that any strides are possible
        for name in holes.names or ():
            padding[name] = np.zeros((), holes[name])


def value_bytes(array: Array) -> bytes:
    """The bytes of an array with padding set to zero, so that arrays of equal values have equal bytes.

    >>> value_bytes(np.array([1, 2], "u1"))
    b'\\x01\\x02'
    """
    if not padding_of(array.dtype):
        return array.tobytes()
    copy = np.ascontiguousarray(array).copy()
    clear_padding(copy)
    return copy.tobytes()


def has_padding(definition: Definition, form: LongDoubleFormat = NATIVE) -> bool:
    """Whether packed elements of a datatype contain padding."""
    if definition.parts:
        return any(times and has_padding(part, form) for times, part in definition.parts)
    return definition.dtype is not None and bool(padding_of(definition.dtype, form))


def clear_packed(definition: Definition, data: Bytes, count: int, form: LongDoubleFormat = NATIVE) -> None:
    """Set the padding in `count` packed elements to zero, in place; `data` is contiguous."""
    if count:
        _clear_rows(definition, data.reshape(count, -1), form)


def _clear_rows(definition: Definition, rows: Bytes, form: LongDoubleFormat) -> None:
    """The same for packed elements that are rows of a table."""
    if not definition.parts:
        if definition.dtype is not None:
            rows[:, list(padding_of(definition.dtype, form))] = 0
        return
    begin = 0
    for times, part in definition.parts:
        size = part.layout.size
        if times and size and has_padding(part, form):
            inner = rows[:, begin : begin + times * size].reshape(len(rows), times, size)  # a view: one axis becomes two
            for row in inner if len(inner) < times else inner.transpose(1, 0, 2):
                _clear_rows(part, row, form)
        begin += times * size
