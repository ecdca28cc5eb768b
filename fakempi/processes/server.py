"""A rank's task in the parent: serves the child of the rank from its start to its end."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

from fakempi import MPI
from fakempi.core.kernel.loop import Ended
from fakempi.errors import ExitWithoutFinalize, Killed
from fakempi.errors.paths import short_path
from fakempi.mpi.base.process import Process
from fakempi.processes.answers import CallServer
from fakempi.processes.child_process import ChildProcess
from fakempi.processes.departures import Departures
from fakempi.processes.objects import pickle_settings
from fakempi.processes.protocol import EXIT
from fakempi.processes.sites import exception

WAITING = "Other ranks continue when it calls MPI. If it waits for one by a file, a pipe or a lock, no rank continues."
"""The last sentence about a rank outside MPI in the report of a time-out."""

ONE_THREAD = "With --processes, one thread of a rank can call MPI at a time; without it, all can."
"""The last sentence about a rank whose main thread waits for another thread."""

LONG = 0.5
"""Seconds outside MPI after which the report of a time-out mentions it."""


class RankServer(CallServer):
    """Serves the child of one rank.

    Attributes
    ----------
    code : the exit code that the child has reported; None until then
    error : the exception that has ended its program
    resume : a function that calls `serve` and ends the rank
    """

    resume: Callable[[], int]

    def __init__(self, process: Process, child: ChildProcess) -> None:
        super().__init__(process, child)
        process.pickle, process.memory_at = pickle_settings(self.callback), self.memory_at
        process.variables_of_call = self.variables_of_call
        process.thread_level = MPI.THREAD_SERIALIZED
        process.universe.remarks.append(self._remark)
        process.universe.state(Departures).servers.append(self)
        child.on_end, child.on_reentry = self._end_program, self._answer_reentry
        self.code: int | None = None
        self.error: BaseException | None = None

    def serve(self) -> int:
        """Serve the child until it exits; returns its exit code.

        Raises
        ------
        Killed, ExitWithoutFinalize
            The child was killed by a signal, or has called `os._exit` before MPI.Finalize.
        Ended
            The run has ended, or another task serves the child.
        """
        try:
            self._abort_if_requested()
            self._answer_calls()
            self._abort_if_requested()
        except (Ended, KeyboardInterrupt):  # while the child computes
            if not self.is_abandoned():
                self.child.end()
            raise
        finally:
            if not self.is_abandoned():
                self._detach()
        status = self.child.wait()
        self._abort_if_requested()
        if self.error is not None:
            raise self.error
        if self.ended:
            raise Ended
        if self.code is not None:
            return self.code
        if status < 0:
            raise Killed(-status, _signal_name(-status), self._place())
        if not self.process.finalized:
            raise ExitWithoutFinalize(status)
        return status

    def _abort_if_requested(self) -> None:
        """Abort the run if a thread of the child that could not call, or a process that it has forked, has called Abort."""
        code, self.child.abort_code = self.child.abort_code, None
        if code is not None:
            self.process.comm_world.Abort(code)

    def is_abandoned(self) -> bool:
        """Return whether another task serves the child in place of the running one."""
        return self.process.loop.running in self.abandoned

    def take_over(self, report: Callable[[], None]) -> None:
        """Start a task that serves the child in place of the present one, and calls `report` after the last message."""
        self.process.universe.launch(self.process, ResumedServer(self, report))

    def _answer_calls(self) -> None:
        """Answer calls until the child has exited."""
        while True:
            data = self.call_from(self.child.receive, (), {})  # reports show the line of its last call
            if data is None:
                return
            if self._answer_message(data) is not None:  # the result of a callback in a call that was abandoned
                self.child.end_call()

    def _answer_reentry(self, data: Any) -> None:
        """Answer a call that the child makes in the middle of another one: after that one has been answered."""
        self._answer(*self.objects.read(data)[1:])

    def _end_program(self, data: Any) -> None:
        """Read the report of the child about the end of its program."""
        kind, what = self.objects.read(data)
        if kind == EXIT:
            self.code = what
        else:
            self.error = self._failure(what)

    def _detach(self) -> None:
        self.process.pickle = self.process.memory_at = self.process.variables_of_call = None
        self.process.universe.remarks.remove(self._remark)
        self.process.universe.state(Departures).servers.remove(self)

    def _place(self) -> str:
        """Return the line of the last call; empty if there is none."""
        code: Any = self.call_from.__code__
        return f"{short_path(code.co_filename)}:{code.co_firstlineno}" if code.co_firstlineno else ""

    def _remark(self) -> str:
        """Return a line for a report: whether a thread waits for another one, or the child has computed for long.

        No other rank can run while a child computes.
        """
        if self.child.waits_at:
            call, path, line = self.child.waits_at
            place = f"{call} at {short_path(path)}:{line}"
            words = f"thread {self.child.thread!r} is in this call, and the main thread waits for it in {place}"
            return f"{self.process.name}: {words}. {ONE_THREAD}"
        seconds = self.child.seconds_outside()
        if self.process.loop.running is not self.process.task or seconds < LONG:
            return ""
        place, state = self._place(), "waits in a system call" if self.child.is_asleep() else "runs"
        since = f"the call at {place}" if place else "its start"
        name = self.process.name
        return f"{name} has called no MPI function for {seconds:.1f} s, since {since}: its process {state}. {WAITING}"

    def _failure(self, record: dict[str, Any]) -> BaseException:
        """Make the run fail with the exception that ended the child's program, and return the exception."""
        error = exception(record)
        number, original = self.last_error
        if original is not None and record["number"] == number:
            error, original = original.with_traceback(error.__traceback__), error
        error.printed_by_child = record["printed"]  # type: ignore[attr-defined]  # read by errors.tracebacks
        if all(error is not failure for _, failure in self.process.universe.failures):
            self.process.universe.fail(self.process, error)
        return error


class ResumedServer:
    """The program of a task that serves a child in place of another task, and calls `report` after the last message."""

    in_processes = True

    def __init__(self, server: RankServer, report: Callable[[], None]) -> None:
        self.server, self.report = server, report

    def __call__(self, comm: Any) -> Any:
        """Serve the child, and return its exit code."""
        self.server.child.pass_report()
        self.server.child.end_call()
        try:
            return self.server.resume()
        finally:
            self.report()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "an unknown signal"
