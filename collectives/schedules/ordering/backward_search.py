"""Whether steps are ordered, without vector clocks: for ranks most of whose steps are not ordered with each other."""

from __future__ import annotations

from collections.abc import Mapping

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.matching import Event
from collectives.schedules.schedule import Schedule

MAX_VISITS = 500_000
"""Upper limit of the steps that are visited: about a second."""


class BackwardSearch:
    """Searches in the graph of all ranks. Each finished search is kept."""

    def __init__(self, schedule: Schedule, send_of: Mapping[Event, Event]) -> None:
        self._schedule, self._send_of = schedule, send_of
        self._cache: dict[tuple[Event, bool, Event], bool] = {}
        self._visits = 0

    def precedes(self, first: Event, end: bool, second: Event) -> bool:
        """Whether the end (or the start) of a step precedes the start of another one."""
        key = first, end, second
        if key not in self._cache:
            self._cache[key] = self._found((*first, end), (*second, False))
        return self._cache[key]

    def _found(self, a: tuple[int, int, bool], b: tuple[int, int, bool]) -> bool:
        """Search backward from node b for node a; a node is the start or the end of a step."""
        stack, seen = [b], {b}
        while stack:
            rank, index, is_end = stack.pop()
            self._visits += 1
            if self._visits > MAX_VISITS:
                steps = sum(map(len, self._schedule.steps))
                raise InvalidScheduleError(
                    f"its {steps:,} steps have too many possible orders: more than {MAX_VISITS:,} were visited; "
                    "verify the schedule for fewer ranks or smaller messages, or add dependencies"
                )
            step = self._schedule.steps[rank][index]
            if is_end:
                previous = [(rank, index, False)]
                send = self._send_of.get((rank, index))
                if send is not None:
                    previous.append((*send, False))
            else:
                previous = [(rank, other, True) for other in step.after]
                previous += [(rank, other, False) for other in step.after_start]
            for node in previous:
                if node == a:
                    return True
                if node not in seen:
                    seen.add(node)
                    stack.append(node)
        return False
