"""A pytest plugin that writes starts and results of tests as lines of JSON, at once: a run that is killed leaves them.

The file is $CI_RECORD; without it, the plugin does nothing. In a run of pytest-xdist only the controller writes.
"""

from __future__ import annotations

import faulthandler
import json
import os
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import pytest_timeout

LONGEST = 150
"""Characters of a reason."""


def first_line(report: Any) -> str:
    """Why a test failed, in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = [line.strip() for line in str(crash.message if crash else report.longrepr or "").splitlines()]
    if not crash:  # an error while collecting ends with the exception, a crashed worker is one line
        lines = [line.removeprefix("E ").strip() for line in lines if line.startswith("E ")][-1:] or lines
    text = next(filter(None, lines), "no reason given")
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def why_skipped(report: Any) -> str:
    """The reason of a skip, without the word that pytest puts before it."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    return str(text).removeprefix("Skipped: ")[:LONGEST]


class Recorder:
    """Hooks of the process that knows all results."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.collected = False
        self.began: dict[str, float] = {}

    def write(self, test: str, outcome: str, reason: str = "") -> None:
        seconds = monotonic() - self.began.get(test, monotonic())
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"test": test, "outcome": outcome, "reason": reason, "seconds": seconds}) + "\n")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            self.write(item.nodeid, "collected")

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        if not self.collected:  # all workers collect the same
            for nodeid in ids:
                self.write(nodeid, "collected")
        self.collected = True

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.began[nodeid] = monotonic()
        self.write(nodeid, "started")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            reason, seconds = first_line(report), monotonic() - self.began.get(report.nodeid, monotonic())
            if "crashed while running" in reason:  # so pytest-timeout ends a worker whose test takes too long
                reason = f"its process ended after {seconds:.0f} s: it crashed, or the time limit of the test was over"
            self.write(report.nodeid, "failed", reason)
        elif report.when == "call" or report.skipped:
            self.write(report.nodeid, "xfailed" if hasattr(report, "wasxfail") else report.outcome, why_skipped(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(report.nodeid, "failed", first_line(report))
        elif report.skipped:
            self.write(report.nodeid, "skipped", why_skipped(report))


def dump_stacks(terminal: object) -> None:
    """Print the stacks of all threads to the log: pytest-timeout prints them to a terminal, which a worker does not have."""
    faulthandler.dump_traceback(2)  # the capture of the test's output is suspended by now


def pytest_configure(config: pytest.Config) -> None:
    """Record, and hide the variables from what the tests start: the tests of a pytest that they start are not counted."""
    worker = hasattr(config, "workerinput")
    if worker:
        pytest_timeout.dump_stacks = dump_stacks
    elif "CI_RECORD" in os.environ:
        config.pluginmanager.register(Recorder(os.environ["CI_RECORD"]))
    if worker or not config.getoption("numprocesses", None):  # workers get them from the controller
        for name in ("CI_RECORD", "PYTEST_ADDOPTS", "PYTHONPATH"):
            os.environ.pop(name, None)
