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
new array. For anything else there is `objects.scan_objects`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from collectives.chain.chain import Chain
from collectives.protocol import Op

Array: TypeAlias = Any
Combine: TypeAlias = Callable[[Array, Array], Array]
HEADER = 8
"""Bytes before the value in each message: an address, as wide as the widest number so that the value is aligned."""


def letter(value: Array) -> tuple[Array, Array, Array]:
    """A message for an address and a value: all of it, and its two parts."""
    message = np.empty(HEADER + value.nbytes, np.uint8)
    return message, message[:HEADER].view(np.int64), message[HEADER:].view(value.dtype).reshape(value.shape)


def walk(
    chain: Chain,
    rightward: Array,
    leftward: Array,
    heard_left: Callable[[Array], object],
    heard_right: Callable[[Array], object],
    met: Callable[[int, int], object] | None = None,
) -> None:
    """The rounds of a double scan.

    `rightward` is sent to the right and `leftward` to the left. `heard_left(value)` gets what comes from the left; it
    changes `rightward` for the next round in place. The value that it gets is overwritten then. `met(left, right)` is told
    who the round's partners are.
    """
    comm, tag, left, right = chain.comm, chain.tag, chain.left, chain.right
    to_right, their_left, right_value = letter(rightward)
    to_left, their_right, left_value = letter(leftward)
    from_left, next_left, left_news = letter(rightward)
    from_right, next_right, right_news = letter(leftward)
    while left >= 0 or right >= 0:
        if met is not None:
            met(left, right)
        their_left[0], their_right[0] = left, right
        right_value[...] = rightward
        left_value[...] = leftward
        if left < 0:
            comm.Send(to_right, right, tag)
            comm.Recv(from_right, right, tag)
        elif right < 0:
            comm.Recv(from_left, left, tag)
            comm.Send(to_left, left, tag)
        else:
            comm.Sendrecv(to_right, right, tag, from_left, left, tag)
            comm.Sendrecv(to_left, left, tag, from_right, right, tag)
        if left >= 0:
            heard_left(left_news)
            left = int(next_left[0])
        if right >= 0:
            heard_right(right_news)
            right = int(next_right[0])


def double_scan(
    chain: Chain, rightward: Array, leftward: Array, combine: Combine, combine_leftward: Combine | None = None
) -> tuple[Array, Array]:
    """Both inclusive scans: `rightward` of all up to this rank, `leftward` of this rank and all after it."""
    combine_leftward = combine_leftward or combine
    before, after = rightward.copy(), leftward.copy()

    def heard_left(value: Array) -> None:
        before[...] = combine(value, before)

    def heard_right(value: Array) -> None:
        after[...] = combine_leftward(after, value)

    walk(chain, before, after, heard_left, heard_right)
    return before, after


def double_exclusive_scan(
    chain: Chain, rightward: Array, leftward: Array, combine: Combine
) -> tuple[Array | None, Array | None]:
    """The same without the own value; None for the first rank's left side and the last rank's right side."""
    with_own, own_with = rightward.copy(), leftward.copy()
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

    walk(chain, with_own, own_with, heard_left, heard_right)
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
