"""Up a chain and down in stars, at once: the leaves' combination climbs to the root while the root deals out its blocks.

The leaves are a chain, from the last, q-1, to leaf 0 and on to the root; the leaves' operands climb it in n segments, each
combined with the next leaf's on its way. What enters the chain at its end is a row of slots, one a round: q segments and an
empty slot, and so on. The empty slot climbs like the others, and where it passes, a leaf's receiving port is free for a
round: then the root sends it a piece of its block. With blocks of c pieces and n = c q segments all is over after
c (q+1) + q - 1 rounds, in each of which K / (c q) go; c = sqrt(K / ((q+1) S)), where S = `startup_bytes` is t_s / t_w. So it
takes about (1 + 1/q) K, the least that a leaf can do with which all operands pass by.

    q = 3, c = 1, n = 3, slots 0 . 1 2   round 0    1        2        3        4        5
    b_2 to b_1, b_1 to b_0, b_0 to a     0          . 0      1 . 0    2 1 .    . 2 1    . . 2
    a sends to                           b_2        b_1      b_0
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import NamedTuple

from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.shapes.reductions import combine
from collectives.tools.blocks import Layout, scratch
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


class Slots(NamedTuple):
    """What goes when: q leaves, blocks of c pieces, and the segments of the operands."""

    leaves: int
    pieces: int
    segments: Layout

    @classmethod
    def of(cls, leaves: int, elements: int, itemsize: int, startup_bytes: int) -> Slots:
        """The best number of pieces for so many elements in all."""
        pieces = max(1, isqrt(elements * itemsize // ((leaves + 1) * startup_bytes)))
        return cls(leaves, pieces, Layout.nearly_equal(elements, pieces * leaves))

    @property
    def rounds(self) -> int:
        return self.segments.p + self.pieces + self.leaves - 1

    def piece(self, slot: int) -> int | None:
        """Which piece of a block an empty slot is for; None if the slot is none."""
        width = self.leaves + 1
        return slot // width if 0 <= slot < width * self.pieces and slot % width == 1 else None

    def segment(self, slot: int) -> int | None:
        """Which segment a slot holds, if any."""
        width = self.leaves + 1
        if not 0 <= slot < width * self.pieces or slot % width == 1:
            return None
        return slot // width * (width - 1) + (slot % width > 0) * (slot % width - 1)

    def entering(self, leaf: int, t: int) -> int:
        """The slot that a leaf receives in round t; the last leaf receives only in empty ones."""
        return t - (self.leaves - 2 - leaf)


def climb(comm: Comm, own: Buffer, block: Buffer, slots: Slots, op: Op, tag: int) -> None:
    """At a leaf: give the operand `own`, and receive `block` from the root."""
    rank, q = comm.Get_rank(), slots.leaves
    last = rank == q - 1
    pieces = Layout.nearly_equal(block.size, slots.pieces)
    spares = [] if last else [scratch(own, slots.segments.size(0)) for _ in range(2)]
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


def deal(comm: Comm, whole: Buffer, blocks: Layout, into: Buffer, slots: Slots, tag: int) -> None:
    """At the root: deal out the blocks of `whole`, and receive the leaves' combination."""
    for t in range(slots.rounds):
        leaf, piece = _served(slots, t)
        segment = slots.segment(t - slots.leaves + 1)
        outgoing = None
        if piece is not None:
            block = blocks.block(whole, leaf)
            outgoing = Layout.nearly_equal(block.size, slots.pieces).block(block, piece)
        exchange(comm, outgoing, leaf, None if segment is None else slots.segments.block(into, segment), 0, tag)


def _served(slots: Slots, t: int) -> tuple[int, int | None]:
    """Whom the root serves in round t, and with which piece of its block; None if nobody is."""
    wave, turn = divmod(t, slots.leaves + 1)
    if wave < slots.pieces and turn < slots.leaves:
        return slots.leaves - 1 - turn, wave
    return 0, None


# On paper ------------------------------------------------------------------------------------------------------------


def up_and_down(slots: Slots, blocks: Layout, itemsize: int) -> Iterator[Round]:
    """The schedule; the leaves are 0 .. q-1 and the root q."""
    q = slots.leaves
    for t in range(slots.rounds):
        transfers = []
        for leaf in range(q):
            segment = slots.segment(t - (q - 1 - leaf))
            if segment is not None:
                nbytes = slots.segments.size(segment) * itemsize
                transfers.append(Transfer(leaf, (leaf - 1) % (q + 1), nbytes, nbytes if leaf else 0))
        leaf, piece = _served(slots, t)
        if piece is not None:
            size = Layout.nearly_equal(blocks.size(leaf), slots.pieces).size(piece)
            transfers.append(Transfer(q, leaf, size * itemsize))
        yield without_empty(transfers)
