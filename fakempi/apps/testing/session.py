"""pytest on every rank of `fakempi run`: rank 0's session is shown as usual, and the failures of the other ranks after it.

All ranks share one terminal. A rank other than 0 prints nothing until its session and that of rank 0 have ended. It then
prints its failures, except those that another rank has reported for the same test and line. A summary of all ranks follows.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Generator
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from _pytest._io import TerminalWriter

from fakempi.apps.testing import environment
from fakempi.apps.testing.fixtures import capturing
from fakempi.apps.testing.limits import in_place_of_pytest_timeout, limit_of
from fakempi.apps.testing.markers import marker_of
from fakempi.apps.testing.records.outcomes import OutcomeRecorder, requested
from fakempi.core.reports.ranks import ranks_text

WIDTH = 80
MAX_MESSAGES = 5
"""Messages of one failed line that the summary shows; ranks often report different numbers."""
INTERRUPTED = "the run ended while this rank was in the test"


class RunSummary:
    """The shared state of one run's sessions: failures by test and line, and the totals of each rank."""

    def __init__(self) -> None:
        self.failed: dict[tuple[str, str], dict[int, str]] = {}  # (test, location) -> rank -> message
        self.interrupted: dict[str, list[int]] = {}  # test -> ranks that were in it when the run ended
        self.totals: dict[int, str] = {}
        self.waiting: list[tuple[tuple[str, str], str]] = []  # failures of other ranks, until the session of rank 0 ends
        self.rank_0_ended = False
        self.sessions = 0  # active sessions
        self.limits: Any = None  # the time limits of tests, once one has a limit
        self.junit: Any = None  # the JUnit report, if one is written
        self.record = ""  # the file in which tests are recorded for continuous integration
        self.recorded: set[int] = set()  # ranks whose sessions are recorded

    def report(self, size: int) -> str:
        """Return the summary, when all sessions have ended."""
        lines = []
        for (test, _), ranks in self.failed.items():
            by_line: dict[str, list[int]] = {}
            for rank, line in ranks.items():
                by_line.setdefault(line, []).append(rank)
            rest = [rank for line in list(by_line)[MAX_MESSAGES:] for rank in by_line.pop(line)]
            lines += [f"FAILED {test} on {ranks_text(sorted(group))} - {line}" for line, group in by_line.items()]
            if rest:
                lines.append(f"FAILED {test} on {ranks_text(sorted(rest))} - other messages")
        lines += [f"ENDED {test} on {ranks_text(sorted(group))} - {INTERRUPTED}" for test, group in self.interrupted.items()]
        by_total: dict[str, list[int]] = {}
        for rank in sorted(self.totals):
            by_total.setdefault(self.totals[rank], []).append(rank)
        totals = [f"{ranks_text(group)} of {size}: {total}" for total, group in by_total.items()]
        if len(totals) == 1:
            totals = [f"all {size} ranks: {self.totals[0]}"]
        return "".join(f"{line}\n" for line in [*lines, *(f" {line} ".center(WIDTH, "=") for line in totals)])


SUMMARIES: WeakKeyDictionary[Any, RunSummary] = WeakKeyDictionary()
"""Universe -> its summary."""


