"""Topologies: coordinates and neighbors of ranks. Records and arithmetic, without communicators.

Every record has a `kind` and the methods `sources(rank)` and `destinations(rank)`: the ranks that a rank receives from and
sends to in a neighborhood collective, in the order of its blocks. Grids and graphs are the same for all ranks and made with
`of`, which returns one object for equal arguments. A record of a distributed graph holds the edges of one rank.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_DIMS
from fakempi.mpi.base.constants import CART, DIST_GRAPH, GRAPH, PROC_NULL
from fakempi.mpi.base.mpi_errors import fits, integer, mpi_error, shown

if TYPE_CHECKING:
    from typing_extensions import Self

_interned: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


class InternedTopology:
    """A record with one object for equal arguments."""

    @classmethod
    def of(cls, *parts: tuple[int, ...]) -> Self:
        """Return the record with these fields."""
        key = (cls, *parts)
        known: Self | None = _interned.get(key)
        if known is None:
            known = _interned[key] = cls(*parts)
        return known


@dataclass(frozen=True)
class CartTopology(InternedTopology):
    """A grid. Ranks are numbered in row-major order; a dimension with a nonzero period is a ring."""

    dims: tuple[int, ...]
    periods: tuple[int, ...]
    kind: ClassVar[int] = CART

    @property
    def size(self) -> int:
        """The number of positions; a grid without dimensions has one."""
        return math.prod(self.dims)

    def coords(self, rank: int) -> list[int]:
        """Return the coordinates of a rank."""
        coords = []
        for extent in reversed(self.dims):
            rank, at = divmod(rank, extent)
            coords.append(at)
        return coords[::-1]

    def rank(self, coords: Sequence[int]) -> int:
        """Return the rank at coordinates; these wrap around if they are out of range."""
        rank = 0
        for at, extent in zip(coords, self.dims, strict=True):
            rank = rank * extent + at % extent
        return rank

    def contains(self, dimension: int, coordinate: int) -> bool:
        """Return whether a coordinate exists in a dimension."""
        return bool(self.periods[dimension]) or 0 <= coordinate < self.dims[dimension]

    def shift(self, rank: int, direction: int, disp: int) -> tuple[int, int]:
        """Return the ranks `disp` steps behind and ahead in a dimension; PROC_NULL beyond an edge."""
        return self._neighbor(rank, direction, -disp), self._neighbor(rank, direction, disp)

    def _neighbor(self, rank: int, direction: int, disp: int) -> int:
        extent, stride = self.dims[direction], math.prod(self.dims[direction + 1 :])
        at = rank // stride % extent
        if not self.contains(direction, at + disp):
            return PROC_NULL
        return rank + ((at + disp) % extent - at) * stride

    def sources(self, rank: int) -> tuple[int, ...]:
        """Return the neighbors behind and ahead in each dimension."""
        return tuple(neighbor for direction in range(len(self.dims)) for neighbor in self.shift(rank, direction, 1))

    destinations = sources

    def sub(self, remain: Sequence[int]) -> CartTopology:
        """Return the grid of the dimensions that remain."""
        kept = [dimension for dimension, stays in enumerate(remain) if stays]
        return CartTopology.of(tuple(self.dims[d] for d in kept), tuple(self.periods[d] for d in kept))

    def slices(self, remain: Sequence[int]) -> dict[tuple[int, ...], list[int]]:
        """Return the ranks of each subgrid, by their coordinates in the dimensions that do not remain."""
        slices: dict[tuple[int, ...], list[int]] = {}
        for rank in range(self.size):
            slices.setdefault(self.slice_of(rank, remain), []).append(rank)
        return slices

    def slice_of(self, rank: int, remain: Sequence[int]) -> tuple[int, ...]:
        """Return a rank's coordinates in the dimensions that do not remain."""
        return tuple(at for at, stays in zip(self.coords(rank), remain, strict=True) if not stays)


