"""The record of a run: what happened when, as columns of numbers, and as records for those who want one at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, overload

from fakempi.errors import TraceError
from fakempi.trace.columns import COMPUTES, REGIONS, TRANSFERS, Columns, Rows
from fakempi.trace.files import read, write
from fakempi.trace.measures import Measures
from fakempi.trace.recorder import Recorder


class Transfer(NamedTuple):
    """One message: who sent how much to whom, when it was posted on either side, started, and was over on either side.

    `call` and `receive_call` are numbers in `Trace.calls`; `region` is one in `Trace.regions`, or -1.
    """

    source: int
    dest: int
    tag: int
    nbytes: int
    context: int
    posted: float
    start: float
    sent: float
    arrived: float
    awaited: float
    call: int
    receive_call: int
    region: int


class Compute(NamedTuple):
    """An interval in which a rank computes."""

    rank: int
    call: int
    start: float
    end: float


class Region(NamedTuple):
    """A part of what a rank does that has a name: a collective, done by an algorithm, or a phase of the program."""

    rank: int
    name: str
    algorithm: str
    call: int
    lane: int
    parent: int
    context: int
    number: int
    root: int
    nbytes: int
    start: float
    end: float


Record = TypeVar("Record", bound=tuple[Any, ...])


class Records(Sequence[Record], Generic[Record]):
    """Rows as a sequence of records, each made when it is asked for."""

    def __init__(self, rows: Rows, make: type[Record], names: Sequence[str] = ()) -> None:
        self._rows, self._make, self._names = rows, make, names
        self._columns = list(make._fields)  # type: ignore[attr-defined]
        self._words = [self._columns.index(name) for name in ("name", "algorithm") if name in self._columns and names]

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        if isinstance(index, slice):
            return list(Records(self._rows[index], self._make, self._names))
        return next(iter(Records(self._rows[[index]], self._make, self._names)))

    def __iter__(self) -> Iterator[Record]:
        make: Any = self._make
        for start in range(0, len(self._rows), 4096):  # not all at once: a record takes ten times the room of a row
            rows = self._rows[start : start + 4096]
            columns: list[list[Any]] = [rows[name].tolist() for name in self._columns]
            for index in self._words:
                columns[index] = [self._names[number] for number in columns[index]]
            yield from map(make, *columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} {self._make.__name__} records>"


class Trace(Columns):
    """The record of a run: `Columns`, and what one does with them.

    Attributes
    ----------
    transfers, computes, regions
        Sequences of records; transfers in the order in which they started.
    ranks, time
        How many ranks, and when the last one ended.

    Notes
    -----
    Times are floats, whatever numbers the cost model is made of.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 4, trace=True).trace
    <Trace: 4 ranks, 8 transfers>
    """

    @classmethod
    def of(cls, recorder: Recorder, clocks: Sequence[float]) -> Trace:
        """What a recorder has seen."""
        return cls(
            clocks,
            recorder.calls.things,
            recorder.names.things,
            TRANSFERS.read(recorder.transfers),
            COMPUTES.read(recorder.computes),
            REGIONS.read(recorder.regions),
        )

    @property
    def transfers(self) -> Records[Transfer]:
        """Every message, in the order in which they started."""
        return Records(self.transfer_rows, Transfer)

    @property
    def computes(self) -> Records[Compute]:
        """Every interval in which a rank computes."""
        return Records(self.compute_rows, Compute)

    @property
    def regions(self) -> Records[Region]:
        """Every region, in the order in which they were entered."""
        return Records(self.region_rows, Region, self.names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file: `.json` opens in Perfetto and Chrome, `.npz` is for large ones; `fakempi.load` reads both.

        Parameters
        ----------
        path
            The file; its suffix decides. `.html` is a page for browsers, to look around in: zoom, search, play, follow
            messages.
        """
        if Path(path).suffix != ".html":
            return write(self, path)
        if self.page is None:
            raise TraceError("save: nobody draws this trace; fakempi.load(path) gives one that can be saved as a page.")
        Path(path).write_text(self.page(self), encoding="utf-8")

    painter: Callable[..., None] | None = None
    """What draws it on a terminal, if whoever made it has handed it that."""
    page: Callable[..., str] | None = None
    """Likewise what makes a page of it."""
    tables: Callable[[Measures], str] | None = None
    """Likewise what makes a table of its measures for notebooks."""

    def show(
        self,
        what: str | Sequence[str] = "summary,timeline,waits",
        *,
        width: int | None = None,
        ranks: Sequence[int] | None = None,
        window: tuple[float, float] | None = None,
        console: Any = None,
    ) -> None:
        """Print pictures of it.

        Parameters
        ----------
        what
            Which, in order: summary, timeline, waits, matrix, critical, blocks.
        width
            In columns; that of the terminal unless given.
        ranks, window
            A part of the timeline, ranks also of the matrix; the window is in seconds.
        console
            A rich console to print to.
        """
        if self.painter is None:
            raise TraceError("show: nobody draws this trace; fakempi.load(path) gives one that can be shown.")
        names = what.split(",") if isinstance(what, str) else what
        self.painter(self, [name.strip() for name in names], width=width, ranks=ranks, window=window, console=console)

    def _repr_html_(self) -> str | None:
        """In a notebook: the page, in a frame."""
        return None if self.page is None else self.page(self, framed=True)

    def measure(self) -> Measures:
        """What can be read off it: `Measures`."""
        return Measures(self)

    def __repr__(self) -> str:
        return f"<Trace: {self.ranks} ranks, {len(self)} transfers>"


def load(path: str | os.PathLike[str]) -> Trace:
    """The trace in a file that `Trace.save` wrote."""
    found = read(path)
    rows = (found.transfer_rows, found.compute_rows, found.region_rows)
    return Trace(found.clocks, found.calls, found.names, *rows, found.about)
