"""Runs a command: prints its output as it arrives, keeps the last lines, and ends it and its processes after a limit."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import IO

GRACE = 30.0
"""Seconds in which a run ends after its own limit, with a report of its ranks; after them its command is killed."""

TIMED_OUT = 124  # exit code of fakempi run --timeout
ENDED = re.compile(r"deadlock at |fakempi: not done after |fakempi: rank \d+ ")
REJECTED = re.compile(r"ERROR: (?!usage)|\S+: error: ")
COLORS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass
class CommandEnd:
    """How a command ended: its exit code, None if it was killed at the limit; its last lines; and the seconds it took."""

    code: int | None
    lines: list[str]
    seconds: float

    @property
    def last_line(self) -> str:
        """The last line that is not empty."""
        return next((line for line in reversed(self.lines) if line), "")

    @property
    def reason(self) -> str:
        """The line with which fakempi reports why a run ended, such as a deadlock; empty if there is none."""
        return next(filter(ENDED.match, self.lines), "")

    @property
    def usage_error(self) -> str:
        """The line with which pytest rejects its arguments; empty if there is none."""
        return next(filter(REJECTED.match, self.lines), "")

    def text(self, limit: float) -> str:
        """Return the end in words, such as `failed (1)`."""
        if self.code is None or self.code == TIMED_OUT:
            return f"no end after {limit:g} s"
        if self.code < 0:
            with suppress(ValueError):
                return f"failed ({signal.Signals(-self.code).name})"
        return "passed" if self.code == 0 else f"failed ({self.code})"


def run_command(command: Sequence[str], limit: float, variables: Mapping[str, str]) -> CommandEnd:
    """Run a command with additional environment variables; it is killed after `limit` seconds, or never if that is 0."""
    began, lines = monotonic(), deque[str](maxlen=200)
    posix = os.name == "posix"
    process = subprocess.Popen(
        command, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=posix,
    )  # fmt: skip
    assert process.stdout is not None
    reader = Thread(target=_copy, args=(process.stdout, lines), daemon=True)
    reader.start()
    code: int | None = None
    try:
        code = process.wait(limit or None)
    except subprocess.TimeoutExpired:
        if posix:
            process.send_signal(signal.SIGABRT)  # faulthandler, which pytest enables, prints where it is
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
    finally:
        if code is None:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL) if posix else process.kill()
            process.wait()
    reader.join(10)  # with a limit: a process that escaped may hold the other end of the pipe
    return CommandEnd(code, list(lines), monotonic() - began)


def _copy(stream: IO[bytes], lines: deque[str]) -> None:
    with stream:
        for line in stream:
            text = line.decode(errors="replace")
            sys.stdout.write(text)
            sys.stdout.flush()
            lines.append(COLORS.sub("", text).strip(" =\r\n"))
