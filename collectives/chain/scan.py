"""The double scan: from left to right and from right to left at once, in ceil(log2 N) rounds.

In round i everybody exchanges with the processes 2^i to its left and 2^i to its right, which at first are its neighbours.
It sends to the right what it has gathered from the left, together with its left partner's address, who will be the
right partner's partner in the next round; and the other way round. A round is two exchanges, one for each direction, since a
process has one port: 2 ceil(log2 N) messages one after the other. Who has run out of partners on both sides is done,
so nobody needs to know N.

    N = 4     round 0       round 1
    rank 0    0             0
    rank 1    01            01            what has come from the left, and the own
    rank 2    12            012
    rank 3    23            0123

Values are numpy arrays of one shape and type on all ranks; `combine(a, b)` gets a from the lower ranks and returns a
new array. For anything else there is `objects`.
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
"""Bytes before the value in each message: an address, as wide as the widest number so that the value is aligned."""


class Letter:
    """A message of an address and a value. The value is an array within the message: what is written there is sent."""

    __slots__ = ("address", "message", "value")

    def __init__(self, like: Array) -> None:
        self.message: Array = np.empty(HEADER + like.nbytes, np.uint8)
        self.address: Array = self.message[:HEADER].view(np.int64)
        self.value: Array = self.message[HEADER:].view(like.dtype).reshape(like.shape)

    @classmethod
    def with_value(cls, value: Array) -> Letter:
        """One that is ready to be sent."""
        letter = cls(value)
        letter.value[...] = value
        return letter


def walk(
    chain: Chain,
    to_right: Letter,
    to_left: Letter,
    heard_left: Callable[[Array], object] | None,
    heard_right: Callable[[Array], object] | None,
    met: Callable[[int, int], object] | None = None,
) -> None:
    """The rounds of a double scan.

    `heard_left(value)` gets what comes from the left and writes into `to_right.value` what is to be sent in the next round.
    The value that it gets is overwritten then. Without it nobody looks. `met(left, right)` is told who the partners are.
    """
    comm, tag, left, right = chain.comm, chain.tag, chain.left, chain.right
    from_left, from_right = Letter(to_right.value), Letter(to_left.value)
    # At hand, since a name of this function is found faster than an attribute.
    out_right, their_left, out_left, their_right = to_right.message, to_right.address, to_left.message, to_left.address
    into_left, next_left, left_news = from_left.message, from_left.address, from_left.value
    into_right, next_right, right_news = from_right.message, from_right.address, from_right.value
    exchange = comm.Sendrecv
    while left >= 0 or right >= 0:
        if met is not None:
            met(left, right)
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
            if heard_left is not None:
                heard_left(left_news)
            left = int(next_left[0])
        if right >= 0:
            if heard_right is not None:
                heard_right(right_news)
            right = int(next_right[0])


def double_scan(
    chain: Chain, rightward: Array, leftward: Array, combine: Combine, combine_leftward: Combine | None = None
) -> tuple[Array, Array]:
    """Both inclusive scans: `rightward` of all up to this rank, `leftward` of this rank and all after it."""
    combine_leftward = combine_leftward or combine
    to_right, to_left = Letter.with_value(rightward), Letter.with_value(leftward)
    before, after = to_right.value, to_left.value

    def heard_left(value: Array) -> None:
        before[...] = combine(value, before)

    def heard_right(value: Array) -> None:
        after[...] = combine_leftward(after, value)

    walk(chain, to_right, to_left, heard_left, heard_right)
    return before, after


def double_exclusive_scan(
    chain: Chain, rightward: Array, leftward: Array, combine: Combine
) -> tuple[Array | None, Array | None]:
    """The same without the own value; None for the first rank's left side and the last rank's right side."""
    to_right, to_left = Letter.with_value(rightward), Letter.with_value(leftward)
    with_own, own_with = to_right.value, to_left.value
    before: Array | None = None
    after: Array | None = None

    def heard_left(value: Array) -> None:
        nonlocal before
        before = value.copy() if before is None else combine(value, before)
        with_own[...] = combine(value, with_own)

    def heard_right(value: Array) -> None:
        nonlocal after
        after = value.copy() if after is None else combine(after, value)
        own_with[...] = combine(own_with, value)

    walk(chain, to_right, to_left, heard_left, heard_right)
    return before, after


def segmented_double_scan(
    chain: Chain, value: Array, combine: Combine, *, first: bool, last: bool
) -> tuple[Array, Array]:
    """Both inclusive scans of `value`, each within its segment; `first` and `last` say where a segment begins and ends."""
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
    """All values combined in order of rank, on every rank."""
    before, after = double_exclusive_scan(chain, value, value, combine)
    total = value if before is None else combine(before, value)
    total = total if after is None else combine(total, after)
    return total.copy() if total is value else total


def by_op(op: Op) -> Combine:
    """An op of MPI's as a function of two arrays."""

    def combine(a: Array, b: Array) -> Array:
        result = b.copy()
        op.Reduce_local(a, result)
        return result

    return combine
