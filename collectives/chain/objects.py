"""The double scan of Python objects: of any length, and of another one after each round."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from collectives.chain.chain import Chain


def scan_objects(chain: Chain, rightward: Any, leftward: Any, combine: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """`double_scan` of anything that can be pickled: each message is preceded by its length."""
    comm, tag, left, right = chain.comm, chain.tag, chain.left, chain.right

    def swap(value: Any, passed_on: int, dest: int, source: int) -> tuple[Any, int]:
        """Send to the one and receive from the other, both with an address; either may be nobody."""
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

    while left >= 0 or right >= 0:
        from_left, next_left = swap(rightward, left, right, left)
        from_right, next_right = swap(leftward, right, left, right)
        if left >= 0:
            rightward = combine(from_left, rightward)
        if right >= 0:
            leftward = combine(leftward, from_right)
        left, right = next_left, next_right
    return rightward, leftward
