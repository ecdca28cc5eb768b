"""Order of steps: dependencies and messages order some pairs of steps; other pairs may happen in either order.

A step has a start and an end. The start precedes the end; the end of a step (or its start, for dependencies in
`after_start`) precedes the start of steps that depend on it; the start of a send precedes the end of its receive.

The steps of a rank form chains, in which each step depends on the end of the one before. Every start has a vector clock: for
each chain, how many of its starts and ends precede. A schedule with too many chains for this has many independent steps;
then the graph is searched for each pair of steps, up to a limit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.matching import Event, Matching
from collectives.schedules.schedule import Schedule

Node = tuple[int, int, bool]
"""Rank and index of a step, and True for its end or False for its start."""

MAX_ENTRIES = 1 << 25
"""Upper limit of the entries of all vector clocks: 128 MiB."""

MAX_VISITS = 500_000
"""Upper limit of the steps that are visited without vector clocks: about a second."""


class StepOrder:
    """The order of the steps of a schedule, all of which end."""

    def __init__(self, schedule: Schedule, matching: Matching) -> None:
        self._schedule = schedule
        self._send_of: dict[Event, Event] = {receive: send for send, receive in matching.pairs}
        self._position: dict[Event, tuple[int, int]] = {}  # chain, and position in it
        self._row = {event: row for row, event in enumerate(matching.started)}
        self._clocks: NDArray[np.int32] | None = None
        self._cache: dict[tuple[Node, Node], bool] = {}
        self._visits = 0
        chains = self._find_chains(matching.started)
        if chains * len(matching.started) <= MAX_ENTRIES:
            self._clocks = self._vector_clocks(matching.started, chains)

    def _find_chains(self, started: list[Event]) -> int:
        """Give each step a position in a chain; returns the number of chains."""
        last: list[Event] = []
        for rank, index in started:
            for other in self._schedule.steps[rank][index].after:
                chain, position = self._position[rank, other]
                if last[chain] == (rank, other):
                    last[chain] = rank, index
                    self._position[rank, index] = chain, position + 1
                    break
            else:
                self._position[rank, index] = len(last), 0
                last.append((rank, index))
        return len(last)

    def _vector_clocks(self, started: list[Event], chains: int) -> NDArray[np.int32]:
        """Return the clock of the start of each step: per chain, twice the position of the last step that precedes it.

        Odd numbers are ends. Steps that start later follow, because `started` is an order of execution.
        """
        clocks = np.full((len(started), chains), -1, np.int32)
        for clock, (rank, index) in zip(clocks, started, strict=True):
            step = self._schedule.steps[rank][index]
            for other in step.after_start:
                np.maximum(clock, clocks[self._row[rank, other]], out=clock)
            for other in step.after:
                np.maximum(clock, clocks[self._row[rank, other]], out=clock)
                if (send := self._send_of.get((rank, other))) is not None:
                    np.maximum(clock, clocks[self._row[send]], out=clock)
                chain, position = self._position[rank, other]
                clock[chain] = max(clock[chain], 2 * position + 1)
            chain, position = self._position[rank, index]
            clock[chain] = 2 * position
        return clocks

    def chains(self, rank: int) -> list[int]:
        """Return the chain of each step of a rank; the steps of a chain are ordered."""
        return [self._position[rank, index][0] for index in range(len(self._schedule.steps[rank]))]

    def starts_in_order(self, first: Event, second: Event) -> bool:
        """Whether the first step starts before the second one starts, in every execution."""
        return self._precedes((*first, False), (*second, False))

    def ordered(self, a: Event, b: Event) -> bool:
        """Whether one of two steps ends before the other one starts, in every execution."""
        if self._position[a][0] == self._position[b][0]:
            return a != b
        return self._precedes((*a, True), (*b, False)) or self._precedes((*b, True), (*a, False))

    def reaches_end(self, first: Event, last: Event) -> bool:
        """Whether the first step starts before the last one ends, in every execution."""
        return first == last or self._precedes((*first, False), (*last, True))

    def _precedes(self, a: Node, b: Node) -> bool:
        if self._clocks is None:
            if (a, b) not in self._cache:
                self._cache[a, b] = self._search(a, b)
            return self._cache[a, b]
        if a[:2] == b[:2]:
            return a[2] < b[2]
        chain, position = self._position[a[:2]]
        reached = self._clocks[self._row[b[:2]], chain]
        if b[2] and (send := self._send_of.get(b[:2])) is not None:
            reached = max(reached, self._clocks[self._row[send], chain])
        return bool(reached >= 2 * position + a[2])

    def _search(self, a: Node, b: Node) -> bool:
        """Search backward from b through the graph of all ranks."""
        stack, seen = [b], {b}
        while stack:
            rank, index, is_end = stack.pop()
            self._visits += 1
            if self._visits > MAX_VISITS:
                raise InvalidScheduleError(
                    f"its {len(self._row):,} steps have too many possible orders: more than {MAX_VISITS:,} were visited; "
                    "verify the schedule for fewer ranks or smaller messages, or add dependencies"
                )
            step = self._schedule.steps[rank][index]
            if is_end:
                previous: list[Node] = [(rank, index, False)]
                send = self._send_of.get((rank, index))
                if send is not None:
                    previous.append((*send, False))
            else:
                previous = [
                    *((rank, earlier, True) for earlier in step.after),
                    *((rank, earlier, False) for earlier in step.after_start),
                ]
            for node in previous:
                if node == a:
                    return True
                if node not in seen:
                    seen.add(node)
                    stack.append(node)
        return False
