"""End all processes of a job, and leave none."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from time import monotonic, sleep

from fakempi.apps.watch.processes import ProcessEntry, descendants, process_entry, process_table

PATIENCE = 2.0
"""Seconds that the launcher has to end its ranks, before they are killed."""


class LaunchedJob:
    """The process of a command, such as mpiexec."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process, self.pid = process, process.pid
        self.poll, self.wait = process.poll, process.wait

    def end(self, pids: list[int]) -> None:
        """Let the launcher end its ranks, which have these numbers; then kill the processes that remain.

        The processes are listed first, as their parent is unknown once the launcher has ended.
        """
        launcher, table = self.process, process_table()
        targets = descendants(launcher.pid, table)
        targets += [table[pid] for pid in pids if pid in table and table[pid] not in targets]
        if launcher.poll() is None:
            with suppress(ProcessLookupError):
                launcher.send_signal(signal.SIGTERM)
        end = monotonic() + PATIENCE
        while monotonic() < end and launcher.poll() is None:
            sleep(0.02)
        _kill_remaining(targets, end)
        if launcher.poll() is None:
            launcher.kill()
        launcher.wait()


def end_processes(pids: list[int]) -> None:
    """End processes; kill those that remain."""
    targets = [each for each in map(process_entry, pids) if each is not None]
    for each in targets:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each.pid, signal.SIGTERM)
    _kill_remaining(targets, monotonic() + PATIENCE)


def _kill_remaining(targets: list[ProcessEntry], end: float) -> None:
    while monotonic() < end and any(map(_lives, targets)):
        sleep(0.02)
    for each in targets:
        if _lives(each):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(each.pid, signal.SIGKILL)


def _lives(process: ProcessEntry) -> bool:
    """Return whether it is still the same process, and not another that was given its number."""
    now = process_entry(process.pid)
    return now is not None and now.start == process.start and now.state != "Z"
