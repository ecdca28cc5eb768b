"""Making datatypes from datatypes: the constructors of MPI, from checked arguments to a layout.

Bounds follow MPI's rules as MPICH reads them: `lb` and `ub` are the least and greatest of the old types' bounds where
they are put (blocks of length 0 do not count), and a struct's extent is rounded up to its strictest alignment unless
it has but one member or one basic type.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from fakempi.error_classes import ERR_ARG, ERR_COUNT, ERR_DIMS
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.datatypes import typemap
from fakempi.mpi.datatypes.definition import Definition
from fakempi.mpi.datatypes.layout import Layout
from fakempi.mpi.datatypes.typemap import Offsets

Numbers = Sequence[int]
_FAR = 2**62  # offsets are computed in 64 bits


def duplicate(old: Definition) -> Definition:
    """The same type over again; committed if the old one is."""
    made = Definition(c.COMBINER_DUP, old.layout, ((1, old),))
    made.committed = old.committed
    return made


def contiguous(old: Definition, count: int) -> Definition:
    """`count` elements, one extent apart."""
    count = counted("count", count)
    return _rows(c.COMBINER_CONTIGUOUS, old, 1, count, 0, {"count": count})


def vector(old: Definition, count: int, blocklength: int, stride: int, *, bytewise: bool = False) -> Definition:
    """`count` blocks of `blocklength` elements; the stride is in extents, or in bytes."""
    params = {
        "count": counted("count", count),
        "blocklength": counted("blocklength", blocklength),
        "stride": number("stride", stride),
    }
    step = params["stride"] * (1 if bytewise else old.layout.extent)
    combiner = c.COMBINER_HVECTOR if bytewise else c.COMBINER_VECTOR
    return _rows(combiner, old, params["count"], params["blocklength"], step, params)


def indexed(old: Definition, blocklengths: Numbers, displacements: Numbers, *, bytewise: bool = False) -> Definition:
    """A block of elements at every displacement; these are in extents, or in bytes."""
    lengths = numbers("blocklengths", blocklengths, least=0)
    where = numbers("displacements", displacements, like=lengths)
    combiner = c.COMBINER_HINDEXED if bytewise else c.COMBINER_INDEXED
    return _blocks(combiner, old, lengths, where, bytewise, {"blocklengths": lengths, "displacements": where})


def indexed_block(old: Definition, blocklength: int, displacements: Numbers, *, bytewise: bool = False) -> Definition:
    """A block of the same length at every displacement; these are in extents, or in bytes."""
    length = counted("blocklength", blocklength)
    where = numbers("displacements", displacements)
    combiner = c.COMBINER_HINDEXED_BLOCK if bytewise else c.COMBINER_INDEXED_BLOCK
    params = {"blocklength": length, "displacements": where}
    return _blocks(combiner, old, [length] * len(where), where, bytewise, params)


def struct(blocklengths: Numbers, displacements: Numbers, olds: Sequence[Definition]) -> Definition:
    """A block of every one of some types, displaced by bytes."""
    lengths = numbers("blocklengths", blocklengths, least=0)
    where = numbers("displacements", displacements, like=lengths)
    if len(olds) != len(lengths):
        raise complaint(ERR_ARG, f"{len(lengths)} blocklengths but {len(olds)} datatypes.", MPIValueError)
    members = [(n, at, old) for n, at, old in zip(lengths, where, olds, strict=True) if n]
    rows = [(old.layout, n, at) for n, at, old in members]
    made = typemap.concatenate(
        [(at, typemap.repeat(old.pieces, old.size, n, old.extent), n * old.size) for old, n, at in rows]
    )
    bounds = [_block_bounds(*row) for row in rows] or [(0, 0)]
    lb, ub = min([low for low, _ in bounds]), max([high for _, high in bounds])
    kinds = {old if old.basic is old else None for _, _, old in members}
    mixed = len(members) > 1 and (len(kinds) > 1 or None in kinds)
    align = max([old.align for _, _, old in members]) if mixed else 1
    extent = -(-(ub - lb) // align) * align
    layout = Layout(made, sum([n * old.size for old, n, _ in rows]), lb, extent)
    parts = tuple(zip(lengths, olds, strict=True))
    return Definition(c.COMBINER_STRUCT, layout, parts, {"blocklengths": lengths, "displacements": where})


def resized(old: Definition, lb: int, extent: int) -> Definition:
    """The same bytes with other bounds."""
    params = {"lb": number("lb", lb), "extent": number("extent", extent)}
    layout = Layout(old.layout.pieces, old.layout.size, params["lb"], params["extent"])
    return Definition(c.COMBINER_RESIZED, layout, ((1, old),), params)


def subarray(old: Definition, sizes: Numbers, subsizes: Numbers, starts: Numbers, order: int) -> Definition:
    """A rectangle out of an array."""
    full = numbers("sizes", sizes, least=1)
    part = numbers("subsizes", subsizes, like=full, least=0)
    first = numbers("starts", starts, like=full, least=0)
    if not full:
        raise complaint(ERR_DIMS, "an array needs at least one dimension, sizes is empty.", MPIValueError)
    for axis, (size, subsize, start) in enumerate(zip(full, part, first, strict=True)):
        if start + subsize > size:
            words = f"dimension {axis} has {size} elements, {subsize} from {start} on go beyond."
            raise complaint(ERR_ARG, words, MPIValueError)
    chosen = [[(start, 1, 0, subsize)] for start, subsize in zip(first, part, strict=True)]
    params = {"sizes": full, "subsizes": part, "starts": first, "order": checked_order(order)}
    return array(c.COMBINER_SUBARRAY, old, full, chosen, params)


# Along one axis: (first index, how many blocks, from block to block, indices in a block).
Stretch = tuple[int, int, int, int]


def array(
    combiner: int, old: Definition, sizes: list[int], chosen: list[list[Stretch]], params: dict[str, Any]
) -> Definition:
    """What is chosen of every axis of an array, as a type as large as the whole array."""
    axes = range(len(sizes))
    made, size, stride = old.layout.pieces, old.layout.size, old.layout.extent
    for axis in reversed(axes) if params["order"] == c.ORDER_C else axes:
        parts = []
        for first, times, step, length in chosen[axis]:
            row = typemap.repeat(made, size, length, stride)
            block = typemap.repeat(row, size * length, times, step * stride)
            parts.append((first * stride, block, size * length * times))
        made, size = typemap.concatenate(parts), sum(part[2] for part in parts)
        stride *= sizes[axis]
    elements = math.prod(sum(times * length for _, times, _, length in stretches) for stretches in chosen)
    layout = Layout(made if size else (), size, 0, stride)
    return Definition(combiner, layout, ((elements, old),), params, align=old.align)


def _rows(combiner: int, old: Definition, times: int, length: int, step: int, params: dict[str, Any]) -> Definition:
    """`times` blocks of `length` elements, `step` bytes apart."""
    layout, block = old.layout, length * old.layout.size
    row = typemap.repeat(layout.pieces, layout.size, length, layout.extent)
    made = typemap.repeat(row, block, times, step)
    lb = extent = 0
    if times and length:
        low, high = _block_bounds(layout, length, 0)
        far = (times - 1) * step
        lb = low + min(0, far)
        extent = high + max(0, far) - lb
    return Definition(combiner, Layout(made, times * block, lb, extent), ((times * length, old),), params)


def _blocks(
    combiner: int, old: Definition, lengths: list[int], where: list[int], bytewise: bool, params: dict[str, Any]
) -> Definition:
    """A block of `lengths[i]` elements at `where[i]`."""
    layout = old.layout
    reach = (max(map(abs, where), default=0) + max(lengths, default=0)) * max(abs(layout.extent), layout.size, 1)
    if reach >= _FAR:
        raise complaint(ERR_ARG, f"displacements and blocks reach {reach} bytes, beyond any memory.", MPIValueError)
    counts = _offsets(lengths)
    starts = _offsets(where) * (1 if bytewise else layout.extent)
    made = typemap.blocks(layout.pieces, layout.size, layout.extent, counts, starts)
    kept, lb, extent = counts > 0, 0, 0
    if kept.any():
        far = (counts - 1) * layout.extent
        lb = int((starts + np.minimum(far, 0))[kept].min()) + layout.lb
        extent = int((starts + np.maximum(far, 0))[kept].max()) + layout.lb + layout.extent - lb
    total = int(counts.sum())
    return Definition(combiner, Layout(made, total * layout.size, lb, extent), ((total, old),), params)


def _block_bounds(layout: Layout, length: int, at: int) -> tuple[int, int]:
    """lb and ub of a block of elements."""
    far = (length - 1) * layout.extent
    return at + layout.lb + min(0, far), at + layout.lb + layout.extent + max(0, far)


def _offsets(values: list[int]) -> Offsets:
    return np.array(values, dtype=np.int64)


def contents(made: Definition) -> tuple[list[int], list[int]]:
    """What MPI tells about how a type was made: the integers, and the counts and displacements."""
    given = made.params
    match made.combiner:
        case c.COMBINER_INDEXED | c.COMBINER_HINDEXED | c.COMBINER_STRUCT:
            return [], [len(given["blocklengths"]), *given["blocklengths"], *given["displacements"]]
        case c.COMBINER_INDEXED_BLOCK | c.COMBINER_HINDEXED_BLOCK:
            return [], [len(given["displacements"]), given["blocklength"], *given["displacements"]]
        case c.COMBINER_SUBARRAY:
            return [len(given["sizes"]), given["order"]], [*given["sizes"], *given["subsizes"], *given["starts"]]
        case c.COMBINER_DARRAY:
            lists = [*given["distribs"], *given["dargs"], *given["psizes"]]
            return [given["size"], given["rank"], len(given["gsizes"]), *lists, given["order"]], list(given["gsizes"])
        case c.COMBINER_F90_INTEGER | c.COMBINER_F90_REAL | c.COMBINER_F90_COMPLEX:
            return list(given.values()), []
        case _:
            return [], list(given.values())


# -- arguments ---------------------------------------------------------------------------------------------------------


def number(what: str, value: Any) -> int:
    """The argument as an integer. Floats that are whole will do: mpi4py takes them."""
    try:
        return index(value)
    except TypeError:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        raise complaint(ERR_ARG, f"{what} is {value!r}, not an integer.", MPITypeError) from None


def counted(what: str, value: Any) -> int:
    """The argument as a number of things."""
    count = number(what, value)
    if count < 0:
        raise complaint(ERR_COUNT, f"{what} is {count}, less than 0.", MPIValueError)
    return count


def numbers(what: str, values: Any, *, like: list[int] | None = None, least: int | None = None) -> list[int]:
    """The argument as a list of integers, as long as another, none too small."""
    try:
        found = [index(values[i]) for i in range(len(values))]
    except TypeError:
        raise complaint(ERR_ARG, f"{what} is {values!r}, not a sequence of integers.", MPITypeError) from None
    if like is not None and len(found) != len(like):
        raise complaint(ERR_ARG, f"{what} has {len(found)} items where {len(like)} are expected.", MPIValueError)
    if least is not None and found and min(found) < least:
        where = found.index(min(found))
        raise complaint(ERR_COUNT, f"{what}[{where}] is {found[where]}, less than {least}.", MPIValueError)
    return found


def checked_order(order: Any) -> int:
    """ORDER_C or ORDER_FORTRAN."""
    if order not in (c.ORDER_C, c.ORDER_FORTRAN):
        raise complaint(ERR_ARG, f"order is {order!r}, neither ORDER_C nor ORDER_FORTRAN.", MPIValueError)
    return int(order)
