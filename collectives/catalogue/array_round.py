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


class ArrayRound(Sequence[Transfer]):
    """A round stored as an array with a row for each field of `Transfer` and a column for each transfer.

    Creating a list of a million transfers takes 100 times as long. Each argument is an array with one value per transfer, or
    one number for all transfers; `source` must be an array.

    >>> list(ArrayRound(np.arange(2), np.array([1, 0]), 5))
    [Transfer(source=0, dest=1, nbytes=5, combined=0, start=0), Transfer(source=1, dest=0, nbytes=5, combined=0, start=0)]
    """

    def __init__(self, source: Any, dest: Any, nbytes: Any, combined: Any = 0, start: Any = 0) -> None:
        self.columns = np.empty((5, len(source)), np.int64)  # a row for each field
        for row, values in zip(self.columns, (source, dest, nbytes, combined, start), strict=True):
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


def starts_twice(layout: Layout, itemsize: int) -> Ints:
    """The starts, in bytes, of 2 p blocks and the end of the last one: the p blocks of a layout, twice in succession.

    A run of blocks that wraps around the end of the layout is contiguous there.

    >>> starts_twice(Layout.of([2, 0, 1]), 4).tolist()
    [0, 8, 8, 12, 20, 20, 24]
    """
    starts = np.array([layout.start(i) for i in range(layout.p + 1)]) * itemsize
    return np.concatenate((starts[:-1], starts[-1] + starts))


def columns_of(transfers: Round) -> Ints:
    """The transfers of a round as an array with a row for each field and a column for each transfer."""
    if isinstance(transfers, ArrayRound):
        return transfers.columns
    return np.fromiter(chain.from_iterable(transfers), np.int64, 5 * len(transfers)).reshape(-1, 5).T


def with_combinations(columns: Ints) -> Ints:
    """The array of transfers with two more rows: bytes per combination, and number of combinations.

    In a combination, the receiver applies the op of a reduction to received data.

    >>> with_combinations(columns_of([Transfer(0, 1, 4, combined=8), Transfer(0, 2, 4)]))[5:].tolist()
    [[4, 0], [2, 0]]
    """
    nbytes, combined = columns[2:4]
    combinations = np.where(combined > 0, np.maximum(combined // np.maximum(nbytes, 1), 1), 0)
    return np.vstack((columns, combined // np.maximum(combinations, 1), combinations))
