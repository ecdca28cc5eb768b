"""Start a worker process, send it requests, and kill it after its time limit."""

from __future__ import annotations

import json
import secrets
import signal
import threading
from contextlib import suppress
from typing import Any, Protocol

from fakempi.apps.course.limits import READY
from fakempi.apps.course.worker_job import WorkerJob
from fakempi.apps.course.worker_start import Starter

MAX_ANSWER = 64 * 2**20
"""Upper limit of the characters of an answer."""

STARTING = 300.0
"""Seconds for the start of a worker, on a busy machine."""


class WorkerGone(Exception):
    """The worker process has ended, or has sent an invalid answer; the text gives the reason."""


class Runner(Protocol):
    """Runs a student's program: `Worker` or `InProcessRunner`."""

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""


class Worker:
    """A process that runs a student's program with limits of time and memory; a context manager."""

    def __init__(self, job: WorkerJob, starter: Starter) -> None:
        self.limits, self.late = job.limits, False
        self.process = starter.start(job)
        self.clock = self._timer(STARTING)

    def _timer(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._too_late)
        timer.daemon = True
        timer.start()
        return timer

    def begin(self) -> None:
        """Wait until the worker is ready, and start its limit of wall time."""
        if self.process.answers.readline().strip() != READY:
            raise WorkerGone("the worker process could not be started.")
        self.clock.cancel()
        self.clock = self._timer(self.limits.wall)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer; raise WorkerGone at the end of the stream or at anything else in it."""
        number = secrets.token_hex(16)
        with suppress(BrokenPipeError):
            self.process.requests.write(json.dumps({**request, "number": number}) + "\n")
            self.process.requests.flush()
        line = self._line()
        if not line:
            raise WorkerGone(self._reason())
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict) or reply.pop("number", None) != number:
            raise WorkerGone("the program wrote an invalid answer to the worker's output stream.")
        return reply

    def changed(self) -> str:
        """Return the name of a function of fakempi that the program has replaced, or an empty string; the last request."""
        return str(self.answer({"last": True}).get("changed", ""))

    def _line(self) -> str:
        """Return the next line of the answers; the program may have written bytes that are not text."""
        try:
            return self.process.answers.readline(MAX_ANSWER)
        except ValueError:
            return "not text"

    def _reason(self) -> str:
        """Return the reason why there is no answer."""
        if self.late:
            return f"the program did not finish in {round(self.limits.wall, 1):g} s and was stopped."
        code = self.process.wait()
        if code == -getattr(signal, "SIGXCPU", code + 1):
            return "the program exceeded its limit of CPU time and was stopped."
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return f"the program ended its process ({how}): the functions of an exercise must return."

    def _too_late(self) -> None:
        self.late = True
        self.process.kill()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self.clock.cancel()
        self.process.kill()
        for stream in (self.process.requests, self.process.answers):
            with suppress(OSError):
                stream.close()
        self.process.wait()
