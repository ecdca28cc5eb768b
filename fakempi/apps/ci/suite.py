"""The step `tests`: pytest on its own, which runs marked tests on their numbers of ranks, and pytest on all ranks of a run.

The step fails if a command fails, and if a test ran in no command: each was skipped because of the number of ranks.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from fakempi.apps.ci.command import GRACE, CommandEnd, run_command
from fakempi.apps.ci.github import StepSummary, error, group, say
from fakempi.apps.ci.inputs import StepInputs
from fakempi.apps.ci.record import SuiteRecord
from fakempi.apps.testing.environment import RECORD
from fakempi.apps.testing.session import INTERRUPTED
from fakempi.core.reports.ranks import ranks_text
from fakempi.errors.paths import short_path
from fakempi.errors.plurals import counted
from fakempi.errors.records import Finding

MAX_ANNOTATIONS = 10
"""GitHub shows ten errors and ten warnings of a step."""


@dataclass
class SuiteResults:
    """The results of all commands."""

    failed: bool = False
    records: list[SuiteRecord] = field(default_factory=list)
    failures: dict[tuple[str, str, int], tuple[str, list[str]]] = field(default_factory=dict)  # -> message, commands
    findings: dict[tuple[str, str, int], None] = field(default_factory=dict)  # (text, file, line)

    def never_run(self) -> dict[str, str]:
        """Return the tests that were selected but ran in no command, and the numbers of ranks that they request."""
        ran = set[str]().union(*(record.ran for record in self.records))
        names = dict.fromkeys(name for record in self.records for name in record.collected if name not in ran)
        wanted = {name: [text for record in self.records for text in record.wanted.get(name, ())] for name in names}
        return {name: " or ".join(dict.fromkeys(texts)) for name, texts in wanted.items()}


def run_tests(inputs: StepInputs) -> int:
    """Run all commands, append the summary; returns the exit code."""
    if not inputs.tests:
        say("The input tests is empty: no tests are run.")
        return 0
    summary, results = StepSummary(inputs.summary), SuiteResults()
    summary.head("command", "ranks", "result", "tests", "findings", "time")
    with TemporaryDirectory() as directory:
        for number, (title, ranks, command) in enumerate(commands(inputs, Path(directory, "findings.json"))):
            with group(f"{title} {shlex.join(inputs.tests)}{f' on {ranks} ranks' if ranks else ''}"):
                _run(inputs, results, summary, (title, ranks, command), Path(directory, f"{number}.jsonl"))
            Path(directory, "findings.json").unlink(missing_ok=True)
    _report(results, summary, inputs)
    return int(results.failed)


def commands(inputs: StepInputs, findings: Path) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the title, the number of ranks (0: those of the markers) and the command of each row."""
    if inputs.plain:
        options = ["--mpi4py=emulated", *["--mpi-strict"] * inputs.strict]
        yield (
            "pytest",
            0,
            [sys.executable, "-m", "pytest", *options, *_junit(inputs, "pytest"), *inputs.tests],
        )
    for ranks in inputs.ranks:
        options = ["--timeout", f"{inputs.timeout:g}"] * bool(inputs.timeout) + ["--strict"] * inputs.strict
        options += ["--processes"] * inputs.processes
        run = [sys.executable, "-m", "fakempi", "run", "-n", str(ranks), *options, "--findings", f"json:{findings}"]
        suite = ["-m", "pytest", *_junit(inputs, f"pytest-{ranks}-ranks"), *inputs.tests]
        yield "fakempi run -m pytest", ranks, [*run, *suite]


def _junit(inputs: StepInputs, name: str) -> list[str]:
    return [f"--junitxml={Path(inputs.junit, name)}.xml"] if inputs.junit else []


