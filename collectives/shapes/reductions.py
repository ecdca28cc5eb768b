"""Combining operands in rank order: what every reduction does between its messages.

`op.Reduce_local(a, b)` leaves a op b in b, so the left operand comes first and the result takes the place of the right
one. Every rank combines what came from lower ranks on the left of its own and what came from higher ranks on the
right. Hence ops that are not commutative come out in rank order wherever neighbours in the order meet, and two ranks
that combine the same operands get the same result, rounding included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from collectives.catalogue.algorithm import Case
from collectives.tools.blocks import Layout, check_same_size, required
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Op


def combine(op: Op, left: Buffer, right: Buffer) -> None:
    """Leave `left op right` in `right`."""
    if right.size:
        op.Reduce_local(left, right)


def join(op: Op, held: Buffer, other: Buffer, *, other_is_left: bool) -> None:
    """Leave the combination in `held`; `other` is used up."""
    if other_is_left:
        combine(op, other, held)
    else:
        combine(op, held, other)
        held[0 : held.size] = other


def operand(sendbuf: Buffer | None, recvbuf: Buffer | None, rank: int, root: int) -> Buffer:
    """What a rank gives to a reduce: its `sendbuf`; at the root, in place, what `recvbuf` holds."""
    if rank != root:
        return required(sendbuf, "a rank that gives its operand")
    recvbuf = required(recvbuf, "the root of a reduce")
    if sendbuf is None:
        return recvbuf
    check_same_size(sendbuf, recvbuf)
    return sendbuf


def ordered_top(root: int, *, commutative: bool) -> int:
    """Where a tree or chain that is counted from its top keeps the operands in order: at rank 0."""
    return root if commutative else 0


def top_of(case: Case) -> int:
    """The same on paper."""
    return ordered_top(case.root, commutative=case.commutative)


def sent_to_the_top(case: Case, rank: int) -> int:
    """Everybody sends one vector; the top none, unless it hands over to the root."""
    return case.m if rank != top_of(case) or rank != case.root else 0


def hand_over(comm: Comm, result: Buffer, recvbuf: Buffer | None, top: int, root: int, tag: int) -> None:
    """The top has the result and sends it to the root, if these are two."""
    rank = comm.Get_rank()
    if top != root and rank == top:
        send(comm, result, root, tag)
    elif top != root and rank == root:
        receive(comm, required(recvbuf, "the root of a reduce"), top, tag)


def check_blocks(sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, rank: int) -> None:
    """The buffers of a reduce_scatter: an operand with all blocks, and room for one; in place, for all."""
    total, block = layout.size(0, layout.p), layout.size(rank)
    if sendbuf is None:
        if recvbuf.size < total:
            raise ValueError(f"in place, recvbuf must hold all blocks, {total} elements, but it holds {recvbuf.size}")
    elif sendbuf.size != total:
        raise ValueError(f"sendbuf must hold all blocks, {total} elements, but it holds {sendbuf.size}")
    elif recvbuf.size != block:
        raise ValueError(f"rank {rank} gets a block of {block} elements but its recvbuf holds {recvbuf.size}")


def counted_blocks(counts: Sequence[int], sendbuf: Buffer | None, recvbuf: Buffer, p: int, rank: int) -> Layout:
    """The blocks of a reduce_scatter, which have these sizes."""
    layout = Layout.of_ranks(counts, p)
    check_blocks(sendbuf, recvbuf, layout, rank)
    return layout


def equal_blocks(sendbuf: Buffer | None, recvbuf: Buffer, p: int, rank: int) -> Layout:
    """The blocks of a reduce_scatter_block, of which `sendbuf`, or in place `recvbuf`, holds p."""
    layout = Layout.equal(recvbuf.size if sendbuf is None else sendbuf.size, p)
    check_blocks(sendbuf, recvbuf, layout, rank)
    return layout


def equal_block(case: Case) -> int | None:
    """Bytes of a block if all are equal."""
    largest = case.layout.largest
    return largest * case.itemsize if largest * case.p == case.layout.size(0, case.p) else None


class _Add:
    """Sums of arrays that an algorithm needs for itself, such as block sizes."""

    def Reduce_local(self, inbuf: Any, inoutbuf: Any, /) -> None:
        inoutbuf += inbuf

    def Is_commutative(self) -> bool:
        return True


ADD: Final[Op] = _Add()
