"""The plan of Swing on a ring or a torus: partners at negabinary distances in one dimension after the other.

On a ring of even length a rank exchanges all blocks that it has with its `swing_peer`, the longest distance first, so that
the longest messages go to the nearest ranks. On a torus the rounds of its dimensions alternate: in the reduce-scatter,
which is the plan in reverse, the first round is in the first dimension, the second in the second, and so on; a dimension
whose rounds have all taken place is skipped. A rank then has the blocks of a product of sets, one for each dimension.

If p is odd, the ring has p-1 ranks: rank p-1 first sends its block to rank p-2, which sends it all others at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import TypeAlias

from collectives.catalogue.algorithm import Case
from collectives.patterns.plans.block_plans import BlockExchange
from collectives.patterns.plans.negabinary import swing_offsets, swing_peer

Dims: TypeAlias = Sequence[int]
"""The extents of a torus, the last one with neighboring ranks, as in MPI_Cart_create; empty: a ring of all ranks."""


def unsupported_dims(dims: Dims, p: int) -> str | None:
    """Reason why `dims` is not a torus of p ranks with even extents, or None.

    >>> unsupported_dims((4, 2), 8), unsupported_dims((), 5), unsupported_dims((3, 2), 6), unsupported_dims((4,), 6)
    (None, None, 'dims has an odd extent, 3', 'dims = 4 has 4 ranks, but p = 6')
    """
    if not dims:
        return None
    if any(extent < 1 for extent in dims) or prod(dims) != p:
        return f"dims = {' x '.join(map(str, dims))} has {prod(dims)} ranks, but p = {p}"
    odd = [extent for extent in dims if extent % 2 and extent > 1]
    return f"dims has an odd extent, {odd[0]}" if odd else None


def valid_dims_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm with a parameter `dims`."""
    return unsupported_dims(case.parameters.get("dims", ()), case.p)


def even_or_torus(case: Case) -> bool:
    """Whether all ranks take the same steps: p is even, as on every torus with even extents."""
    return case.p % 2 == 0


@lru_cache(maxsize=16)
def _order(dims: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """The rounds of the allgather: (dimension, number of the round in it).

    >>> _order((4, 2))
    ((0, 0), (1, 0), (0, 1))
    """
    counts = [len(swing_offsets(extent)) if extent > 1 else 0 for extent in dims]
    near_first = [(axis, counts[axis] - 1 - k) for k in range(max(counts)) for axis in range(len(dims)) if k < counts[axis]]
    return tuple(reversed(near_first))


def torus_steps(dims: tuple[int, ...], rank: int) -> list[BlockExchange]:
    """The steps of a rank on a torus of even extents.

    >>> [(step.dest, step.sent, step.received) for step in torus_steps((4,), 0)]
    [(3, (0,), (3,)), (1, (0, 3), (1, 2))]
    """
    coordinates = _coordinates(dims, rank)
    sets = [[x] for x in coordinates]
    steps = []
    for axis, number in _order(dims):
        extent = dims[axis]
        s, offsets = swing_offsets(extent)[number]
        peer = swing_peer(coordinates[axis], s, extent)
        new, sent = ([(x0 - x if x0 % 2 else x0 + x) % extent for x in offsets] for x0 in (coordinates[axis], peer))
        partner = _rank(dims, (*coordinates[:axis], peer, *coordinates[axis + 1 :]))
        out, into = (_blocks(dims, [*sets[:axis], indices, *sets[axis + 1 :]]) for indices in (sent, new))
        steps.append(BlockExchange(partner, out, partner, into))
        sets[axis] = sets[axis] + new
    return steps


def swing_steps(p: int, dims: Dims, rank: int) -> list[BlockExchange]:
    """The steps of a rank out of p."""
    if dims or p % 2 == 0:
        return torus_steps(tuple(dims) or (p,), rank)
    if p == 1:
        return []
    last, others = p - 1, tuple(range(p - 1))
    if rank == last:
        idle = [BlockExchange(rank, (), rank, ())] * len(_order((last,)))
        return [BlockExchange(last - 1, (last,), last - 1, ()), *idle, BlockExchange(last - 1, (), last - 1, others)]
    inner = [
        BlockExchange(dest, _with_last(out, last), source, _with_last(into, last))
        for dest, out, source, into in torus_steps((last,), rank)
    ]
    if rank < last - 1:
        return [BlockExchange(rank, (), rank, ()), *inner, BlockExchange(rank, (), rank, ())]
    return [BlockExchange(last, (), last, (last,)), *inner, BlockExchange(last, others, last, ())]


def swing_plan(p: int, rank: int, *, dims: Dims = ()) -> list[BlockExchange]:
    """The plan of Swing on a ring, or on a torus of these extents."""
    return swing_steps(p, dims, rank)


def bine_plan(p: int, rank: int) -> list[BlockExchange]:
    """The plan of Bine: that of Swing on a ring."""
    return swing_steps(p, (), rank)


def _with_last(blocks: tuple[int, ...], last: int) -> tuple[int, ...]:
    """The blocks, with that of the last rank if that of the rank before it is among them: the two travel together."""
    return (*blocks, last) if blocks and blocks[-1] == last - 1 else blocks


def _coordinates(dims: tuple[int, ...], rank: int) -> tuple[int, ...]:
    coordinates = []
    for extent in reversed(dims):
        coordinates.append(rank % extent)
        rank //= extent
    return tuple(reversed(coordinates))


def _rank(dims: tuple[int, ...], coordinates: Sequence[int]) -> int:
    rank = 0
    for extent, x in zip(dims, coordinates, strict=True):
        rank = rank * extent + x
    return rank


def _blocks(dims: tuple[int, ...], sets: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The blocks of a product of coordinates, in ascending order."""
    return tuple(sorted(_rank(dims, coordinates) for coordinates in product(*sets)))
