"""Run commands on mutants in a child process with limits on CPU time and memory; its parent restarts a child that ends.

The child measures the CPU time of each mutant and the peak of its memory (VmHWM of Linux, which it resets before each).
A mutant that uses much more than the limits ends the child by SIGXCPU, or raises MemoryError.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from time import process_time
from typing import Any, NamedTuple
from unicodedata import category
from unittest.mock import patch

from tests.fuzz.files.watching import Watch

SECONDS, MEGABYTES = 2.0, 500
"""The limits of one file of at most 1 MB; a longer one has more time, in proportion to its length."""

REFERENCE = 0.07
"""Seconds of the loop in `_slowness` on the machine of the tests; CPU time is longer while other programs use the caches."""


Prepare = Callable[[int], Callable[[], tuple[str, int, str]]]
"""Writes a mutant, and returns a function that reads it: it returns the name of the file, the exit code and the message."""


BIDIRECTIONAL = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that change the direction of the text that follows."""


class Outcome(NamedTuple):
    """The result of one mutant: the kind of its problem, or empty; a description; the CPU time and the memory used."""

    number: int
    problem: str
    text: str
    seconds: float
    megabytes: float


def outcomes(count: int, prepare: Prepare, directory: str) -> Iterator[Outcome]:
    """Yield the outcome of each of `count` mutants."""
    start = 0
    while start < count:
        source, target = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(source)
            _child(start, count, prepare, directory, target)
        os.close(target)
        with os.fdopen(source, encoding="utf-8") as lines:
            for line in lines:
                outcome = Outcome(*json.loads(line))
                start = outcome.number + 1
                yield outcome
        _, status = os.waitpid(pid, 0)
        if start < count:
            name = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit code {status >> 8}"
            yield Outcome(
                start, "slow" if name in ("SIGXCPU", "SIGALRM") else "traceback", f"the child ended: {name}", 9.9, 0
            )
            start += 1


def _child(start: int, count: int, prepare: Prepare, directory: str, target: int) -> None:
    """Try the mutants from `start` on, and write a line for each; ends the process."""
    try:
        os.chdir(directory)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        watch = Watch(directory)
        with os.fdopen(target, "w", encoding="utf-8", buffering=1) as lines:
            for index in range(start, count):
                outcome = _measured(index, prepare, watch)
                for _ in range(2 if outcome.problem == "slow" else 0):  # CPU time is longer while other programs run
                    outcome = min(outcome, _measured(index, prepare, watch), key=lambda one: one.seconds)
                lines.write(json.dumps(outcome) + "\n")
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _measured(index: int, prepare: Prepare, watch: Watch) -> Outcome:
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    act = prepare(index)
    before = _memory("VmRSS")
    limit = (_memory("VmSize") + 4 * MEGABYTES) * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (int(limit), resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CPU, (int(process_time() + 4 * SECONDS), resource.RLIM_INFINITY))
    signal.alarm(120)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    began = process_time()
    problem, text = _problem(act, watch)
    seconds = process_time() - began
    if seconds > SECONDS:
        seconds /= _slowness()
    megabytes = _memory("VmHWM") - before
    signal.alarm(0)
    length = max((entry.stat().st_size for entry in os.scandir()), default=0)
    if seconds > SECONDS * max(1.0, length / 1e6) and not problem:
        problem = "slow"
    if megabytes > MEGABYTES:
        problem = "large"
    return Outcome(index, problem, text, round(seconds, 2), round(megabytes))


def _slowness() -> float:
    """Return by what factor this core is slower than an idle one, on which the loop takes REFERENCE seconds of CPU time."""
    times: list[float] = []
    for _ in range(5):
        found: dict[int, Any] = {}
        began = process_time()
        for number in range(200_000):
            found[number & 1023] = (number, str(number & 7))
        times.append(process_time() - began)
    return max(1.0, sum(times) / len(times) / REFERENCE)


def _problem(act: Callable[[], tuple[str, int, str]], watch: Watch) -> tuple[str, str]:
    """Return the kind of a problem and its description; for a mutant without a problem, the message."""
    watch.seen.clear()
    watch.active = True
    try:
        name, code, message = act()
    except MemoryError:
        return "large", "MemoryError"
    except BaseException as error:
        return "traceback", _short_traceback(error)
    finally:
        watch.active = False
    if "memory" in message:
        return "large", message
    if watch.seen:
        return "code", f"{watch.seen[0]}; {message}"
    if "Traceback (most recent" in message:
        return "traceback", message
    if message and code not in (0, 1) and (name not in message or not message.rstrip().endswith((".", "?"))):
        return "words", f"exit code {code}: {message}"
    if any((category(char) == "Cc" and char != "\n") or char in BIDIRECTIONAL for char in message):
        return "words", f"control characters: {message!r}"
    return "", message


def _short_traceback(error: BaseException) -> str:
    """Return the exception and the last frames, without the standard library's."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/fakempi/" in frame.filename or "/collectives/" in frame.filename
    ]
    places = [f"{frame.filename}:{frame.lineno} {frame.name}: {frame.line}" for frame in frames[-3:]]
    return "\n".join([*places, f"{type(error).__name__}: {str(error)[:300]!r}"])


def _memory(name: str) -> float:
    """Return a size of this process in MiB."""
    with open("/proc/self/status") as file:
        match = re.search(rf"{name}:\s+(\d+)", file.read())
    assert match is not None
    return int(match[1]) / 1024


def command(arguments: list[str], parser: Any) -> tuple[int, str]:
    """Run a command of fakempi with a parser that is already made; returns the exit code and what was written to stderr."""
    from fakempi.apps.cli.main import main

    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err), patch("fakempi.apps.cli.main.make_parser", lambda only: parser):
        code = main(arguments)
    sys.stdout.flush()
    return code, err.getvalue()
