"""A round stored as a numpy array instead of a list of transfers, for schedules of many ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from collectives.catalogue.schedule import Round, Transfer
from collectives.tools.blocks import Layout

Ints = npt.NDArray[np.int64]

FIELDS = len(Transfer._fields)


class ArrayRound(Sequence[Transfer]):
    """A round stored as an array with a row for each field of `Transfer` and a column for each transfer.

    Creating a list of a million transfers takes 100 times as long. Each argument is an array with one value per transfer, or
    one number for all transfers; `source` must be an array.

    >>> ArrayRound(np.arange(2), np.array([1, 0]), 5) == [Transfer(0, 1, 5), Transfer(1, 0, 5)]
    True
    """

    def __init__(self, source: Any, dest: Any, nbytes: Any, combined: Any = 0, start: Any = 0, first_part: Any = 0) -> None:
        self.columns = np.zeros((FIELDS, len(source)), np.int64)  # a row for each field
        for row, values in zip(self.columns, (source, dest, nbytes, combined, start, first_part), strict=True):
            row[:] = values

    def __len__(self) -> int:
        return self.columns.shape[1]

    def __iter__(self) -> Iterator[Transfer]:
        return map(Transfer, *self.columns.tolist())

    @overload
    def __getitem__(self, index: int) -> Transfer: ...
    @overload
    def __getitem__(self, index: slice) -> list[Transfer]: ...
    def __getitem__(self, index: int | slice) -> Transfer | list[Transfer]:
        return list(self)[index] if isinstance(index, slice) else Transfer(*self.columns[:, index].tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list


def nonempty_round(source: Ints, dest: Ints, nbytes: Ints, combined: Any = 0, start: Any = 0) -> ArrayRound:
    """A round of the transfers with at least one byte: an empty block is never sent."""
    result = ArrayRound(source, dest, nbytes, combined, start)
    result.columns = result.columns[:, result.columns[2] > 0]
    return result


def columns_of(transfers: Round) -> Ints:
    """A round as an array: a column for each transfer, a row for each field."""
    if isinstance(transfers, ArrayRound):
        return transfers.columns
    return np.fromiter(chain.from_iterable(transfers), np.int64, FIELDS * len(transfers)).reshape(-1, FIELDS).T


def in_groups(transfers: Round, groups: Sequence[Sequence[int]]) -> ArrayRound:
    """A round that each of several groups has: rank i of a group is `group[i]`.

    >>> in_groups([Transfer(0, 1, 5)], [[7, 4], [2, 3]]) == [Transfer(7, 4, 5), Transfer(2, 3, 5)]
    True
    """
    columns, ranks = columns_of(transfers), np.array(groups)
    return ArrayRound(*(ranks[:, each].ravel() for each in columns[:2]), *np.tile(columns[2:], len(groups)))


def joined(rounds: Sequence[Round]) -> Round:
    """Several rounds as one, an array if one of them is."""
    if any(isinstance(each, ArrayRound) for each in rounds):
        return ArrayRound(*np.concatenate([columns_of(each) for each in rounds], axis=1))
    return list(chain.from_iterable(rounds))


def starts_twice(layout: Layout, itemsize: int) -> Ints:
    """The starts, in bytes, of 2 p blocks and the end of the last one: the p blocks of a layout, twice in succession.

    A run of blocks that wraps around the end of the layout is contiguous there.

    >>> starts_twice(Layout.of([2, 0, 1]), 4).tolist()
    [0, 8, 8, 12, 20, 20, 24]
    """
    starts = np.array([layout.start(i) for i in range(layout.p + 1)]) * itemsize
    return np.concatenate((starts[:-1], starts[-1] + starts))


def with_combinations(transfers: Round) -> Ints:
    """A round as an array: a column for each transfer, a row for each field, and a row for each combination with its bytes.

    In a combination, the receiver applies the op of a reduction to received data. If it combines fewer times than another
    receiver, the other rows have zeros.

    >>> transfers = [Transfer(0, 1, 4, combined=8), Transfer(0, 2, 4), Transfer(0, 3, 4, combined=4, first_part=1)]
    >>> with_combinations(transfers)[len(Transfer._fields):].tolist()
    [[4, 0, 1], [4, 0, 3]]
    """
    columns = columns_of(transfers)
    _, _, nbytes, combined, _, first_part = columns
    if not combined.any():
        return columns
    times = np.maximum(combined // np.maximum(nbytes, 1), combined > 0)
    rows = [np.where(times > k, combined // np.maximum(times, 1), 0) for k in range(times.max())]
    if first_part.any():
        rows += [np.zeros_like(combined)] * (2 - len(rows))
        rows[0] = np.where(first_part, first_part, rows[0])
        rows[1] = np.where(first_part, combined - first_part, rows[1])
    return np.vstack((columns, *rows))
