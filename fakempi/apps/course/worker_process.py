"""Start a worker process, send it requests, and kill it after its time limit."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

from fakempi.apps.course.limits import READY, CheckLimits

ROOT = str(Path(__file__).parents[3])
"""The directory that contains the package fakempi."""

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

    def __init__(self, file: Path, limits: CheckLimits) -> None:
        self.limits, self.late = limits, False
        path = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
        changed = {
            "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
            "MALLOC_ARENA_MAX": "2",  # by default each of 256 threads reserves 64 MiB of the limited address space
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fakempi.apps.course.worker", str(file), str(limits.seconds), str(limits.megabytes)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", cwd=file.parent,
            env={**os.environ, **changed}, start_new_session=True,
        )  # fmt: skip
        self.clock = self._timer(STARTING)

    def _timer(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._too_late)
        timer.daemon = True
        timer.start()
        return timer

    def begin(self) -> None:
        """Wait until the worker is ready, and start its limit of wall time."""
        if self._streams()[1].readline().strip() != READY:
            raise WorkerGone("the worker process could not be started.")
        self.clock.cancel()
        self.clock = self._timer(self.limits.wall)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer; raise WorkerGone at the end of the stream or at anything else in it."""
        number = secrets.token_hex(16)
        into, out = self._streams()
        with suppress(BrokenPipeError):
            into.write(json.dumps({**request, "number": number}) + "\n")
            into.flush()
        line = out.readline(MAX_ANSWER)
        if not line:
            raise WorkerGone(self._reason())
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict) or reply.pop("number", None) != number:
            raise WorkerGone("the program wrote an invalid answer to the worker's output stream.")
        return reply

    def _streams(self) -> tuple[IO[str], IO[str]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        return self.process.stdin, self.process.stdout

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
        self._kill()

    def _kill(self) -> None:
        """Kill the worker and its child processes."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self.clock.cancel()
        self._kill()
        for stream in self._streams():
            with suppress(OSError):
                stream.close()
        self.process.wait()
