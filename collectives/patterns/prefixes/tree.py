"""Prefixes by the doubly pipelined in-order binary tree: shared code of scan and exscan.

Rank r has label r+1 in the in-order binary tree on 1 .. p (`two_trees`). The ranks of a subtree are consecutive: those of
the left subtree are directly below r, those of the right subtree directly above. The message is cut into n segments. Sums
of subtrees go up and prefixes go down at the same time: one exchange on an edge carries both.

A rank on the left edge of the tree has no lower ranks outside its subtree, so it receives no prefix. No rank needs the sum
of a rank on the right edge. The lag of a rank is its distance from these edges. In its turn j = 0, 1, ... a rank with lag g
exchanges with

    its right child    receives the sum of the right subtree of segment j, sends its inclusive prefix of segment j-g-1
    its left child     receives the sum of the left subtree of segment j, sends its exclusive prefix of segment j-g-1
    its parent         sends the sum of its subtree of segment j, receives its exclusive prefix of segment j-g

A turn has up to 3 exchanges, so the segments follow each other at intervals of 3 rounds. The sum of a left subtree reaches
the parent one round before the parent sends its own sum, that of a right subtree two rounds before. A prefix reaches a right
child one round after its parent, a left child two rounds after. The schedule has these times, the code has the turns.
"""

from __future__ import annotations

from typing import Any

from collectives.patterns.prefixes.tree_places import copies_operand, keeps_prefix, tree_place
from collectives.patterns.reductions import combine
from collectives.patterns.segmented import SEGMENT_BYTES
from collectives.tools.blocks import Layout, check_same_size, copy_of, segments, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


class _TreeRank:
    """A rank's exchanges with its neighbors in the tree, and memory for the segments that it has not yet passed on."""

    def __init__(
        self, comm: Comm, own: Buffer, recvbuf: Buffer, op: Op, tag: int, pieces: Layout, *, inclusive: bool
    ) -> None:
        self.comm, self.recvbuf, self.op, self.tag, self.pieces = comm, recvbuf, op, tag, pieces
        self.inclusive = inclusive
        self.place = place = tree_place(comm.Get_rank(), comm.Get_size())
        # the operand, later combined with the sum of the left subtree, and then with the prefix, as its left operands
        self.held = copy_of(own) if copies_operand(place, inclusive=inclusive) else own
        longest = pieces.size(0)
        self.right_sum = spare_memory(own, longest) if place.adds_right_sum else None
        self.left_sum = spare_memory(own, longest) if inclusive and place.left is not None else None
        self.prefix = spare_memory(own, longest) if keeps_prefix(place, inclusive=inclusive) else None

    def take_turn(self, j: int) -> None:
        """Exchange segments with the right child, the left child and the parent."""
        place = self.place
        if place.right is not None:
            self._exchange_right(place.right, j)
        if place.left is not None:
            self._exchange_left(place.left, j)
        if place.parent is not None:
            self._exchange_parent(place.parent, j)

    def _segment(self, buf: Buffer | None, j: int) -> Any:
        return self.pieces.block(buf, j) if buf is not None and 0 <= j < self.pieces.p else None

    def _spare(self, memory: Buffer | None, j: int) -> Any:
        return memory[0 : self.pieces.size(j)] if memory is not None and 0 <= j < self.pieces.p else None

    def _exchange_right(self, right: int, j: int) -> None:
        outgoing = self._segment(self.held, j - self.place.lag - 1)
        exchange(self.comm, outgoing, right, self._spare(self.right_sum, j), right, self.tag)

    def _exchange_left(self, left: int, j: int) -> None:
        outgoing = self._spare(self.prefix, j - self.place.lag - 1) if self.place.sends_left else None
        incoming = self._spare(self.left_sum, j) if self.inclusive else self._segment(self.recvbuf, j)
        exchange(self.comm, outgoing, left, incoming, left, self.tag)
        if incoming is not None and (self.inclusive or self.place.uses_operand):
            combine(self.op, incoming, self._segment(self.held, j))
        right_sum = self._spare(self.right_sum, j)
        if right_sum is not None:
            combine(self.op, self._segment(self.held, j), right_sum)

    def _exchange_parent(self, parent: int, j: int) -> None:
        place, done = self.place, j - self.place.lag
        outgoing = None
        if not place.on_right_edge:
            outgoing = self._segment(self.held, j) if self.right_sum is None else self._spare(self.right_sum, j)
        incoming = None
        if not place.on_left_edge:
            incoming = self._segment(self.recvbuf, done) if self.prefix is None else self._spare(self.prefix, done)
        exchange(self.comm, outgoing, parent, incoming, parent, self.tag)
        if incoming is None or self.prefix is None:
            return
        combine(self.op, incoming, self._segment(self.recvbuf, done))
        if not self.inclusive and place.right is not None:
            combine(self.op, incoming, self._segment(self.held, done))


def tree_prefixes(
    comm: Comm, own: Buffer, recvbuf: Buffer, op: Op, tag: int, inclusive: bool, *, segment_bytes: int = SEGMENT_BYTES
) -> None:
    """Leave the prefix in `recvbuf`. If inclusive, `recvbuf` is `own`; if exclusive, rank 0's `recvbuf` is unchanged."""
    check_same_size(own, recvbuf)
    if comm.Get_size() == 1 or not own.size:
        return
    pieces = segments(own.size, own.itemsize, segment_bytes)
    rank = _TreeRank(comm, own, recvbuf, op, tag, pieces, inclusive=inclusive)
    for j in range(pieces.p + rank.place.lag + (rank.place.right is not None or rank.place.sends_left)):
        rank.take_turn(j)
