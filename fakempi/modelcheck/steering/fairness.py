"""Fair turns for tasks that poll in a steered run, and detection of livelocks.

A turn is fruitless if no other task can observe it: a test or probe reports "not yet", or a call that changes nothing
(Iprobe, Probe, Get_status, Parrived) reports that there is a message or that a request has completed. Fruitless turns are
counted per task since the last observable event: a message, a posted receive, a completed request, a synchronization.

* No task gets many more fruitless turns than another task that can run. A schedule in which one rank runs and another never
  does is not a valid MPI schedule, because MPI guarantees progress.
* A livelock is reported if only fruitless turns are possible, and every task has been in its state before, has received
  every possible answer there (except "not yet" if another answer is possible), and has not read a clock or external data.
  All possible continuations have then occurred.
* If clocks are read, time advances, so that time-outs expire.
* Otherwise the outcome is unknown: the program may count its polls. After `MAX_TURNS` turns of each task the run ends, and
  the report states the number.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import inf
from types import FrameType
from typing import Any

from fakempi.modelcheck.steering.points import NOT_YET, Probe, Requests
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.diagnostics.polling import MAX_POLLING_SECONDS, reads_external_state, state_of
from fakempi.mpi.diagnostics.waits import DeadlockState

MAX_AHEAD = 64
"""The maximum number of fruitless turns that a task may be ahead of another task that can run."""

FIRST_COMPARED_TURN = 64
"""Fruitless turns of each task before states are compared: a comparison takes about 50 microseconds."""

MAX_TURNS, MAX_TURNS_OUTSIDE = 2_000, 10_000
"""Fruitless turns of each task after which a run ends; the second applies if a program reads a real clock or a file."""

TICK, GROWTH = 1e-6, 8
"""If clocks are read, a turn takes TICK modeled seconds, or 1/GROWTH of the elapsed time if that is longer: an hour passes
in 200 turns."""


def is_fruitless(option: Any) -> bool:
    """Whether no other task can observe this option."""
    point = option.point
    return option.value is NOT_YET or (
        not point.takes if isinstance(point, Probe) else isinstance(point, Requests) and point.keeps
    )


class Turns:
    """The number of fruitless turns of each task of a run since the last observable event."""

    def __init__(self, choices: Any) -> None:
        self.choices = choices
        self.events = -1  # the number of observable events at the last choice
        self.compares_states = self.read_outside = False  # read_outside: a task has read a clock, a file or similar
        self.hook = self._called
        self._reset()

    def _reset(self) -> None:
        """Start counting again, after an observable event."""
        self.turns: dict[Any, int] = {}
        self.since: Any = None  # when time began to advance for tasks that read clocks
        self.forced = False  # whether "not yet" is the only answer that the current choice allows
        self._reset_states()

    def _reset_states(self) -> None:
        """Stop comparing states, and discard those recorded so far."""
        self.compares_states = self.read_outside = False
        # task -> state -> the answers that were possible in that state, and those that the task has received there
        self.answers: dict[Any, dict[Any, tuple[set[Any], set[Any]]]] = {}
        self.exhausted_tasks: set[Any] = set()  # tasks that have been in all states they can reach
        self.kept: list[Any] = []  # objects that states refer to by address: kept alive

    def excluded(
        self, options: Sequence[Any], polls: int, not_yet_counts: dict[Any, int], polling_call: Any
    ) -> dict[int, float]:
        """Return the options that a search does not take: index -> number of "not yet" answers in a row so far, or
        infinity if the task is far ahead of others."""
        if self.events != self.choices.events:
            self.events = self.choices.events
            self._reset()
        excluded: dict[int, float] = {}
        if self.turns:
            counts = [self.turns.get(getattr(option.point, "task", None), 0) for option in options]
            max_turns = min(counts) + MAX_AHEAD
            excluded = {i: inf for i, count in enumerate(counts) if count >= max_turns}
        self.forced = all(i in excluded or option.value is NOT_YET for i, option in enumerate(options))
        if not self.forced:
            for i, option in enumerate(options):
                if option.value is NOT_YET and (count := not_yet_counts.get(polling_call(option.point), 0)) >= polls:
                    excluded.setdefault(i, count)
        return excluded

    def in_turn(self, task: Any, values: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Return the possible answers of a task. If it makes no progress, rotate them: each becomes the first in turn."""
        count = self.turns.get(task, 0)
        shift = count % len(values) if values and count > MAX_AHEAD else 0
        return values[shift:] + values[:shift]

    def is_livelock(self, options: Sequence[Any]) -> bool:
        """Whether every possible continuation has occurred before, or polling has continued for too long."""
        if not self.turns or not all(map(is_fruitless, options)):
            return False
        tasks = {option.point.task for option in options}
        least = min(self.turns.get(task, 0) for task in tasks)
        if least < FIRST_COMPARED_TURN:
            return False
        universe = self.choices.universe
        if self.compares_states and not self.read_outside and tasks <= self.exhausted_tasks:
            return True
        self.compares_states = True
        passed = 0 if self.since is None else self.choices.loop.now - self.since
        if least < (MAX_TURNS_OUTSIDE if self.read_outside else MAX_TURNS) and passed < MAX_POLLING_SECONDS:
            return False
        universe.state(DeadlockState).unsuccessful_polls = least
        return True

    def turn_taken(self, options: Sequence[Any], taken: Any) -> None:
        """Record a task's turn."""
        if not is_fruitless(taken):
            self.choices.events += 1
            return
        task = taken.point.task
        self.turns[task] = self.turns.get(task, 0) + 1
        if not self.compares_states:
            return
        clock_reads = self.choices.universe.clock_reads
        if clock_reads != getattr(self, "clock_reads", None):
            self.clock_reads = clock_reads
            self.answers.clear()
            self.exhausted_tasks.clear()
            if self.since is None and self.turns[task] > FIRST_COMPARED_TURN + 1:
                self.since = self.choices.loop.now
        frame = self.choices.loop.backend.frames([task]).get(task) or frame_at(0)
        state = state_of(frame, self.kept)
        if state is None:
            self.exhausted_tasks.discard(task)
            return
        known = self.answers.setdefault(task, {})
        names = {option.key[1][1] for option in options if option.point is taken.point}
        if len(names) > 1:
            names.discard(NOT_YET)  # a fair schedule does not need this answer if another one is possible
        possible, received = known.setdefault(state, (set(), set()))
        possible |= names
        was_here = taken.key[1][1] in received
        received.add(taken.key[1][1])
        if not was_here:
            self.exhausted_tasks.discard(task)
        elif task not in self.exhausted_tasks and all(possible <= received for possible, received in known.values()):
            self.exhausted_tasks.add(task)

    def when(self) -> Any:
        """Return the time at which a task continues: now, or later if tasks that poll have read clocks."""
        now = self.choices.loop.now
        return now if self.since is None or not self.compares_states else now + max(TICK, (now - self.since) / GROWTH)

    def watch(self) -> None:
        """Observe the calls of the running task until its next turn."""
        if self.compares_states and sys.getprofile() is None:
            sys.setprofile(self.hook)

    def unwatch(self) -> None:
        """Stop observing."""
        if sys.getprofile() is self.hook:
            sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, function: Any) -> None:
        if not self.compares_states or self.read_outside or self.choices.loop.ending:
            sys.setprofile(None)
        elif event == "c_call" and reads_external_state(frame, function):
            self.read_outside = True
