"""Double scans of Python objects, whose pickled size may change from round to round.

The functions correspond to those of `scan` for arrays. Each message is preceded by its length, so a round has four
exchanges instead of two.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from collectives.chain.chain import Chain

Combine: TypeAlias = Callable[[Any, Any], Any]
"""Combines two values; the first argument is from the lower ranks."""


class ScanResults(NamedTuple):
    """The inclusive scans in both directions, and the exclusive ones: lists of one value, empty at an end of the chain."""

    rightward: Any
    leftward: Any
    before: list[Any]
    after: list[Any]


def scan_objects(chain: Chain, rightward: Any, leftward: Any, combine: Combine) -> tuple[Any, Any]:
    """Return both inclusive scans: `rightward` of all up to this rank, `leftward` of this rank and all after it."""
    results = _run_rounds(chain, rightward, leftward, combine, combine)
    return results.rightward, results.leftward


def exclusive_scan_objects(chain: Chain, rightward: Any, leftward: Any, combine: Combine) -> tuple[Any, Any]:
    """Return both exclusive scans; None for the first rank's left side and the last rank's right side."""
    _, _, before, after = _run_rounds(chain, rightward, leftward, combine, combine)
    return before[0] if before else None, after[0] if after else None


def segmented_scan_objects(chain: Chain, value: Any, combine: Combine, *, first: bool, last: bool) -> tuple[Any, Any]:
    """Return both inclusive scans within segments; `first` and `last` mark the ends of a segment."""

    def to_right(a: tuple[bool, Any], b: tuple[bool, Any]) -> tuple[bool, Any]:
        return b if b[0] else (a[0], combine(a[1], b[1]))

    def to_left(a: tuple[bool, Any], b: tuple[bool, Any]) -> tuple[bool, Any]:
        return a if a[0] else (b[0], combine(a[1], b[1]))

    results = _run_rounds(chain, (first, value), (last, value), to_right, to_left)
    return results.rightward[1], results.leftward[1]


def allreduce_objects(chain: Chain, value: Any, combine: Combine) -> Any:
    """Return all values combined in rank order, on every rank."""
    results = _run_rounds(chain, value, value, combine, combine)
    return combine(results.rightward, results.after[0]) if results.after else results.rightward


def _run_rounds(chain: Chain, rightward: Any, leftward: Any, to_right: Combine, to_left: Combine) -> ScanResults:
    """Run the rounds of a double scan."""
    left, right = chain.left, chain.right
    before: list[Any] = []
    after: list[Any] = []
    while left >= 0 or right >= 0:
        from_left, next_left = _exchange(chain, rightward, left, right, left)
        from_right, next_right = _exchange(chain, leftward, right, left, right)
        if left >= 0:
            before = [to_right(from_left, before[0]) if before else from_left]
            rightward = to_right(from_left, rightward)
        if right >= 0:
            after = [to_left(after[0], from_right) if after else from_right]
            leftward = to_left(leftward, from_right)
        left, right = next_left, next_right
    return ScanResults(rightward, leftward, before, after)


def _exchange(chain: Chain, value: Any, address: int, dest: int, source: int) -> tuple[Any, int]:
    """Send a value and an address to `dest` and receive the same from `source`; either may be NO_RANK."""
    comm, tag = chain.comm, chain.tag
    out = np.frombuffer(pickle.dumps(value), np.uint8)
    header, expected = np.array([address, out.size], np.int64), np.empty(2, np.int64)
    if source < 0:
        comm.Send(header, dest, tag)
        comm.Send(out, dest, tag)
        return None, source
    if dest < 0:
        comm.Recv(expected, source, tag)
    else:
        comm.Sendrecv(header, dest, tag, expected, source, tag)
    into = np.empty(int(expected[1]), np.uint8)
    if dest < 0:
        comm.Recv(into, source, tag)
    else:
        comm.Sendrecv(out, dest, tag, into, source, tag)
    return pickle.loads(into.tobytes()), int(expected[0])
