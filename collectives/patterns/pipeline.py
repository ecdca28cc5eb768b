"""Blocks around a ring of nodes: the block that each link carries in each round.

Positions v = 0 .. p-1 of the ring are ranks in the virtual order of `nodes`. Position v has b_v = max(1, ceil(m_v / B))
blocks, numbered consecutively from s_v on, b in total; b_N is the number of blocks of a whole node N. In round k the link
from v-1 to v carries block s_v - 1 - k (mod b), as in the blocked ring: first the blocks of v's own node from positions
below v, then those of all other nodes, then those of its own node from positions above v.

In the last part a node would receive its own blocks from outside. Instead the ring is closed within the node: when the
other nodes' blocks have arrived, its last process L sends its first process F the blocks that F lacks, in the same order,
and they continue from there as before. L begins when it has finished sending to the next node, and F when it has finished
receiving from the previous one: in round b - min(b_N, b_N'), where N' is the next node. If N' is the smaller one, this is
d = b_N - b_N' rounds later than the round in which the block would have arrived from outside; otherwise it is the same
round.

If every process is alone on its node, or if all are on one node, this is the blocked ring.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from collectives.catalogue.schedule import Round, Seconds, Transfer
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.nodes import Nodes, Ranking
from collectives.tools.numbers import ceil_div
from collectives.tools.protocol import Buffer, Comm


class Pieces:
    """All data cut into blocks of at most `longest` elements, numbered in the order of their ranks in `order`.

    The buffer itself is in rank order.
    """

    __slots__ = ("layout", "longest", "numbers", "order", "total")

    def __init__(self, counts: Sequence[int], longest: int, order: Sequence[int]) -> None:
        self.layout = Layout.of(counts)
        self.longest = longest
        self.order = order
        self.numbers = Layout.of([max(1, ceil_div(counts[rank], longest)) for rank in order])
        self.total = self.numbers.start(len(counts))

    def where(self, block: int) -> slice:
        """The elements of a block; block numbers are modulo b."""
        block %= self.total
        position = self.numbers.at(block)
        rank = self.order[position]
        start = self.layout.start(rank) + (block - self.numbers.start(position)) * self.longest
        return slice(start, min(start + self.longest, self.layout.start(rank + 1)))


class Stretch(NamedTuple):
    """Rounds start .. stop-1 of a link, in which round k carries block top - k from or to `partner`."""

    partner: int
    start: int
    stop: int
    top: int


class Pipeline:
    """Blocks around a ring of nodes."""

    __slots__ = ("pieces", "ranking")

    def __init__(self, counts: Sequence[int], longest: int, nodes: Nodes) -> None:
        self.ranking = Ranking(nodes, len(counts))
        self.pieces = Pieces(counts, longest, self.ranking.order)

    def link(self, v: int) -> tuple[Stretch, Stretch]:
        """Receives of position v: from the preceding position, and then the initial blocks of its own node."""
        numbers, b, p = self.pieces.numbers, self.pieces.total, len(self.ranking.order)
        first, last = self.ranking.first[v], self.ranking.last[v]
        own = numbers.size(first, last + 1)
        until = numbers.size(first, v) + b - own
        after = (last + 1) % p
        late = max(0, own - numbers.size(after, self.ranking.last[after] + 1))
        top = numbers.start(v) - 1
        within = last if v == first else v - 1
        stop = b - numbers.size(v)
        return Stretch((v - 1) % p, 0, until, top), Stretch(within, until + late, stop + late, top + late)

    def outlet(self, v: int) -> tuple[Stretch, Stretch]:
        """Sends of position v: the receives of the next position; the last position of a node also sends to the first."""
        after, first = (v + 1) % len(self.ranking.order), self.ranking.first[v]
        again = first if v == self.ranking.last[v] else after
        return self.link(after)[0]._replace(partner=after), self.link(again)[1]._replace(partner=again)


@lru_cache(maxsize=4)  # an emulation runs all ranks in one process: they share this object
def pipeline(counts: tuple[int, ...], longest: int, nodes: Nodes) -> Pipeline:
    """The pipeline for these counts, in elements."""
    return Pipeline(counts, longest, nodes)


def shared(nodes: Nodes) -> Nodes:
    """The nodes as a hashable key: a list becomes a tuple."""
    return nodes if isinstance(nodes, int) else tuple(nodes)


def gather_pieces(comm: Comm, recvbuf: Buffer, pipe: Pipeline, tag: int) -> None:
    """Gather the blocks of all ranks to all ranks; the rank's own blocks are already in `recvbuf`."""
    ranks, pieces = pipe.ranking.order, pipe.pieces
    v = pipe.ranking.position[comm.Get_rank()]
    receives, sends = pipe.link(v), pipe.outlet(v)
    for k in range(max(stretch.stop for stretch in (*receives, *sends))):
        source, incoming = _part(receives, k, recvbuf, pieces)
        dest, outgoing = _part(sends, k, recvbuf, pieces)
        exchange(comm, outgoing, ranks[dest], incoming, ranks[source], tag)


