"""Tests with `mpi(processes=True)`: each rank is a process that runs pytest with this one test."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from fakempi.apps.testing.in_child import OUTCOME_DIRECTORY
from fakempi.core.reports.findings import Finding, headline
from fakempi.core.reports.findings import lines as findings_in_lines
from fakempi.core.world import run
from fakempi.errors import FindingsError, RankError, RunError
from fakempi.processes.program import program_in_processes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def run_in_processes(item: pytest.Item, size: int, options: dict[str, Any]) -> Sequence[Finding]:
    """Run a test on ranks that are processes and return the findings. A failure has the report of the first failed rank."""
    __tracebackhide__ = True
    findings: Sequence[Finding] = ()
    problem: RunError | None = None
    with TemporaryDirectory() as directory:
        with _environment(directory):
            try:
                findings = run(program_in_processes(command(item)), size, **options).findings
            except RunError as error:
                problem, findings = error, error.findings
        outcomes = [_outcome(Path(directory, f"{rank}.json")) for rank in range(size)]
    parts = []
    failed = [rank for rank in range(size) if outcomes[rank]["failed"]]
    if failed:
        others = f" (also {', '.join(map(str, failed[1:]))})" if failed[1:] else ""
        parts.append(f"rank {failed[0]} of {size} failed{others}:\n{outcomes[failed[0]]['failed']}")
    if problem is not None and not (failed and isinstance(problem, RankError)):
        parts.append(str(problem))
    if not parts and not all(outcome["collected"] for outcome in outcomes):
        parts.append(f"pytest found no test {item.nodeid} in the process of a rank")
    if parts:
        if findings and not isinstance(problem, FindingsError):
            parts.append("\n  ".join([f"{headline(findings)}:", *findings_in_lines(findings)]))
        pytest.fail("\n\n".join(parts), pytrace=False)
    if all(outcome["skipped"] for outcome in outcomes):
        pytest.skip(outcomes[0]["skipped"])
    return findings


def command(item: pytest.Item) -> list[str]:
    """Return the command of each rank: pytest with this test, and this project's configuration without `addopts`."""
    config, name = item.config, item.nodeid.partition("::")[2]
    arguments = ["-m", "pytest", "-q", "-p", "no:fakempi", "-p", "fakempi.apps.testing.in_child", "-p", "no:cacheprovider"]
    arguments += ["-o", "addopts=", f"--rootdir={config.rootpath}", f"--import-mode={config.getoption('importmode')}"]
    if config.inipath is not None:
        arguments += ["-c", str(config.inipath)]
    return [*arguments, f"{item.path}::{name}"]


def _outcome(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {"failed": "", "skipped": "", "collected": 0}
    outcome: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return outcome


@contextmanager
def _environment(directory: str) -> Iterator[None]:
    """Set the directory for outcomes, and discard the output of the children, which is part of their reports."""
    before, os.environ[OUTCOME_DIRECTORY] = os.environ.get(OUTCOME_DIRECTORY), directory
    try:
        with redirect_stdout(StringIO()):
            yield
    finally:
        os.environ.pop(OUTCOME_DIRECTORY)
        if before is not None:
            os.environ[OUTCOME_DIRECTORY] = before
