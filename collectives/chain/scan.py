"""The double scan: scans from left to right and from right to left at the same time, in ceil(log2 N) rounds.

In round i every process exchanges messages with the processes at distance 2^i to its left and right; in round 0 these are
its neighbors. To the right it sends its result from the left, together with the address of its left partner, which will be
the left partner of its right partner in the next round; to the left it sends the counterparts. A round has two exchanges,
one per direction, because a process has one port: 2 ceil(log2 N) messages in sequence. A process without partners on both
sides is finished, so no process needs to know N.

    N = 4     round 0       round 1
    rank 0    0             0
    rank 1    01            01            the result from the left, including the process itself
    rank 2    12            012
    rank 3    23            0123

Values are numpy arrays of one shape and type on all ranks. `combine(a, b)` returns a new array; a is from the lower
ranks. Module `objects` has scans of other values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from collectives.chain.chain import Chain
from collectives.tools.protocol import Op

Array: TypeAlias = Any
Combine: TypeAlias = Callable[[Array, Array], Array]
HEADER = 8
"""Bytes before the value in each message: an address in 8 bytes, so that the value is aligned."""


class ScanMessage:
    """A message of an address and a value. Both are views of `buffer`, so writing to them changes the message."""

    __slots__ = ("address", "buffer", "value")

    def __init__(self, like: Array) -> None:
        self.buffer: Array = np.empty(HEADER + like.nbytes, np.uint8)
        self.address: Array = self.buffer[:HEADER].view(np.int64)
        self.value: Array = self.buffer[HEADER:].view(like.dtype).reshape(like.shape)

    @classmethod
    def with_value(cls, value: Array) -> ScanMessage:
        """Return a message with a copy of `value`."""
        message = cls(value)
        message.value[...] = value
        return message


def run_rounds(
    chain: Chain,
    to_right: ScanMessage,
    to_left: ScanMessage,
    on_left: Callable[[Array], object] | None,
    on_right: Callable[[Array], object] | None,
    on_partners: Callable[[int, int], object] | None = None,
) -> None:
    """Run the rounds of a double scan.

    `on_left(value)` receives the value from the left and updates `to_right.value`, which the next round sends; the received
    array is overwritten in the next round. `on_right` is the counterpart. If one is None, received values are ignored.
    `on_partners(left, right)` receives the addresses of the partners before each round.
    """
    comm, tag, left, right = chain.comm, chain.tag, chain.left, chain.right
    from_left, from_right = ScanMessage(to_right.value), ScanMessage(to_left.value)
    # Local variables, because attribute access is slower.
    out_right, their_left, out_left, their_right = to_right.buffer, to_right.address, to_left.buffer, to_left.address
    into_left, next_left, left_value = from_left.buffer, from_left.address, from_left.value
    into_right, next_right, right_value = from_right.buffer, from_right.address, from_right.value
    exchange = comm.Sendrecv
    while left >= 0 or right >= 0:
        if on_partners is not None:
            on_partners(left, right)
        their_left[0], their_right[0] = left, right
        if left < 0:
            comm.Send(out_right, right, tag)
            comm.Recv(into_right, right, tag)
        elif right < 0:
            comm.Recv(into_left, left, tag)
            comm.Send(out_left, left, tag)
        else:
            exchange(out_right, right, tag, into_left, left, tag)
            exchange(out_left, left, tag, into_right, right, tag)
        if left >= 0:
            if on_left is not None:
                on_left(left_value)
            left = int(next_left[0])
        if right >= 0:
            if on_right is not None:
                on_right(right_value)
            right = int(next_right[0])


def double_scan(
    chain: Chain, rightward: Array, leftward: Array, combine: Combine, combine_leftward: Combine | None = None
) -> tuple[Array, Array]:
    """Return both inclusive scans: `rightward` of all up to this rank, `leftward` of this rank and all after it."""
    combine_leftward = combine_leftward or combine
    to_right, to_left = ScanMessage.with_value(rightward), ScanMessage.with_value(leftward)
    before, after = to_right.value, to_left.value

    def on_left(value: Array) -> None:
        before[...] = combine(value, before)

    def on_right(value: Array) -> None:
        after[...] = combine_leftward(after, value)

    run_rounds(chain, to_right, to_left, on_left, on_right)
    return before, after


def double_exclusive_scan(
    chain: Chain, rightward: Array, leftward: Array, combine: Combine
) -> tuple[Array | None, Array | None]:
    """Return both exclusive scans; None for the first rank's left side and the last rank's right side."""
    to_right, to_left = ScanMessage.with_value(rightward), ScanMessage.with_value(leftward)
    with_own, own_with = to_right.value, to_left.value
    before: Array | None = None
    after: Array | None = None

    def on_left(value: Array) -> None:
        nonlocal before
        before = value.copy() if before is None else combine(value, before)
        with_own[...] = combine(value, with_own)

    def on_right(value: Array) -> None:
        nonlocal after
        after = value.copy() if after is None else combine(after, value)
        own_with[...] = combine(own_with, value)

    run_rounds(chain, to_right, to_left, on_left, on_right)
    return before, after


def segmented_double_scan(chain: Chain, value: Array, combine: Combine, *, first: bool, last: bool) -> tuple[Array, Array]:
    """Return both inclusive scans of `value` within segments; `first` and `last` mark the ends of a segment."""
    closed = np.zeros(HEADER, np.uint8)
    content = value.reshape(-1).view(np.uint8)

    def packed(mark: bool) -> Array:
        closed[0] = mark
        return np.concatenate([closed, content])

    def part(state: Array) -> Array:
        return state[HEADER:].view(value.dtype).reshape(value.shape)

    def rightward(a: Array, b: Array) -> Array:
        if b[0]:
            return b
        both = a.copy()
        part(both)[...] = combine(part(a), part(b))
        return both

    def leftward(a: Array, b: Array) -> Array:
        if a[0]:
            return a
        both = b.copy()
        part(both)[...] = combine(part(a), part(b))
        return both

    before, after = double_scan(chain, packed(first), packed(last), rightward, leftward)
    return part(before), part(after)


def allreduce(chain: Chain, value: Array, combine: Combine) -> Array:
    """Return all values combined in rank order, on every rank."""
    before, after = double_exclusive_scan(chain, value, value, combine)
    total = value if before is None else combine(before, value)
    total = total if after is None else combine(total, after)
    return total.copy() if total is value else total


def by_op(op: Op) -> Combine:
    """Return an MPI op as a function of two arrays."""

    def combine(a: Array, b: Array) -> Array:
        result = b.copy()
        op.Reduce_local(a, result)
        return result

    return combine
