"""How a trace is kept: rows of numbers, packed one after the other, and read as numpy columns without a copy.

A transfer takes 76 bytes, an interval of computing 24, a region 60. Names and places in the program are kept once, in lists,
and meant by their number there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fakempi.errors import printable

Rows = npt.NDArray[Any]

NEVER = float("inf")
"""The time of what did not happen: a receive that was not posted, a region that was not left."""

_CODES = {"i4": "i", "i8": "q", "f8": "d"}


class Table:
    """The columns of one kind of row: what they are called, and how a row is packed.

    The longest come first, so that rows have no holes in the machine's own format, which packs fastest.
    """

    def __init__(self, **columns: str) -> None:
        self.dtype = np.dtype([(name, kind) for name, kind in columns.items()])
        self.names = tuple(columns)
        self._codes = {name: _CODES[kind] for name, kind in columns.items()}
        self.size = self.dtype.itemsize
        self.pack = Struct("@" + "".join(self._codes.values())).pack

    def patch(self, *names: str) -> tuple[Any, int]:
        """A function that overwrites columns that are next to one another, and how far into a row they are."""
        offsets = {name: offset for name, (_, offset, *_) in (self.dtype.fields or {}).items()}
        return Struct("@" + "".join(self._codes[name] for name in names)).pack_into, offsets[names[0]]

    def read(self, packed: bytes | bytearray) -> Rows:
        """The rows in a stretch of memory."""
        return np.frombuffer(packed, self.dtype)


TRANSFERS = Table(
    posted="f8",  # when it was sent
    start="f8",
    sent="f8",  # when the sender was free of it
    arrived="f8",
    awaited="f8",  # when its receive was posted
    receive_call="i4",  # what the receiver called, and where: a number in `calls`
    call="i4",  # likewise the sender
    nbytes="i8",
    source="i4",  # the numbers of processes, which are the ranks of the first world
    dest="i4",
    tag="i4",
    context="i4",  # the number of the communicator's context
    region="i4",  # the row of the innermost region that the sender was in, or -1
)

COMPUTES = Table(start="f8", end="f8", rank="i4", call="i4")

REGIONS = Table(
    start="f8",
    end="f8",
    nbytes="i8",
    rank="i4",
    name="i4",  # a number in `names`: the operation, or what the program calls it
    algorithm="i4",  # likewise; "" for a region of the program's own
    call="i4",
    lane="i4",  # 0, or the number of the task that does it in the background
    parent="i4",  # the row of the region around it, or -1
    context="i4",  # the communicator's, or 0
    number="i4",  # of the call on that communicator: the same on all ranks
    root="i4",  # the process that is the root, or -1
)


class Call(NamedTuple):
    """What the program called, and where."""

    name: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} at {os.path.basename(self.file)}:{self.line}" if self.line else "?"


class Columns:
    """All that is kept of a run.

    Attributes
    ----------
    clocks
        Each rank's clock at its end.
    time
        When the last rank ended.
    about
        How the run came about and ended, in plain values that JSON has: `cost`, `command`, `versions`, `date`,
        `findings`, and `ended` if it was not brought to its end; traces are compared without it.
    calls
        What the program called, and where; others mean it by number.
    names
        Names of regions and algorithms; others mean them by number.
    transfer_rows, compute_rows, region_rows
        Numpy arrays with the columns above.
    """

    def __init__(
        self,
        clocks: Sequence[float],
        calls: Sequence[tuple[str, str, int]],
        names: Sequence[str],
        transfers: Rows,
        computes: Rows,
        regions: Rows,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.clocks = list(map(float, clocks))
        self.calls = [Call(printable(name), printable(file), line) for name, file, line in calls]
        self.names = list(map(printable, names))
        self.transfer_rows, self.compute_rows, self.region_rows = transfers, computes, regions
        self.time = max(self.clocks, default=0.0)
        self.about: dict[str, Any] = about or {}
        self.kept: dict[str, Any] = {}  # what others have worked out of the rows, and would again

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return len(self.clocks)

    @property
    def nbytes(self) -> int:
        """How much memory the rows take."""
        return sum(rows.nbytes for rows in (self.transfer_rows, self.compute_rows, self.region_rows))

    def __len__(self) -> int:
        return len(self.transfer_rows)

    def __eq__(self, other: object) -> bool:
        return self._all() == other._all() if isinstance(other, Columns) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def _all(self) -> tuple[Any, ...]:
        rows = (self.transfer_rows, self.compute_rows, self.region_rows)
        return (self.clocks, self.calls, self.names, *(one.tobytes() for one in rows))
