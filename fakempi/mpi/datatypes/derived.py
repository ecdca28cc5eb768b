"""The constructors of derived datatypes: argument checks, layout and definition.

Bounds follow MPI's rules as MPICH interprets them: `lb` and `ub` are the minimum and maximum of the displaced bounds of the
old types (blocks of length 0 do not count), and a struct's extent is rounded up to its strictest alignment unless it has
only one member or one basic type.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any, SupportsIndex, TypeAlias

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_COUNT, ERR_DIMS
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.mpi_errors import fits, integer, mpi_error, overflow
from fakempi.mpi.datatypes import derived_layouts
from fakempi.mpi.datatypes.definition import Definition
from fakempi.mpi.datatypes.derived_layouts import AxisBlocks

Numbers = Sequence[int]
_MAX_OFFSET = 2**62  # offsets are computed in 64 bits

Params: TypeAlias = dict[str, Any]
"""The arguments of a constructor, by name, as `Datatype.decode` returns them."""


def duplicate(old: Definition) -> Definition:
    """Return a duplicate of a type; committed if the old type is."""
    definition = Definition(c.COMBINER_DUP, old.layout, ((1, old),))
    definition.committed = old.committed
    return definition


def contiguous(old: Definition, count: int) -> Definition:
    """`count` elements, one extent apart."""
    count = nonnegative("count", count)
    return _rows(c.COMBINER_CONTIGUOUS, old, 1, count, 0, {"count": count})


def vector(old: Definition, count: int, blocklength: int, stride: int, *, bytewise: bool = False) -> Definition:
    """`count` blocks of `blocklength` elements; the stride is in extents, or in bytes."""
    params = {
        "count": nonnegative("count", count),
        "blocklength": nonnegative("blocklength", blocklength),
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
    length = nonnegative("blocklength", blocklength)
    where = numbers("displacements", displacements)
    combiner = c.COMBINER_HINDEXED_BLOCK if bytewise else c.COMBINER_INDEXED_BLOCK
    params = {"blocklength": length, "displacements": where}
    return _blocks(combiner, old, [length] * len(where), where, bytewise, params)


def struct(blocklengths: Numbers, displacements: Numbers, olds: Sequence[Definition]) -> Definition:
    """Return blocks of several types, displaced by bytes."""
    lengths = numbers("blocklengths", blocklengths, least=0)
    where = numbers("displacements", displacements, like=lengths)
    if len(olds) != len(lengths):
        raise mpi_error(ERR_ARG, f"{len(lengths)} blocklengths but {len(olds)} datatypes.", MPIValueError)
    return members(lengths, where, olds)


def members(lengths: list[int], where: list[int], olds: Sequence[Definition]) -> Definition:
    """Return the same as `struct`, for valid arguments."""
    used = [old for n, old in zip(lengths, olds, strict=True) if n]
    mixed = len(used) > 1 and any([old.basic is not old or old is not used[0] for old in used])
    align = max([old.align for old in used]) if mixed else 1
    layout = derived_layouts.members([old.layout for old in olds], lengths, where, align)
    parts = tuple(zip(lengths, olds, strict=True))
    return Definition(c.COMBINER_STRUCT, layout, parts, {"blocklengths": lengths, "displacements": where})


def resized(old: Definition, lb: int, extent: int) -> Definition:
    """The same bytes with other bounds."""
    params = {"lb": number("lb", lb), "extent": number("extent", extent)}
    layout = derived_layouts.bounded(old.layout, params["lb"], params["extent"])
    return Definition(c.COMBINER_RESIZED, layout, ((1, old),), params)


def subarray(old: Definition, sizes: Numbers, subsizes: Numbers, starts: Numbers, order: int) -> Definition:
    """Return a rectangular part of an array."""
    full = numbers("sizes", sizes, least=1)
    part = numbers("subsizes", subsizes, like=full, least=0)
    first = numbers("starts", starts, like=full, least=0)
    if not full:
        raise mpi_error(ERR_DIMS, "an array needs at least one dimension, sizes is empty.", MPIValueError)
    for axis, (size, subsize, start) in enumerate(zip(full, part, first, strict=True)):
        if start + subsize > size:
            sentence = f"dimension {axis} has {size} elements: {subsize} from {start} on exceed it."
            raise mpi_error(ERR_ARG, sentence, MPIValueError)
    chosen = tuple([((start, 1, 0, subsize),) for start, subsize in zip(first, part, strict=True)])
    params = {"sizes": full, "subsizes": part, "starts": first, "order": checked_order(order)}
    return array(c.COMBINER_SUBARRAY, old, full, chosen, params)


def array(
    combiner: int, old: Definition, sizes: list[int], chosen: tuple[tuple[AxisBlocks, ...], ...], params: Params
) -> Definition:
    """Return the type of the chosen indices of every axis, with the extent of the whole array."""
    elements = math.prod([sum([times * length for _, times, _, length in stretches]) for stretches in chosen])
    layout = derived_layouts.array(old.layout, tuple(sizes), chosen, params["order"])
    return Definition(combiner, layout, ((elements, old),), params, align=old.align)


def _rows(combiner: int, old: Definition, times: int, length: int, step: int, params: Params) -> Definition:
    """`times` blocks of `length` elements, `step` bytes apart."""
    return Definition(combiner, derived_layouts.rows(old.layout, times, length, step), ((times * length, old),), params)


def _blocks(
    combiner: int, old: Definition, lengths: list[int], where: list[int], bytewise: bool, params: Params
) -> Definition:
    """A block of `lengths[i]` elements at `where[i]`."""
    layout = old.layout
    reach = (max(map(abs, where), default=0) + max(lengths, default=0)) * max(abs(layout.extent), layout.size, 1)
    if reach >= _MAX_OFFSET:
        raise mpi_error(ERR_ARG, f"displacements and blocks extend over {reach} bytes: too many.", MPIValueError)
    new_layout = derived_layouts.blocks(layout, lengths, where, 1 if bytewise else layout.extent)
    return Definition(combiner, new_layout, ((sum(lengths), old),), params)


Contents = tuple[list[int], list[int]]


def contents(definition: Definition) -> Contents:
    """Return the arguments of a type's constructor as in Get_contents: integers, and counts with displacements."""
    listed = _CONTENTS.get(definition.combiner)
    return ([], list(definition.params.values())) if listed is None else listed(definition.params)


