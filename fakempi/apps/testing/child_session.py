"""pytest on every rank of `fakempi run --processes`: the sessions exchange their results at their ends.

The output is that of ranks of one process, except that the failures of all ranks other than 0 are printed by the last rank.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from fakempi.apps.testing.markers import marker_of
from fakempi.apps.testing.records.junit_report import JunitReport, redirected
from fakempi.apps.testing.session import INTERRUPTED, RankSession, RunSummary

KEY = "pytest"

NO_LIMIT = "time limits of marked tests have no effect with fakempi run --processes: use fakempi run --processes --timeout"


class ChildSession(RankSession):
    """The plugin of one rank's pytest session, in the process of the rank."""

    def __init__(self, config: pytest.Config, process: Any) -> None:
        super().__init__(config, process)
        self.process = process
        self.junit_path = self.junit_text = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Warn about a time limit that ranks of one process would have. The limits of pytest-timeout end a process."""
        mark = marker_of(item)
        limits = item.config.getoption("--mpi-timeout"), None if mark is None else mark.kwargs.get("timeout")
        if any(limit is not None for limit in limits):
            item.warn(pytest.PytestWarning(NO_LIMIT))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """End the session when the run has ended, because every following test would report the same error."""
        if call.excinfo is not None and self.process.channel.ended:
            sentence = f"{INTERRUPTED}; the reason is reported at the end of the run"
            item.repr_failure = lambda *_: sentence  # type: ignore[method-assign]  # only this item
            item.session.shouldfail = "the run has ended"
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Keep the JUnit report of this rank; the last rank merges the reports of all."""
        if self.size == 1:
            return (yield)
        with redirected(session.config) as (self.junit_path, own):
            result = yield
            if own:
                self.junit_text = Path(own).read_text(encoding="utf-8")
        return result

    def pytest_unconfigure(self) -> None:
        """Send the results of this rank to the parent; the last rank prints the failures and the summary of all."""
        if self.reporter is not None:
            self.summary.totals[self.rank] = ", ".join(text for text, _ in self.reporter.build_summary_stats_line()[0])
        texts = self.failure_texts if self.rank else []
        if self.process.channel.ended:  # other ranks may have been killed, and the last one would not print anything
            sys.stdout.write("".join(text for _, text in texts))
            texts = []
        own = {
            "rank": self.rank, "total": self.summary.totals.get(self.rank, ""), "texts": texts,
            "failed": [[*key, line] for key, ranks in self.summary.failed.items() for line in ranks.values()],
            "interrupted": list(self.summary.interrupted), "junit": self.junit_text,
        }  # fmt: skip
        results = [json.loads(text) for text in self.process.add_note(KEY, json.dumps(own))]
        if len(results) == self.size > 1:
            self._conclude(sorted(results, key=lambda result: int(result["rank"])))

    def _conclude(self, results: list[Any]) -> None:
        """Print the failures that no other rank has reported, and the summary; write the JUnit report."""
        summary, junit = RunSummary(), JunitReport()
        for result in results:
            rank = result["rank"]
            summary.totals[rank] = result["total"]
            for test in result["interrupted"]:
                summary.interrupted.setdefault(test, []).append(rank)
            texts = {tuple(key): text for key, text in result["texts"]}
            for test, place, line in result["failed"]:
                if (test, place) not in summary.failed:
                    sys.stdout.write(texts.get((test, place), ""))
                summary.failed.setdefault((test, place), {})[rank] = line
            if result["junit"]:
                junit.add(io.StringIO(result["junit"]), rank, self.size)
        sys.stdout.write(summary.report(self.size))
        junit.write(self.junit_path)
