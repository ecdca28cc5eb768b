"""The buffers and counts of blocking calls that programs repeat (see `forms`).

Counts are compared by value each time. In an Allgatherv all ranks pass the same counts and share one recipe. In the other
calls each rank knows only the blocks that it sends and receives itself; call matching compares these each time, as in the
first call.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

from numpy import ndarray

from fakempi.mpi.buffers.address_constants import IN_PLACE
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.collective.forms import may_overlap
from fakempi.mpi.datatypes.predefined import number_of

Described = tuple[tuple[object, ...], tuple[Any, ...]] | None
"""The facts about the arguments of a call, and the arrays for its algorithm; None if only a plan can describe them."""

MAX_BLOCKS = 1024
"""The most blocks of a call that has a recipe. With more blocks, comparing counts takes most of the time."""

_WHOLE = frozenset([int])


class _Row(NamedTuple):
    """An array of numbers, its datatype, and the count of each block in it; for a single block, its count."""

    array: Any
    datatype: Any
    counts: Any
    total: int

    def head(self) -> Any:
        """Return the bytes of the blocks."""
        array = self.array
        return flat(array) if self.total == array.size else flat(array)[: self.total * array.itemsize]


def describe_allgatherv(sendbuf: Any, recvbuf: Any, op: Any, root: Any, rank: int, ranks: int) -> Described:
    """Return the facts about the arguments, and the arrays for the algorithm."""
    out, into = _block(sendbuf), _blocks(recvbuf, ranks)
    if into is None or not _is_own_block(out, into, rank, sendbuf):
        return None
    return (id(into.datatype), into.counts), (None if out is None else flat(out.array), into.head())


def describe_gatherv(own: Any, whole: Any, op: Any, root: Any, rank: int, ranks: int) -> Described:
    """Return the facts and the arrays: `own` is the buffer of this rank's block, `whole` the root's buffer of all blocks."""
    block = _block(own)
    if type(root) is not int or root != rank:
        if block is None or type(root) is not int:
            return None
        return (id(block.datatype), block.counts, root), (flat(block.array), None)
    row = _blocks(whole, ranks)
    if row is None or not _is_own_block(block, row, rank, own):
        return None
    return (id(row.datatype), row.counts, root), (None if block is None else flat(block.array), row.head())


def describe_scatterv(own: Any, whole: Any, op: Any, root: Any, rank: int, ranks: int) -> Described:
    """Return the facts and the arrays of the reverse of a gatherv."""
    if (described := describe_gatherv(own, whole, op, root, rank, ranks)) is None:
        return None
    facts, (mine, every) = described
    return facts, (every, mine)


def describe_alltoallv(sendbuf: Any, recvbuf: Any, op: Any, root: Any, rank: int, ranks: int) -> Described:
    """Return the facts about the arguments, and the arrays for the algorithm."""
    out, into = _blocks(sendbuf, ranks), _blocks(recvbuf, ranks)
    if out is None or into is None or out.datatype is not into.datatype or out.counts[rank] != into.counts[rank]:
        return None
    if may_overlap(out.array, into.array):
        return None
    return (id(out.datatype), out.counts, into.counts), (out.head(), into.head())


def _block(spec: Any) -> _Row | None:
    """Parse `array`, `[array, datatype]` or `[array, count, datatype]`; return None for anything else."""
    array, count, kind = spec, None, None
    if type(spec) is not ndarray and type(spec) in (list, tuple) and 2 <= len(spec) <= 3:
        array, kind = spec[0], spec[-1]
        count = spec[1] if len(spec) == 3 else None
    if type(array) is not ndarray or not array.flags.carray:
        return None
    datatype, size = _datatype(array, kind), array.size
    if datatype is None or (count is not None and (type(count) is not int or count != size)):
        return None
    return _Row(array, datatype, size, size)


def _blocks(spec: Any, size: int) -> _Row | None:
    """Parse a specification with counts; return None if it has none, or if it is not supported here."""
    if type(spec) not in (list, tuple) or not 2 <= (length := len(spec)) <= 4 or size > MAX_BLOCKS:
        return None
    array, given, kind = spec[0], spec[1], spec[-1] if length > 2 else None
    displs = spec[2] if length == 4 else None
    if length < 4 and type(given) is tuple:
        if len(given) != 2:
            return None
        given, displs = given
    counts = _numbers(given, size)
    if counts is None or type(array) is not ndarray or not array.flags.carray:
        return None
    if displs is not None and _numbers(displs, size) != tuple(accumulate(counts[:-1], initial=0)):
        return None
    datatype, total = _datatype(array, kind), sum(counts)
    return None if datatype is None or total > array.size else _Row(array, datatype, counts, total)


def _numbers(values: Any, size: int) -> tuple[int, ...] | None:
    """Return `size` integers as a tuple; None if the values are anything else."""
    if type(values) is ndarray and values.ndim == 1 and values.dtype.kind in "iu":
        values = values.tolist()
    if type(values) not in (list, tuple) or len(values) != size or not _WHOLE.issuperset(map(type, values)):
        return None
    return tuple(values)


def _datatype(array: Any, kind: object) -> Any:
    """Return the datatype of an array's elements if `kind` names it or is None; otherwise None."""
    datatype = number_of(array.dtype)
    if kind is None or kind is datatype or (type(kind) is str and kind == array.dtype.char):
        return datatype
    return None


def _is_own_block(own: _Row | None, row: _Row, rank: int, spec: object) -> bool:
    """Return whether a rank's own block fits its block in the row and does not overlap it, or is IN_PLACE."""
    if own is None:
        return spec is IN_PLACE
    return own.datatype is row.datatype and own.total == row.counts[rank] and not may_overlap(own.array, row.array)