class RankSession:
    """The plugin of one rank's pytest session."""

    def __init__(self, config: pytest.Config, process: Any) -> None:
        self.rank, self.size = process.comm_world.Get_rank(), process.comm_world.Get_size()
        self.universe = process.universe
        self.summary = SUMMARIES.setdefault(process.universe, RunSummary())
        self.summary.sessions += 1
        self.summary.record = requested() or self.summary.record  # ranks may share the variable, which is removed
        if self.summary.record and self.rank not in self.summary.recorded:  # not a session that a test starts
            self.summary.recorded.add(self.rank)
            config.pluginmanager.register(OutcomeRecorder(self.summary.record, config, self.rank, self.size))
        if environment.rank_of_child() is None:  # the descriptors of a process are those of its rank
            config.pluginmanager.register(capturing)
        self.failure_texts: list[tuple[tuple[str, str], str]] = []
        self.reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        if self.rank and self.reporter is not None and not config.getoption("usepdb"):
            config.pluginmanager.unregister(self.reporter)
            self.reporter = type(self.reporter)(config, io.StringIO())
            config.pluginmanager.register(self.reporter, "terminalreporter")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Enforce the time limit of a test: the run ends and reports the position of every rank."""
        with in_place_of_pytest_timeout(item):
            if limit_of(item, marker_of(item)) is None:
                return (yield)
            if self.summary.limits is None:
                from fakempi.apps.testing.calls import load_algorithms  # imported only if needed
                from fakempi.extensions.monitoring.limits import RunLimits

                load_algorithms()
                self.summary.limits = RunLimits(self.universe)
                self.summary.limits.__enter__()
            limit: Any = limit_of(item, marker_of(item))  # again, because the limit starts now
            self.summary.limits.set(self.rank, limit.seconds, limit.remaining, f"{item.nodeid}, {limit.origin}")
            try:
                return (yield)
            finally:
                self.summary.limits.lift(self.rank)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """End the session when the run has ended, because every following test would report the same error."""
        universe = self.universe
        if call.excinfo is not None and (universe.loop.ending or universe.verdict is not None):
            if all(call.excinfo.value is not error for _, error in universe.failures):
                sentence = f"{INTERRUPTED}; the reason is reported at the end of the run"
                item.repr_failure = lambda *_: sentence  # type: ignore[method-assign]  # fast: the rank may be interrupted again
            item.session.shouldfail = "the run has ended"
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        """Ignore a missing PYTEST_CURRENT_TEST: the environment is shared, and another rank may have removed it."""
        try:
            return (yield)
        except KeyError as error:
            if error.args != ("PYTEST_CURRENT_TEST",):
                raise
            return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a failed test."""
        if report.failed:
            self._record(report, "" if report.when == "call" else f"{report.when} of ")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a module that cannot be imported."""
        if report.failed:
            self._record(report, "collection of ")

    def _record(self, report: pytest.TestReport | pytest.CollectReport, phase: str) -> None:
        test = f"{phase}{report.nodeid}"
        if str(report.longrepr).startswith(INTERRUPTED):
            self.summary.interrupted.setdefault(test, []).append(self.rank)
            return
        crash = getattr(report.longrepr, "reprcrash", None)
        line, place = ("", "") if crash is None else (crash.message, f"{crash.path}:{crash.lineno}")
        ranks = self.summary.failed.setdefault((test, place), {})
        ranks[self.rank] = (line or report.longreprtext).partition("\n")[0]
        if len(ranks) == 1:
            sections = [f"{f' {name} '.center(WIDTH, '-')}\n{text}" for name, text in report.sections]
            title = f" {test} on rank {self.rank} of {self.size} ".center(WIDTH, "_")
            parts = [f"\n{title}", *(part.rstrip() for part in (_text(report), *sections))]
            self.failure_texts.append(((test, place), "".join(f"{part}\n" for part in parts)))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Merge the JUnit reports of all ranks."""
        if not session.config.getoption("xmlpath", None):
            return (yield)
        from fakempi.apps.testing.records.junit_report import JunitReport  # imported only if needed

        self.summary.junit = self.summary.junit or JunitReport()
        with self.summary.junit.written(session.config, self.rank, self.size):
            return (yield)

    def pytest_internalerror(self, excrepr: object) -> None:
        """Print an internal error of pytest, which is not a test failure and would not be shown."""
        if self.rank:
            sys.stderr.write(f"pytest on rank {self.rank} of {self.size} failed:\n{excrepr}\n")

    def pytest_unconfigure(self) -> None:
        """Print this rank's failures, after the session of rank 0; the last rank prints the summary."""
        summary = self.summary
        summary.rank_0_ended |= self.rank == 0
        summary.waiting += self.failure_texts if self.rank else []
        if summary.rank_0_ended or self.universe.loop.ending or self.universe.verdict is not None:
            sys.stdout.write("".join(text for key, text in summary.waiting if 0 not in summary.failed[key]))
            summary.waiting.clear()
        if self.reporter is not None:
            self.summary.totals[self.rank] = ", ".join(text for text, _ in self.reporter.build_summary_stats_line()[0])
        if len(self.summary.totals) == self.size > 1:
            sys.stdout.write(self.summary.report(self.size))
        self.summary.sessions -= 1
        if not self.summary.sessions and self.summary.limits is not None:
            self.summary.limits.__exit__(None, None, None)


def _text(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the traceback of a report; `str` would remove the indentation of its first line."""
    file = io.StringIO()
    writer = TerminalWriter(file)
    writer.fullwidth = WIDTH
    report.toterminal(writer)
    return file.getvalue().strip("\n")
