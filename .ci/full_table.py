"""The file benchmarks/full.out: the last run of each step of `.ci/full`, and tests that no step has run.

`.ci/full` also writes the figures that README.md and docs/conformance.md quote from it. `python .ci/full_table.py` writes
them after a change by hand, as of a merge.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Protocol

MAY_SKIP = {
    "C's long has 4 bytes here": "an architecture without a 64-bit long: Windows",
}
"""Parts of the reasons of tests that may be skipped in every step of `.ci/full`, and what they need."""

HEAD = f"{'date':10} {'commit':8} {'seconds':>7} {'passed':>6} {'failed':>6} {'skipped':>7}  step"
ROW = re.compile(r"(\d{4}-\d\d-\d\d) (\S+) +(\d+|-) (.{6}) (.{6}) (.{7})  (.+)")
SWEEP = re.compile(r"(\d+) (programs|schedules)\b.*?, (\d+) (?:differ|disagree|with another outcome)")
NEVER = "Tests that every step with all extras skips:"
INDENT = " " * 12


class Result(Protocol):
    """A step of script.py."""

    title: str
    seconds: float
    tests: dict[str, tuple[str, str]]
    last: str
    failed: bool
    makes: bool


@dataclass
class Row:
    """A step: when and on which commit it ran, its numbers of tests, and the last line of its output.

    The seconds are "-" in rows that were written by hand, with results of a time when `.ci/full` did not keep them.
    """

    day: str
    commit: str
    seconds: str
    passed: str
    failed: str
    skipped: str
    last: str = ""


def never_run(results: Sequence[Result]) -> dict[str, str]:
    """Tests, and files with tests, that were skipped in each step in which they occur, with a reason."""
    outcomes: dict[str, set[str]] = {}
    reasons: dict[str, str] = {}
    for result in results:
        for test, (outcome, reason) in result.tests.items():
            for name in {test, test.partition("::")[0]}:
                outcomes.setdefault(name, set()).add(outcome)
            if outcome == "skipped":
                reasons.setdefault(test, reason)
    return {test: reason for test, reason in sorted(reasons.items()) if outcomes[test] <= {"skipped", "collected"}}


def unlisted(skipped: Mapping[str, str]) -> Iterator[str]:
    """A line for each test that ran nowhere, and whose reason is not in MAY_SKIP."""
    for test, reason in skipped.items():
        if not any(part in reason for part in MAY_SKIP):
            yield f"SKIPPED {test} - {reason} (make it run, or add it to .ci/full_table.py)"


def row(result: Result, commit: str) -> Row:
    """The row of a step that has just ended."""

    def count(outcome: str) -> str:
        return str(sum(found == outcome for found, _ in result.tests.values()) or "")

    failed = count("failed") or ("1" if result.failed else "")
    last = "" if result.last.startswith("=") else result.last  # of pytest: the same numbers
    return Row(str(date.today()), commit, f"{result.seconds:.0f}", count("passed"), failed, count("skipped"), last)


@dataclass
class Table:
    """The contents of the file: rows by the titles of steps, and tests that were skipped, with reasons."""

    rows: dict[str, Row] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Table:
        """The table of a file; an empty one if there is no file."""
        table, title = cls(), ""
        upper, _, lower = (path.read_text(encoding="utf-8") if path.exists() else "").partition(NEVER)
        for line in upper.splitlines():
            if found := ROW.fullmatch(line):
                day, commit, seconds, *counts, title = found.groups()
                table.rows[title] = Row(day, commit, seconds, *map(str.strip, counts))
            elif title and line.startswith(INDENT):
                table.rows[title].last = line.strip()
        table.skipped = dict(line.strip().split(": ", 1) for line in lower.splitlines() if ": " in line)
        return table

    def add(self, results: Sequence[Result], complete: Sequence[Result], commit: str) -> None:
        """Replace the rows of steps that ran again; `complete` are those that had everything that tests need."""
        self.rows |= {each.title: row(each, commit) for each in results if not each.makes}
        ran = {test for each in complete for test in each.tests}
        kept = {test: reason for test, reason in self.skipped.items() if test not in ran}
        self.skipped = dict(sorted((kept | never_run(complete)).items()))

    def keep(self, titles: Collection[str]) -> None:
        """Remove the rows of steps that a full run does not have any more."""
        self.rows = {title: one for title, one in self.rows.items() if title in titles}

    def text(self, where: str) -> str:
        lines = [f"The last run of each step of `.ci/full` ({where}).", "", HEAD]
        for title, one in self.rows.items():
            counts = f"{one.passed:>6} {one.failed:>6} {one.skipped:>7}"
            lines.append(f"{one.day} {one.commit:8} {one.seconds:>7} {counts}  {title}")
            lines += [f"{INDENT}{one.last}"] * bool(one.last)
        lines += ["", NEVER, *(f"  {test}: {reason}" for test, reason in self.skipped.items())]
        return "\n".join(lines) + "\n"

    def sweeps(self) -> dict[str, tuple[int, str, int]]:
        """How many programs or schedules each sweep has compared, what they are, and how many differ."""
        found = {title: SWEEP.search(one.last) for title, one in self.rows.items()}
        return {title: (int(match[1]), match[2], int(match[3])) for title, match in found.items() if match}

    def quotes(self) -> dict[str, str]:
        """The figures on pages, by the page."""
        lines = ["| sweep | compared | different | date | commit |", "|---|--:|--:|---|---|"]
        total = wrong = 0
        for title, (count, what, differ) in self.sweeps().items():
            one, name = self.rows[title], title.removeprefix("sweep: ").partition(", ")[0]
            lines.append(f"| {name} | {count:,} {what} | {differ:,} | {one.day} | {one.commit} |")
            total, wrong = total + count, wrong + differ
        sentence = (
            "Sweeps compare runs with an independent interpreter, a real MPI, other options and other back ends. "
            f"Of {total:,} programs and\nschedules in the [last ones](docs/conformance.md#sweeps), {wrong:,} differ."
        )
        return {"docs/conformance.md": "\n".join(lines), "README.md": sentence}


BLOCK = re.compile(r"(?<=<!-- full -->\n).*(?=\n<!-- end of full -->)", re.DOTALL)


def write_quotes(table: Table, root: Path) -> None:
    """Replace the figures on the pages."""
    for page, text in table.quotes().items():
        if (path := root / page).exists():
            path.write_text(BLOCK.sub(text.replace("\\", r"\\"), path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write_quotes(Table.read(Path("benchmarks/full.out")), Path())
