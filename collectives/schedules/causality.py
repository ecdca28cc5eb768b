"""Order of steps: dependencies and messages order some pairs of steps; other pairs may happen in either order.

A step has a start and an end. The start precedes the end; the end of a step (or its start, for dependencies in
`after_start`) precedes the start of steps that depend on it; the start of a send precedes the end of its receive. For two
steps of one rank, the dependencies within the rank are checked first. The graph of all ranks is searched only if these
dependencies do not order the two steps.
"""

from __future__ import annotations

from collectives.schedules.matching import Event, Matching
from collectives.schedules.schedule import Schedule

Node = tuple[int, int, bool]
"""Rank and index of a step, and True for its end or False for its start."""


class StepOrder:
    """The order of the steps of a schedule."""

    def __init__(self, schedule: Schedule, matching: Matching) -> None:
        self._schedule = schedule
        self._send_of: dict[Event, Event] = {receive: send for send, receive in matching.pairs}
        self._before: list[list[int]] = [self._predecessors(rank) for rank in range(schedule.ranks)]
        self._cache: dict[tuple[Node, Node], bool] = {}

    def _predecessors(self, rank: int) -> list[int]:
        """For the start of each step, the set of starts (even bits) and ends (odd bits) that precede it in the rank."""
        steps = self._schedule.steps[rank]
        before = [0] * len(steps)
        for index in self._schedule.order(rank):
            for other in steps[index].after:
                before[index] |= before[other] | 3 << 2 * other
            for other in steps[index].after_start:
                before[index] |= before[other] | 1 << 2 * other
        return before

    def starts_in_order(self, first: Event, second: Event) -> bool:
        """Whether the first step starts before the second one starts, in every execution."""
        return self._precedes((*first, False), (*second, False))

    def ordered(self, a: Event, b: Event) -> bool:
        """Whether one of two steps ends before the other one starts, in every execution."""
        return self._precedes((*a, True), (*b, False)) or self._precedes((*b, True), (*a, False))

    def reaches_end(self, first: Event, last: Event) -> bool:
        """Whether the first step starts before the last one ends, in every execution."""
        return first == last or self._precedes((*first, False), (*last, True))

    def _precedes(self, a: Node, b: Node) -> bool:
        if a[0] == b[0] and self._before[b[0]][b[1]] >> (2 * a[1] + a[2]) & 1:
            return True
        if (a, b) not in self._cache:
            self._cache[a, b] = self._search(a, b)
        return self._cache[a, b]

    def _search(self, a: Node, b: Node) -> bool:
        """Search backward from b through the graph of all ranks."""
        stack, seen = [b], {b}
        while stack:
            rank, index, is_end = stack.pop()
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
