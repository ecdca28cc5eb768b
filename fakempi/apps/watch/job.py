"""Start a command, sample its ranks, decide whether they hang, report, and end the job."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Protocol

from fakempi.apps.watch import junit
from fakempi.apps.watch.connections import Listener, WatchedProcess, live
from fakempi.apps.watch.ending import LaunchedJob
from fakempi.apps.watch.positions import collect
from fakempi.apps.watch.processes import descendants, process_table
from fakempi.apps.watch.report import headline, report_text

HUNG = 124
"""The exit code of a job that was ended because it hung, as that of `timeout`."""

INTERVAL = 1.0
"""Seconds between two samples."""

LONGEST_CALL = 10
"""A call of compiled code that uses processor time is movement for this number of times `--after`."""


@dataclass(frozen=True)
class WatchOptions:
    """The options of a watch: seconds without movement, what to do then, and where the report goes."""

    command: Sequence[str]
    after: float = 60.0
    keep: bool = False
    report: str | None = None
    hosts: bool = False


class WatchedJob(Protocol):
    """A command that this process has started, or ranks that have started this process."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit code once the job has ended."""

    def wait(self) -> int:
        """Return the exit code."""

    def end(self, pids: list[int]) -> None:
        """End all processes of the job; `pids` are ranks on this machine."""


class JobWatch:
    """The watch over one command."""

    def __init__(
        self, options: WatchOptions, listener: Listener, job: WatchedJob, signals: list[int]
    ) -> None:
        self.options, self.listener, self.job = options, listener, job
        self.start = monotonic()
        self.number = 0
        self.children: dict[int, tuple[int, int]] = {}  # pid of a rank -> its subprocesses: their number and processor time
        self.reported = 0.0  # the time of the last movement that was reported
        self.interrupted = False
        self.signals = signals  # numbers of signals that have arrived

    def run(self) -> int:
        """Return the exit code: that of the command, or 124 if the job hung and was ended."""
        while self.job.poll() is None:
            self._wait()
            if self.signals and (code := self._on_signal(self.signals.pop(0))) is not None:
                return code
            self.number += 1
            for each in self.listener.processes:
                each.request("sample", self.number)
            if self._hangs():
                self.write_report("")
                if not self.options.keep:
                    self.end()
                    return HUNG
        code = self.job.wait()
        return code if code >= 0 else 128 - code

    def _wait(self) -> None:
        """Receive answers until the next sample, the end of the job, or a signal.

        If that takes far longer, this process was suspended, and probably so were the ranks: their time begins again.
        """
        begin = monotonic()
        end = begin + INTERVAL
        while monotonic() < end and self.job.poll() is None and not self.signals:
            self.listener.receive(min(0.1, max(0.0, end - monotonic())))
        if monotonic() - begin > 5 * INTERVAL:
            for each in self.listener.processes:
                each.moved = monotonic()

    def _hangs(self) -> bool:
        """Return whether no rank has moved for the time of `--after`, and this was not reported.

        One interval more is needed, as the pending call that notices movement is registered by the sample after the last
        movement. A sample of this moment decides, as the last one may be a second old.
        """
        limit = self.options.after + INTERVAL
        moved = self._last_movement()
        if moved is None or monotonic() - moved < limit or moved == self.reported:
            return False
        self.number += 1
        self.listener.collect("sample", self.number, 1.0)
        moved = self._last_movement()
        if moved is None or monotonic() - moved < limit or self.job.poll() is not None:
            return False
        self.reported = moved
        return True

    def _last_movement(self) -> float | None:
        """Return when a rank has last moved; None without ranks."""
        ranks = self.listener.ranks()
        living = list(live(ranks))
        if not living:
            return None
        moved = max(each.moved for each in ranks)
        if monotonic() - moved > INTERVAL:
            self._look_at_subprocesses(living)
            moved = max(each.moved for each in ranks)
        return moved

    def _look_at_subprocesses(self, living: Sequence[WatchedProcess]) -> None:
        """Count the processor time of programs that ranks have started as movement: a compiler, a solver."""
        table = process_table()
        watched = {os.getpid(), *(each.pid for each in living)}  # rank 0 may have started this process
        for each in living:
            if each.pid in table:
                below = [one for one in descendants(each.pid, table) if one.pid not in watched]
                used = len(below), sum(one.ticks for one in below)
                if used != self.children.setdefault(each.pid, used):
                    self.children[each.pid], each.moved = used, monotonic()

    def _on_signal(self, number: int) -> int | None:
        """Report; returns the exit code if the job is over."""
        if number == signal.SIGINT and self.interrupted:  # the second Ctrl-C
            self.end()
            return 130
        reasons = {signal.SIGINT: "Ctrl-C (press it again to end the job)", signal.SIGTERM: "SIGTERM"}
        self.write_report(reasons.get(signal.Signals(number), signal.Signals(number).name))
        if number == signal.SIGTERM:
            self.end()
            return 128 + number
        self.interrupted = self.interrupted or number == signal.SIGINT
        return None

    def write_report(self, reason: str) -> None:
        """Write the report to standard error and to the file of `--report`."""
        self.number += 1
        states = collect(self.listener, self.job.pid, self.start, self.number)
        ranks = self.listener.ranks()
        now = monotonic()
        idle = now - max((each.moved for each in ranks), default=self.start)
        text = report_text(states, ranks, headline(idle, now - self.start, len(states), reason), self.options.command)
        sys.stderr.write(text)
        sys.stderr.flush()
        if self.options.report:
            with Path(self.options.report).open("a", encoding="utf-8") as file:
                file.write(text)
        if not reason:
            junit.add_entries(self.listener, states, text, self.number)

    def end(self) -> None:
        """Flush the output of the ranks and end them."""
        self.number += 1
        self.listener.collect("end", self.number, 1.0)
        here = os.uname().nodename
        self.job.end([each.pid for each in live(self.listener.processes) if each.pid and each.host == here])


@contextmanager
def handled(numbers: Sequence[int], handler: Callable[[int], None]) -> Iterator[None]:
    """Call a function with the number of a signal, within the block."""

    def handle(number: int, _: FrameType | None) -> None:
        handler(number)

    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def watch(options: WatchOptions) -> int:
    """Run a command under watch; returns its exit code, or 124 if it hung.

    The command has its own process group: Ctrl-C reaches the watcher only.
    """
    listener = Listener(options.hosts, LONGEST_CALL * options.after)
    try:
        signals: list[int] = []
        with handled((signal.SIGINT, signal.SIGTERM, signal.SIGUSR1), signals.append):
            job = subprocess.Popen(list(options.command), env=listener.environment(), start_new_session=True)
            over_watch = JobWatch(options, listener, LaunchedJob(job), signals)
            try:
                return over_watch.run()
            except BaseException:
                over_watch.end()
                raise
    finally:
        listener.close()
