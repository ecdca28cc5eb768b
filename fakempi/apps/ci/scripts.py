"""The step `scripts`: `fakempi check` runs each script in all schedules, on each number of ranks."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

from fakempi.apps.ci.command import GRACE, run_command
from fakempi.apps.ci.github import StepSummary, error, group, output, say
from fakempi.apps.ci.inputs import StepInputs


def run_scripts(inputs: StepInputs) -> int:
    """Check all scripts, append the summary; returns the exit code."""
    if not inputs.scripts:
        say("The input check is empty: no scripts are checked.")
        return 0
    summary, failed, used = StepSummary(inputs.summary), False, set[str]()
    summary.head("script", "ranks", "result", "fakempi check", "page", "time")
    inputs.pages.mkdir(parents=True, exist_ok=True)
    for command in inputs.scripts:
        for ranks in inputs.script_ranks:
            name = page_name(command, ranks if len(inputs.script_ranks) > 1 else 0, inputs.pages, used)
            # The page has the first failure, which other schedules may not show. There is no page if all schedules pass.
            limits = ["--timeout", f"{inputs.timeout:g}", "--seconds", f"{inputs.timeout:g}"] if inputs.timeout else []
            check = ["check", "-n", str(ranks), *limits, "--html", str(inputs.pages / name), *command]
            title = shlex.join(command)
            with group(f"{title} on {ranks} ranks, in all schedules"):
                end = run_command([sys.executable, "-m", "fakempi", *check], inputs.timeout * 2 + GRACE * bool(limits), {})
            result, page = end.text(inputs.timeout), name if (inputs.pages / name).exists() else ""
            summary.row(title, str(ranks), result, end.last_line, page, f"{end.seconds:.0f} s")
            if result != "passed":
                failed = True
                error(end.last_line or result, f"fakempi check -n {ranks} {title}: {result}", _file(command))
    if any((inputs.pages / name).exists() for name in used):
        output("pages", str(inputs.pages))
    return int(failed)


def page_name(command: list[str], ranks: int, pages: Path, used: set[str]) -> str:
    """Return an unused name of a page: a-main.html for a/main.py, a-main-3-ranks.html if a number of ranks is passed."""
    path = command[1] if command[0] == "-m" else command[0].removesuffix(".py")
    if os.path.isabs(path) and Path(path).is_relative_to(Path.cwd()):
        path = os.path.relpath(path)
    stem = "-".join(filter(None, (part.strip(".-") for part in re.split(r"[^\w.]+", path)))) or "script"
    stem += f"-{ranks}-ranks" if ranks else ""
    name, number = f"{stem}.html", 1
    while name.lower() in {one.lower() for one in used} or (pages / name).exists():  # of an earlier step of the job
        number += 1
        name = f"{stem}-{number}.html"
    used.add(name)
    return name


def _file(command: list[str]) -> str:
    return command[0] if os.path.exists(command[0]) else ""
