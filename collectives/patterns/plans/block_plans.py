"""Allgathers given as plans, and the same plans in reverse as reduce-scatters: shared code of both and of allreduce.

A plan lists the rounds of each rank: the blocks that it sends with their destination, and the blocks that it receives with
their source. Every block reaches every rank once, and a rank sends only blocks that it has, so a block travels along a tree
from its owner to all ranks. In reverse the tree is a reduction: from the last round to the first, a rank sends its partial
result of each block that it receives in the allgather, and receives and combines partial results of the blocks that it sends
in the allgather. At the end it has the result of its own block. Operands are not combined in rank order.

Blocks of one message are in ascending order. If they are adjacent they are sent from the buffer and received there,
otherwise they are packed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from collectives.patterns.reductions import combine, combine_in_order
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


class BlockExchange(NamedTuple):
    """A rank's part in one round: blocks `sent` go to `dest`, blocks `received` come from `source`."""

    dest: int
    sent: tuple[int, ...]
    source: int
    received: tuple[int, ...]


BlockExchanges = Sequence[BlockExchange]


def gather_planned(comm: Comm, buf: Buffer, layout: Layout, steps: BlockExchanges, tag: int) -> None:
    """Fill `buf` with the blocks of all ranks; the rank's own block is already there."""
    out, into = (spare_memory(buf, size) for size in gather_spares(layout, steps))
    for step in steps:
        outgoing = packed(buf, layout, step.sent, out)
        incoming, runs = space_for(buf, layout, step.received, into)
        exchange(comm, outgoing, step.dest, incoming, step.source, tag)
        unpack(incoming, buf, layout, runs)


def reduce_planned(comm: Comm, held: Buffer, layout: Layout, steps: BlockExchanges, op: Op, tag: int) -> None:
    """Leave the result of the rank's block in that block of `held`, which holds its operand; other blocks are lost."""
    rank = comm.Get_rank()
    out, into = (spare_memory(held, size) for size in reduce_spares(layout, steps))
    for step in reversed(steps):
        outgoing = packed(held, layout, step.received, out)
        incoming = into[0 : total(layout, step.sent)]
        exchange(comm, outgoing, step.source, incoming, step.dest, tag)
        join_blocks(op, held, layout, step.sent, incoming, other_is_left=step.dest < rank)


def reduce_bounded(comm: Comm, data: Buffer, layout: Layout, steps: BlockExchanges, op: Op, tag: int) -> Any:
    """Return the result of the rank's block; `data` holds the operand and is not modified.

    Scratch memory is allocated for partial results that wait to be sent. It is reused after a partial result has been sent.
    """
    sizes = reduce_spares(layout, steps, whole=True)
    out, into = (spare_memory(data, size) for size in sizes)
    free: list[Any] = []
    partial: dict[int, Any] = {}
    for step in reversed(steps):
        end = 0
        for block in step.received:
            start, end = end, end + layout.size(block)
            space = partial.pop(block, None)
            out[start:end] = layout.block(data, block) if space is None else space[0 : end - start]
            free += [] if space is None else [space]
        incoming = into[0 : total(layout, step.sent)]
        exchange(comm, out[0:end], step.source, incoming, step.dest, tag)
        end = 0
        for block in step.sent:
            start, end = end, end + layout.size(block)
            if block in partial:
                combine(op, incoming[start:end], partial[block][0 : end - start])
            else:
                partial[block] = free.pop() if free else spare_memory(data, layout.largest)
                partial[block][0 : end - start] = incoming[start:end]
                combine(op, layout.block(data, block), partial[block][0 : end - start])
    own = comm.Get_rank()
    return partial[own][0 : layout.size(own)] if own in partial else layout.block(data, own)


def runs_of(blocks: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending block numbers as runs (first, end).

    >>> runs_of([0, 1, 2, 5, 7, 8])
    [(0, 3), (5, 6), (7, 9)]
    """
    runs: list[tuple[int, int]] = []
    for block in blocks:
        if runs and runs[-1][1] == block:
            runs[-1] = (runs[-1][0], block + 1)
        else:
            runs.append((block, block + 1))
    return runs


def total(layout: Layout, blocks: Sequence[int]) -> int:
    """Elements of several blocks."""
    return sum(map(layout.size, blocks))


def packed(buf: Buffer, layout: Layout, blocks: Sequence[int], spare: Buffer) -> Any:
    """The blocks as one piece of memory: part of `buf` if they are adjacent, otherwise a copy in `spare`."""
    space, runs = space_for(buf, layout, blocks, spare)
    end = 0
    for first, stop in runs if len(runs) > 1 else ():
        start, end = end, end + layout.size(first, stop)
        space[start:end] = layout.block(buf, first, stop)
    return space


def space_for(buf: Buffer, layout: Layout, blocks: Sequence[int], spare: Buffer) -> tuple[Any, list[tuple[int, int]]]:
    """Memory for the blocks in one piece: part of `buf` if they are adjacent, otherwise of `spare`; and their runs."""
    runs = runs_of(blocks)
    return (layout.block(buf, *runs[0]) if len(runs) == 1 else spare[0 : total(layout, blocks)]), runs


def unpack(message: Buffer, buf: Buffer, layout: Layout, runs: Sequence[tuple[int, int]]) -> None:
    """Copy a packed message to the blocks of `buf`; adjacent blocks were received there directly."""
    end = 0
    for first, stop in runs if len(runs) > 1 else ():
        start, end = end, end + layout.size(first, stop)
        layout.block(buf, first, stop)[:] = message[start:end]


def join_blocks(
    op: Op, held: Buffer, layout: Layout, blocks: Sequence[int], message: Buffer, *, other_is_left: bool
) -> None:
    """Combine the blocks of a message with those of `held`."""
    end = 0
    for first, stop in runs_of(blocks):
        start, end = end, end + layout.size(first, stop)
        combine_in_order(op, layout.block(held, first, stop), message[start:end], other_is_left=other_is_left)


# Claims --------------------------------------------------------------------------------------------------------------


def gather_spares(layout: Layout, steps: BlockExchanges) -> tuple[int, int]:
    """Elements of the spare memory of `gather_planned`, for sending and for receiving: the longest packed messages."""
    return _longest(layout, [step.sent for step in steps]), _longest(layout, [step.received for step in steps])


def reduce_spares(layout: Layout, steps: BlockExchanges, *, whole: bool = False) -> tuple[int, int]:
    """Elements of the spare memory of `reduce_planned`, for sending and for receiving.

    All messages are received in spare memory. With `whole`, all messages are also sent from spare memory.
    """
    out = _longest(layout, [step.received for step in steps], packed_only=not whole)
    return out, _longest(layout, [step.sent for step in steps], packed_only=False)


def _longest(layout: Layout, messages: Iterable[Sequence[int]], *, packed_only: bool = True) -> int:
    counted = (blocks for blocks in messages if not packed_only or len(runs_of(blocks)) > 1)
    return max((total(layout, blocks) for blocks in counted), default=0)


def partial_results(steps: BlockExchanges) -> int:
    """Number of blocks that `reduce_bounded` allocates: the largest number of partial results that exist at a time."""
    waiting: set[int] = set()
    max_waiting = 0
    for step in reversed(steps):
        waiting = waiting.difference(step.received).union(step.sent)
        max_waiting = max(max_waiting, len(waiting))
    return max_waiting