def _part(stretches: tuple[Stretch, Stretch], k: int, buf: Buffer, pieces: Pieces) -> tuple[int, Any]:
    """The partner and the block of round k; the block is None between the stretches and after them."""
    partner, start, stop, top = stretches[k >= stretches[0].stop]
    return partner, buf[pieces.where(top - k)] if start <= k < stop else None


class PipelineSchedule:
    """The schedule of all positions at once, in arrays of p and b numbers: transfers of a round, and their times."""

    def __init__(self, counts: Sequence[int], longest: int, nodes: Nodes, itemsize: int) -> None:
        pipe = Pipeline(counts, longest, nodes)
        links = [pipe.link(v) for v in range(len(counts))]
        self.p, self.b = len(counts), pipe.pieces.total
        self.rounds = max(second.stop for _, second in links)
        self._order = np.array(pipe.ranking.order)
        self._first, self._second = (np.array(part).T for part in zip(*links, strict=True))
        self._until = self._first[2].min()
        numbers = [pipe.pieces.numbers.size(v) for v in range(self.p)]
        self._sizes = np.full(self.b, longest * itemsize)
        last = [counts[rank] - (n - 1) * longest for rank, n in zip(pipe.ranking.order, numbers, strict=True)]
        self._sizes[np.cumsum(numbers) - 1] = np.array(last) * itemsize

    def round(self, k: int) -> tuple[Any, Any, Any]:
        """Sources, destinations and bytes of round k, without empty blocks."""
        stretch = self._first if k < self._until else np.where(k < self._first[2], self._first, self._second)
        source, start, stop, top = stretch
        nbytes = self._sizes[(top - k) % self.b]
        used = np.flatnonzero((start <= k) & (k < stop) & (nbytes > 0))
        return self._order[source[used]], self._order[used], nbytes[used]

    def schedule(self) -> Iterator[Round]:
        """The rounds as lists of transfers."""
        for k in range(self.rounds):
            yield [Transfer(*transfer) for transfer in zip(*(part.tolist() for part in self.round(k)), strict=True)]

    def transfers(self, t_s: Seconds, t_w: Seconds) -> Iterator[tuple[Any, Any, Any, Any]]:
        """Sources, destinations, begin and end of the transfers of each round: `schedule.clocks` in arrays.

        Floats are added in the same order as there, so that both agree in every bit; other number types are preserved.
        """
        inexact = isinstance(t_s, float) or isinstance(t_w, float)
        clock = np.zeros(self.p, float if inexact else object)
        for k in range(self.rounds):
            source, dest, nbytes = self.round(k)
            begin = np.maximum(clock[source], clock[dest])
            end = begin + t_s + (nbytes if inexact else nbytes.astype(object)) * t_w
            clock[source] = end
            clock[dest] = np.maximum(clock[dest], end)
            yield source, dest, begin, end

    def time(self, t_s: Seconds, t_w: Seconds) -> Seconds:
        """The time at which the last process is done."""
        last = max((end.max() for _, _, _, end in self.transfers(t_s, t_w) if end.size), default=0)
        return float(last) if isinstance(last, float) else last

    def longest_chain(self) -> int:
        """Number of messages on the longest chain of dependent messages."""
        return int(self.time(1.0, 0.0))
