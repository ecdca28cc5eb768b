"""Runs of bytes in a file: restrict them to a window, and join adjacent ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


class Runs:
    """Runs of bytes (offset, length) at increasing offsets; a rank's data are their bytes in this order.

    >>> runs = Runs([(0, 4), (10, 4), (20, 4)])
    >>> runs.first, runs.end, runs.size
    (0, 24, 12)
    >>> inside = runs.within(2, 12)
    >>> inside.table.tolist(), (inside.begin, inside.size)
    ([[2, 2], [10, 2]], (2, 4))
    """

    def __init__(self, runs: Any, begin: int = 0) -> None:
        table = np.asarray(runs if isinstance(runs, np.ndarray) else list(runs), np.int64).reshape(-1, 2)
        self.table = table[table[:, 1] > 0]
        self.begin = begin  # index of their first byte in the rank's data
        self._starts, lengths = self.table.T
        self._ends = self._starts + lengths
        if (self._starts[1:] < self._ends[:-1]).any() or (table < 0).any():
            raise ValueError("runs of bytes must have increasing, non-negative offsets and must not overlap")
        self._before = np.concatenate(([0], np.cumsum(lengths)))

    @property
    def first(self) -> int | None:
        """Offset of the first byte, or None."""
        return int(self._starts[0]) if len(self.table) else None

    @property
    def end(self) -> int:
        """Offset after the last byte."""
        return int(self._ends[-1]) if len(self.table) else 0

    @property
    def size(self) -> int:
        """Total number of bytes."""
        return int(self._before[-1])

    def within(self, low: int, high: int) -> Runs:
        """Return the parts of the runs between two offsets."""
        i, j = int(np.searchsorted(self._ends, low, "right")), int(np.searchsorted(self._starts, high, "left"))
        if i >= j:
            return Runs([], self.begin)
        starts, ends = np.maximum(self._starts[i:j], low), np.minimum(self._ends[i:j], high)
        return Runs(np.stack((starts, ends - starts), 1), self.begin + int(self._before[i] + starts[0] - self._starts[i]))

    def slices_in(self, low: int) -> Iterator[tuple[slice, slice]]:
        """Yield for each run its slice of a window that starts at `low`, and its slice of the bytes of all runs."""
        for (start, length), at in zip(self.table.tolist(), self._before.tolist(), strict=False):
            yield slice(start - low, start - low + length), slice(at, at + length)


def merged(parts: Iterable[Runs]) -> list[tuple[int, int]]:
    """Return the union of several ranks' runs, as the smallest number of runs.

    >>> merged([Runs([(0, 4), (8, 4)]), Runs([(4, 4), (20, 1)])])
    [(0, 12), (20, 1)]
    """
    tables = [part.table for part in parts if len(part.table)]
    if not tables:
        return []
    table = np.concatenate(tables)
    starts = table[:, 0]
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate((starts + table[:, 1])[order])
    new = np.concatenate(([True], starts[1:] > ends[:-1]))
    last = np.concatenate((np.flatnonzero(new)[1:] - 1, [len(starts) - 1]))
    return [(start, end - start) for start, end in zip(starts[new].tolist(), ends[last].tolist(), strict=True)]
