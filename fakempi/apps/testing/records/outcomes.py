"""Records each test of a session in a file of JSON lines, for continuous integration (`python -m fakempi.apps.ci`).

The environment variable FAKEMPI_TEST_RECORD names the file. All ranks of `fakempi run -m pytest` append to the same file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from typing import Any

import pytest

from fakempi.apps.testing import environment
from fakempi.apps.testing.markers import WRONG_NUMBER, without_size


def requested() -> str:
    """Return the absolute path of the record; empty if none is requested.

    The variable is removed, so that a pytest that a test starts is not recorded.
    """
    path = os.environ.pop(environment.RECORD, "")
    return path and os.path.abspath(path)


class OutcomeRecorder:
    """The plugin that records the tests of one session: of one rank, or of pytest alone."""

    def __init__(self, path: str, config: pytest.Config, rank: int = 0, size: int = 1) -> None:
        self.path, self.config, self.rank, self.size = path, config, rank, size

    def _write(self, event: str, **values: Any) -> None:
        line = json.dumps({"event": event, "rank": self.rank, "size": self.size, **values})
        with open(self.path, "a", encoding="utf-8") as file:  # a session that is killed has written all of its lines
            file.write(line + "\n")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Record the names of all selected tests."""
        if self.rank == 0:
            self._collected([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Record the names of the tests that workers of pytest-xdist will run; all workers collect the same."""
        self._collected(ids)

    def _collected(self, nodeids: list[str]) -> None:
        self._write("collected", root=str(self.config.rootpath), tests=[without_size(nodeid) for nodeid in nodeids])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Record that a test starts."""
        self._write("started", test=nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Record that a test has ended."""
        self._write("finished", test=nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Add the numbers of ranks that a skipped test requests."""
        report = yield
        report.wrong_number = item.stash.get(WRONG_NUMBER, "")
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record an outcome: each phase that failed or was skipped, and the call."""
        if report.when == "call" or report.outcome in ("failed", "skipped"):
            outcome = "passed" if report.skipped and hasattr(report, "wasxfail") else report.outcome
            wanted = getattr(report, "wrong_number", "")
            self._outcome(report, without_size(report.nodeid), outcome, wanted)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a module that cannot be imported."""
        if report.failed:
            self._outcome(report, report.nodeid, "failed", "")

    def _outcome(self, report: pytest.TestReport | pytest.CollectReport, name: str, outcome: str, wanted: str) -> None:
        place = self._place(report) if outcome == "failed" else {}
        self._write("test", test=report.nodeid, name=name, outcome=outcome, wanted=wanted, **place)

    def _place(self, report: Any) -> dict[str, object]:
        """Return the file and the line of a failure, below pytest's root directory if possible, and its first line."""
        crash = getattr(report.longrepr, "reprcrash", None)
        root = str(self.config.rootpath)
        path, line, *_ = getattr(report, "location", None) or (report.nodeid.partition("::")[0], 0)
        path, line = os.path.join(root, path), (line or 0) + 1
        if crash is not None and os.path.abspath(crash.path).startswith(root + os.sep):
            path, line = os.path.abspath(crash.path), crash.lineno
        lines = (crash.message if crash is not None else str(report.longrepr or "")).strip().splitlines()
        return {"file": path, "line": line, "message": lines[0] if lines else ""}

    def pytest_warning_recorded(self, warning_message: Any) -> None:
        """Record a finding."""
        if warning_message.category.__name__ == "MPIFindingWarning":
            place = {"file": os.path.abspath(warning_message.filename), "line": warning_message.lineno}
            self._write("finding", text=str(warning_message.message), **place)

    def pytest_unconfigure(self) -> None:
        """Record the totals, such as `2 passed, 1 skipped`."""
        reporter: Any = self.config.pluginmanager.get_plugin("terminalreporter")
        stats = [] if reporter is None else reporter.build_summary_stats_line()[0]
        self._write("ended", total=", ".join(text for text, _ in stats) or "no summary")
