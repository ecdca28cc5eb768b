"""Double scans of Python objects: of any length, and of another one after each round.

The scans that `scan` has for arrays. Each message is preceded by its length, so a round is four exchanges, not two.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from collectives.chain.chain import Chain

Combine: TypeAlias = Callable[[Any, Any], Any]
"""Gets what comes from the lower ranks first."""


class Sides(NamedTuple):
    """All up to this rank, and from it on; then the same without its own, as lists, which are empty at the ends."""

    rightward: Any
    leftward: Any
    before: list[Any]
    after: list[Any]


def scan_objects(chain: Chain, rightward: Any, leftward: Any, combine: Combine) -> tuple[Any, Any]:
    """Both inclusive scans: `rightward` of all up to this rank, `leftward` of this rank and all after it."""
    sides = _walk(chain, rightward, leftward, combine, combine)
    return sides.rightward, sides.leftward


def exclusive_scan_objects(chain: Chain, rightward: Any, leftward: Any, combine: Combine) -> tuple[Any, Any]:
    """The same without the own value; None for the first rank's left side and the last rank's right side."""
    _, _, before, after = _walk(chain, rightward, leftward, combine, combine)
    return before[0] if before else None, after[0] if after else None


def segmented_scan_objects(chain: Chain, value: Any, combine: Combine, *, first: bool, last: bool) -> tuple[Any, Any]:
    """Both inclusive scans, each within its segment; `first` and `last` say where a segment begins and ends."""

    def to_right(a: tuple[bool, Any], b: tuple[bool, Any]) -> tuple[bool, Any]:
        return b if b[0] else (a[0], combine(a[1], b[1]))

    def to_left(a: tuple[bool, Any], b: tuple[bool, Any]) -> tuple[bool, Any]:
        return a if a[0] else (b[0], combine(a[1], b[1]))

    sides = _walk(chain, (first, value), (last, value), to_right, to_left)
    return sides.rightward[1], sides.leftward[1]


def allreduce_objects(chain: Chain, value: Any, combine: Combine) -> Any:
    """All values combined in order of rank, on every rank."""
    sides = _walk(chain, value, value, combine, combine)
    return combine(sides.rightward, sides.after[0]) if sides.after else sides.rightward


def _walk(chain: Chain, rightward: Any, leftward: Any, to_right: Combine, to_left: Combine) -> Sides:
    """The rounds of a double scan."""
    left, right = chain.left, chain.right
    before: list[Any] = []
    after: list[Any] = []
    while left >= 0 or right >= 0:
        from_left, next_left = _swap(chain, rightward, left, right, left)
        from_right, next_right = _swap(chain, leftward, right, left, right)
        if left >= 0:
            before = [to_right(from_left, before[0]) if before else from_left]
            rightward = to_right(from_left, rightward)
        if right >= 0:
            after = [to_left(after[0], from_right) if after else from_right]
            leftward = to_left(leftward, from_right)
        left, right = next_left, next_right
    return Sides(rightward, leftward, before, after)


def _swap(chain: Chain, value: Any, passed_on: int, dest: int, source: int) -> tuple[Any, int]:
    """Send to the one and receive from the other, both with an address; either may be nobody."""
    comm, tag = chain.comm, chain.tag
    out = np.frombuffer(pickle.dumps(value), np.uint8)
    announced, expected = np.array([passed_on, out.size], np.int64), np.empty(2, np.int64)
    if source < 0:
        comm.Send(announced, dest, tag)
        comm.Send(out, dest, tag)
        return None, source
    if dest < 0:
        comm.Recv(expected, source, tag)
    else:
        comm.Sendrecv(announced, dest, tag, expected, source, tag)
    into = np.empty(int(expected[1]), np.uint8)
    if dest < 0:
        comm.Recv(into, source, tag)
    else:
        comm.Sendrecv(out, dest, tag, into, source, tag)
    return pickle.loads(into.tobytes()), int(expected[0])
