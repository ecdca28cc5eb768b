"""The text of two-phase accesses: all agree on domains, aggregators learn what is wanted, data go window by window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

import numpy as np

from collectives.files.pieces import Runs, joined
from collectives.tools.blocks import Layout, scratch
from collectives.tools.messages import exchange
from collectives.tools.protocol import Comm

WORD: Final = np.dtype(np.int64)
"""What places and lengths are told in."""


class File(Protocol):
    """What is asked of a file."""

    def Read_at(self, offset: int, buf: Any, /) -> object: ...
    def Write_at(self, offset: int, buf: Any, /) -> object: ...


class AccessFailed(OSError):
    """Another rank could not access the file for us; `code` is the error class that it was told."""

    def __init__(self, code: int) -> None:
        super().__init__(f"another rank could not access the file: its error is of class {code}")
        self.code = code


class Plan:
    """What a rank knows when all have told what they want: domains, rounds, and on an aggregator everybody's runs."""

    def __init__(self, comm: Comm, runs: Any, aggregators: int, buffer_bytes: int, tag: int) -> None:
        self.comm, self.tag, self.runs = comm, tag, Runs(runs)
        self.rank, p = comm.Get_rank(), comm.Get_size()
        nothing = -np.iinfo(WORD).max
        first = self.runs.first
        edges = highest(comm, np.array([nothing if first is None else -first, self.runs.end or nothing], WORD), tag)
        self.low, high = -int(edges[0]), max(int(edges[1]), -int(edges[0]))
        self.domains = Layout.nearly_equal(high - self.low, aggregators)
        self.buffer_bytes = buffer_bytes
        self.rounds = -(-self.domains.largest // buffer_bytes)
        places = Layout.nearly_equal(p, aggregators)
        self.aggregators = [places.start(i) for i in range(aggregators)] if high > self.low else []
        self.mine = self.aggregators.index(self.rank) if self.rank in self.aggregators else None
        self.wanted = self._told() if self.aggregators else {}
        self.failure: Exception | None = None

    def _told(self) -> dict[int, Runs]:
        """On an aggregator, what each rank wants of its domain: first how many runs, then the runs."""
        comm, tag, like = self.comm, self.tag, np.empty(0, WORD)
        own = {rank: self.runs.within(*self.domain(i)) for i, rank in enumerate(self.aggregators)}
        many = {rank: np.array([len(part.table)], WORD) for rank, part in own.items()}
        ranks = range(comm.Get_size()) if self.mine is not None else ()
        counts = {rank: scratch(like, 1) for rank in ranks if rank != self.rank}
        deal(comm, many, counts, tag)
        tables = {rank: scratch(like, 2 * int(count[0])) for rank, count in counts.items()}
        deal(comm, {rank: part.table.reshape(-1) for rank, part in own.items()}, tables, tag)
        return {rank: own[rank] if rank == self.rank else Runs(tables[rank]) for rank in ranks}

    def domain(self, i: int) -> tuple[int, int]:
        """Where an aggregator's part of the file begins and ends."""
        return self.low + self.domains.start(i), self.low + self.domains.start(i + 1)

    def window(self, i: int, number: int) -> tuple[int, int]:
        """What of it is accessed in a round."""
        low, high = self.domain(i)
        return min(low + number * self.buffer_bytes, high), min(low + (number + 1) * self.buffer_bytes, high)

    def slices(self, data: Any, number: int) -> dict[int, Any]:
        """For each aggregator the part of this rank's data that is in its window."""
        parts = ((rank, self.runs.within(*self.window(i, number))) for i, rank in enumerate(self.aggregators))
        return {rank: data[part.begin : part.begin + part.size] for rank, part in parts}

    def turns(self, data: Any) -> Iterator[tuple[int, dict[int, Any], dict[int, Runs], dict[int, Any], Any]]:
        """Round by round: where the window begins, own data by aggregator, and on an aggregator what each rank wants of the
        window, room for the bytes of each, and the window's own memory."""
        for number in range(self.rounds if self.aggregators else 0):
            mine, parts, room, window, low = self.slices(data, number), {}, {}, None, 0
            if self.mine is not None:
                low, high = self.window(self.mine, number)
                parts = {rank: runs.within(low, high) for rank, runs in self.wanted.items()}
                room = {rank: scratch(data, part.size) for rank, part in parts.items() if rank != self.rank}
                window = scratch(data, high - low)
            yield low, mine, parts, room, window

    def access(self, parts: Mapping[int, Runs], window: Any, low: int, call: Callable[[int, Any], object]) -> None:
        """One access for each run that is left when those of all ranks are joined; after a failure none."""
        for start, length in joined(parts.values()):
            if self.failure is None:
                try:
                    call(start, window[start - low : start - low + length])
                except Exception as error:  # the others wait for us, and must hear of it
                    self.failure = error

    def conclude(self) -> None:
        """All wait for all, and hear whether an access has failed."""
        known = getattr(self.failure, "Get_error_class", lambda: 1)
        code = 0 if self.failure is None else known()
        worst = int(highest(self.comm, np.array([code], WORD), self.tag)[0])
        if self.failure is not None:
            raise self.failure
        if worst:
            raise AccessFailed(worst)


def highest(comm: Comm, numbers: Any, tag: int) -> Any:
    """The largest of everybody's numbers, each by itself: with every round a rank knows those of twice as many."""
    p, rank, step = comm.Get_size(), comm.Get_rank(), 1
    heard = scratch(numbers, len(numbers)) if p > 1 else numbers
    while step < p:
        exchange(comm, numbers, (rank + step) % p, heard, (rank - step) % p, tag)
        numbers, step = np.maximum(numbers, heard), 2 * step
    return numbers


def deal(comm: Comm, outgoing: Mapping[int, Any], incoming: Mapping[int, Any], tag: int) -> None:
    """Blocks by the ranks they go to and come from: in step k everybody sends k ranks on, so nobody is waited for twice."""
    p, rank = comm.Get_size(), comm.Get_rank()
    steps = {(dest - rank) % p for dest in outgoing} | {(rank - source) % p for source in incoming}
    for step in sorted(steps - {0}):
        dest, source = (rank + step) % p, (rank - step) % p
        exchange(comm, outgoing.get(dest), dest, incoming.get(source), source, tag)
