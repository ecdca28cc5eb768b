"""The result of a reduction, computed for many elements and ranks at a time, combined in the order of the algorithm.

The order follows from the schedule. The operand is cut into *pieces* where a transfer starts or ends. A `Reduction` goes
through the rounds and records which value each rank holds for each piece. Values have *levels*: level 0 has the operands of
all ranks, and each round that combines adds a level with its results. A *row* is one value of a level. Only predefined
operations are fused; they commute: x op y and y op x are the same value. A value is complete if it contains the operand of
each rank once. The schedule determines the result if each piece has exactly one complete value; otherwise the call is
emulated. In a scan, a rank holds its result, from lower ranks, and the value that it sends; between two groups, data of its
own group and data of the other group.

numpy computes the same bits for an element in arrays of any size. The bits depend on the order of two operands if they are
different NaNs, or zeros of different signs in a maximum or minimum; then `results` runs the code of the algorithm.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from fakempi.extensions.fused.programs import Ints, ScheduleArrays

MOST_BYTES = 1 << 27  # maximum number of bytes of operands that are copied at a time
MOST_PIECES = 1 << 22  # maximum of (number of ranks) x (number of pieces)
WIDE = 16  # elements per piece from which pieces are copied one by one, which is 4 times as fast for 100 elements
UNKNOWN_ORDER = "its schedule does not determine the order of combining"

Reference = tuple[Any, Any]
"""Values of earlier levels, by row and piece: the level of each and its row in that level; or a short form of these.

