"""One test on several numbers of ranks, smallest first: `mpi(ranks="1..16")`, `mpi(ranks=range(1, 17))`, `--mpi-ranks`.

Each number is a run of the whole test with its setup and teardown, so that fixtures are new. pytest receives the
reports of one number: the smallest that fails. `mpi(ranks=[1, 2])` is one test per number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from fakempi.apps.testing.limits import OUTCOME
from fakempi.apps.testing.markers import MARKERS, NUMBER, sizes
from fakempi.core.rank_numbers import on_ranks
from fakempi.core.result_comparison import MISSING, ResultParts, first_difference

ORDER = ("xfailed", "xpassed", "passed", "skipped")
"""Which result is that of the test if it fails on no number."""

XPASS_STRICT = "[XPASS(strict)]"


def run_on_each(item: Any, mark: pytest.Mark, nextitem: pytest.Item | None) -> None:
    """Run a test on each number of ranks until it fails on one, and report that number; else one that did not fail.

    A failure that is expected (`xfail`) does not end the sequence, because it says nothing about larger numbers.
    """
    numbers = [size for size in sizes(mark) if size >= mark.kwargs.get("min_size", 1)] or sizes(mark)[-1:]
    results: dict[int, str] = {}
    reports: dict[str, list[pytest.TestReport]] = {}  # kind of result -> those of the last number, of "xfailed" the first
    recorded = RecordedResults()
    seconds: dict[str, float] = {}  # phase -> time on all numbers
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for size in numbers:
        _renew(item, size)
        found = runtestprotocol(item, log=False, nextitem=item.parent)  # fixtures of the class and module remain
        results[size] = kind = _kind(found)
        if kind == "passed" and (difference := recorded.differs(item, size)):
            results[size] = kind = "failed"
            call = next(report for report in found if report.when == "call")
            call.outcome, call.longrepr = "failed", difference
        if kind != "xfailed" or kind not in reports:
            reports[kind] = found
        for report in found:
            seconds[report.when] = seconds.get(report.when, 0.0) + report.duration
        if kind == "failed" or item.session.shouldstop or item.session.shouldfail:
            break
    chosen = next(reports[kind] for kind in ("failed", *ORDER) if kind in reports)
    for report in _torn_down(item, chosen, nextitem):
        report.duration = seconds[report.when]
        if report.failed and "failed" in reports:
            _add_numbers(report, mark, results, numbers)
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


class RecordedResults:
    """The results that a test records with `fakempi.result`: they must be equal on all numbers of ranks."""

    def __init__(self) -> None:
        self.first: tuple[int, ResultParts] | None = None

    def differs(self, item: Any, size: int) -> str:
        """Compare the results on a number of ranks with the first ones; return a text on the first difference."""
        outcome = item.stash.get(OUTCOME, None)
        if outcome is None or outcome.results is None or outcome.drawn:  # examples of Hypothesis differ
            return ""
        parts = outcome.results.of_lowest_rank()
        if self.first is None:
            self.first = size, parts
            return ""
        difference = first_difference(self.first[1], parts)
        if difference is None:
            return ""
        left, right = (value if value == MISSING else repr(value) for value in (difference.left, difference.right))
        by = "" if difference.size is None else f" (difference {difference.size:.6g})"
        before = on_ranks([self.first[0]])
        values = f"{left} on {before}, {right} on {on_ranks([size])}{by}"
        return f"result {difference.where} depends on the number of ranks: {values}"


def _torn_down(item: Any, chosen: Sequence[pytest.TestReport], nextitem: pytest.Item | None) -> list[pytest.TestReport]:
    """Tear down what the next test does not use, such as the module; return the reports, with an error of that."""
    call = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), when="teardown")
    if call.excinfo is None or any(report.failed for report in chosen):
        return [*chosen]
    return [*chosen[:-1], item.ihook.pytest_runtest_makereport(item=item, call=call)]


def _renew(item: Any, size: int) -> None:
    """Prepare a test for the next number. If it needs private modules on one number, it keeps them on the larger ones."""
    if OUTCOME in item.stash:
        del item.stash[OUTCOME]
    item.stash[NUMBER] = size
    if hasattr(item, "_initrequest"):
        item._initrequest()


def _kind(found: Sequence[pytest.TestReport]) -> str:
    """Return how the test ended on one number."""
    for report in found:
        if report.failed and str(report.longrepr).startswith(XPASS_STRICT):
            return "xpassed"
    if any(report.failed for report in found):
        return "failed"
    expected = [report for report in found if hasattr(report, "wasxfail")]
    if expected:
        return "xfailed" if any(report.skipped for report in expected) else "xpassed"
    return "skipped" if any(report.skipped for report in found) else "passed"


def _add_numbers(report: pytest.TestReport, mark: pytest.Mark, results: dict[int, str], numbers: Sequence[int]) -> None:
    """Add the numbers of ranks to the report of the one that fails, and the decorator that repeats it."""
    size = next(size for size, kind in results.items() if kind == "failed")
    parts = [f"fails on {on_ranks([size])}"]
    for verb, kinds in (("passes", ("passed", "xpassed")), ("fails as expected", ("xfailed",)), ("skipped", ("skipped",))):
        if those := [number for number, kind in results.items() if kind in kinds]:
            parts.append(f"{verb} on {on_ranks(those)}")
    if rest := [number for number in numbers if number not in results]:
        parts.append(f"not run on {on_ranks(rest)}")
    given = {**mark.kwargs, MARKERS[mark.name][0]: size}
    texts = ", ".join(f"{name}={value!r}" for name, value in given.items())
    lines = f"{'; '.join(parts)}\ndecorator: @pytest.mark.{mark.name}({texts})"
    sections = dict(report.sections)
    sections["MPI"] = "\n".join(filter(None, (lines, sections.pop("MPI", ""))))
    report.sections = [*sections.items()]
