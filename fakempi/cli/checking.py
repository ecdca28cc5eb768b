"""`fakempi check`: a script in every schedule that can differ, and one verdict."""

from __future__ import annotations

import io
import shlex
import sys
import traceback
from argparse import Namespace
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from fakempi import options as typed
from fakempi.cli.console import console
from fakempi.cli.running import command_of, unsuccessful
from fakempi.cli.watching import INTERRUPTED
from fakempi.errors import DeadlockError, RankError, RunTimeout
from fakempi.exploring.explore import SIMPLEST, explore
from fakempi.exploring.found import Failure, Found
from fakempi.script import Program, program

CLEAN, FAILS, SO_FAR = 0, 1, 4
MOST = 5
"""Failures that are shown."""


def check(options: Namespace) -> int:
    """Print the verdict; returns the exit code."""
    command, nprocs = command_of(options), typed.whole(options.ranks)
    if options.html and not options.html.endswith(".html"):
        raise typed.wrong(f"--html {options.html}: the file's name must end in .html.")
    if nprocs < 1:
        raise typed.wrong(f"-n {options.ranks}: there must be at least 1 rank.")
    try:
        script = program(command, share=options.share, private=options.private)
    except SyntaxError as error:
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        return FAILS
    out, so_far = console(), Found()
    try:
        found = _explored(script, nprocs, options, so_far)
    except KeyboardInterrupt:
        tokens = ", ".join(failure.decisions for failure in so_far.failures[:MOST])
        failing = f", {len(so_far.failures)} failing: {tokens}" if tokens else ""
        out.print(f"interrupted after {so_far.runs:,} schedule{'s' * (so_far.runs != 1)}{failing}", soft_wrap=True)
        return INTERRUPTED
    for number, failure in enumerate(found.failures[:MOST], 1):
        _show(out, failure, number, script, nprocs, shlex.join(_again(options, failure, command)))
    if len(found.failures) > MOST:
        out.print(f"and {len(found.failures) - MOST} more\n")
    if found.failures and options.traces:
        out.print(_traced(found.failures[0], options.traces))
    if found.failures and options.html:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            found.failures[0].save(options.html)
        out.print(f"the first failure, beside a schedule that goes well: {options.html}\n", soft_wrap=True)
    out.print(Text(_verdict(found), "bold red" if found.failures else "bold"), soft_wrap=True)
    return FAILS if found.failures else CLEAN if found.exhausted else SO_FAR


class Checked:
    """The script as `explore` takes it: an exit code other than 0 is a failure."""

    def __init__(self, script: Program) -> None:
        self.script = script

    def __call__(self, comm: Any) -> None:
        """On a rank."""
        code = self.script(comm)
        if code:
            raise SystemExit(code)


def _explored(script: Program, nprocs: int, options: Namespace, so_far: Found) -> Found:
    """The search, with a line on the terminal that shows how far it is and goes away; what ranks print is dropped."""
    screen = Console(file=sys.stderr, highlight=False)
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=screen, transient=True, disable=options.quiet or not screen.is_terminal) as progress:
        bar = progress.add_task("", total=options.runs)

        def tell(found: Found, waiting: int) -> None:
            so_far.runs, so_far.failures = found.runs, found.failures
            done = found.runs + found.ended_early
            failing = f", {len(found.failures)} failing" if found.failures else ""
            progress.update(bar, completed=done, description=f"{waiting:,} known to be open{failing}")

        given: dict[str, Any] = {"buffering": options.buffering} if options.buffering else {}
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return explore(
                Checked(script), nprocs, runs=options.runs, seconds=options.seconds, seed=options.seed,
                mixing=options.mixing,
                stop="first" if options.first else None, tell=tell, carrier=options.carrier, timeout=options.timeout,
                cost=typed.cost_model(options.cost) if options.cost else None,
                algorithms=typed.algorithms(options.algorithms) if options.algorithms else None, **given,
            )  # fmt: skip


def _again(options: Namespace, failure: Failure, command: list[str]) -> list[str]:
    """The command that runs this schedule."""
    words = ["fakempi", "run", "-n", options.ranks, "--strict", "--decisions", failure.decisions]
    for name in ("cost", "algorithms"):
        if getattr(options, name):
            words += [f"--{name}", getattr(options, name)]
    for name in ("share", "private"):
        words += [word for package in getattr(options, name) for word in (f"--{name}", package)]
    return [*words, *command]


def _show(out: Console, failure: Failure, number: int, script: Program, nprocs: int, again: str) -> None:
    """What went wrong, as `fakempi run` says it, then why, and how to see it again."""
    out.print(Text(f"failure {number}, in schedule {failure.decisions}", "bold red"))
    error, said = failure.error, io.StringIO()
    if isinstance(error, RankError) and isinstance(error.exception, SystemExit):
        said.write(f"{error.name} ended with exit code {error.exception.code}")
    elif isinstance(error, (RunTimeout, RankError, DeadlockError)):
        script.codes.clear()
        with redirect_stderr(said):
            unsuccessful(error, nprocs, script)
    else:
        said.write(str(error))
    out.print(Text(said.getvalue().rstrip()), soft_wrap=True)
    if failure.why:
        out.print(Text(f"why: {failure.why}", "yellow"), soft_wrap=not out.is_terminal)
    out.print(Text(f"again: {again}\n"), soft_wrap=True)


def _traced(failure: Failure, name: str) -> str:
    """Write what happens in the schedule that fails, and in the one that goes well."""
    files = []
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        traces = failure.traces()
    for trace, what in zip(traces, ("fails", "passes"), strict=True):
        if trace is not None:
            files.append(f"{name}.{what}.json")
            trace.save(files[-1])
    return f"beside each other: {shlex.join(['fakempi', 'view', *files])}\n"


def _verdict(found: Found) -> str:
    lines, notes = [found.verdict], "; ".join(found.limits)
    if notes and notes not in found.verdict:
        lines.append(notes)
    if not found.exhausted and found.method != SIMPLEST:
        lines.append(found.method)
    return "\n".join(lines)