If all levels are equal, the level is an int; then the rows are a slice or an array without an axis for pieces, if all pieces
agree. If levels differ and there is one piece, the rows are None, and for each level there are three values: the level, the
positions of its values, and their rows.
"""


class Unsupported(Exception):
    """The call cannot be fused; the message gives the reason."""


class Reduction:
    """The order of combining: for each row and piece of a level, the two values of earlier levels that are combined."""

    def __init__(self, schedule: ScheduleArrays, operation: str, itemsize: int, elements: int, groups: Any = ()) -> None:
        self.p, self.elements, self.scans = schedule.p, elements, operation in ("scan", "exscan")
        p, scans = self.p, self.scans
        sizes = np.array([[1], [1], [itemsize], [1], [itemsize]])
        rounds = [phase.transfers[:5] // sizes for phase in schedule.phases()]  # sizes and starts in elements
        if scans:  # row p + rank has the result of a rank
            rounds = [np.hstack((each, each[:, each[0] < each[1]] + [[0], [p], [0], [0], [0]])) for each in rounds]
        else:  # row p + rank has data of the other group that a rank holds
            cut = groups[-1].start if groups else 0
            rounds = rounds[: max((i + 1 for i, each in enumerate(rounds) if each[3].any()), default=0)]
            for each in rounds:
                each[1] += p * ((each[0] >= cut) != (each[1] >= cut))
            rounds = [each[:, (each[4] >= 0) & ((each[3] > 0) | (each[1] >= p))] for each in rounds]  # without block sizes
        cuts = [transfers[4] for transfers in rounds]
        cuts += [(transfers[4] + transfers[2]) % max(elements, 1) for transfers in rounds]
        self.bounds = np.unique(np.concatenate([[0, elements], *cuts]))
        pieces = len(self.bounds) - 1
        if p * pieces > MOST_PIECES:
            raise Unsupported("its ranks combine too many pieces of the operands")
        self.level, self.row = np.zeros((2 * p, pieces), np.int64), np.repeat(np.tile(np.arange(p), 2)[:, None], pieces, 1)
        self.level[p:] = 0 if operation == "scan" else -1  # no value yet
        marks = np.random.default_rng(1).integers(1, 1 << 50, p)
        self.mark = np.repeat(np.tile(marks, 2)[:, None], pieces, 1)  # each operand has a random mark, each value their sum
        self.levels: list[tuple[Reference, Reference]] = []  # of level 1, 2, ...: the two values that are combined
        groups = () if scans else groups or (range(p),)
        # by group, for each piece: level and row of the result, and the number of complete values
        self.finals = [np.repeat([[0], [each.start], [len(each) == 1]], pieces, 1) for each in groups]
        self.totals = [marks[each.start : each.stop].sum() for each in groups]  # marks of complete values
        self._follow(rounds)
        if scans:  # for each rank and piece; rank 0 of an exscan has no result
            total = (np.cumsum(marks) - (0 if operation == "scan" else marks))[:, None]
            found = (total == 0) | ((self.level[p:] >= 0) & (self.mark[p:] == total))
            final = np.stack((self.level[p:], self.row[p:], found))
            self.finals = [final[:, :, :1] if (final == final[:, :, :1]).all() else final]
        if any((found != 1).any() for *_, found in self.finals):
            raise Unsupported(UNKNOWN_ORDER)
        finals = [final[:2] if scans else final[:2, None] for final in self.finals]
        self.results = [_simplified(level.clip(0), row) for level, row in finals]
        self.piece = np.repeat(np.arange(pieces), np.diff(self.bounds))  # of each element
        del self.level, self.row, self.mark
        last_use = np.zeros(len(self.levels) + 1, np.int64)  # by level: last index in `levels` that refers to it
        for at, references in enumerate(self.levels):
            for levels, rows in references:
                last_use[levels if rows is not None else [each for each, _, _ in levels]] = at
        kept = {0, *(level for final in self.finals for level in final[0].ravel().tolist())}
        self.unused: list[list[int]] = [[] for _ in self.levels]  # levels that are not needed after each level
        for level, at in enumerate(last_use.tolist()):
            if level not in kept and level <= at:
                self.unused[at].append(level)

    def _follow(self, rounds: list[Ints]) -> None:
        pieces = len(self.bounds) - 1
        for source, dest, length, combined, start in rounds:
            first = np.searchsorted(self.bounds, start)
            stop = start + length
            after = np.searchsorted(self.bounds, np.where(stop > self.elements, stop - self.elements, stop))
            count = after + np.where(stop > self.elements, pieces, 0) - first
            piece = (np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())) % pieces
            source, dest, combined = (np.repeat(each, count) for each in (source, dest, combined))
            moves = (self.level[dest, piece] < 0) | ((combined == 0) & (not self.scans))
            moved = [values[source[moves], piece[moves]] for values in (self.level, self.row, self.mark)]
            self._combine(source[~moves], dest[~moves], piece[~moves])
            for values, new in zip((self.level, self.row, self.mark), moved, strict=True):
                values[dest[moves], piece[moves]] = new

    def _combine(self, source: Ints, dest: Ints, piece: Ints) -> None:
        """Add a level with the values of sources combined with those of destinations; equal pairs share one row."""
        if not len(source):
            return
        wide, marks = 1 << 21, self.mark[source, piece] + self.mark[dest, piece]
        one, two = (self.level[each, piece] * wide + self.row[each, piece] for each in (source, dest))
        low, high = np.minimum(one, two), np.maximum(one, two)
        order = np.lexsort((high, low, piece))
        low, high, piece, dest, marks = (each[order] for each in (low, high, piece, dest, marks))
        new_piece = np.r_[True, piece[1:] != piece[:-1]]
        new = new_piece | np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])]
        number = np.cumsum(new) - 1
        number -= np.maximum.accumulate(np.where(new_piece, number, 0))  # the row of a value among those of its piece
        tables = np.zeros((4, int(number.max()) + 1, len(self.bounds) - 1), np.int64)
        tables[:, number[new], piece[new]] = [each[new] for each in (low // wide, low % wide, high // wide, high % wide)]
        self.levels.append((_simplified(*tables[:2]), _simplified(*tables[2:])))
        self.level[dest, piece], self.row[dest, piece], self.mark[dest, piece] = len(self.levels), number, marks
        for total, (level_of, row_of, found) in zip(self.totals, self.finals, strict=True):
            complete = new & (marks == total)
            level_of[piece[complete]], row_of[piece[complete]] = len(self.levels), number[complete]
            np.add.at(found, piece[complete], 1)

    def combined(self, operands: list[Any], kernel: Any, group: int = 0) -> Any:
        """Return the result of a group from `operands`, one array per rank; in a scan, the result has a row per rank."""
        wide, final = max(1, MOST_BYTES // (self.p * operands[0].itemsize)), self.results[group % len(self.results)]
        parts = [self._columns(operands, kernel, final, i, i + wide) for i in range(0, self.elements, wide)]
        found = parts[0] if len(parts) == 1 else np.concatenate(parts, 1)
        return found if self.scans else found[0]

    def _columns(self, operands: list[Any], kernel: Any, final: Reference, start: int, stop: int) -> Any:
        """Combine the elements from `start` to `stop`."""
        piece = self.piece[start:stop]
        if start or stop < self.elements:
            operands = [one[start:stop] for one in operands]
        values: list[Any] = [np.concatenate(operands).reshape(self.p, -1)]
        for at, (left, right) in enumerate(self.levels):
            one, other = _taken(values, left, piece), _taken(values, right, piece)
            kernel(one, other, out=(result := np.empty_like(other)))
            values.append(result)
            for level in self.unused[at]:
                values[level] = None
        return _taken(values, final, piece)


def _simplified(level: Ints, row: Ints) -> Reference:
    """Return a short form of a reference if there is one."""
    if (level == level[0, 0]).all():
        return int(level[0, 0]), _rows(row[:, 0]) if (row == row[:, :1]).all() else row
    if level.shape[1] > 1:
        return level, row
    positions = [(each, np.flatnonzero(level == each)) for each in np.unique(level).tolist()]
    return [(each, _rows(some), _rows(row[some, 0])) for each, some in positions], None


def _rows(row: Ints) -> slice | Ints:
    """Return rows as a slice if they are equally spaced: it is not necessary to copy these."""
    steps = set(np.diff(row).tolist()) or {1}
    return row.copy() if len(steps) > 1 or min(steps) < 1 else slice(int(row[0]), int(row[-1]) + 1, steps.pop())


def _taken(values: list[Any], reference: Reference, piece: Ints) -> Any:
    """Return the values that a reference refers to; the array may be a view."""
    level, row = reference
    if isinstance(level, int):
        if isinstance(row, slice) or row.ndim == 1:
            return values[level][row]
        return values[level][row[:, piece], np.arange(len(piece))]
    if row is None:
        found = np.empty((sum(_length(at) for _, at, _ in level), len(piece)), values[0].dtype)
        for each, at, rows in level:
            found[at] = values[each][rows]
        return found
    found = np.empty((len(level), len(piece)), values[0].dtype)
    edges = np.flatnonzero(np.diff(piece, prepend=-1)).tolist()
    if len(piece) >= WIDE * len(edges):
        for start, stop in pairwise([*edges, len(piece)]):
            levels, rows = level[:, piece[start]], row[:, piece[start]]
            for each in np.unique(levels).tolist():
                some = np.flatnonzero(levels == each)
                found[some, start:stop] = values[each][rows[some], start:stop]
        return found
    levels, rows = level[:, piece], row[:, piece]
    for each in np.unique(level).tolist():
        at = np.nonzero(levels == each)
        found[at] = values[each][rows[at], at[1]]
    return found


def _length(rows: slice | Ints) -> int:
    return len(range(rows.start, rows.stop, rows.step)) if isinstance(rows, slice) else len(rows)
