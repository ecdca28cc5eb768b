"""The report of `fakempi check`: each failure with its reason and the command that replays it, and the verdict."""

from __future__ import annotations

import io
from argparse import Namespace
from contextlib import redirect_stderr

from rich.console import Console

from fakempi.apps.cli.console import print_command, print_text
from fakempi.apps.cli.extras import check_figure, save_figure
from fakempi.apps.cli.running import report_failure
from fakempi.core import options as parse
from fakempi.core.reports.explain import explained_by
from fakempi.errors import DeadlockError, RankError, RunTimeoutError
from fakempi.errors.plurals import counted
from fakempi.isolation import Program
from fakempi.modelcheck.search.exploration import Exploration, Failure
from fakempi.modelcheck.search.progress import SIMPLEST
from fakempi.modelcheck.search.rank_output import discarded_output

MAX_SHOWN = 5
"""Maximum number of failures that are shown."""


def check_files(options: Namespace) -> float:
    """Check the names of the files to write before the search; returns the width of the figure, or 0 without one."""
    if options.html and not options.html.endswith(".html"):
        raise parse.usage_error(f"--html {options.html}: the file's name must end in .html.")
    return check_figure(options) if options.figure else 0.0


def report_failures(out: Console, exploration: Exploration, script: Program, nprocs: int, options: Namespace) -> None:
    """Print the failures of a search, and write the files that the options request."""
    failures = exploration.failures
    for number, failure in enumerate(failures[:MAX_SHOWN], 1):
        _show(out, failure, number, script, nprocs, _replay_command(options, failure, script.command))
    if len(failures) > MAX_SHOWN:
        out.print(f"and {len(failures) - MAX_SHOWN} more\n")
    if failures and options.traces:
        print_command(out, "to compare them: ", _write_traces(failures[0], options.traces))
    if failures and options.html:
        with discarded_output():
            failures[0].save(options.html)
        alone = failures[0].passes is None
        passing = "for which no passing schedule was found" if alone else "next to a schedule that passes"
        print_text(out, f"the first failure, {passing}: {options.html}\n")


def _replay_command(options: Namespace, failure: Failure, command: list[str]) -> list[str]:
    """Return the command that replays the failing schedule."""
    arguments = ["fakempi", "run", "-n", options.ranks, "--strict", "--schedule", failure.schedule]
    for name in ("cost", "algorithms"):
        if getattr(options, name):
            arguments += [f"--{name}", getattr(options, name)]
    arguments += ["--mpi", options.mpi] if options.mpi != "mpich" else []
    for name in ("share", "private"):
        arguments += [word for package in getattr(options, name) for word in (f"--{name}", package)]
    arguments += [word for kinds in options.ignore for word in ("--ignore", kinds)]
    return [*arguments, *command]


def _show(out: Console, failure: Failure, number: int, script: Program, nprocs: int, replay: list[str]) -> None:
    """Print a failure as `fakempi run` reports it, then its reason and the command that replays it."""
    print_text(out, f"failure {number}, in schedule {failure.schedule}", "bold red")
    error, report = failure.error, io.StringIO()
    if isinstance(error, RankError) and isinstance(error.exception, SystemExit):
        report.write(f"{error.name} ended with exit code {error.exception.code}")
    elif isinstance(error, (RunTimeoutError, RankError, DeadlockError)):
        script.codes.clear()
        with redirect_stderr(report):
            report_failure(error, nprocs, script, hint=False)
    else:
        report.write(str(error))
    print_text(out, report.getvalue().rstrip())
    if failure.why:
        print_text(out, f"why: {failure.why}", "yellow")
    if command := explained_by(error):
        print_text(out, f"for details, run: {command}", "dim")
    print_command(out, "replay: ", replay)


def _write_traces(failure: Failure, name: str) -> list[str]:
    """Write the traces of the failing schedule and of a passing one; returns the command that shows them."""
    files = []
    with discarded_output():
        traces = failure.traces()
    for trace, result in zip(traces, ("fails", "passes"), strict=True):
        if trace is not None:
            files.append(f"{name}.{result}.json")
            trace.save(files[-1])
    return ["fakempi", "view", *files]


def write_figure(exploration: Exploration, options: Namespace, width: float) -> None:
    """Write the tree of the schedules that were run."""
    from fakempi.view.figure.schedule_tree import tree_figure  # matplotlib is optional, and slow to import

    notes = [f"schedule {failure.schedule}: {failure.why}" for failure in exploration.failures[:1] if failure.why]
    style = options.figure_style
    save_figure(tree_figure(exploration.summaries, exploration.verdict, notes, width=width, style=style), options)


def runs_so_far(exploration: Exploration) -> str:
    """Return the number of schedules of a search that was interrupted, and those that fail."""
    tokens = ", ".join(failure.schedule for failure in exploration.failures[:MAX_SHOWN])
    failing = f", {len(exploration.failures)} failing: {tokens}" if tokens else ""
    return f"{counted(exploration.runs, 'schedule', ',')}{failing}"


def full_verdict(exploration: Exploration) -> str:
    """Return the verdict, with the limits and the method of a search that did not cover everything."""
    lines, notes = [exploration.verdict], "; ".join(exploration.limits)
    if notes and notes not in exploration.verdict:
        lines.append(notes)
    if not exploration.exhausted and exploration.method != SIMPLEST:
        lines.append(exploration.method)
    return "\n".join(lines)
