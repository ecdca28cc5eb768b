"""Combining operands in rank order.

`op.Reduce_local(a, b)` stores a op b in b: the left operand is the first argument, and the result replaces the right
operand. Every rank uses data from lower ranks as left operands and data from higher ranks as right operands. If only
neighboring runs of ranks are combined, noncommutative ops are therefore evaluated in rank order. Two ranks that combine the
same operands compute the same result, including rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Seconds
from collectives.tools.blocks import Layout, check_same_size, required
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Op


def combine(op: Op, left: Buffer, right: Buffer) -> None:
    """Store `left op right` in `right`."""
    if right.size:
        op.Reduce_local(left, right)


def combine_in_order(op: Op, held: Buffer, other: Buffer, *, other_is_left: bool) -> None:
    """Store `other op held` or `held op other` in `held`; in the second case `other` is overwritten, too."""
    if other_is_left:
        combine(op, other, held)
    else:
        combine(op, held, other)
        held[0 : held.size] = other


def operand(sendbuf: Buffer | None, recvbuf: Buffer | None, rank: int, root: int) -> Buffer:
    """A rank's operand of a reduce: its `sendbuf`; at the root, in place, the contents of `recvbuf`."""
    if rank != root:
        return required(sendbuf, "a rank that contributes an operand")
    recvbuf = required(recvbuf, "the root of a reduce")
    if sendbuf is None:
        return recvbuf
    check_same_size(sendbuf, recvbuf)
    return sendbuf


def ordered_top(root: int, *, commutative: bool) -> int:
    """The rank at which a tree or chain ends: the root; for a noncommutative op rank 0, to combine in rank order."""
    return root if commutative else 0


def top_of(case: Case) -> int:
    """The rank at which a tree or chain ends in a case; see `ordered_top`."""
    return ordered_top(case.root, commutative=case.commutative)


def sent_to_the_top(case: Case, rank: int) -> int:
    """Bytes sent: one vector per rank; none at the top, unless it sends the result to the root."""
    return case.m if rank != top_of(case) or rank != case.root else 0


def send_to_root(comm: Comm, result: Buffer, recvbuf: Buffer | None, top: int, root: int, tag: int) -> None:
    """Send the result from the top to the root, if these are different ranks."""
    rank = comm.Get_rank()
    if top != root and rank == top:
        send(comm, result, root, tag)
    elif top != root and rank == root:
        receive(comm, required(recvbuf, "the root of a reduce"), top, tag)


def check_blocks(sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, rank: int) -> None:
    """Check the buffers of a reduce_scatter: an operand with all blocks, and a result of one block; in place, all blocks."""
    total, block = layout.size(0, layout.p), layout.size(rank)
    if sendbuf is None:
        if recvbuf.size < total:
            raise ValueError(f"in place, recvbuf must hold all blocks, {total} elements, but it has {recvbuf.size}")
    elif sendbuf.size != total:
        raise ValueError(f"sendbuf must hold all blocks, {total} elements, but it has {sendbuf.size}")
    elif recvbuf.size != block:
        raise ValueError(f"rank {rank} receives a block of {block} elements, but its recvbuf has {recvbuf.size}")


def counted_blocks(counts: Sequence[int], sendbuf: Buffer | None, recvbuf: Buffer, p: int, rank: int) -> Layout:
    """The layout of a reduce_scatter with these block sizes."""
    layout = Layout.of_ranks(counts, p)
    check_blocks(sendbuf, recvbuf, layout, rank)
    return layout


def equal_blocks(sendbuf: Buffer | None, recvbuf: Buffer, p: int, rank: int) -> Layout:
    """The layout of a reduce_scatter_block: `sendbuf`, or in place `recvbuf`, holds p blocks."""
    layout = Layout.equal(recvbuf.size if sendbuf is None else sendbuf.size, p)
    check_blocks(sendbuf, recvbuf, layout, rank)
    return layout


def equal_block(case: Case) -> int | None:
    """Bytes of a block if all are equal, otherwise None."""
    largest = case.layout.largest
    return largest * case.itemsize if largest * case.p == case.layout.size(0, case.p) else None


def equal_block_claims(
    rounds: Callable[[Case], int], blocks: Callable[[Case], int], covers: Callable[[Case], bool] = lambda case: True
) -> Claims:
    """The closed forms of a reduce_scatter of equal blocks; none for other cases, and for those that `covers` excludes.

    In `rounds(case)` rounds a rank that never waits sends, and combines, `blocks(case)` blocks.
    """

    def combined(case: Case) -> int | None:
        block = equal_block(case)
        return blocks(case) * block if block is not None and covers(case) else None

    def time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        nbytes = combined(case)
        return rounds(case) * t_s + nbytes * t_w if nbytes else nbytes

    return Claims(closed_time=time, closed_combined=combined)


class _Add:
    """Elementwise sum, for an algorithm's internal arrays such as block sizes."""

    def Reduce_local(self, inbuf: Any, inoutbuf: Any, /) -> None:
        inoutbuf += inbuf

    def Is_commutative(self) -> bool:
        return True


ADD: Final[Op] = _Add()