@dataclass(frozen=True)
class GraphTopology(InternedTopology):
    """A graph: `edges[index[i - 1] : index[i]]` are the neighbors of node i, and index[-1] is 0."""

    index: tuple[int, ...]
    edges: tuple[int, ...]
    kind: ClassVar[int] = GRAPH

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.index)

    def sources(self, rank: int) -> tuple[int, ...]:
        """Return the neighbors of a node."""
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
        """Return the ranks with an edge to this rank."""
        return self.incoming

    def destinations(self, rank: int) -> tuple[int, ...]:
        """Return the ranks that this rank has an edge to."""
        return self.outgoing


def difference(one: Any, other: Any) -> tuple[str, object, object]:
    """Return the first difference of two records of a kind: its name, and both values."""
    for name in one.__dataclass_fields__:
        first, second = getattr(one, name), getattr(other, name)
        if len(first) != len(second):
            return f"the length of {name}", len(first), len(second)
        for i, (left, right) in enumerate(zip(first, second, strict=True)):
            if left != right:
                return f"{name}[{i}]", left, right
    raise ValueError("the records are equal")


def integers(what: str, values: Any, length: int | None = None) -> tuple[int, ...]:
    """Return the integers of a sequence; check its length if one is given."""
    try:
        items = [values[i] for i in range(len(values))]
    except (TypeError, LookupError):
        raise mpi_error(ERR_ARG, f"{what} is {shown(values)}, not a sequence of integers.", MPITypeError) from None
    if length is not None and len(items) != length:
        raise mpi_error(ERR_ARG, f"expecting {length} {what}, got {len(items)}.", MPIValueError)
    for item in items:
        if type(item) is not int or not fits(item):
            return tuple([integer(f"{what}[{i}]", item) for i, item in enumerate(items)])
    return tuple(items)


def Compute_dims(nnodes: int, dims: int | Sequence[int]) -> list[int]:
    """Return the most balanced grid for a number of nodes: fill in the dims that are 0 (all of them, if `dims` is an int).

    Among all factorizations, choose the one with the smallest difference between the largest and the smallest dimension that
    is filled in; if several have it, the one with the largest smallest dimension, then the largest second smallest
    dimension, and so on. Dimensions are in decreasing order. MPICH returns the same.
    """
    nnodes = integer("nnodes", int(nnodes) if isinstance(nnodes, float) else nnodes)
    if not hasattr(dims, "__len__"):
        number = integer("dims", dims)
        if number < 0:
            raise mpi_error(ERR_DIMS, f"the number of dims is {number}.", MPIValueError)
        dims = [0] * number
    grid = list(integers("dims", dims))
    if nnodes < 1:
        raise mpi_error(ERR_ARG, f"nnodes is {nnodes}; there must be at least 1.")
    for i, extent in enumerate(grid):
        if extent < 0:
            raise mpi_error(ERR_DIMS, f"dims[{i}] is {extent}, but must be positive or 0.")
    fixed = math.prod(extent for extent in grid if extent)
    if nnodes % fixed:
        raise mpi_error(ERR_DIMS, f"{nnodes} nodes do not fill a grid of {grid}: {nnodes} is not a multiple of {fixed}.")
    even = iter(_most_even(nnodes // fixed, grid.count(0)))
    return [extent or next(even) for extent in grid]


@lru_cache(maxsize=64)  # all ranks call it with the same arguments
def _most_even(product: int, count: int) -> tuple[int, ...]:
    """Return the most balanced list of `count` factors of a product, see Compute_dims."""
    divisors = _divisors(product)
    best: list[int] = []

    def extend(chosen: list[int], rest: int) -> None:
        """Complete a list of the smallest factors, in order; `rest` is left to be factored."""
        nonlocal best
        factors_left = count - len(chosen)
        if factors_left == 1:
            best = [*chosen, rest]  # better than the previous best: the bound below skips others
            return
        for factor in reversed(divisors):
            if chosen and factor < chosen[-1]:
                return
            if factor**factors_left > rest or rest % factor:
                continue
            largest = _root_above(rest // factor, factors_left - 1)
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
