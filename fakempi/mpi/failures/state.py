"""Failure state of a run: the processes that have died, and the callbacks."""

from __future__ import annotations

from collections.abc import Callable

from fakempi.core.kernel.agenda import Time
from fakempi.core.kernel.task import Task
from fakempi.mpi.base.process import Process, RunState, Universe


class FailureState(RunState):
    """The failures of a run."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        universe.at_end.append(self.set_clocks)
        self.dead: dict[int, tuple[Process, Time]] = {}  # number -> process, time
        self.detection_delay: Time = universe.options.detection_delay
        self.checks_peers = False  # whether messages are checked for dead processes
        self.handled = False  # whether the program has seen an error of a failure, or queried failures
        # Called when all processes know of a failure, so that no Disconnect waits for the process. Set by `schedule_kills`.
        self.forget_process: Callable[[int], None] = lambda number: None
        self.on_failure: list[Callable[[int], None]] = []  # called when a failure is detected
        self.parked: list[tuple[Task, Callable[[], object]]] = []  # parked tasks, and the switch of each

    def set_clocks(self) -> None:
        """At the end of the run, set the clocks of dead processes to the times of their deaths."""
        for process, time in self.dead.values():
            process.task.clock = time
