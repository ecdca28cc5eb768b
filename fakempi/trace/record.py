"""Trace: the record of a run, as columns of numbers and as sequences of records."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

from fakempi.errors.plurals import counted
from fakempi.trace.columns import COMPUTES, REGIONS, TRANSFERS, Columns, Rows
from fakempi.trace.files import read, write
from fakempi.trace.measures import Measures
from fakempi.trace.recorder import TraceRecorder
from fakempi.trace.renderer import renderer

if TYPE_CHECKING:
    from rich.console import Console


class RecordedTransfer(NamedTuple):
    """One message: sender, receiver, size, and the times when it was posted, started and completed on either side.

    `call` and `receive_call` are indices into `Trace.calls`; `region` is an index into `Trace.regions`, or -1.
    `protocol` is 0 if the transfer waits for its receive, 1 if it does not, and 2 for a message of a window, which has none.
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
    protocol: int


class Compute(NamedTuple):
    """An interval in which a rank computes."""

    rank: int
    call: int
    start: float
    end: float


class Region(NamedTuple):
    """A named interval of a rank: a collective call with its algorithm, or a phase of the program."""

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
    """Rows as a sequence of records, created on access."""

    def __init__(self, rows: Rows, make: type[Record], names: Sequence[str] = ()) -> None:
        self._rows, self._make, self._names = rows, make, names
        self._columns = list(make._fields)  # type: ignore[attr-defined]  # Record is one of three named tuples
        self._text_columns = [self._columns.index(name) for name in ("name", "algorithm") if name in self._columns and names]

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
        for start in range(0, len(self._rows), 4096):  # in chunks: a record takes ten times the memory of a row
            rows = self._rows[start : start + 4096]
            columns: list[list[Any]] = [rows[name].tolist() for name in self._columns]
            for index in self._text_columns:
                columns[index] = [self._names[number] for number in columns[index]]
            yield from map(make, *columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # Python's way to make objects unhashable

    def __repr__(self) -> str:
        return f"<{len(self)} {self._make.__name__} records>"


class Trace(Columns):
    """The record of a run: its columns, and methods to show, save and measure it.

    Attributes
    ----------
    transfers, computes, regions
        Sequences of records; transfers in the order of their starts.
    ranks, time
        The number of ranks, and the time when the last one ended.

    Notes
    -----
    Times are floats, whatever numbers the cost model uses.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 4, trace=True).trace
    <Trace: 4 ranks, 8 transfers>
    """

    @classmethod
    def of(cls, recorder: TraceRecorder, clocks: Sequence[float]) -> Trace:
        """Return the trace of a recorder, which has recorded transfers in the order in which their ends became known."""
        transfers = TRANSFERS.read(recorder.transfers)
        if (transfers["start"][1:] < transfers["start"][:-1]).any():
            transfers = transfers[transfers["start"].argsort(kind="stable")]
        return cls(
            clocks,
            recorder.calls.values,
            recorder.names.values,
            transfers,
            COMPUTES.read(recorder.computes),
            REGIONS.read(recorder.regions),
            recording=recorder.recording,
        )

    @property
    def transfers(self) -> Records[RecordedTransfer]:
        """Every message, in the order of their starts."""
        return Records(self.transfer_rows, RecordedTransfer)

    @property
    def computes(self) -> Records[Compute]:
        """Every interval in which a rank computes."""
        return Records(self.compute_rows, Compute)

    @property
    def regions(self) -> Records[Region]:
        """Every region, in the order in which they were recorded; a region follows the one that contains it."""
        return Records(self.region_rows, Region, self.names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a file. `fakempi.load` reads `.json` and `.npz` files.

        Parameters
        ----------
        path
            The file. Its suffix is the format: `.json` also opens in Perfetto and Chrome, `.npz` is compact, and `.html` is
            an interactive page for browsers.
        """
        if Path(path).suffix != ".html":
            return write(self, path)
        Path(path).write_text(renderer().page(self), encoding="utf-8")

    def show(
        self,
        what: str | Sequence[str] = (),
        *,
        width: int | None = None,
        ranks: Sequence[int] | None = None,
        window: tuple[float, float] | None = None,
        console: Console | None = None,
    ) -> None:
        """Print views of the trace.

        Parameters
        ----------
        what
            The views, in order: summary, timeline, waits, matrix, critical, blocks, findings. By default summary, timeline
            and waits, after the findings if the run failed or has errors among its findings.
        width
            Columns, by default the terminal's.
        ranks, window
            Restrict the timeline to some ranks and to (start, end) in seconds; ranks also restrict the matrix.
        console
            A rich console to print to.
        """
        names = what.split(",") if isinstance(what, str) else what
        renderer().show(self, [name.strip() for name in names], width=width, ranks=ranks, window=window, console=console)

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks."""
        return renderer().page(self, framed=True)

    def measure(self) -> Measures:
        """Return the measures of the run."""
        return Measures(self)

    def __repr__(self) -> str:
        ranks, transfers = counted(self.ranks, "rank"), counted(len(self), "transfer")
        return f"<Trace: {ranks}, {transfers}>"


def load(path: str | os.PathLike[str]) -> Trace:
    """Return the trace in a `.json` or `.npz` file that `Trace.save` wrote; it can be shown, measured and saved again.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Trace
        Equal to the one that was saved.

    Examples
    --------
    >>> import fakempi, tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     fakempi.run(lambda comm: comm.Barrier(), 4, trace=True).trace.save(f"{directory}/t.npz")
    ...     fakempi.load(f"{directory}/t.npz")
    <Trace: 4 ranks, 8 transfers>
    """
    columns = read(path)
    rows = (columns.transfer_rows, columns.compute_rows, columns.region_rows)
    return Trace(columns.clocks, columns.calls, columns.names, *rows, columns.about, columns.recording)
