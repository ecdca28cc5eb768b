"""Calls with sizes, again: blocks of numbers in a row, with the same counts, which are compared by value each time.

In an Allgatherv all ranks say the same, and have one recipe. In the others each rank knows what it gives and takes itself,
so that is compared with the others' each time, as in the first call; only that nothing is described again.
"""

from __future__ import annotations

from itertools import accumulate
from types import FrameType
from typing import Any, NamedTuple

from numpy import ndarray

from fakempi.mpi.buffers.places import IN_PLACE
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.collective.again import Key, Make, overlap
from fakempi.mpi.collective.rooted import RootedAgain
from fakempi.mpi.datatypes.predefined import number_of

MOST = 1024
"""Blocks up to which counts are remembered: with more of them it is they that take the time, and then the memory."""

_WHOLE = frozenset([int])


class _Row(NamedTuple):
    """An array of numbers, their datatype, and how many of them each block in it has; of a single block, how many it has."""

    array: Any
    datatype: Any
    counts: Any
    total: int

    def head(self) -> Any:
        """The bytes of the blocks."""
        array = self.array
        return flat(array) if self.total == array.size else flat(array)[: self.total * array.itemsize]


class SizedAgain(RootedAgain):
    """Calls with sizes that look first whether they have been made before."""

    __slots__ = ()

    def _allgatherv_again(self, frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, plan: Make) -> None:
        out, into = _block(sendbuf), _blocks(recvbuf, self._reach)
        key = None if into is None else (call, id(frame.f_code), frame.f_lasti, id(into.datatype), into.counts)
        recipe = self._known(key)
        if recipe is None or into is None or not _is_own(out, into, self._rank, sendbuf):
            self._for_the_first_time(key, frame, plan(sendbuf, recvbuf))
        else:
            self._follow(recipe, None if out is None else flat(out.array), into.head())

    def _gatherv_again(self, frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, root: int, plan: Make) -> None:
        here = type(root) is int and root == self._rank
        out, into = _block(sendbuf), _blocks(recvbuf, self._reach) if here else None
        key = _key(frame, call, into if here else out, root)
        recipe = self._known(key)
        if recipe is None or (into is not None and not _is_own(out, into, root, sendbuf)):
            self._for_the_first_time(key, frame, plan(sendbuf, recvbuf, root))
        else:
            self._follow(recipe, None if out is None else flat(out.array), None if into is None else into.head())

    def _scatterv_again(self, frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, root: int, plan: Make) -> None:
        here = type(root) is int and root == self._rank
        out, into = _blocks(sendbuf, self._reach) if here else None, _block(recvbuf)
        key = _key(frame, call, out if here else into, root)
        recipe = self._known(key)
        if recipe is None or (out is not None and not _is_own(into, out, root, recvbuf)):
            self._for_the_first_time(key, frame, plan(sendbuf, recvbuf, root))
        else:
            self._follow(recipe, None if out is None else out.head(), None if into is None else flat(into.array))

    def _alltoallv_again(self, frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, plan: Make) -> None:
        out, into, rank = _blocks(sendbuf, self._reach), _blocks(recvbuf, self._reach), self._rank
        key: Key | None = None
        if out is not None and into is not None and out.datatype is into.datatype:
            key = call, id(frame.f_code), frame.f_lasti, id(out.datatype), out.counts, into.counts
        recipe = self._known(key)
        if recipe is None or out is None or into is None:
            self._for_the_first_time(key, frame, plan(sendbuf, recvbuf))
        elif out.counts[rank] != into.counts[rank] or overlap(out.array, into.array):
            plan(sendbuf, recvbuf)()
        else:
            self._follow(recipe, out.head(), into.head())


def _key(frame: FrameType, call: str, row: _Row | None, root: Any) -> Key | None:
    """What the recipe of a call with a root hangs on, for that, or for any other rank."""
    if row is None or type(root) is not int:
        return None
    return call, id(frame.f_code), frame.f_lasti, id(row.datatype), row.counts, root


def _block(spec: Any) -> _Row | None:
    """What `array`, `[array, datatype]` or `[array, count, datatype]` means; None if there is something unusual about it."""
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
    """What a specification with counts means; None if it has none, or if there is something unusual about it."""
    if type(spec) not in (list, tuple) or not 2 <= len(spec) <= 4 or size > MOST:
        return None
    array, given, kind = spec[0], spec[1], spec[-1] if len(spec) > 2 else None
    places = spec[2] if len(spec) == 4 else None
    if len(spec) < 4 and type(given) is tuple:
        if len(given) != 2:
            return None
        given, places = given
    counts = _numbers(given, size)
    if counts is None or type(array) is not ndarray or not array.flags.carray:
        return None
    if places is not None and _numbers(places, size) != tuple(accumulate(counts[:-1], initial=0)):
        return None
    datatype, total = _datatype(array, kind), sum(counts)
    return None if datatype is None or total > array.size else _Row(array, datatype, counts, total)


def _numbers(values: Any, size: int) -> tuple[int, ...] | None:
    """So many whole numbers, as they are now; None if they are anything else."""
    if type(values) is ndarray and values.ndim == 1 and values.dtype.kind in "iu":
        values = values.tolist()
    if type(values) not in (list, tuple) or len(values) != size or not _WHOLE.issuperset(map(type, values)):
        return None
    return tuple(values)


def _datatype(array: Any, kind: Any) -> Any:
    """The datatype of an array's numbers, if it is called that, or by their letter, or not at all; otherwise None."""
    datatype = number_of(array.dtype)
    called_so = kind is None or kind is datatype or (type(kind) is str and kind == array.dtype.char)
    return datatype if called_so else None


def _is_own(own: _Row | None, row: _Row, rank: int, spec: Any) -> bool:
    """Whether what a rank has for itself is like its block of the others, and lies elsewhere; or is in place."""
    if own is None:
        return spec is IN_PLACE
    return own.datatype is row.datatype and own.total == row.counts[rank] and not overlap(own.array, row.array)
