"""Chains of a rank: sequences of steps in which each step starts after the end of the one before.

Every start has a vector clock: for each chain, how many of its starts and ends precede, by dependencies of the rank alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collectives.schedules.step import Step


@dataclass(frozen=True)
class Chains:
    """The chain of each step of a rank, its position in the chain, and the vector clock of its start.

    An entry of a clock is twice the position of the last step of the chain that precedes; odd numbers are ends.
    """

    chain: NDArray[np.int32]
    position: NDArray[np.int32]
    clocks: NDArray[np.int32]

    def precedes(self, first: int, end: bool, second: int) -> bool:
        """Whether the end (or the start) of a step precedes the start of another one."""
        if first == second:
            return False
        return bool(self.clocks[second, self.chain[first]] >= 2 * self.position[first] + end)


def chains_of(steps: Sequence[Step], order: Sequence[int], limit: int) -> Chains | None:
    """Return the chains of a rank, whose steps start in this order; None if the clocks have more than `limit` entries.

    A step continues the first chain whose last step ends before it. It need not depend on that step directly.
    """
    chain, position = np.zeros(len(steps), np.int32), np.zeros(len(steps), np.int32)
    clocks = np.full((len(steps), 4), -1, np.int32)
    ends = np.zeros(4, np.int32)  # of each chain, the mark of the end of its last step
    count = 0
    for index in order:
        step, clock = steps[index], clocks[index]
        for other in step.after_start:
            np.maximum(clock, clocks[other], out=clock)
        for other in step.after:
            np.maximum(clock, clocks[other], out=clock)
            at = chain[other]
            clock[at] = max(clock[at], 2 * position[other] + 1)
        follows = clock[:count] == ends[:count]
        found = int(follows.argmax()) if count else 0
        if not count or not follows[found]:
            found = count
            count += 1
            if count * len(steps) > limit:
                return None
            if count > clocks.shape[1]:
                more = min(count, max(1, limit // len(steps) - count + 1))
                clocks = np.pad(clocks, ((0, 0), (0, more)), constant_values=-1)
                clock, ends = clocks[index], np.pad(ends, (0, more))
            ends[found] = 1
        else:
            ends[found] += 2
            position[index] = ends[found] >> 1
        chain[index] = found
        clock[found] = 2 * position[index]
    return Chains(chain, position, clocks)
