"""Order of steps: dependencies and messages order some pairs of steps; other pairs may happen in either order.

A step has a start and an end. The start precedes the end; the end of a step (or its start, for dependencies in
`after_start`) precedes the start of steps that depend on it; the start of a send precedes the end of its receive.

Most steps of a rank are ordered by dependencies within the rank (`chains`), which takes little memory. Other pairs are
looked up in vector clocks of all ranks, with an entry for each chain that one of these pairs needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.matching import Event, Matching
from collectives.schedules.monitor import Monitor, ignore
from collectives.schedules.ordering.backward_search import BackwardSearch
from collectives.schedules.ordering.chains import Chains, chains_of
from collectives.schedules.schedule import Schedule
from collectives.schedules.work import MAX_ENTRIES

MAX_ROWS = 30_000_000
"""Upper limit of the vector clocks of steps that are computed, over all passes: about two minutes."""

Query = tuple[Event, bool, Event]
"""Whether the end (True) or the start (False) of a step precedes the start of another step of its rank."""


class StepOrder:
    """The order of the steps of a schedule, all of which end."""

    def __init__(self, schedule: Schedule, matching: Matching, monitor: Monitor = ignore) -> None:
        self._schedule, self._started, self._monitor = schedule, matching.started, monitor
        self._send_of: dict[Event, Event] = {receive: send for send, receive in matching.pairs}
        self._row = {event: row for row, event in enumerate(matching.started)}
        self._of_rank: list[list[int]] = [[] for _ in range(schedule.ranks)]
        for rank, index in matching.started:
            self._of_rank[rank].append(index)
        self._chains: dict[int, Chains | None] = {}
        self._entries = self._rows = 0
        self._search = BackwardSearch(schedule, self._send_of)

    def chains(self, rank: int) -> Chains | None:
        """Return the chains of a rank; None if its clocks would be too large, because most of its steps are not ordered."""
        if rank not in self._chains:
            if self._entries > MAX_ENTRIES:  # of other ranks; callers go through the ranks one after the other
                self._chains.clear()
                self._entries = 0
            found = self._chains[rank] = chains_of(self._schedule.steps[rank], self._of_rank[rank], MAX_ENTRIES)
            self._entries += found.clocks.size if found else 0
        return self._chains[rank]

    def starts(self, rank: int) -> list[int]:
        """Return the steps of a rank in an order in which they can start."""
        return self._of_rank[rank]

    def starts_in_order(self, pairs: Sequence[tuple[Event, Event]]) -> list[bool]:
        """For each pair of steps of one rank, whether the first one starts before the second one in every execution."""
        return self._precede([(first, False, second) for first, second in pairs])

    def ordered(self, pairs: Sequence[tuple[Event, Event]]) -> list[bool]:
        """For each pair of steps of one rank, whether one of them ends before the other one starts in every execution."""
        row = self._row
        return self._precede([(a, True, b) if row[a] < row[b] else (b, True, a) for a, b in pairs])

    def _precede(self, queries: Sequence[Query]) -> list[bool]:
        answers = [False] * len(queries)
        others: list[int] = []
        for number in sorted(range(len(queries)), key=lambda number: queries[number][0][0]):
            (rank, first), end, (_, second) = queries[number]
            chains = self.chains(rank)
            answers[number] = chains.precedes(first, end, second) if chains else self._search.precedes(*queries[number])
            if chains and not answers[number]:
                others.append(number)
        for number, answer in zip(others, self._in_all_ranks([queries[number] for number in others]), strict=True):
            answers[number] = answer
        return answers

    def _in_all_ranks(self, queries: Sequence[Query]) -> list[bool]:
        """Answer queries by vector clocks of all ranks: as many columns at a time as fit into memory, one for each chain."""
        columns: dict[tuple[int, int], int] = {}
        for (rank, first), _, _ in queries:
            chains = self.chains(rank)
            assert chains is not None  # other queries are searched
            columns.setdefault((rank, int(chains.chain[first])), len(columns))
        answers = [False] * len(queries)
        width = max(1, MAX_ENTRIES // max(1, len(self._started)))
        names = iter(columns)
        for start in range(0, len(columns), width):
            self._monitor("orders between ranks", start, len(columns))
            block = {name: number for number, name in enumerate(islice(names, width))}
            self._answer(queries, answers, block)
        return answers

    def _answer(self, queries: Sequence[Query], answers: list[bool], block: dict[tuple[int, int], int]) -> None:
        """Answer the queries whose chain is one of the columns `block`."""
        marks: dict[Event, tuple[int, int]] = {}  # step -> its column, and twice its position in the chain
        for rank in {rank for rank, _ in block}:
            chains = self.chains(rank)
            assert chains is not None
            for index, (chain, position) in enumerate(zip(chains.chain.tolist(), chains.position.tolist(), strict=True)):
                if (rank, chain) in block:
                    marks[rank, index] = block[rank, chain], 2 * position
        clocks = self._clocks(marks, len(block))
        for number, (first, end, second) in enumerate(queries):
            if first in marks:
                column, mark = marks[first]
                answers[number] = bool(clocks[self._row[second], column] >= mark + end)

    def _clocks(self, marks: dict[Event, tuple[int, int]], width: int) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
        """Return for each start, in the order of `started`: per column, the last start (even) or end (odd) that precedes."""
        self._rows += len(self._started)
        if self._rows > MAX_ROWS:
            raise InvalidScheduleError(
                f"its {len(self._started):,} steps have too many possible orders: more than {MAX_ROWS:,} vector clocks are "
                "needed; verify the schedule for fewer ranks or smaller messages, or add dependencies"
            )
        clocks = np.full((len(self._started), width), -1, np.int32)
        row, send_of = self._row, self._send_of
        for number, event in enumerate(self._started):
            if not number % 4096:
                self._monitor("orders between ranks", number, len(self._started))
            rank, index = event
            step, clock = self._schedule.steps[rank][index], clocks[number]
            for other in step.after_start:
                np.maximum(clock, clocks[row[rank, other]], out=clock)
            for other in step.after:
                np.maximum(clock, clocks[row[rank, other]], out=clock)
                if (send := send_of.get((rank, other))) is not None:
                    np.maximum(clock, clocks[row[send]], out=clock)
                if (mark := marks.get((rank, other))) is not None:
                    clock[mark[0]] = max(clock[mark[0]], mark[1] + 1)
            if (mark := marks.get(event)) is not None:
                clock[mark[0]] = mark[1]
        return clocks

    def reaching(self) -> list[int]:
        """For each rank the ranks that must have started before its last step ends, as the bits of a number."""
        starts: dict[Event, int] = {}

        def at_end(event: Event) -> int:
            send = self._send_of.get(event)
            return starts[event] if send is None else starts[event] | starts[send]

        reached = [0] * self._schedule.ranks
        for rank, index in self._started:
            step = self._schedule.steps[rank][index]
            before = 0 if step.after or step.after_start else 1 << rank
            for other in step.after:
                before |= at_end((rank, other))
            for other in step.after_start:
                before |= starts[rank, other]
            starts[rank, index] = before
        for event in self._started:
            reached[event[0]] |= at_end(event)
        return reached
