"""The watcher that `fakempi.watch.enable` starts: it ends with the ranks of its job."""

from __future__ import annotations

import json
import os
import signal
import sys
from time import monotonic
from typing import Any

from fakempi.apps.watch.connections import Listener
from fakempi.apps.watch.ending import end_processes
from fakempi.apps.watch.job import LONGEST_CALL, JobWatch, WatchOptions, handled

FIRST = 60.0
"""Seconds in which all ranks have to connect."""


class RanksAsJob:
    """The ranks in place of a launcher, which this process has not started: the job ends when they have disconnected."""

    def __init__(self, listener: Listener, size: int, parent: int) -> None:
        self.listener, self.size, self.pid = listener, size, parent
        self.start = monotonic()

    def poll(self) -> int | None:
        """Return 0 once all ranks have ended."""
        ranks = self.listener.processes
        if len(ranks) < self.size and monotonic() - self.start < FIRST:
            return None
        return 0 if all(each.closed for each in ranks) else None

    def wait(self) -> int:
        """Return the exit code of this process."""
        return 0

    def end(self, pids: list[int]) -> None:
        """End the ranks; the launcher notices, and ends as well."""
        self.listener.collect("stop", 0, 1.0)
        end_processes(pids)


def serve(options: dict[str, Any]) -> int:
    """Write the address to standard output, then watch."""
    listener = Listener(bool(options["hosts"]), LONGEST_CALL * options["after"])
    try:
        variables = {"FAKEMPI_WATCH": listener.address, "FAKEMPI_WATCH_TOKEN": listener.token}
        os.write(1, json.dumps(variables).encode() + b"\n")
        os.close(1)
        launcher = ["mpiexec", "-n", str(options["size"]), *options["program"]]
        watch_options = WatchOptions(launcher, options["after"], options["keep"], options["report"])
        signals: list[int] = []
        with handled((signal.SIGINT, signal.SIGTERM, signal.SIGUSR1), signals.append):
            JobWatch(watch_options, listener, RanksAsJob(listener, options["size"], options["parent"]), signals).run()
        return 0
    finally:
        listener.close()


if __name__ == "__main__":
    sys.exit(serve(json.loads(sys.argv[1])))
