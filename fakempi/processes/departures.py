"""Ranks whose process ends while one of its threads waits in an MPI call.

The task of such a rank waits in the emulator, possibly forever, and does not read the messages of its child. Another task
takes its place: it ends the call, and serves the child until the child has exited. The waiting task is parked.

If no task can run, this is no deadlock as long as the main thread of a child computes while another thread is in a call.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from fakempi.core.hooks import Layer, OnNext
from fakempi.mpi.base.process import Process, RunState, Universe
from fakempi.mpi.diagnostics.waits import call_lines
from fakempi.mpi.failures.parking import park
from fakempi.processes.child_process import POLL_MS, ChildProcess

INTERVAL = 100
"""Number of times that the loop searches a task between two checks, while a task can run."""

HEAD = "fakempi: a daemon thread ends with its rank, in the middle of a call."
"""The first line of the report about a rank whose program has ended without an error."""


class Server(Protocol):
    """A rank's task in the parent: `process`, `child`, and functions that this module needs."""

    process: Process
    child: ChildProcess
    abandoned: list[Any]
    code: int | None

    def take_over(self, report: Callable[[], None]) -> None:
        """Start a task that serves the child in place of the present one, and calls `report` after the last message."""


class Departures(RunState, OnNext[Any]):
    """Checks all children when no task can run, and at times while one can."""

    layer = Layer.FAILURES

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.servers: list[Server] = []
        self.count = 0
        universe.loop.subscribe(self)

    def next(self, proceed: Callable[[], Any]) -> Any:
        """Return the next task; if none can run, that of a rank whose child is leaving."""
        task = proceed()
        self.count += 1
        loop = self.universe.loop
        if loop.ending or (task is not None and self.count % INTERVAL):
            return task
        waiting = [server for server in self.servers if server.process.task is not task]
        leaving = [server for server in waiting if server.child.is_leaving()]
        for server in leaving:
            self._replace(server)
        if task is not None:
            return task
        computing = [server for server in waiting if server.child.may_leave()]
        if not leaving and computing:
            loop.spawn(partial(_wait_for_any, [server.child for server in computing]), computing[0].process)
        elif not leaving:
            return None
        loop.starved = False
        return proceed()

    def _replace(self, server: Server) -> None:
        before = server.process.task
        lines = call_lines(self.universe, [before])
        park(self.universe, before)
        server.abandoned.append(before)

        def report() -> None:
            if lines and server.code is not None:
                sys.stderr.write("\n  ".join([HEAD, *lines]) + "\n")

        server.take_over(report)


def _wait_for_any(children: list[ChildProcess]) -> None:
    """Wait until a child leaves, or its main thread calls. This is a task, so that it can be interrupted like a rank."""
    reports = select.poll()
    for child in children:
        reports.register(child.ending, select.POLLIN)
    while not any(child.is_leaving() for child in children) and all(child.may_leave() for child in children):
        reports.poll(POLL_MS)
