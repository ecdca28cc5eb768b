"""Topologies: who stands where and who is whose neighbour. Records and arithmetic, without communicators.

Every record has a `kind` and answers `sources(rank)` and `destinations(rank)`: from whom a rank receives in a
neighbourhood collective, and to whom it sends, in the order of its blocks. Grids and graphs are the same for all ranks
and made with `of`: equal ones are one object. Of a distributed graph a rank knows its own edges alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

from fakempi.error_classes import ERR_ARG, ERR_DIMS
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.base.constants import CART, DIST_GRAPH, GRAPH, PROC_NULL

if TYPE_CHECKING:
    from typing_extensions import Self

_known: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


class Shared:
    """A record of which there is one for all who make it of the same parts."""

    @classmethod
    def of(cls, *parts: tuple[int, ...]) -> Self:
        """The record of these parts."""
        key = (cls, *parts)
        found: Self | None = _known.get(key)
        if found is None:
            found = _known[key] = cls(*parts)
        return found


@dataclass(frozen=True)
class CartTopology(Shared):
    """A grid. Ranks count through the last dimension first; where a period is not 0 the dimension is a ring."""

    dims: tuple[int, ...]
    periods: tuple[int, ...]
    kind: ClassVar[int] = CART

    @property
    def size(self) -> int:
        """The number of positions; a grid without dimensions has one."""
        return math.prod(self.dims)

    def coords(self, rank: int) -> list[int]:
        """Where a rank stands."""
        coords = []
        for extent in reversed(self.dims):
            rank, at = divmod(rank, extent)
            coords.append(at)
        return coords[::-1]

    def rank(self, coords: Sequence[int]) -> int:
        """Who stands there. A coordinate that is out of range is one of a ring."""
        rank = 0
        for at, extent in zip(coords, self.dims, strict=True):
            rank = rank * extent + at % extent
        return rank

    def fits(self, dimension: int, coordinate: int) -> bool:
        """Whether there is such a coordinate."""
        return bool(self.periods[dimension]) or 0 <= coordinate < self.dims[dimension]

    def shift(self, rank: int, direction: int, disp: int) -> tuple[int, int]:
        """Who is so many steps behind and ahead in a dimension; PROC_NULL beyond an edge."""
        return self._moved(rank, direction, -disp), self._moved(rank, direction, disp)

    def _moved(self, rank: int, direction: int, disp: int) -> int:
        extent, stride = self.dims[direction], math.prod(self.dims[direction + 1 :])
        at = rank // stride % extent
        if not self.fits(direction, at + disp):
            return PROC_NULL
        return rank + ((at + disp) % extent - at) * stride

    def sources(self, rank: int) -> tuple[int, ...]:
        """The neighbours behind and ahead in each dimension."""
        return tuple(neighbour for direction in range(len(self.dims)) for neighbour in self.shift(rank, direction, 1))

    destinations = sources

    def sub(self, remain: Sequence[int]) -> CartTopology:
        """The grid of the dimensions that remain."""
        kept = [dimension for dimension, stays in enumerate(remain) if stays]
        return CartTopology.of(tuple(self.dims[d] for d in kept), tuple(self.periods[d] for d in kept))

    def slices(self, remain: Sequence[int]) -> dict[tuple[int, ...], list[int]]:
        """The ranks of each such grid, by their coordinates in the dimensions that do not remain."""
        slices: dict[tuple[int, ...], list[int]] = {}
        for rank in range(self.size):
            slices.setdefault(self.slice_of(rank, remain), []).append(rank)
        return slices

    def slice_of(self, rank: int, remain: Sequence[int]) -> tuple[int, ...]:
        """A rank's coordinates in the dimensions that do not remain."""
        return tuple(at for at, stays in zip(self.coords(rank), remain, strict=True) if not stays)


@dataclass(frozen=True)
class GraphTopology(Shared):
    """A graph: `edges[index[i - 1] : index[i]]` are the neighbours of node i, and index[-1] is 0."""

    index: tuple[int, ...]
    edges: tuple[int, ...]
    kind: ClassVar[int] = GRAPH

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.index)

    def sources(self, rank: int) -> tuple[int, ...]:
        """The neighbours of a node."""
        return self.edges[self.index[rank - 1] if rank else 0 : self.index[rank]]

    destinations = sources


