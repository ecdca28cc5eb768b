"""Measures of a run, computed from the trace when they are first accessed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fakempi.trace.columns import Columns, Rows
from fakempi.trace.critical import PathStep, critical_path
from fakempi.trace.renderer import renderer
from fakempi.trace.rounds import rounds
from fakempi.trace.states import COMMUNICATING, COMPUTING, IDLE, all_busy, all_work, unions
from fakempi.trace.waits import totals

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Measures:
    """Measures of a run.

    Attributes
    ----------
    computing, communicating, idle
        Seconds by rank; they add up to `time`.
    sent, received
        (messages, bytes), each by rank.
    phases
        Name of the outermost region in which the sender was ("" outside all regions) -> (messages, bytes), each by rank of
        the sender.
    rounds
        Number of transfers on the longest chain of dependent transfers.
    critical_path
        The steps that determine the end of the run.
    waits
        Name of a wait state -> (idle seconds of all ranks, {number of the call: idle seconds in it}).
    imbalance
        Busy time (computing and communicating) of the busiest rank divided by the mean, minus 1.
    lower_bound
        Seconds in which the busiest port or processor of any rank was in use. No run with the same transfers and
        computing can be shorter.
    slowdown
        Run time divided by `lower_bound`.

    Examples
    --------
    >>> import fakempi
    >>> measures = fakempi.run(lambda comm: comm.Barrier(), 4, cost=fakempi.Hockney(1, 0), trace=True).trace.measure()
    >>> measures.rounds, measures.slowdown
    (2, 1.0)
    """

    def __init__(self, trace: Columns) -> None:
        self.trace = trace
        self.ranks, self.time = trace.ranks, trace.time
        self.messages, self.bytes = len(trace), int(trace.transfer_rows["nbytes"].sum())

    @cached_property
    def _states(self) -> Floats:
        """Seconds of each rank (row) in each state (column)."""
        if not self.time:
            return np.zeros((self.ranks, 3))
        computing = _spent(*all_work(self.trace), self.ranks, self.time)
        busy = _spent(*all_busy(self.trace), self.ranks, self.time)
        states = np.empty((self.ranks, 3))
        states[:, COMMUNICATING], states[:, COMPUTING], states[:, IDLE] = busy - computing, computing, self.time - busy
        return np.maximum(states, 0)

    @property
    def computing(self) -> Floats:
        """Seconds in which each rank computes."""
        return self._states[:, COMPUTING]

    @property
    def communicating(self) -> Floats:
        """Seconds in which each rank communicates without computing."""
        return self._states[:, COMMUNICATING]

    @property
    def idle(self) -> Floats:
        """Seconds in which each rank does not compute and does not communicate."""
        return self._states[:, IDLE]

    @cached_property
    def sent(self) -> tuple[Integers, Integers]:
        """Messages and bytes that each rank has sent."""
        return _messages_and_bytes(self.trace.transfer_rows, "source", self.ranks)

    @cached_property
    def received(self) -> tuple[Integers, Integers]:
        """Messages and bytes that each rank has received."""
        return _messages_and_bytes(self.trace.transfer_rows, "dest", self.ranks)

    def matrix(self, groups: Sequence[Sequence[int]] | None = None) -> tuple[Integers, Integers]:
        """Return messages and bytes between ranks, or between groups of ranks: rows are senders, columns are receivers.

        Parameters
        ----------
        groups
            Lists of ranks. By default every rank is a group. Messages of ranks that are in no group are not counted.
        """
        group_of = np.arange(self.ranks)
        if groups is not None:
            group_of = np.full(self.ranks, -1)
            for index, group in enumerate(groups):
                group_of[list(group)] = index
        size = self.ranks if groups is None else len(groups)
        rows = self.trace.transfer_rows
        source, dest = group_of[rows["source"]], group_of[rows["dest"]]
        inside = (source >= 0) & (dest >= 0)
        cells = (source * size + dest)[inside]
        messages = np.bincount(cells, minlength=size * size)
        nbytes = np.bincount(cells, weights=rows["nbytes"][inside].astype(float), minlength=size * size)
        return messages.reshape(size, size), nbytes.astype(np.int64).reshape(size, size)

    @cached_property
    def phases(self) -> dict[str, tuple[Integers, Integers]]:
        """Name of a phase -> (messages, bytes), each by rank of the sender; a phase is an outermost region."""
        regions, rows = self.trace.region_rows, self.trace.transfer_rows
        outermost = np.arange(len(regions) + 1)
        for row, parent in enumerate(regions["parent"].tolist()):  # parents precede children
            if parent >= 0:
                outermost[row] = outermost[parent]
        names = np.append(regions["name"], 0)[outermost[rows["region"]]]  # -1, outside all regions, is the last element
        return {
            self.trace.names[name]: _messages_and_bytes(rows[names == name], "source", self.ranks)
            for name in np.unique(names).tolist()
        }

    @cached_property
    def rounds(self) -> int:
        """Number of transfers on the longest chain of dependent transfers."""
        return rounds(self.trace)

    @cached_property
    def critical_path(self) -> list[PathStep]:
        """The steps that determine the end of the run."""
        return critical_path(self.trace)

    @cached_property
    def waits(self) -> dict[str, tuple[float, dict[int, float]]]:
        """Name of a wait state -> (idle seconds of all ranks, {number of the call: idle seconds in it})."""
        return totals(self.trace)

    @property
    def imbalance(self) -> float:
        """Busy time of the busiest rank divided by the mean of all ranks, minus 1: 0 if all ranks were equally busy."""
        busy = self.computing + self.communicating
        return float(busy.max() / busy.mean() - 1) if busy.any() else 0.0

    @cached_property
    def lower_bound(self) -> float:
        """Seconds in which the busiest port or processor was in use."""
        rows = self.trace.transfer_rows
        ports = ((rows["source"], rows["start"], rows["sent"]), (rows["dest"], rows["start"], rows["arrived"]))
        uses = (*(unions(*port) for port in ports), all_work(self.trace))
        return max(float(_spent(*use, self.ranks).max()) for use in uses)

    @property
    def slowdown(self) -> float:
        """Run time divided by the lower bound; 1 is optimal."""
        return self.time / self.lower_bound if self.lower_bound else 1.0

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        return renderer().tables(self)


def _spent(owner: Integers, starts: Floats, ends: Floats, ranks: int, until: float = np.inf) -> Floats:
    """Return the total length of each rank's intervals in seconds, up to the time `until`; intervals must not overlap."""
    seconds: Floats = np.zeros(ranks)
    np.add.at(seconds, owner, np.maximum(np.minimum(ends, until) - starts, 0))
    return seconds


def _messages_and_bytes(rows: Rows, side: str, ranks: int) -> tuple[Integers, Integers]:
    messages = np.bincount(rows[side], minlength=ranks)
    nbytes = np.bincount(rows[side], weights=rows["nbytes"].astype(float), minlength=ranks)
    return messages, nbytes.astype(np.int64)
