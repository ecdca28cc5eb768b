"""The other end of a worker: start it, ask it, and end it when its time is up."""

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
from time import monotonic
from typing import IO, Any, Protocol

from fakempi.learn.limits import READY, Limits

ROOT = str(Path(__file__).parents[2])
"""Where this fakempi is, be it installed or not."""

MOST_ANSWER = 64 * 2**20
"""Characters of an answer: more is no answer to an exercise."""

STARTING = 120.0
GRACE = 5.0
"""Seconds that a worker has to start, and to say where its ranks are when their time is up."""


class Gone(Exception):
    """The process has ended, or has said what is no answer; the sentence says how."""


class Runner(Protocol):
    """Whoever runs a student's program."""

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""


class Worker:
    """Runs it in a process of its own, whose time and memory are limited. To be used in a `with`."""

    def __init__(self, file: Path, limits: Limits) -> None:
        self.limits, self.late, self.begun = limits, False, monotonic()
        path = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
        changed = {
            "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
            "MALLOC_ARENA_MAX": "2",  # or each thread of 256 ranks reserves 64 MiB, and memory is limited
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fakempi.learn.worker", str(file), str(limits.seconds), str(limits.megabytes)],
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
        """Wait until it is there; its time begins now, and is longer where others keep the machine busy."""
        word, _, cpu = self._streams()[1].readline().partition(" ")
        if word != READY:
            raise Gone("the process that should run it has not started.")
        self.limits = self.limits.on_this_machine(monotonic() - self.begun, float(cpu))
        self.clock.cancel()
        self.clock = self._timer(self.limits.seconds + GRACE)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer. Anything else on the stream, or its end, is none."""
        number = secrets.token_hex(16)
        into, out = self._streams()
        with suppress(BrokenPipeError):
            into.write(json.dumps({**request, "number": number}) + "\n")
            into.flush()
        line = out.readline(MOST_ANSWER)
        if not line:
            raise Gone(self._how())
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict) or told.pop("number", None) != number:
            raise Gone("something that is no answer came from the program.")
        return told

    def _streams(self) -> tuple[IO[str], IO[str]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        return self.process.stdin, self.process.stdout

    def _how(self) -> str:
        """Why there is no answer."""
        if self.late:
            return f"it was not done after {round(self.limits.seconds, 1):g} s, and was ended."
        code = self.process.wait()
        if code == -getattr(signal, "SIGXCPU", code + 1):
            return "it was not done after the CPU time that it has, and was ended."
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return f"the program ended the process that it runs in ({how}): an exercise is done when its function has returned."

    def _too_late(self) -> None:
        self.late = True
        self._kill()

    def _kill(self) -> None:
        """And whatever it has started."""
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