@dataclass(frozen=True)
class DistGraphTopology:
    """One rank's part of a distributed graph: its edges in and out, and the weights of both if it has them."""

    incoming: tuple[int, ...]
    outgoing: tuple[int, ...]
    weights: tuple[tuple[int, ...], tuple[int, ...]] | None
    kind: ClassVar[int] = DIST_GRAPH

    def sources(self, rank: int) -> tuple[int, ...]:
        """Those with an edge to this rank, whose record it is."""
        return self.incoming

    def destinations(self, rank: int) -> tuple[int, ...]:
        """Those this rank has an edge to."""
        return self.outgoing


def difference(one: Any, other: Any) -> tuple[str, Any, Any]:
    """Where two records of a kind differ first: the name of it, and what each has there."""
    for name in one.__dataclass_fields__:
        first, second = getattr(one, name), getattr(other, name)
        if len(first) != len(second):
            return f"the length of {name}", len(first), len(second)
        for i, (left, right) in enumerate(zip(first, second, strict=True)):
            if left != right:
                return f"{name}[{i}]", left, right
    raise ValueError("they are alike")


def integers(what: str, values: Any, length: int | None = None) -> tuple[int, ...]:
    """The integers of a sequence, which must have so many."""
    try:
        items = [values[i] for i in range(len(values))]
    except TypeError:
        raise complaint(ERR_ARG, f"{what} is {values!r}, not a sequence of integers.", MPITypeError) from None
    if length is not None and len(items) != length:
        raise complaint(ERR_ARG, f"expecting {length} {what}, got {len(items)}.", MPIValueError)
    return tuple(item if type(item) is int else int(integer(f"{what}[{i}]", item)) for i, item in enumerate(items))


def Compute_dims(nnodes: int, dims: int | Sequence[int]) -> list[int]:
    """The most even grid for so many nodes: fill in the dims that are 0 (all of them, if `dims` is their number).

    Of all ways to do it, the one with the smallest difference between the largest and the smallest dimension that is
    filled in; among those, the one whose smallest is largest, and so on upwards. Larger ones come first. This is what
    MPICH answers.
    """
    nnodes = int(nnodes) if isinstance(nnodes, float) else integer("nnodes", nnodes)
    if not hasattr(dims, "__len__"):
        number = integer("dims", dims)
        if number < 0:
            raise complaint(ERR_DIMS, f"the number of dims is {number}.", MPIValueError)
        dims = [0] * number
    grid = list(integers("dims", dims))
    if nnodes < 1:
        raise complaint(ERR_ARG, f"nnodes is {nnodes}; there must be at least 1.")
    for i, extent in enumerate(grid):
        if extent < 0:
            raise complaint(ERR_DIMS, f"dims[{i}] is {extent}, neither positive nor 0.")
    fixed = math.prod(extent for extent in grid if extent)
    if nnodes % fixed:
        raise complaint(ERR_DIMS, f"{nnodes} nodes do not fill a grid of {grid}: {nnodes} is not a multiple of {fixed}.")
    even = iter(_most_even(nnodes // fixed, grid.count(0)))
    return [extent or next(even) for extent in grid]


@lru_cache(maxsize=64)  # all ranks ask alike
def _most_even(product: int, count: int) -> tuple[int, ...]:
    """The most even list of so many factors with that product, as Compute_dims has it."""
    divisors = _divisors(product)
    best: list[int] = []

    def extend(chosen: list[int], rest: int) -> None:
        """Complete a list of the smallest factors, in order; `rest` is left to be factored."""
        nonlocal best
        left = count - len(chosen)
        if left == 1:
            best = [*chosen, rest]  # better than before, or the bound below would have left it out
            return
        for factor in reversed(divisors):
            if chosen and factor < chosen[-1]:
                return
            if factor**left > rest or rest % factor:
                continue
            largest = _root_above(rest // factor, left - 1)
            if best and largest - (chosen or [factor])[0] >= best[-1] - best[0]:
                return  # smaller factors make the largest larger still
            extend([*chosen, factor], rest // factor)

    if count:
        extend([], product)
    return tuple(reversed(best))


def _divisors(number: int) -> list[int]:
    """All divisors, in order."""
    divisors, prime = [1], 2
    while number > 1:
        if prime * prime > number:
            prime = number
        power, known = 1, divisors
        while number % prime == 0:
            number //= prime
            power *= prime
            divisors = divisors + [power * divisor for divisor in known]
        prime += 1
    return sorted(divisors)


def _root_above(number: int, degree: int) -> int:
    """The smallest r with r**degree >= number."""
    root: int = max(1, round(float(number) ** (1 / degree)) - 1)
    while root**degree < number:
        root += 1
    return root
