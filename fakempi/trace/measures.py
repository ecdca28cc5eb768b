"""What can be read off a trace, each when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fakempi.trace.columns import Columns, Rows
from fakempi.trace.critical import Step, critical_path
from fakempi.trace.rounds import rounds
from fakempi.trace.states import COMMUNICATING, COMPUTING, IDLE, all_busy, all_work, unions
from fakempi.trace.waits import totals

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Measures:
    """Measures of a run; by rank where it says so.

    Attributes
    ----------
    computing, communicating, idle
        Seconds by rank; they add up to `time`.
    sent, received
        (messages, bytes), each by rank.
    phases
        Name of the sender's outermost region ("" outside all) -> (messages, bytes), each by rank of the sender.
    rounds
        Transfers on the longest chain of those that wait for one another.
    critical_path
        The steps that decided when the run ended.
    waits
        Name of a wait state -> (seconds of all ranks, seconds by number of the call).
    imbalance
        The busiest rank's computing and communicating over the mean, minus 1.
    lower_bound
        How long the busiest port, or processor, of any rank was in use: no order of these messages ends sooner.
    distance
        Time over that.

    Examples
    --------
    >>> import fakempi
    >>> found = fakempi.run(lambda comm: comm.Barrier(), 4, cost=fakempi.Hockney(1, 0), trace=True).trace.measure()
    >>> found.rounds, found.distance
    (2, 1.0)
    """

    def __init__(self, trace: Columns) -> None:
        self.trace = trace
        self.ranks, self.time = trace.ranks, trace.time
        self.messages, self.bytes = len(trace), int(trace.transfer_rows["nbytes"].sum())

    @cached_property
    def _states(self) -> Floats:
        if not self.time:
            return np.zeros((self.ranks, 3))
        computing = _spent(*all_work(self.trace), self.ranks, self.time)
        busy = _spent(*all_busy(self.trace), self.ranks, self.time)
        found = np.empty((self.ranks, 3))
        found[:, COMMUNICATING], found[:, COMPUTING], found[:, IDLE] = busy - computing, computing, self.time - busy
        return np.maximum(found, 0)

    @property
    def computing(self) -> Floats:
        """Seconds in which each rank computes."""
        return self._states[:, COMPUTING]

    @property
    def communicating(self) -> Floats:
        """Seconds in which each rank communicates and does not compute."""
        return self._states[:, COMMUNICATING]

    @property
    def idle(self) -> Floats:
        """Seconds in which each rank does neither."""
        return self._states[:, IDLE]

    @cached_property
    def sent(self) -> tuple[Integers, Integers]:
        """Messages and bytes that each rank has sent."""
        return _counted(self.trace.transfer_rows, "source", self.ranks)

    @cached_property
    def received(self) -> tuple[Integers, Integers]:
        """Messages and bytes that have come to each rank."""
        return _counted(self.trace.transfer_rows, "dest", self.ranks)

    def matrix(self, groups: Sequence[Sequence[int]] | None = None) -> tuple[Integers, Integers]:
        """Messages and bytes from group to group, or from rank to rank: who sends is the row, who receives the column.

        Parameters
        ----------
        groups
            Lists of ranks; every rank by itself unless given.
        """
        number = np.arange(self.ranks)
        if groups is not None:
            number = np.full(self.ranks, -1)
            for index, group in enumerate(groups):
                number[list(group)] = index
        size = self.ranks if groups is None else len(groups)
        rows = self.trace.transfer_rows
        source, dest = number[rows["source"]], number[rows["dest"]]
        inside = (source >= 0) & (dest >= 0)
        cells = (source * size + dest)[inside]
        messages = np.bincount(cells, minlength=size * size)
        nbytes = np.bincount(cells, weights=rows["nbytes"][inside].astype(float), minlength=size * size)
        return messages.reshape(size, size), nbytes.astype(np.int64).reshape(size, size)

    @cached_property
    def phases(self) -> dict[str, tuple[Integers, Integers]]:
        """Messages and bytes by phase, and in it by rank of the sender."""
        regions, rows = self.trace.region_rows, self.trace.transfer_rows
        outermost = np.arange(len(regions) + 1)
        for row, parent in enumerate(regions["parent"].tolist()):  # who is around comes before who is inside
            if parent >= 0:
                outermost[row] = outermost[parent]
        names = np.append(regions["name"], 0)[outermost[rows["region"]]]  # region -1 is the last: outside
        return {
            self.trace.names[name]: _counted(rows[names == name], "source", self.ranks) for name in np.unique(names).tolist()
        }

    @cached_property
    def rounds(self) -> int:
        """Transfers on the longest chain of those that wait for one another."""
        return rounds(self.trace)

    @cached_property
    def critical_path(self) -> list[Step]:
        """The steps that decided when the run ended."""
        return critical_path(self.trace)

    @cached_property
    def waits(self) -> dict[str, tuple[float, dict[int, float]]]:
        """Why ranks were idle, for how long, and in which calls."""
        return totals(self.trace)

    @property
    def imbalance(self) -> float:
        """How much busier the busiest rank was than the mean: 0 if all were equally busy."""
        busy = self.computing + self.communicating
        return float(busy.max() / busy.mean() - 1) if busy.any() else 0.0

    @cached_property
    def lower_bound(self) -> float:
        """How long the busiest port or processor was in use."""
        rows = self.trace.transfer_rows
        ports = ((rows["source"], rows["start"], rows["sent"]), (rows["dest"], rows["start"], rows["arrived"]))
        uses = (*(unions(*port) for port in ports), all_work(self.trace))
        return max(float(_spent(*use, self.ranks).max()) for use in uses)

    @property
    def distance(self) -> float:
        """How many times as long as the lower bound the run took; 1 is as good as can be."""
        return self.time / self.lower_bound if self.lower_bound else 1.0

    def _repr_html_(self) -> str | None:
        """In a notebook: a table."""
        tables = getattr(self.trace, "tables", None)
        return None if tables is None else str(tables(self))


def _spent(whose: Integers, starts: Floats, ends: Floats, ranks: int, until: float = np.inf) -> Floats:
    """Seconds by rank, of stretches that do not overlap, up to a time."""
    found: Floats = np.zeros(ranks)
    np.add.at(found, whose, np.maximum(np.minimum(ends, until) - starts, 0))
    return found


def _counted(rows: Rows, whose: str, ranks: int) -> tuple[Integers, Integers]:
    messages = np.bincount(rows[whose], minlength=ranks)
    nbytes = np.bincount(rows[whose], weights=rows["nbytes"].astype(float), minlength=ranks)
    return messages, nbytes.astype(np.int64)