def _run(
    inputs: StepInputs, results: SuiteResults, summary: StepSummary, row: tuple[str, int, list[str]], path: Path
) -> None:
    """Run a command and append its row."""
    title, ranks, command = row
    end = run_command(command, inputs.timeout + (min(inputs.timeout, GRACE) if ranks else 0), {RECORD: str(path)})
    record = SuiteRecord.read(path)
    results.records.append(record)
    result = result_of(end, record, inputs.timeout)
    for failure, message in record.failures.items():
        message = end.reason or message if message.startswith(INTERRUPTED) else message
        results.failures.setdefault(failure, (message, []))[1].append(f"{ranks} ranks" if ranks else title)
    findings = [(event["text"], event["file"], event["line"]) for event in record.findings]
    findings += _findings_of_run(path.parent / "findings.json", record)
    results.findings |= dict.fromkeys(findings)
    results.failed |= result != "passed"
    tests = "; ".join(filter(None, (record.summary(), end.reason, "" if record.ran else end.usage_error))) or end.last_line
    if result != "passed" and not record.failures:
        error(f"{result}: {tests}", f"{title} on {ranks} ranks" if ranks else title)
    kinds = ", ".join(dict.fromkeys(text.partition(":")[0] for text, _, _ in findings))
    summary.row(title, str(ranks or "as marked"), result, tests, kinds, f"{end.seconds:.0f} s")


def result_of(end: CommandEnd, record: SuiteRecord, limit: float) -> str:
    """Return the result of a command; one that exits with 0 fails if a session did not end or was not recorded."""
    result = end.text(limit)
    if result == "passed" and not record.totals:
        say("The pytest plugin of fakempi was not loaded, so it is unknown which tests ran.")
        return "failed (no record)"
    return "failed (not ended)" if result == "passed" and len(record.totals) < record.size else result


def _findings_of_run(path: Path, record: SuiteRecord) -> list[tuple[str, str, int]]:
    """Print the findings of `fakempi run`; returns the text, the file and the line of each that is not a note.

    A finding has the name of its file without directories, so only files of tests are known, and only if one has the name.
    """
    files = dict.fromkeys(os.path.join(record.root, name.partition("::")[0]) for name in record.collected)
    found: list[tuple[str, str, int]] = []
    for values in json.loads(path.read_text(encoding="utf-8")) if path.exists() else []:
        finding = Finding(**{**values, "rank_names": ranks_text(values["ranks"])})
        if not finding.note:
            say(f"{'' if found else 'findings:'}\n  {finding}".lstrip("\n"))
            name, _, line = finding.place.rpartition(":")
            matching = [file for file in files if short_path(file) == name]
            known = line.isdigit() and len(matching) == 1
            found.append((str(finding), matching[0] if known else "", int(line) if known else 0))
    return found


def _report(results: SuiteResults, summary: StepSummary, inputs: StepInputs) -> None:
    """Annotate failures, findings and tests that never ran, and list them in the summary."""
    never = results.never_run()
    wanted = "ran on no number of ranks: it needs {} ranks"
    lines = [f"{name} {wanted.format(ranks) if ranks else 'did not run'}" for name, ranks in never.items()]
    root = next((record.root for record in results.records if record.root), "")
    for number, line in enumerate(lines):
        file = os.path.join(root, line.partition("::")[0])
        error(line, "a test that never ran", file) if number < MAX_ANNOTATIONS else say(f"never ran: {line}")
    results.failed |= bool(lines)
    if any(never.values()):
        say("Add a number of ranks that they need to the input ranks" + ", or set plain-pytest: true" * (not inputs.plain))
    for (test, file, number), (message, titles) in list(results.failures.items())[:MAX_ANNOTATIONS]:
        error(message or "failed", f"{test} ({', '.join(titles)})", file, number)
    for text, file, number in list(results.findings)[:MAX_ANNOTATIONS]:
        error(text, "finding", file, number, kind="error" if inputs.strict else "warning")
    summary.items(f"**{counted(len(lines), 'test')} never ran:**", lines)
    failed = [f"{test} ({', '.join(titles)}): {message}" for (test, _, _), (message, titles) in results.failures.items()]
    summary.items(f"**{counted(len(failed), 'failure')}:**", failed)
    summary.items(f"**{counted(len(results.findings), 'finding')}:**", [text for text, _, _ in results.findings])
