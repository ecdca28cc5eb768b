"""`fakempi check`: run a script in the schedules that MPI allows, and print one verdict."""

from __future__ import annotations

import io
import sys
import traceback
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from fakempi.apps.cli.comparison.progress import TerminalProgress
from fakempi.apps.cli.console import console, error_console, print_command, print_text
from fakempi.apps.cli.extras import check_figure
from fakempi.apps.cli.interrupts import INTERRUPTED, TERMINATED, Terminated, terminable
from fakempi.apps.cli.running import command_of, ranks_of, report_failure, suppressions
from fakempi.apps.cli.workers import workers
from fakempi.core import options as parse
from fakempi.core.arguments import RunOptions, given_options
from fakempi.core.reports.explain import explained_by
from fakempi.errors import DeadlockError, RankError, RunTimeoutError
from fakempi.errors.plurals import counted
from fakempi.errors.tracebacks import all_shown
from fakempi.isolation import Program, program
from fakempi.modelcheck.search.exploration import Exploration, Failure
from fakempi.modelcheck.search.explore import explore_with
from fakempi.modelcheck.search.options import SearchOptions
from fakempi.modelcheck.search.progress import SIMPLEST
from fakempi.modelcheck.search.rank_output import discarded_output
from fakempi.mpi.base.current import running_process

CLEAN, FAILS, SO_FAR = 0, 1, 4
MAX_SHOWN = 5
"""Maximum number of failures that are shown."""


def check(options: Namespace) -> int:
    """Print the verdict; returns the exit code."""
    command, nprocs = command_of(options), ranks_of(options)
    if options.html and not options.html.endswith(".html"):
        raise parse.usage_error(f"--html {options.html}: the file's name must end in .html.")
    width = check_figure(options) if options.figure else 0.0
    try:
        script = program(command, share=options.share, private=options.private, mpi=options.mpi)
    except SyntaxError as error:
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        return FAILS
    out, so_far = console(), Exploration()
    try:
        with all_shown(options.full_traceback), terminable():
            exploration = _explored(script, nprocs, options, so_far)
    except KeyboardInterrupt as interrupt:
        tokens = ", ".join(failure.schedule for failure in so_far.failures[:MAX_SHOWN])
        failing = f", {len(so_far.failures)} failing: {tokens}" if tokens else ""
        terminated = isinstance(interrupt, Terminated)
        verb = Terminated.verb if terminated else "interrupted"
        print_text(out, f"{verb} after {counted(so_far.runs, 'schedule', ',')}{failing}")
        return TERMINATED if terminated else INTERRUPTED
    failures = exploration.failures
    for number, failure in enumerate(failures[:MAX_SHOWN], 1):
        _show(out, failure, number, script, nprocs, _replay_command(options, failure, command))
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
    if options.figure:
        _write_figure(exploration, options, width)
    print_text(out, _verdict(exploration), "bold red" if failures else "bold")
    for remark in exploration.remarks():
        print_text(out, remark)
    return FAILS if failures else CLEAN if exploration.exhausted else SO_FAR


class RecordedInput:
    """Standard input, which every run of a script reads from its beginning. It is read only when the script does."""

    def __init__(self, source: Any) -> None:
        self.source, self.data = source, bytearray()

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordedInput, (None,)  # in a worker process

    def more(self) -> bytes:
        """Read some bytes that no run has read, and record them."""
        if self.source is None:
            raise OSError("worker processes cannot read standard input: use --jobs 1")
        binary = getattr(self.source, "buffer", None)
        read = self.source.readline().encode() if binary is None else binary.readline()
        self.data += read
        return bytes(read)

    def stream(self) -> TextIO:
        """Return a stream that begins with the first byte."""
        encoding = getattr(self.source, "encoding", None) or "utf-8"
        return io.TextIOWrapper(io.BufferedReader(_InputReader(self)), encoding=encoding)


class _InputReader(io.RawIOBase):
    """A reader of a recorded input, with its own position."""

    def __init__(self, recorded: RecordedInput) -> None:
        super().__init__()
        self.recorded, self.position = recorded, 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, target: Any) -> int:
        """Copy bytes that are recorded, or read more."""
        data = self.recorded.data
        if self.position == len(data):
            self.recorded.more()
        taken = data[self.position : self.position + len(target)]
        target[: len(taken)] = taken
        self.position += len(taken)
        return len(taken)


class CheckedScript:
    """The script as a function for `explore`: an exit code other than 0 is a failure, and all runs have the same input."""

    has_own_library = True
    """Whether each rank sees its own changes of `builtins` and of the standard library, until the run has ended."""

    def __init__(self, script: Program, recorded: RecordedInput) -> None:
        self.script, self.recorded = script, recorded
        self.files = script.files
        self.universe: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return CheckedScript, (self.script, self.recorded)

    def __call__(self, comm: Any) -> None:
        """Run the script on a rank."""
        universe = running_process().universe
        if universe is not self.universe:  # the first rank of a run: the script is not isolated yet
            self.universe, sys.stdin = universe, self.recorded.stream()
        code = self.script(comm)
        if code:
            raise SystemExit(code)


def _explored(script: Program, nprocs: int, options: Namespace, so_far: Exploration) -> Exploration:
    """Run the search, with a transient progress bar; the ranks' output is discarded."""
    screen = error_console()
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with TerminalProgress(screen, *columns, hidden=options.quiet) as progress:
        bar = progress.add_task("", total=options.runs)

        def report(current: Exploration, pending: int) -> None:
            so_far.runs, so_far.failures = current.runs, current.failures
            done = current.runs + current.ended_early
            failing = f", {len(current.failures)} failing" if current.failures else ""
            progress.update(bar, completed=done, description=f"at least {pending:,} more to run{failing}")

        others = {
            "compare": None if options.compare == "none" else options.compare,
            "stop": "first" if options.first else None, "on_run": report,
        }  # fmt: skip
        of_runs = RunOptions.from_command_line(vars(options), seed=None, strict=True, ignore=suppressions(options))
        stdin = sys.stdin
        checked = CheckedScript(script, RecordedInput(stdin or io.StringIO()))
        with workers(options.jobs, options.runs, 0) as executor, discarded_output(), _restored_input(stdin):
            given = given_options(SearchOptions, {**vars(options), **others, "executor": executor})
            return explore_with(SearchOptions(**given), of_runs, checked, nprocs)


@contextmanager
def _restored_input(stdin: Any) -> Iterator[None]:
    """Restore standard input at the end of the block."""
    try:
        yield
    finally:
        sys.stdin = stdin


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


def _write_figure(exploration: Exploration, options: Namespace, width: float) -> None:
    """Write the tree of the schedules that were run."""
    from fakempi.view.figure.canvas import write  # matplotlib is optional, and slow to import
    from fakempi.view.figure.schedule_tree import tree_figure

    notes = [f"schedule {failure.schedule}: {failure.why}" for failure in exploration.failures[:1] if failure.why]
    figure = tree_figure(exploration.summaries, exploration.verdict, notes, width=width, style=options.figure_style)
    write(figure, Path(options.figure), options.figure_style)


def _verdict(exploration: Exploration) -> str:
    lines, notes = [exploration.verdict], "; ".join(exploration.limits)
    if notes and notes not in exploration.verdict:
        lines.append(notes)
    if not exploration.exhausted and exploration.method != SIMPLEST:
        lines.append(exploration.method)
    return "\n".join(lines)
