"""pytest itself on every rank of `fakempi run`: rank 0's session is shown as ever, and of the others what failed there.

All ranks share one terminal. A rank other than 0 keeps silent until its session is over, and then shows its failures, unless
another rank has failed in the same test at the same line: that one is named in the last lines, which tell of all ranks.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Generator
from typing import Any
from weakref import WeakKeyDictionary

import pytest

from fakempi.checks.ranks import ranks_in_words
from fakempi.testing.limits import in_place_of_pytest_timeout, limit_of
from fakempi.testing.markers import marker_of

WIDTH = 80
OVER = "the run was over, and this rank was still here"


class Board:
    """What the sessions of one run have in common: who failed where, and how each ended."""

    def __init__(self) -> None:
        self.failed: dict[tuple[str, str], dict[int, str]] = {}  # test and place -> rank -> what went wrong, in a line
        self.over: dict[str, list[int]] = {}  # where ranks were when the run was over
        self.totals: dict[int, str] = {}
        self.sessions = 0  # that are not over
        self.limits: Any = None  # of the tests that ranks are in, once one has any

    def in_words(self, size: int) -> str:
        """The last lines, once all sessions are over."""
        lines = []
        for (test, _), ranks in self.failed.items():
            by_line: dict[str, list[int]] = {}
            for rank, line in ranks.items():
                by_line.setdefault(line, []).append(rank)
            lines += [f"FAILED {test} on {ranks_in_words(sorted(who))} - {line}" for line, who in by_line.items()]
        lines += [f"ENDED {test} on {ranks_in_words(sorted(who))} - {OVER}" for test, who in self.over.items()]
        by_total: dict[str, list[int]] = {}
        for rank in sorted(self.totals):
            by_total.setdefault(self.totals[rank], []).append(rank)
        told = [f"{ranks_in_words(who)} of {size}: {total}" for total, who in by_total.items()]
        if len(told) == 1:
            told = [f"all {size} ranks: {self.totals[0]}"]
        return "".join(f"{line}\n" for line in [*lines, *(f" {line} ".center(WIDTH, "=") for line in told)])


BOARDS: WeakKeyDictionary[Any, Board] = WeakKeyDictionary()
"""By universe."""


class OnEveryRank:
    """One rank's part: a plugin of the pytest session that it runs."""

    def __init__(self, config: pytest.Config, process: Any) -> None:
        self.rank, self.size = process.comm_world.Get_rank(), process.comm_world.Get_size()
        self.universe = process.universe
        self.board = BOARDS.setdefault(process.universe, Board())
        self.board.sessions += 1
        self.shown: list[str] = []
        self.reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        if self.rank and self.reporter is not None and not config.getoption("usepdb"):
            config.pluginmanager.unregister(self.reporter)
            self.reporter = type(self.reporter)(config, io.StringIO())
            config.pluginmanager.register(self.reporter, "terminalreporter")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """If a test takes longer than it may, the run ends and tells where all ranks are, who may be in the middle of it."""
        with in_place_of_pytest_timeout(item):
            if limit_of(item, marker_of(item)) is None:
                return (yield)
            if self.board.limits is None:
                from fakempi.testing.calls import load_algorithms  # not before they are needed
                from fakempi.watch.limits import Limits

                load_algorithms()
                self.board.limits = Limits(self.universe)
                self.board.limits.__enter__()
            limit: Any = limit_of(item, marker_of(item))  # from now on
            self.board.limits.set(self.rank, limit.seconds, limit.left, f"{item.nodeid}, {limit.who}")
            try:
                return (yield)
            finally:
                self.board.limits.lift(self.rank)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """When the run is over, so is the session: what follows would be told the same, test by test."""
        universe = self.universe
        if call.excinfo is not None and (universe.loop.ending or universe.verdict is not None):
            if all(call.excinfo.value is not error for _, error in universe.failures):
                words = f"{OVER}: why it ended is told at its end"
                item.repr_failure = lambda *_: words  # type: ignore[method-assign]  # quickly: it may be told to end once more
            item.session.shouldfail = "the run is over"
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        """The environment is shared: another rank may have taken away the name of the current test already."""
        try:
            return (yield)
        except KeyError as error:
            if error.args != ("PYTEST_CURRENT_TEST",):
                raise
            return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what failed."""
        if report.failed:
            self._keep(report, "" if report.when == "call" else f"{report.when} of ")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Likewise modules that cannot be imported."""
        if report.failed:
            self._keep(report, "collection of ")

    def _keep(self, report: pytest.TestReport | pytest.CollectReport, what: str) -> None:
        test = f"{what}{report.nodeid}"
        if str(report.longrepr).startswith(OVER):
            self.board.over.setdefault(test, []).append(self.rank)
            return
        crash = getattr(report.longrepr, "reprcrash", None)
        line, place = ("", "") if crash is None else (crash.message, f"{crash.path}:{crash.lineno}")
        ranks = self.board.failed.setdefault((test, place), {})
        ranks[self.rank] = (line or report.longreprtext).partition("\n")[0]
        if len(ranks) == 1:
            sections = [f"{f' {name} '.center(WIDTH, '-')}\n{text}" for name, text in report.sections]
            title = f" {test} on rank {self.rank} of {self.size} ".center(WIDTH, "_")
            self.shown += [f"\n{title}\n", *(f"{part.rstrip()}\n" for part in (str(report.longrepr), *sections))]

    def pytest_internalerror(self, excrepr: object) -> None:
        """Which is not a test's failure, and would be kept silent about."""
        if self.rank:
            sys.stderr.write(f"pytest on rank {self.rank} of {self.size} failed:\n{excrepr}\n")

    def pytest_unconfigure(self) -> None:
        """Show what this rank alone has to show; the last one tells of all."""
        if self.rank:
            sys.stdout.write("".join(self.shown))
        if self.reporter is not None:
            self.board.totals[self.rank] = ", ".join(text for text, _ in self.reporter.build_summary_stats_line()[0])
        if len(self.board.totals) == self.size > 1:
            sys.stdout.write(self.board.in_words(self.size))
        self.board.sessions -= 1
        if not self.board.sessions and self.board.limits is not None:
            self.board.limits.__exit__(None, None, None)
