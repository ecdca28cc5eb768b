"""Symbolic contents of buffers: which contributions each byte of each buffer holds.

A *contribution* is a byte of the input of one rank. The contents of a byte are a sequence of contributions, in the order in
which they were combined. A buffer is a list of intervals. An interval holds a *term* and a shift: the byte at position k is
the term at k + shift. A term is the input of a rank, or two terms, the second of them at another shift. So the contents
of large messages, and of long chains of reductions, take little memory, and equal reductions have equal terms.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import gcd

from collectives.schedules.contract_files import Piece
from collectives.schedules.contracts import Contributions
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import Range
from collectives.schedules.work import Work

EMPTY = 0
"""The term of bytes that have not been written. Term r + 1 is the input of rank r."""

Interval = tuple[int, int, int]
"""Start of the interval, term and shift; it ends where the next one starts."""

MOST = 1 << 62
"""More than the number of any term."""


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


class Terms:
    """The terms of all intervals. A pair of terms with a difference of their shifts has one number."""

    def __init__(self, schedule: Schedule) -> None:
        self._work = Work(schedule, "contributions of combined data", "it combines the same data again and again")
        self._ranks = schedule.ranks
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._pairs: list[tuple[int, int, int]] = []
        self._sizes = [0] + [1] * schedule.ranks  # contributions of each term

    def pair(self, left: int, right: int, shift: int) -> int:
        """The number of the term `left op right`, where the right term is shifted by `shift` against the left one."""
        key = left, right, shift
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._ranks + 1 + len(self._pairs)
            self._pairs.append(key)
            self._sizes.append(self._sizes[left] + self._sizes[right])
        return number

    def is_input(self, term: int, shift: int, rank: int, offset: int) -> bool:
        """Whether a term at a shift is one contribution: this byte of the input of this rank."""
        return term == rank + 1 and shift == offset

    def contributions(self, term: int, shift: int) -> Contributions:
        """The contributions of the byte at a shift: (rank, offset) from left to right."""
        self._work.add(self._sizes[term])
        found: list[tuple[int, int]] = []
        stack = [(term, shift)]
        while stack:
            term, shift = stack.pop()
            if term > self._ranks:
                left, right, difference = self._pairs[term - self._ranks - 1]
                stack += [(right, shift + difference), (left, shift)]
            elif term:
                found.append((term - 1, shift))
        return tuple(found)


class Contents:
    """The contents of all buffers of all ranks."""

    def __init__(self, schedule: Schedule) -> None:
        self.terms = Terms(schedule)
        self._schedule = schedule
        self._work = Work(schedule, "intervals of bytes", "verify the schedule for fewer ranks")
        self._buffers: list[dict[str, list[Interval]]] = []
        for rank, sizes in enumerate(schedule.buffers):
            aliases = schedule.aliases_of(rank)
            self._buffers.append({name: [(0, EMPTY, 0)] for name in sizes if name not in aliases})
            own = schedule.resolve(rank, Range("input", 0, sizes.get("input", 0)))
            if own.nbytes:
                self.write(rank, own, [(0, rank + 1, 0)])

    def read(self, rank: int, span: Range) -> list[Interval]:
        """The intervals of a range, with starts and shifts relative to its beginning."""
        if not span.nbytes:
            return []
        held, start = self._buffers[rank][span.buffer], span.offset
        at = bisect_right(held, (start, MOST, 0)) - 1
        found = [(0, held[at][1], held[at][2] + start)]
        for first, term, shift in held[at + 1 : bisect_left(held, (span.stop, -1, 0))]:
            found.append((first - start, term, shift + start))
        self._work.add(len(found))
        return found

    def write(self, rank: int, span: Range, intervals: Sequence[Interval]) -> None:
        """Store intervals with starts relative to the beginning of a range."""
        if not span.nbytes:
            return
        held, start, stop = self._buffers[rank][span.buffer], span.offset, span.stop
        left, right = bisect_left(held, (start, -1, 0)), bisect_left(held, (stop, -1, 0))
        last = held[right - 1]  # the interval in which the range ends
        new = [(first + start, term, shift - start if term else 0) for first, term, shift in intervals]
        if (right == len(held) or held[right][0] > stop) and stop < self._schedule.buffers[rank][span.buffer]:
            new.append((stop, last[1], last[2]))
        held[left:right] = new
        while left < len(held) and held[left][0] <= stop:  # join equal neighbors
            if left and held[left][1:] == held[left - 1][1:]:
                del held[left]
            else:
                left += 1

    def combine(self, left: Sequence[Interval], right: Sequence[Interval]) -> list[Interval]:
        """The intervals of `left op right`, which have the same size."""
        found: list[Interval] = []
        i = j = 0
        while i < len(left) and j < len(right):
            (_, a, a_shift), (_, b, b_shift) = left[i], right[j]
            start = max(left[i][0], right[j][0])
            if not a or not b:
                found.append((start, a or b, a_shift if a else b_shift))
            else:
                found.append((start, self.terms.pair(a, b, b_shift - a_shift), a_shift))
            next_left = left[i + 1][0] if i + 1 < len(left) else None
            next_right = right[j + 1][0] if j + 1 < len(right) else None
            if next_left is None and next_right is None:
                break
            i += next_right is None or (next_left is not None and next_left <= next_right)
            j += next_left is None or (next_right is not None and next_right <= next_left)
        self._work.add(len(found))
        return found
