"""What is known on paper of algorithms: who sends to whom in each round, in arrays, and what comes of it.

An algorithm is known by its text, so that one of somebody's own that has the same name is not taken for ours. A test holds
these rounds against the algorithms' own schedules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

import numpy as np

from fakempi.paper import contents
from fakempi.paper.clocks import Ints, Round
from fakempi.paper.contents import Arrays, Deliver

KEPT = 1 << 21
"""Ranks, times rounds, of a sheet that is kept for the next call; the rounds of a larger one are made each time."""


Rounds = Iterator[Round]


class Tries:
    """Calls that are not tried on paper, after several in a row for which that was in vain: of one sheet, for it may be the
    algorithm's fault that ranks go on too early, and others are not to pay for it."""

    __slots__ = ("in_vain", "left_out")

    def __init__(self) -> None:
        self.in_vain = 0  # calls to leave out after the next try in vain
        self.left_out = 0  # calls that are left to leave out

    def fail(self, most: int) -> None:
        """One was in vain; leave out the next ones, at most so many."""
        self.left_out, self.in_vain = self.in_vain, min(2 * self.in_vain + 1, most)

    def leave_out(self) -> bool:
        """Whether the next call is left out."""
        if not self.left_out:
            return False
        self.left_out -= 1
        return True


class Sheet(NamedTuple):
    """An algorithm on so many ranks with so many bytes."""

    rounds: Callable[[], Iterable[Round]]
    contents: Callable[[Arrays, Any], Deliver]
    known: dict[bytes, Ints]  # of the order in which ranks go on, by that in which they have come
    tries: Tries


