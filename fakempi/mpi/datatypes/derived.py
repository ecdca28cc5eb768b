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

from fakempi.error_classes import ERR_ARG, ERR_COUNT, ERR_DIMS
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.datatypes import placing
from fakempi.mpi.datatypes.definition import Definition
from fakempi.mpi.datatypes.placing import Stretch

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
    return members(lengths, where, olds)


def members(lengths: list[int], where: list[int], olds: Sequence[Definition]) -> Definition:
    """As `struct`, of arguments that need no check."""
    used = [old for n, old in zip(lengths, olds, strict=True) if n]
    mixed = len(used) > 1 and any([old.basic is not old or old is not used[0] for old in used])
    align = max([old.align for old in used]) if mixed else 1
    layout = placing.members([old.layout for old in olds], lengths, where, align)
    parts = tuple(zip(lengths, olds, strict=True))
    return Definition(c.COMBINER_STRUCT, layout, parts, {"blocklengths": lengths, "displacements": where})


def resized(old: Definition, lb: int, extent: int) -> Definition:
    """The same bytes with other bounds."""
    params = {"lb": number("lb", lb), "extent": number("extent", extent)}
    layout = placing.bounded(old.layout, params["lb"], params["extent"])
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
    chosen = tuple([((start, 1, 0, subsize),) for start, subsize in zip(first, part, strict=True)])
    params = {"sizes": full, "subsizes": part, "starts": first, "order": checked_order(order)}
    return array(c.COMBINER_SUBARRAY, old, full, chosen, params)


def array(
    combiner: int, old: Definition, sizes: list[int], chosen: tuple[tuple[Stretch, ...], ...], params: dict[str, Any]
) -> Definition:
    """What is chosen of every axis of an array, as a type as large as the whole array."""
    elements = math.prod([sum([times * length for _, times, _, length in stretches]) for stretches in chosen])
    layout = placing.array(old.layout, tuple(sizes), chosen, params["order"])
    return Definition(combiner, layout, ((elements, old),), params, align=old.align)


def _rows(combiner: int, old: Definition, times: int, length: int, step: int, params: dict[str, Any]) -> Definition:
    """`times` blocks of `length` elements, `step` bytes apart."""
    return Definition(combiner, placing.rows(old.layout, times, length, step), ((times * length, old),), params)


def _blocks(
    combiner: int, old: Definition, lengths: list[int], where: list[int], bytewise: bool, params: dict[str, Any]
) -> Definition:
    """A block of `lengths[i]` elements at `where[i]`."""
    layout = old.layout
    reach = (max(map(abs, where), default=0) + max(lengths, default=0)) * max(abs(layout.extent), layout.size, 1)
    if reach >= _FAR:
        raise complaint(ERR_ARG, f"displacements and blocks reach {reach} bytes, beyond any memory.", MPIValueError)
    made = placing.blocks(layout, lengths, where, 1 if bytewise else layout.extent)
    return Definition(combiner, made, ((sum(lengths), old),), params)


Told = tuple[list[int], list[int]]


def contents(made: Definition) -> Told:
    """What MPI tells about how a type was made: the integers, and the counts and displacements."""
    tell = _CONTENTS.get(made.combiner)
    return ([], list(made.params.values())) if tell is None else tell(made.params)


def _of_blocks(given: dict[str, Any]) -> Told:
    return [], [len(given["blocklengths"]), *given["blocklengths"], *given["displacements"]]


def _of_equal_blocks(given: dict[str, Any]) -> Told:
    return [], [len(given["displacements"]), given["blocklength"], *given["displacements"]]


def _of_subarray(given: dict[str, Any]) -> Told:
    return [len(given["sizes"]), given["order"]], [*given["sizes"], *given["subsizes"], *given["starts"]]


def _of_darray(given: dict[str, Any]) -> Told:
    lists = [*given["distribs"], *given["dargs"], *given["psizes"]]
    return [given["size"], given["rank"], len(given["gsizes"]), *lists, given["order"]], list(given["gsizes"])


def _of_precision(given: dict[str, Any]) -> Told:
    return list(given.values()), []


_CONTENTS = {
    c.COMBINER_INDEXED: _of_blocks,
    c.COMBINER_HINDEXED: _of_blocks,
    c.COMBINER_STRUCT: _of_blocks,
    c.COMBINER_INDEXED_BLOCK: _of_equal_blocks,
    c.COMBINER_HINDEXED_BLOCK: _of_equal_blocks,
    c.COMBINER_SUBARRAY: _of_subarray,
    c.COMBINER_DARRAY: _of_darray,
    c.COMBINER_F90_INTEGER: _of_precision,
    c.COMBINER_F90_REAL: _of_precision,
    c.COMBINER_F90_COMPLEX: _of_precision,
}


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
        plain = type(values) is list or type(values) is tuple
        found = list(map(index, values)) if plain else [index(values[i]) for i in range(len(values))]
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
