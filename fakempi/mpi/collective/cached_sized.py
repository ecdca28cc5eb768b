"""Repeated collective calls with counts (Allgatherv and similar calls), which reuse the recipe of an earlier call.

A recipe is the prepared part of a call (`Recipe`). It applies to blocks in a contiguous array. Counts are compared by value
each time. In an Allgatherv all ranks pass the same counts and share one recipe. In the other calls each rank knows only the
blocks that it sends and receives itself; call matching compares these each time, as in the first call.
"""

from __future__ import annotations

from itertools import accumulate
from types import FrameType
from typing import Any, NamedTuple

from numpy import ndarray

from fakempi.mpi.buffers.address_constants import IN_PLACE
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.buffers.typing import AnySpec
from fakempi.mpi.collective.cached_calls import Key, overlap
from fakempi.mpi.collective.cached_rooted import CachedRootedCalls
from fakempi.mpi.datatypes.predefined import number_of

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


class CachedSizedCalls(CachedRootedCalls):
    """Calls with block sizes that reuse the recipe of an earlier call."""

    __slots__ = ()

    def _cached_allgatherv(self, frame: FrameType, call: str, sendbuf: AnySpec, recvbuf: AnySpec) -> None:
        out, into = _block(sendbuf), _blocks(recvbuf, self._n_peers)
        key = None if into is None else (call, id(frame.f_code), frame.f_lasti, id(into.datatype), into.counts)
        recipe = self._find_recipe(key)
        if recipe is None or into is None or not _is_own_block(out, into, self._rank, sendbuf):
            self._run_and_store(key, frame, self._plan_allgatherv(sendbuf, recvbuf, objects=call.islower()))
        else:
            self._run_recipe(recipe, None if out is None else flat(out.array), into.head())

    def _cached_rooted_v(self, frame: FrameType, call: str, own: AnySpec, whole: AnySpec, root: int) -> None:
        """Run a gatherv or a scatterv: `own` is the buffer of this rank's block, `whole` the root's buffer of all blocks."""
        is_root = type(root) is int and root == self._rank
        block, blocks = _block(own), _blocks(whole, self._n_peers) if is_root else None
        key = _key(frame, call, blocks if is_root else block, root)
        recipe = self._find_recipe(key)
        if recipe is None or (blocks is not None and not _is_own_block(block, blocks, root, own)):
            self._run_and_store(key, frame, self._plan_rooted(call, own, whole, root))
            return
        mine, all_blocks = None if block is None else flat(block.array), None if blocks is None else blocks.head()
        self._run_recipe(recipe, *((mine, all_blocks) if recipe.operation == "gatherv" else (all_blocks, mine)))

    def _cached_alltoallv(self, frame: FrameType, call: str, sendbuf: AnySpec, recvbuf: AnySpec) -> None:
        out, into, rank = _blocks(sendbuf, self._n_peers), _blocks(recvbuf, self._n_peers), self._rank
        key: Key | None = None
        if out is not None and into is not None and out.datatype is into.datatype:
            key = call, id(frame.f_code), frame.f_lasti, id(out.datatype), out.counts, into.counts
        recipe = self._find_recipe(key)
        if recipe is None or out is None or into is None:
            self._run_and_store(key, frame, self._plan_alltoallv(sendbuf, recvbuf, objects=call.islower()))
        elif out.counts[rank] != into.counts[rank] or overlap(out.array, into.array):
            self._plan_alltoallv(sendbuf, recvbuf, objects=call.islower())()
        else:
            self._run_recipe(recipe, out.head(), into.head())


def _key(frame: FrameType, call: str, row: _Row | None, root: object) -> Key | None:
    """Return the key of a call with a root, for one rank; None if its arguments are not supported here."""
    if row is None or type(root) is not int:
        return None
    return call, id(frame.f_code), frame.f_lasti, id(row.datatype), row.counts, root


def _block(spec: Any) -> _Row | None:
    """Parse `array`, `[array, datatype]` or `[array, count, datatype]`; return None for anything else."""
    array, count, kind = spec, None, None
    if type(spec) in (list, tuple) and 2 <= len(spec) <= 3:
        array, kind = spec[0], spec[-1]
        count = spec[1] if len(spec) == 3 else None
    if type(array) is not ndarray or not array.flags.carray:
        return None
    datatype = _datatype(array, kind)
    if datatype is None or (count is not None and (type(count) is not int or count != array.size)):
        return None
    return _Row(array, datatype, array.size, array.size)


def _blocks(spec: Any, size: int) -> _Row | None:
    """Parse a specification with counts; return None if it has none, or if it is not supported here."""
    if type(spec) not in (list, tuple) or not 2 <= len(spec) <= 4 or size > MAX_BLOCKS:
        return None
    array, given, kind = spec[0], spec[1], spec[-1] if len(spec) > 2 else None
    displs = spec[2] if len(spec) == 4 else None
    if len(spec) < 4 and type(given) is tuple:
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
    matches = kind is None or kind is datatype or (type(kind) is str and kind == array.dtype.char)
    return datatype if matches else None


def _is_own_block(own: _Row | None, row: _Row, rank: int, spec: object) -> bool:
    """Return whether a rank's own block fits its block in the row and does not overlap it, or is IN_PLACE."""
    if own is None:
        return spec is IN_PLACE
    return own.datatype is row.datatype and own.total == row.counts[rank] and not overlap(own.array, row.array)