class Size(NamedTuple):
    """Of a call: how many ranks, the bytes that its algorithm is told of, those of an element, and of each rank's block."""

    p: int
    nbytes: int
    itemsize: int = 1
    blocks: tuple[int, ...] | None = None

    def pieces(self, count: int) -> Ints:
        """Bytes of each of so many nearly equal pieces, the longer ones first."""
        elements = self.nbytes // self.itemsize
        return self.itemsize * (elements // count + (np.arange(count) < elements % count))


def sheet_of(text: Any, size: Size) -> Sheet | None:
    """What is known of an algorithm of that text; None if nothing is, or if it would not have all ranks wait for all."""
    known = _KNOWN.get(f"{getattr(text, '__module__', '')}.{getattr(text, '__qualname__', '')}")
    if known is None or size.p < 2:
        return None
    made, result = known
    rounds = made(size)
    if rounds is None:
        return None
    few = list(islice(rounds, 1 + KEPT // size.p))
    return Sheet((lambda: few) if len(few) <= KEPT // size.p else (lambda: made(size) or ()), result, {}, Tries())


def _shifted(p: int, by: int, nbytes: int | Ints, combines: bool = False) -> Round:
    """Everybody sends to the rank so many further on."""
    ranks = np.arange(p)
    return Round((ranks + by) % p, (ranks - by) % p, nbytes, combines)


def _swapped(other: Ints, nbytes: int | Ints, combines: bool = False) -> Round:
    """Everybody exchanges with another rank."""
    return Round(other, other, nbytes, combines)


def _dissemination(size: Size) -> Rounds | None:
    return (_shifted(size.p, 1 << k, 0) for k in range((size.p - 1).bit_length()))


# -- data are moved ---------------------------------------------------------------------------------------------------


def _ring(size: Size) -> Rounds | None:
    return repeat(_shifted(size.p, 1, size.nbytes), size.p - 1) if size.nbytes else None


def _gathering_bruck(size: Size) -> Rounds | None:
    p, nbytes = size[:2]
    lengths = [1 << k for k in range((p - 1).bit_length())]
    return (_shifted(p, -held, nbytes * min(held, p - held)) for held in lengths) if nbytes else None


def _gathering_bruck_of_any_sizes(size: Size) -> Rounds | None:
    p, blocks = size.p, size.blocks
    if not blocks or not min(blocks):
        return None  # nobody need wait for who has nothing
    if min(blocks) == max(blocks):
        return _gathering_bruck(Size(p, blocks[0]))
    ends = np.concatenate([[0], np.cumsum(blocks + blocks)])
    lengths = [(held, min(held, p - held)) for held in (1 << k for k in range((p - 1).bit_length()))]
    return (_shifted(p, -held, ends[count : count + p] - ends[:p]) for held, count in lengths)


def _exchanging_bruck(size: Size) -> Rounds | None:
    p, nbytes = size[:2]
    ranks = np.arange(p)
    ones = [int((ranks >> k & 1).sum()) for k in range((p - 1).bit_length())]
    return (_shifted(p, 1 << k, nbytes * count) for k, count in enumerate(ones)) if nbytes else None


def _power_of_two(p: int) -> bool:
    return p & (p - 1) == 0


def _doubling_blocks(size: Size) -> Rounds | None:
    p, nbytes = size[:2]
    if not nbytes or not _power_of_two(p):
        return None
    return (_swapped(np.arange(p) ^ (1 << k), nbytes << k) for k in range(p.bit_length() - 1))


def _pairwise(size: Size) -> Rounds | None:
    p, nbytes = size[:2]
    if not nbytes or p % 2:
        return None
    return (_swapped(_met(p, i), nbytes) for i in range(p - 1))


def _met(p: int, i: int) -> Ints:
    """Whom each of an even number of ranks meets in round i of a tournament."""
    ranks = np.arange(p)
    if _power_of_two(p):
        return ranks ^ (i + 1)
    n = p - 1
    other: Ints = (i - ranks) % n
    last = i * p // 2 % n
    other[last], other[n] = n, last
    return other


def _spread(size: Size) -> Rounds | None:
    return (_shifted(size.p, i, size.nbytes) for i in range(1, size.p)) if size.nbytes else None


# -- data are combined ------------------------------------------------------------------------------------------------


def _halving_blocks(size: Size) -> Rounds | None:
    p, nbytes = size[:2]
    if not nbytes or not _power_of_two(p):
        return None
    return (_swapped(np.arange(p) ^ (1 << k), nbytes << k, True) for k in reversed(range(p.bit_length() - 1)))


def _blocks_around(size: Size) -> Rounds | None:
    return repeat(_shifted(size.p, 1, size.nbytes, True), size.p - 1) if size.nbytes else None


def _pieces_around(size: Size) -> Rounds | None:
    p, nbytes, itemsize = size[:3]
    if nbytes < p * itemsize:
        return None  # some pieces are empty, and are not sent
    if nbytes % (p * itemsize) == 0:
        return chain(*(repeat(_shifted(p, 1, nbytes // p, combines), p - 1) for combines in (True, False)))
    pieces = size.pieces(p)
    there = (_shifted(p, 1, np.roll(pieces, k + 1), True) for k in range(p - 1))
    return chain(there, (_shifted(p, 1, np.roll(pieces, k)) for k in range(p - 1)))


def _halving_and_doubling(size: Size) -> Rounds | None:
    p, nbytes, itemsize = size[:3]
    if nbytes < p * itemsize or not _power_of_two(p):
        return None
    return _there_and_back(size)


def _there_and_back(size: Size) -> Rounds:
    """Pairs share the pieces that both work on, until each has one of them; and back the same way."""
    p, nbytes, itemsize = size[:3]
    d, ranks = p.bit_length() - 1, np.arange(p)
    ends = np.concatenate([[0], np.cumsum(size.pieces(p))])
    kept: list[Any] = []
    first = np.zeros(p, np.int64)
    for k in range(d):
        first = first + ((ranks >> k & 1) << (d - 1 - k))
        held = ends[first + (1 << (d - 1 - k))] - ends[first]
        kept.append(nbytes >> (k + 1) if nbytes % (p * itemsize) == 0 else held)
        yield _swapped(ranks ^ (1 << k), _at(kept[k], ranks ^ (1 << k)), True)
    for k in reversed(range(d)):
        yield _swapped(ranks ^ (1 << k), kept[k])


def _at(nbytes: Any, ranks: Ints) -> Any:
    return nbytes if isinstance(nbytes, int) else nbytes[ranks]


def _doubling(size: Size) -> Rounds | None:
    return _among_the_rest(size.p, size.nbytes) if size.nbytes else None


def _among_the_rest(p: int, nbytes: int) -> Rounds:
    """Exchanges of whole vectors among a power of two; others hand theirs to a neighbour, and get the result at last."""
    d = p.bit_length() - 1
    excess = p - (1 << d)
    if not excess:
        yield from (_swapped(np.arange(p) ^ (1 << k), nbytes, True) for k in range(d))
        return
    none, even = np.full(p, -1), np.arange(0, 2 * excess, 2)
    give, take = none.copy(), none.copy()
    give[even + 1], take[even] = even, even + 1
    yield Round(give, take, nbytes, True, False)
    stay: Ints = np.concatenate([even, np.arange(2 * excess, p)])
    for k in range(d):
        other = none.copy()
        other[stay] = stay[np.arange(1 << d) ^ (1 << k)]
        yield Round(other, other, nbytes, True, False)
    yield Round(take, give, nbytes, False, False)


_KNOWN: dict[str, tuple[Callable[[Size], Rounds | None], Callable[[Arrays, Any], Deliver]]] = {
    "collectives.intra.barrier.dissemination.barrier_dissemination": (_dissemination, contents.nothing),
    "collectives.intra.allgather.bruck.allgather_bruck": (_gathering_bruck, contents.gathered),
    "collectives.intra.allgather.ring.allgather_ring": (_ring, contents.gathered),
    "collectives.intra.allgather.recursive_doubling.allgather_recursive_doubling": (_doubling_blocks, contents.gathered),
    "collectives.intra.allgatherv.bruck.allgatherv_bruck": (_gathering_bruck_of_any_sizes, contents.gathered_of_any_sizes),
    "collectives.intra.alltoall.bruck.alltoall_bruck": (_exchanging_bruck, contents.transposed),
    "collectives.intra.alltoall.pairwise.alltoall_pairwise": (_pairwise, contents.transposed),
    "collectives.intra.alltoall.spread.alltoall_spread": (_spread, contents.transposed),
    "collectives.intra.allreduce.recursive_doubling.allreduce_recursive_doubling": (
        _doubling, contents.combined_with_neighbours_first,
    ),
    "collectives.intra.allreduce.rabenseifner.allreduce_rabenseifner": (
        _halving_and_doubling, contents.combined_with_neighbours_first,
    ),
    "collectives.intra.allreduce.ring.allreduce_ring": (_pieces_around, contents.combined_around),
    "collectives.intra.reduce_scatter_block.recursive_halving.reduce_scatter_block_recursive_halving": (
        _halving_blocks, contents.dealt_out_with_distant_ones_first,
    ),
    "collectives.intra.reduce_scatter_block.ring.reduce_scatter_block_ring": (_blocks_around, contents.dealt_out_around),
}  # fmt: skip
