"""What is known on paper of algorithms: who sends to whom in each round, in arrays, and what comes of it.

An algorithm is known by its text, so that one of somebody's own that has the same name is not taken for ours. A test holds
these rounds against the algorithms' own schedules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from typing import Any, NamedTuple

import numpy as np

from fakempi.paper import contents
from fakempi.paper.clocks import Ints, Round
from fakempi.paper.contents import Arrays, Deliver

KEPT = 1 << 21
"""Ranks, times rounds, of a sheet that is kept for the next call; the rounds of a larger one are made each time."""


class Sheet(NamedTuple):
    """An algorithm on so many ranks with so many bytes."""

    rounds: Callable[[], Iterable[Round]]
    contents: Callable[[Arrays, Any], Deliver]
    known: dict[bytes, Ints]  # of the order in which ranks go on, by that in which they have come


def sheet_of(text: Any, p: int, nbytes: int) -> Sheet | None:
    """What is known of an algorithm of that text; None if nothing is, or if it would not have all ranks wait for all."""
    known = _KNOWN.get(f"{getattr(text, '__module__', '')}.{getattr(text, '__qualname__', '')}")
    if known is None or p < 2:
        return None
    made, result = known
    rounds = made(p, nbytes)
    if rounds is None:
        return None
    few = list(islice(rounds, 1 + KEPT // p))
    return Sheet((lambda: few) if len(few) <= KEPT // p else (lambda: made(p, nbytes) or ()), result, {})


def _shifted(p: int, by: int, nbytes: int) -> Round:
    """Everybody sends to the rank so many further on."""
    ranks = np.arange(p)
    return Round((ranks + by) % p, (ranks - by) % p, nbytes)


def _dissemination(p: int, nbytes: int) -> Iterator[Round] | None:
    return (_shifted(p, 1 << k, 0) for k in range((p - 1).bit_length()))


def _ring(p: int, nbytes: int) -> Iterator[Round] | None:
    return repeat(_shifted(p, 1, nbytes), p - 1) if nbytes else None


def _gathering_bruck(p: int, nbytes: int) -> Iterator[Round] | None:
    lengths = [1 << k for k in range((p - 1).bit_length())]
    return (_shifted(p, -held, nbytes * min(held, p - held)) for held in lengths) if nbytes else None


def _exchanging_bruck(p: int, nbytes: int) -> Iterator[Round] | None:
    ranks = np.arange(p)
    ones = [int((ranks >> k & 1).sum()) for k in range((p - 1).bit_length())]
    return (_shifted(p, 1 << k, nbytes * count) for k, count in enumerate(ones)) if nbytes else None


def _swapped(p: int, distance: int, nbytes: int, combined: int = 0) -> Round:
    """Everybody exchanges with the rank whose number differs in these bits."""
    other = np.arange(p) ^ distance
    return Round(other, other, nbytes, combined)


def _power_of_two(p: int) -> bool:
    return p & (p - 1) == 0


def _doubling_blocks(p: int, nbytes: int) -> Iterator[Round] | None:
    if not nbytes or not _power_of_two(p):
        return None
    return (_swapped(p, 1 << k, nbytes << k) for k in range(p.bit_length() - 1))


def _pairwise(p: int, nbytes: int) -> Iterator[Round] | None:
    return (_swapped(p, i, nbytes) for i in range(1, p)) if nbytes and _power_of_two(p) else None


def _halving_blocks(p: int, nbytes: int) -> Iterator[Round] | None:
    if not nbytes or not _power_of_two(p):
        return None
    return (_swapped(p, 1 << k, nbytes << k, nbytes << k) for k in reversed(range(p.bit_length() - 1)))


def _doubling(p: int, nbytes: int) -> Iterator[Round] | None:
    return _among_the_rest(p, nbytes) if nbytes else None


def _among_the_rest(p: int, nbytes: int) -> Iterator[Round]:
    """Exchanges of whole vectors among a power of two; others hand theirs to a neighbour, and get the result at last."""
    d = p.bit_length() - 1
    excess = p - (1 << d)
    if not excess:
        yield from (_swapped(p, 1 << k, nbytes, nbytes) for k in range(d))
        return
    none, even = np.full(p, -1), np.arange(0, 2 * excess, 2)
    give, take = none.copy(), none.copy()
    give[even + 1], take[even] = even, even + 1
    yield Round(give, take, nbytes, nbytes, False)
    stay: Ints = np.concatenate([even, np.arange(2 * excess, p)])
    for k in range(d):
        other = none.copy()
        other[stay] = stay[np.arange(1 << d) ^ (1 << k)]
        yield Round(other, other, nbytes, nbytes, False)
    yield Round(take, give, nbytes, 0, False)


_KNOWN: dict[str, tuple[Callable[[int, int], Iterator[Round] | None], Callable[[Arrays, Any], Deliver]]] = {
    "collectives.intra.barrier.dissemination.barrier_dissemination": (_dissemination, contents.nothing),
    "collectives.intra.allgather.bruck.allgather_bruck": (_gathering_bruck, contents.gathered),
    "collectives.intra.allgather.ring.allgather_ring": (_ring, contents.gathered),
    "collectives.intra.allgather.recursive_doubling.allgather_recursive_doubling": (_doubling_blocks, contents.gathered),
    "collectives.intra.alltoall.bruck.alltoall_bruck": (_exchanging_bruck, contents.transposed),
    "collectives.intra.alltoall.pairwise.alltoall_pairwise": (_pairwise, contents.transposed),
    "collectives.intra.allreduce.recursive_doubling.allreduce_recursive_doubling": (
        _doubling, contents.combined_with_neighbours_first,
    ),
    "collectives.intra.reduce_scatter_block.recursive_halving.reduce_scatter_block_recursive_halving": (
        _halving_blocks, contents.dealt_out_with_distant_ones_first,
    ),
}  # fmt: skip
