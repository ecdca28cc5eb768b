"""A reduction along a chain to the root, and a scatter from the root (a star) at the same time.

The leaves form a chain, from the last one, q-1, to leaf 0 and on to the root. The leaves' operands move along it in n
segments, each combined with the next leaf's operand on its way. The last leaf fills a sequence of slots, one per round: q
segments and an empty slot, repeatedly. The empty slot moves along like the others. In the round in which a leaf receives it,
its input port is free, so the root sends it a piece of its block. Let the operand have K bytes. With blocks of c pieces and
n = c q segments this takes c (q+1) + q - 1 rounds of K / (c q) bytes each; the best c is sqrt(K / ((q+1) S)), where S =
`startup_bytes` is t_s / t_w. The time is therefore about (1 + 1/q) K t_w, which is a lower bound for a leaf through which
all operands pass.

    q = 3, c = 1, n = 3, slots 0 . 1 2   round 0    1        2        3        4        5
    b_2 to b_1, b_1 to b_0, b_0 to a     0          . 0      1 . 0    2 1 .    . 2 1    . . 2
    a sends to                           b_2        b_1      b_0
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import NamedTuple

from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.inter_patterns.posted import SynchronousRound
from collectives.patterns.reductions import combine
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


class RoundPlan(NamedTuple):
    """The plan of the rounds: q leaves, blocks of c pieces, and the segments of the operands."""

    leaves: int
    pieces: int
    segments: Layout

    @classmethod
    def of(cls, leaves: int, elements: int, itemsize: int, startup_bytes: int) -> RoundPlan:
        """The plan with the best number of pieces for `elements` elements in total."""
        pieces = max(1, isqrt(elements * itemsize // ((leaves + 1) * startup_bytes)))
        return cls(leaves, pieces, Layout.nearly_equal(elements, pieces * leaves))

    @property
    def rounds(self) -> int:
        return self.segments.p + self.pieces + self.leaves - 1

    def piece(self, slot: int) -> int | None:
        """The piece of a block that an empty slot is used for; None if the slot is not empty."""
        width = self.leaves + 1
        return slot // width if 0 <= slot < width * self.pieces and slot % width == 1 else None

    def segment(self, slot: int) -> int | None:
        """The segment in a slot; None if the slot is empty."""
        width = self.leaves + 1
        if not 0 <= slot < width * self.pieces or slot % width == 1:
            return None
        return slot // width * (width - 1) + (slot % width > 0) * (slot % width - 1)

    def entering(self, leaf: int, t: int) -> int:
        """The slot that a leaf receives in round t; the last leaf receives only in empty slots."""
        return t - (self.leaves - 2 - leaf)


def run_leaf(comm: Comm, own: Buffer, block: Buffer, slots: RoundPlan, op: Op, tag: int) -> None:
    """The code of a leaf: contribute the operand `own`, and receive `block` from the root."""
    rank, q = comm.Get_rank(), slots.leaves
    last = rank == q - 1
    pieces = Layout.nearly_equal(block.size, slots.pieces)
    spares = [] if last else [spare_memory(own, slots.segments.size(0)) for _ in range(2)]
    outgoing = None
    for t in range(slots.rounds):
        if last:
            segment = slots.segment(t)
            outgoing = None if segment is None else slots.segments.block(own, segment)
        entering = slots.entering(rank, t)
        piece, segment = slots.piece(entering), None if last else slots.segment(entering)
        incoming = None if segment is None else spares[t % 2][0 : slots.segments.size(segment)]
        if piece is not None:
            exchange(comm, outgoing, (rank - 1) % (q + 1), pieces.block(block, piece), q, tag)
        else:
            exchange(comm, outgoing, (rank - 1) % (q + 1), incoming, rank + 1, tag)
        if segment is not None and incoming is not None:
            combine(op, slots.segments.block(own, segment), incoming)
        outgoing = incoming


def run_root(comm: Comm, whole: Buffer, blocks: Layout, into: Buffer, slots: RoundPlan, tag: int) -> None:
    """The code of the root: send the blocks of `whole`, and receive the leaves' result in `into`."""
    for t in range(slots.rounds):
        leaf, piece = _served(slots, t)
        segment = slots.segment(t - slots.leaves + 1)
        outgoing = None
        if piece is not None:
            block = blocks.block(whole, leaf)
            outgoing = Layout.nearly_equal(block.size, slots.pieces).block(block, piece)
        exchange(comm, outgoing, leaf, None if segment is None else slots.segments.block(into, segment), 0, tag)


def _served(slots: RoundPlan, t: int) -> tuple[int, int | None]:
    """The leaf that the root sends to in round t, and the piece of its block; None for the piece if it sends nothing."""
    wave, turn = divmod(t, slots.leaves + 1)
    if wave < slots.pieces and turn < slots.leaves:
        return slots.leaves - 1 - turn, wave
    return 0, None


# Claims --------------------------------------------------------------------------------------------------------------


def chain_and_star_schedule(slots: RoundPlan, blocks: Layout, itemsize: int) -> Iterator[Round]:
    """The schedule; the leaves are 0 .. q-1 and the root q."""
    q = slots.leaves
    for t in range(slots.rounds):
        transfers = []
        for leaf in range(q):
            segment = slots.segment(t - (q - 1 - leaf))
            if segment is not None:
                nbytes = slots.segments.size(segment) * itemsize
                start = slots.segments.start(segment) * itemsize
                transfers.append(Transfer(leaf, (leaf - 1) % (q + 1), nbytes, nbytes if leaf else 0, start))
        leaf, piece = _served(slots, t)
        if piece is not None:
            size = Layout.nearly_equal(blocks.size(leaf), slots.pieces).size(piece)
            transfers.append(Transfer(q, leaf, size * itemsize))
        yield SynchronousRound(without_empty(transfers))
