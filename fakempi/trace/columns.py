"""The columns of a trace: packed rows of numbers, read as numpy columns without a copy.

A transfer takes 80 bytes, a compute interval 24, a region 60. Names and call sites are stored once, in lists, and referred
to by index.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fakempi.errors import printable
from fakempi.errors.paths import short_path

Rows = npt.NDArray[Any]

NEVER = float("inf")
"""The time of an event that did not happen: a receive that was not posted, a region that was not left."""

PASSIVE = 2**31 - 1
"""The lane of an interval in which no task of the rank executes anything, such as a nonblocking access to a file."""

SYNCHRONOUS, EAGER, ONE_SIDED = range(3)
"""Whether a transfer waits for its receive, does not, or has none: an access to a window, or a message of its epochs."""

_CODES = {"i4": "i", "i8": "q", "f8": "d"}


class RowFormat:
    """The columns of one kind of row: their names and the packing of a row.

    The widest columns are first, so that rows have no padding in the native format, which packs fastest.
    """

    def __init__(self, **columns: str) -> None:
        self.dtype = np.dtype([(name, kind) for name, kind in columns.items()])
        self.names, self.columns = tuple(columns), columns
        self._codes = {name: _CODES[kind] for name, kind in columns.items()}
        self.size = self.dtype.itemsize
        self.pack = Struct("@" + "".join(self._codes.values())).pack

    def patch(self, *names: str) -> tuple[Any, int]:
        """Return a function that overwrites adjacent columns, and the offset of the first in a row."""
        offsets = {name: offset for name, (_, offset, *_) in (self.dtype.fields or {}).items()}
        return Struct("@" + "".join(self._codes[name] for name in names)).pack_into, offsets[names[0]]

    def read(self, packed: bytes | bytearray) -> Rows:
        """Return the rows in a buffer, without a copy."""
        return np.frombuffer(packed, self.dtype)


TRANSFERS = RowFormat(
    posted="f8",  # when the send was posted
    start="f8",
    sent="f8",  # when the sender's port was free again
    arrived="f8",
    awaited="f8",  # when the receive was posted
    receive_call="i4",  # the receiver's call: an index into `calls`
    call="i4",  # the sender's call: an index into `calls`
    nbytes="i8",
    source="i4",  # the number of the process, which is its rank in the first COMM_WORLD
    dest="i4",
    tag="i4",
    context="i4",  # the number of the communicator's context
    region="i4",  # the row of the innermost region of the sender, or -1
    protocol="i4",  # SYNCHRONOUS, EAGER or ONE_SIDED
)

COMPUTES = RowFormat(start="f8", end="f8", rank="i4", call="i4")

REGIONS = RowFormat(
    start="f8",
    end="f8",
    nbytes="i8",
    rank="i4",
    name="i4",  # an index into `names`: the operation, or the name of a user-defined region
    algorithm="i4",  # an index into `names`; "" for a user-defined region
    call="i4",
    lane="i4",  # 0, the number of the background task that executes it, or PASSIVE
    parent="i4",  # the row of the enclosing region, or -1
    context="i4",  # the number of the communicator's context, or 0
    number="i4",  # the number of the call on that communicator: equal on all ranks
    root="i4",  # the number of the root's process, or -1
)


class Call(NamedTuple):
    """A call site: the function that the program called, the file and the line."""

    name: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} at {short_path(self.file)}:{self.line}" if self.line else "?"


class Columns:
    """The recorded columns of a run.

    Attributes
    ----------
    clocks
        Each rank's clock at its end.
    time
        When the last rank ended.
    about
        Metadata as JSON values: `cost`, `command`, `versions`, `date`, `findings`, `levels` if there are several nodes,
        `ended` if the run failed, and `died` if ranks died. It is ignored when traces are compared.
    calls
        Call sites; rows refer to them by index.
    names
        Names of regions and algorithms; rows refer to them by index.
    transfer_rows, compute_rows, region_rows
        Numpy arrays with the columns above.
    recording
        The calls of each rank as lines (fakempi/extensions/recorder), which `fakempi replay` executes; empty unless the run
        measured CPU time.
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
        recording: Sequence[bytes] = (),
    ) -> None:
        self.clocks = list(map(float, clocks))
        self.calls = [Call(printable(name), printable(file), line) for name, file, line in calls]
        self.names = list(map(printable, names))
        self.transfer_rows, self.compute_rows, self.region_rows = transfers, computes, regions
        self.time = max(self.clocks, default=0.0)
        self.about: dict[str, Any] = about or {}
        self.recording = list(recording)
        self.cache: dict[str, Any] = {}  # results computed from the rows

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.clocks)

    @property
    def nbytes(self) -> int:
        """The memory of the rows in bytes."""
        return sum(rows.nbytes for rows in (self.transfer_rows, self.compute_rows, self.region_rows))

    def __len__(self) -> int:
        return len(self.transfer_rows)

    def __eq__(self, other: object) -> bool:
        return self._all() == other._all() if isinstance(other, Columns) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # Python's way to make objects unhashable

    def _all(self) -> tuple[Any, ...]:
        rows = (self.transfer_rows, self.compute_rows, self.region_rows)
        return (self.clocks, self.calls, self.names, self.recording, *(table.tobytes() for table in rows))