def _of_blocks(given: Params) -> Contents:
    return [], [len(given["blocklengths"]), *given["blocklengths"], *given["displacements"]]


def _of_equal_blocks(given: Params) -> Contents:
    return [], [len(given["displacements"]), given["blocklength"], *given["displacements"]]


def _of_subarray(given: Params) -> Contents:
    return [len(given["sizes"]), given["order"]], [*given["sizes"], *given["subsizes"], *given["starts"]]


def _of_darray(given: Params) -> Contents:
    lists = [*given["distribs"], *given["dargs"], *given["psizes"]]
    return [given["size"], given["rank"], len(given["gsizes"]), *lists, given["order"]], list(given["gsizes"])


def _of_precision(given: Params) -> Contents:
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


def number(what: str, value: SupportsIndex, bits: int = 64) -> int:
    """Return an argument as an integer. Floats with integral values are accepted, as by mpi4py."""
    return integer(what, int(value) if isinstance(value, float) and value.is_integer() else value, bits)


def nonnegative(what: str, value: SupportsIndex, bits: int = 64) -> int:
    """Return an argument as a nonnegative integer."""
    count = number(what, value, bits)
    if count < 0:
        raise mpi_error(ERR_COUNT, f"{what} is {count}, less than 0.", MPIValueError)
    return count


def numbers(
    what: str, values: Any, *, like: list[int] | None = None, least: int | None = None, bits: int = 64
) -> list[int]:
    """Return an argument as a list of integers, with the length of `like` and values of at least `least`."""
    try:
        plain = type(values) is list or type(values) is tuple
        result = list(map(index, values)) if plain else [index(values[i]) for i in range(len(values))]
    except (TypeError, LookupError):
        raise mpi_error(ERR_ARG, f"{what} is {values!r}, not a sequence of integers.", MPITypeError) from None
    if like is not None and len(result) != len(like):
        raise mpi_error(ERR_ARG, f"{what} has {len(result)} items where {len(like)} are expected.", MPIValueError)
    if result and not (fits(min(result), bits) and fits(max(result), bits)):
        overflow(f"an item of {what}", next(value for value in result if not fits(value, bits)), bits)
    if least is not None and result and min(result) < least:
        where = result.index(min(result))
        raise mpi_error(ERR_COUNT, f"{what}[{where}] is {result[where]}, less than {least}.", MPIValueError)
    return result


def checked_order(order: SupportsIndex) -> int:
    """Return ORDER_C or ORDER_FORTRAN; raise an error for other values."""
    if integer("order", order) not in (c.ORDER_C, c.ORDER_FORTRAN):
        raise mpi_error(ERR_ARG, f"order is {order!r}: expecting ORDER_C or ORDER_FORTRAN.", MPIValueError)
    return int(order)
