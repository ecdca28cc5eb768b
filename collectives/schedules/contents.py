"""Symbolic contents of buffers: which contributions each part of each buffer holds.

A *contribution* is a part of the input of one rank. Buffers are divided into chunks of equal size, the greatest common
divisor of all offsets and sizes in the schedule, so that every step copies or combines whole chunks. The contents of a chunk
are a sequence of contributions, in the order in which they were combined. Each distinct sequence has a number, and a chunk
is represented by this number. Number 0 is the empty sequence: nothing has been written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from math import gcd

import numpy as np
from numpy.typing import NDArray

from collectives.schedules.contract_files import Piece
from collectives.schedules.contracts import Contributions
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import Range
from collectives.schedules.work import check_work


def chunk_size(schedule: Schedule, demanded: Sequence[Sequence[Piece]] = ()) -> int:
    """The greatest common divisor of all offsets and sizes in a schedule."""
    ranges = [each for _, _, step in schedule for each in (step.source, step.target) if each is not None]
    numbers = {number for each in ranges for number in (each.offset, each.nbytes)}
    numbers |= {size for sizes in schedule.buffers for size in sizes.values()}
    numbers |= {offset for aliases in schedule.aliases for _, offset in aliases.values()}
    numbers |= {
        n for pieces in demanded for start, nbytes, operands in pieces for n in (start, nbytes, *(o for _, o in operands))
    }
    return gcd(*numbers) or 1


class Contents:
    """The contents of all buffers of all ranks, in chunks."""

    def __init__(self, schedule: Schedule, demanded: list[list[Piece]]) -> None:
        self.chunk = chunk_size(schedule, demanded)
        held = sum(size for sizes in schedule.buffers for size in sizes.values())
        moved = sum(step.nbytes for _, _, step in schedule)
        compared = sum(nbytes * len(operands) for pieces in demanded for _, nbytes, operands in pieces)
        self._check(schedule, (held + moved + compared) // self.chunk)
        inputs = [sizes.get("input", 0) // self.chunk for sizes in schedule.buffers]
        self._first = list(accumulate(inputs, initial=1))  # the number of the first chunk of each rank's input
        self._numbers: dict[Contributions, int] = {}
        self._values: list[Contributions] = []  # of numbers from self._first[-1] on
        self._schedule, self._combined = schedule, 0
        self._buffers: list[dict[str, NDArray[np.int64]]] = []
        for rank, sizes in enumerate(schedule.buffers):
            aliases = schedule.aliases_of(rank)
            self._buffers.append(
                {name: np.zeros(size // self.chunk, np.int64) for name, size in sizes.items() if name not in aliases}
            )
            size = sizes.get("input", 0)
            own = np.arange(self._first[rank], self._first[rank] + size // self.chunk)
            self.part(rank, schedule.resolve(rank, Range("input", 0, size)))[:] = own

    def _check(self, schedule: Schedule, work: int) -> None:
        advice = "use a smaller message, or sizes with a larger common divisor"
        check_work(schedule, work, f"chunks of {self.chunk} bytes", advice)

    def number(self, contributions: Contributions) -> int:
        """The number of a sequence of contributions; equal sequences have equal numbers."""
        if len(contributions) < 2:
            return sum(self._first[rank] + chunk for rank, chunk in contributions)
        number = self._numbers.get(contributions)
        if number is None:
            number = self._numbers[contributions] = self._first[-1] + len(self._values)
            self._values.append(contributions)
            self._combined += len(contributions)
            self._check(self._schedule, self._combined)
        return number

    def value(self, number: int) -> Contributions:
        """The sequence of contributions with a number: none, a chunk of an input, or several of them."""
        if number >= self._first[-1]:
            return self._values[number - self._first[-1]]
        rank = bisect_right(self._first, number) - 1
        return ((rank, number - self._first[rank]),) if number else ()

    def part(self, rank: int, span: Range) -> NDArray[np.int64]:
        """The chunks of a range, as a view."""
        if span.nbytes == 0:
            return np.zeros(0, np.int64)
        return self._buffers[rank][span.buffer][span.offset // self.chunk : span.stop // self.chunk]

    def combine(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of `left op right`, chunk by chunk."""
        pairs = np.stack([left, right])
        distinct, inverse = np.unique(pairs, axis=1, return_inverse=True)
        numbers = [self.number(self.value(a) + self.value(b)) for a, b in distinct.T.tolist()]
        return np.array(numbers, np.int64)[inverse.reshape(-1)]
