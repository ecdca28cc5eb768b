"""The contents of benchmarks/full.out, which `.ci/full` writes: its steps with their numbers, and tests that ran in none."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Protocol

MAY_SKIP = {
    "C's long has 4 bytes here": "an architecture without a 64-bit long: Windows",
}
"""Parts of the reasons of tests that may be skipped in every step of `.ci/full`, and what they need."""


class Result(Protocol):
    """A step of steps.py."""

    title: str
    seconds: float
    tests: dict[str, tuple[str, str]]
    last: str

    def count(self, outcome: str) -> int: ...


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


def unlisted(results: Sequence[Result]) -> Iterator[str]:
    """A line for each test that ran nowhere, and whose reason is not in MAY_SKIP."""
    for test, reason in never_run(results).items():
        if not any(part in reason for part in MAY_SKIP):
            yield f"SKIPPED {test} - {reason} (make it run, or add it to .ci/full_table.py)"


def table(results: Sequence[Result], passed: int, failed: int, seconds: float) -> str:
    """The text of benchmarks/full.out."""
    described = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    lines = [
        f".ci/full of {described.stdout.strip()}, {date.today()}, {platform.machine()}, Python {platform.python_version()}: "
        f"{passed} passed, {failed} failed, {seconds:.0f} s",
        "",
        f"{'seconds':>7} {'passed':>7} {'skipped':>7}  step",
    ]
    for result in results:
        counts = [f"{result.count(outcome) or '':>7}" for outcome in ("passed", "skipped")]
        lines.append(f"{result.seconds:7.0f} {' '.join(counts)}  {result.title}")
        if not result.tests and result.last:
            lines.append(f"{'':25}{result.last}")
    lines += ["", "Tests that were skipped in every step:"]
    lines += [f"  {test}: {reason}" for test, reason in never_run(results).items()] or ["  none"]
    return "\n".join(lines) + "\n"
