"""Two-phase access: agree on domains, send requests to the aggregators, exchange data window by window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

import numpy as np

from collectives.files.runs import Runs, merged
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Comm

INT64: Final = np.dtype(np.int64)
"""The type of offsets and lengths in messages."""


class File(Protocol):
    """The methods of a file that are called."""

    def Read_at(self, offset: int, buf: Any, /) -> object: ...
    def Write_at(self, offset: int, buf: Any, /) -> object: ...


class AccessFailedError(OSError):
    """An aggregator could not access the file; `code` is the class of its error."""

    def __init__(self, code: int) -> None:
        super().__init__(f"another rank could not access the file (error class {code}); see the error on that rank")
        self.code = code


class AccessPlan:
    """One rank's plan of a two-phase access: domains, rounds, and on an aggregator the runs of all ranks in its domain."""

    def __init__(self, comm: Comm, runs: Any, aggregators: int, buffer_bytes: int, tag: int) -> None:
        self.comm, self.tag, self.runs = comm, tag, Runs(runs)
        self.rank, p = comm.Get_rank(), comm.Get_size()
        nothing = -np.iinfo(INT64).max
        first = self.runs.first
        edges = allreduce_max(comm, np.array([nothing if first is None else -first, self.runs.end or nothing], INT64), tag)
        self.low, high = -int(edges[0]), max(int(edges[1]), -int(edges[0]))
        self.domains = Layout.nearly_equal(high - self.low, aggregators)
        self.buffer_bytes = buffer_bytes
        self.rounds = -(-self.domains.largest // buffer_bytes)
        ranks_of = Layout.nearly_equal(p, aggregators)
        self.aggregators = [ranks_of.start(i) for i in range(aggregators)] if high > self.low else []
        self.own_domain = self.aggregators.index(self.rank) if self.rank in self.aggregators else None
        self.requested = self._receive_requests() if self.aggregators else {}
        self.failure: Exception | None = None

    def _receive_requests(self) -> dict[int, Runs]:
        """Send the runs to the aggregators: their number, then the runs. Returns the runs by rank on an aggregator."""
        comm, tag, like = self.comm, self.tag, np.empty(0, INT64)
        own = {rank: self.runs.within(*self.domain(i)) for i, rank in enumerate(self.aggregators)}
        numbers = {rank: np.array([len(part.table)], INT64) for rank, part in own.items()}
        ranks = range(comm.Get_size()) if self.own_domain is not None else ()
        counts = {rank: spare_memory(like, 1) for rank in ranks if rank != self.rank}
        exchange_blocks(comm, numbers, counts, tag)
        tables = {rank: spare_memory(like, 2 * int(count[0])) for rank, count in counts.items()}
        exchange_blocks(comm, {rank: part.table.reshape(-1) for rank, part in own.items()}, tables, tag)
        return {rank: own[rank] if rank == self.rank else Runs(tables[rank]) for rank in ranks}

    def domain(self, i: int) -> tuple[int, int]:
        """Return the first offset and the end of an aggregator's domain."""
        return self.low + self.domains.start(i), self.low + self.domains.start(i + 1)

    def window(self, i: int, number: int) -> tuple[int, int]:
        """Return the part of an aggregator's domain that is accessed in a round."""
        low, high = self.domain(i)
        return min(low + number * self.buffer_bytes, high), min(low + (number + 1) * self.buffer_bytes, high)

    def slices(self, data: Any, number: int) -> dict[int, Any]:
        """Return for each aggregator the part of this rank's data in the aggregator's window."""
        parts = ((rank, self.runs.within(*self.window(i, number))) for i, rank in enumerate(self.aggregators))
        return {rank: data[part.begin : part.begin + part.size] for rank, part in parts}

    def windows(self, data: Any) -> Iterator[tuple[int, dict[int, Any], dict[int, Runs], dict[int, Any], Any]]:
        """Yield for each round: the start of the window, and this rank's data by aggregator.

        On an aggregator, also yield the runs of each rank in the window, buffers for their bytes, and the window's buffer.
        """
        for number in range(self.rounds if self.aggregators else 0):
            slices, parts, buffers, window, low = self.slices(data, number), {}, {}, None, 0
            if self.own_domain is not None:
                low, high = self.window(self.own_domain, number)
                parts = {rank: runs.within(low, high) for rank, runs in self.requested.items()}
                buffers = {rank: spare_memory(data, part.size) for rank, part in parts.items() if rank != self.rank}
                window = spare_memory(data, high - low)
            yield low, slices, parts, buffers, window

    def access(self, parts: Mapping[int, Runs], window: Any, low: int, call: Callable[[int, Any], object]) -> None:
        """Access the file once for each run of the joined runs of all ranks; do nothing after a failure."""
        for start, length in merged(parts.values()):
            if self.failure is None:
                try:
                    call(start, window[start - low : start - low + length])
                except Exception as error:  # stored, and raised in `finish`, when the other ranks know of it
                    self.failure = error

    def finish(self) -> None:
        """Wait for all ranks. Raises the error of this rank, or AccessFailedError if an access of another rank failed."""
        error_class = getattr(self.failure, "Get_error_class", lambda: 1)
        code = 0 if self.failure is None else error_class()
        worst = int(allreduce_max(self.comm, np.array([code], INT64), self.tag)[0])
        if self.failure is not None:
            raise self.failure
        if worst:
            raise AccessFailedError(worst)


def allreduce_max(comm: Comm, numbers: Any, tag: int) -> Any:
    """Return the elementwise maximum of the numbers of all ranks, by dissemination."""
    p, rank, step = comm.Get_size(), comm.Get_rank(), 1
    received = spare_memory(numbers, len(numbers)) if p > 1 else numbers
    while step < p:
        exchange(comm, numbers, (rank + step) % p, received, (rank - step) % p, tag)
        numbers, step = np.maximum(numbers, received), 2 * step
    return numbers


def exchange_blocks(comm: Comm, outgoing: Mapping[int, Any], incoming: Mapping[int, Any], tag: int) -> None:
    """Exchange blocks by rank; in step k every rank sends to the rank at distance k, so that no receiver has a queue."""
    p, rank = comm.Get_size(), comm.Get_rank()
    steps = {(dest - rank) % p for dest in outgoing} | {(rank - source) % p for source in incoming}
    for step in sorted(steps - {0}):
        dest, source = (rank + step) % p, (rank - step) % p
        exchange(comm, outgoing.get(dest), dest, incoming.get(source), source, tag)
