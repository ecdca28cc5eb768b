"""Recursive doubling for any p: an allgather, and a reduce-scatter in rank order.

A group of size s = 1, 2, 4, ... is the ranks that agree in all bits from s upward. In round s a rank exchanges with the rank
of the neighboring group that differs in bit s. If that group is the last one and incomplete, some ranks of the group on its
left have no partner. They receive the data from a rank of their own group: in step h = s/2, s/4, ..., 1 a rank that has the
data sends them to the rank whose number is higher by h, if that rank does not have them.

    p = 7, s = 4     0 <-> 4, 1 <-> 5, 2 <-> 6; then h = 2: 1 -> 3
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.patterns.plans.block_plans import BlockExchange
from collectives.patterns.reductions import combine_in_order, equal_block_claims
from collectives.tools.blocks import Layout, copy_of, spare_memory
from collectives.tools.messages import exchange, receive, send
from collectives.tools.numbers import ceil_log2, is_power_of_two
from collectives.tools.protocol import Buffer, Comm, Op


class RankRange(NamedTuple):
    """The ranks `first` .. `end` - 1, limited to p."""

    first: int
    end: int


def group_of(rank: int, size: int, p: int) -> RankRange:
    """The group of a rank; empty if the rank's group begins after the last rank.

    >>> group_of(5, 4, 7), group_of(9, 4, 7)
    (RankRange(first=4, end=7), RankRange(first=7, end=7))
    """
    first = min(rank & -size, p)
    return RankRange(first, min(first + size, p))


def forwards(rank: int, size: int, p: int) -> list[tuple[int | None, int | None]]:
    """The steps in which data of an incomplete group are forwarded in round `size`: (dest, source) of a rank in each.

    The list is empty on all ranks if no rank lacks a partner.

    >>> [forwards(rank, 4, 7) for rank in (0, 1, 3)], forwards(0, 4, 8)
    ([[(None, None), (None, None)], [(3, None), (None, None)], [(None, 1), (None, None)]], [])
    """
    base = p - p % (2 * size)
    have = p - base - size
    if have <= 0:
        return []
    steps: list[tuple[int | None, int | None]] = []
    half = size // 2
    while half:
        place = rank % (2 * half)
        inside = base <= rank < base + size
        sends = inside and place < half and place < have <= place + half
        receives = inside and place >= half and place - half < have <= place
        steps.append((rank + half if sends else None, rank - half if receives else None))
        half //= 2
    return steps


def doubling_steps(p: int, rank: int) -> list[BlockExchange]:
    """The plan of an allgather (`block_plans`): in round s, the blocks of the group.

    >>> [(step.dest, step.sent, step.received) for step in doubling_steps(3, 1)]
    [(0, (1,), (0,)), (1, (), ()), (1, (), (2,))]
    """
    result = []
    for k in range(ceil_log2(p)):
        size = 1 << k
        other = rank ^ size
        mine, theirs = (tuple(range(*group_of(each, size, p))) for each in (rank, other))
        result.append(BlockExchange(other, mine, other, theirs) if other < p else BlockExchange(rank, (), rank, ()))
        for dest, source in forwards(rank, size, p):
            sent, received = theirs if dest is not None else (), theirs if source is not None else ()
            result.append(BlockExchange(rank if dest is None else dest, sent, rank if source is None else source, received))
    return result


def scatter_doubling(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, op: Op, tag: int) -> None:
    """Leave the result of the rank's block at the start of `recvbuf`.

    A rank sends the blocks of all ranks outside its group, because only its own group needs the blocks of its group.
    """
    p, rank = comm.Get_size(), comm.Get_rank()
    held = recvbuf if sendbuf is None else copy_of(sendbuf)
    out, into, kept = (spare_memory(held, size) for size in _spares(layout, p, rank))
    for k in range(ceil_log2(p)):
        size = 1 << k
        other = rank ^ size
        mine, theirs = group_of(rank, size, p), group_of(other, size, p)
        incoming = into[0 : _outside(layout, theirs)]
        steps = forwards(rank, size, p)
        received = other < p
        if received:
            exchange(comm, _packed(held, layout, mine, out), other, incoming, other, tag)
        elif sources := [source for _, source in steps if source is not None]:
            receive(comm, incoming, sources[0], tag)
            received = True
        dests = [dest for dest, _ in steps if dest is not None]
        forwarded = kept[0 : incoming.size if dests else 0]
        forwarded[0 : forwarded.size] = incoming if dests else incoming[0:0]  # combining may overwrite it
        if received:
            _join_outside(op, held, layout, theirs, incoming, other_is_left=theirs < mine)
        for dest in dests:
            send(comm, forwarded, dest, tag)
    recvbuf[0 : layout.size(rank)] = layout.block(held, rank)


def _outside(layout: Layout, group: RankRange) -> int:
    """Elements of the blocks outside a group."""
    return layout.size(0, layout.p) - layout.size(*group)


def _packed(held: Buffer, layout: Layout, group: RankRange, spare: Buffer) -> Any:
    """The blocks outside a group, first those after it; a copy in `spare` if there are blocks on both sides."""
    after, before = layout.block(held, group.end, layout.p), layout.block(held, 0, group.first)
    if not after.size or not before.size:
        return after if after.size else before
    space = spare[0 : after.size + before.size]
    space[0 : after.size], space[after.size : space.size] = after, before
    return space


def _join_outside(op: Op, held: Buffer, layout: Layout, group: RankRange, message: Buffer, *, other_is_left: bool) -> None:
    """Combine a message of the blocks outside a group with those of `held`."""
    after, before = layout.block(held, group.end, layout.p), layout.block(held, 0, group.first)
    combine_in_order(op, after, message[0 : after.size], other_is_left=other_is_left)
    combine_in_order(op, before, message[after.size : after.size + before.size], other_is_left=other_is_left)


def _spares(layout: Layout, p: int, rank: int) -> tuple[int, int, int]:
    """Elements of the longest packed message, of the longest received one, and of the longest forwarded one."""
    out, into, kept = 0, 0, 0
    for k in range(ceil_log2(p)):
        mine, theirs = group_of(rank, 1 << k, p), group_of(rank ^ 1 << k, 1 << k, p)
        steps, size = forwards(rank, 1 << k, p), _outside(layout, theirs)
        if rank ^ 1 << k < p and layout.size(0, mine.first) and layout.size(mine.end, p):
            out = max(out, _outside(layout, mine))
        if rank ^ 1 << k < p or any(source is not None for _, source in steps):
            into = max(into, size)
        if any(dest is not None for dest, _ in steps):
            kept = max(kept, size)
    return out, into, kept


# Claims --------------------------------------------------------------------------------------------------------------


def _schedule(case: Case) -> Iterator[Round]:
    p, layout, itemsize = case.p, case.layout, case.itemsize
    total = layout.size(0, p) * itemsize

    def transfer(source: int, dest: int, size: int) -> Transfer:
        group = group_of(dest ^ size, size, p)
        nbytes, end = _outside(layout, group) * itemsize, layout.start(group.end) * itemsize
        after = total - end
        return Transfer(source, dest, nbytes, nbytes, end if after else 0, after if after < nbytes else 0)

    for k in range(ceil_log2(p)):
        size = 1 << k
        yield without_empty(transfer(r ^ size, r, size) for r in range(p) if r ^ size < p)
        for steps in zip(*(forwards(r, size, p) for r in range(p)), strict=True):
            pairs = ((source, r) for r, (_, source) in enumerate(steps) if source is not None)
            yield without_empty(transfer(source, r, size) for source, r in pairs)


def _scratch(case: Case, rank: int) -> int:
    copied = 0 if case.in_place else case.layout.size(0, case.p)
    return (copied + sum(_spares(case.layout, case.p, rank))) * case.itemsize


DOUBLING_CLAIMS: Final = Claims(schedule=_schedule, scratch=_scratch) | equal_block_claims(
    lambda case: ceil_log2(case.p),
    lambda case: case.p * ceil_log2(case.p) - case.p + 1,
    lambda case: is_power_of_two(case.p),
)
"""The claims of reduce_scatter and reduce_scatter_block with this code."""
