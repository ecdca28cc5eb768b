"""The plan of Swing on a ring or a torus: partners at negabinary distances in one dimension after the other.

On a ring of even length a rank exchanges all blocks that it has with its `swing_peer`, the longest distance first, so that
the longest messages go to the nearest ranks. On a torus the rounds of its dimensions alternate: in the reduce-scatter,
which is the plan in reverse, the first round is in the first dimension, the second in the second, and so on; a dimension
whose rounds have all taken place is skipped. A rank then has the blocks of a product of sets, one for each dimension.

If p is odd, the ring has p-1 ranks: rank p-1 first sends its block to rank p-2, which sends it all others at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import product
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.array_round import Ints
from collectives.patterns.plans.array_plans import Plan, PlanRound, mirrored_sums
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


def swing_rounds(p: int, dims: Dims) -> list[PlanRound]:
    """The rounds of all ranks, in arrays."""
    if dims or p % 2 == 0:
        return _torus_rounds(tuple(dims) or (p,))
    if p == 1:
        return []
    return [_first_round, *[partial(_ring_round, messages) for messages in _torus_rounds((p - 1,))], _last_round]


def _torus_rounds(dims: tuple[int, ...]) -> list[PlanRound]:
    rounds: list[PlanRound] = []
    held = [[0] for _ in dims]  # by dimension: offsets of the coordinates of the blocks that a rank has
    for axis, number in _order(dims):
        s, offsets = swing_offsets(dims[axis])[number]
        seen = [tuple(each) for each in (*held[:axis], offsets, *held[axis + 1 :])]
        rounds.append(partial(_torus_round, dims, axis, s, seen))
        held[axis] += offsets
    return rounds


def _torus_round(
    dims: tuple[int, ...], axis: int, s: int, offsets: Sequence[Sequence[int]], sizes: Ints
) -> tuple[Ints, Ints]:
    """A round of all ranks in one dimension; a rank sends the blocks that its peer lacks, in an order seen from the peer."""
    sums: Any = sizes.reshape(dims)
    for number, each in enumerate(offsets):
        sums = np.apply_along_axis(mirrored_sums, number, sums, each)
    peers = [swing_peer(x, s, dims[axis]) for x in range(dims[axis])]
    dest = np.arange(len(sizes)).reshape(dims).take(peers, axis)
    return dest.ravel(), sums.take(peers, axis).ravel()


def _first_round(sizes: Ints) -> tuple[Ints, Ints]:
    """The last rank sends its block to the rank before it."""
    return _one_message(len(sizes) - 1, len(sizes) - 2, sizes[-1], len(sizes))


def _ring_round(messages: PlanRound, sizes: Ints) -> tuple[Ints, Ints]:
    """A round of the ring without the last rank, whose block is part of that of the rank before it."""
    dest, nbytes = messages(np.append(sizes[:-2], sizes[-2] + sizes[-1]))
    return np.append(dest, len(dest)), np.append(nbytes, 0)


def _last_round(sizes: Ints) -> tuple[Ints, Ints]:
    """The last rank receives all other blocks."""
    return _one_message(len(sizes) - 2, len(sizes) - 1, sizes[:-1].sum(), len(sizes))


def _one_message(source: int, dest: int, nbytes: int, p: int) -> tuple[Ints, Ints]:
    dests, sent = np.arange(p), np.zeros(p, np.int64)
    dests[source], sent[source] = dest, nbytes
    return dests, sent


def _steps(p: int, rank: int, *, dims: Dims = ()) -> list[BlockExchange]:
    return swing_steps(p, dims, rank)


swing_plan: Final = Plan(_steps, swing_rounds)
"""The plan of Swing on a ring, or on a torus of these extents."""

bine_plan: Final = Plan(lambda p, rank: swing_steps(p, (), rank), lambda p: swing_rounds(p, ()))
"""The plan of Bine: that of Swing on a ring."""


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
