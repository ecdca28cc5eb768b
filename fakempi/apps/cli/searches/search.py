"""The search of `fakempi check`: the schedules of a script, with a progress bar."""

from __future__ import annotations

import sys
from argparse import Namespace
from concurrent.futures import Executor
from contextlib import nullcontext
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from fakempi.apps.cli.comparison.progress import TerminalProgress
from fakempi.apps.cli.console import error_console
from fakempi.apps.cli.running import suppressions
from fakempi.apps.cli.searches.recorded_input import RecordedInput, restored_input
from fakempi.apps.cli.workers import workers
from fakempi.core.arguments import RunOptions, given_options
from fakempi.isolation import Program
from fakempi.modelcheck.search.exploration import Exploration
from fakempi.modelcheck.search.explore import explore_with
from fakempi.modelcheck.search.options import SearchOptions
from fakempi.modelcheck.search.rank_output import discarded_output
from fakempi.mpi.base.current import running_process


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


def compared_outcome(text: str) -> str | None:
    """Return what is compared between schedules: a part of `--compare`, without `across`, or the default."""
    between = [part for part in text.split(",") if part != "across"] or ["output"]
    return None if between == ["none"] else between[0]


def explored(
    script: Program, nprocs: int, options: Namespace, so_far: Exploration, recorded: RecordedInput, label: str = "",
    pool: Executor | None = None,
) -> Exploration:  # fmt: skip
    """Run the search, with a transient progress bar; the ranks' output is discarded. `so_far` is kept up to date.

    Without a `pool`, the search starts worker processes if `--jobs` requests them.
    """
    screen = error_console()
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with TerminalProgress(screen, *columns, hidden=options.quiet) as progress:
        bar = progress.add_task("", total=options.runs)

        def report(current: Exploration, pending: int) -> None:
            so_far.runs, so_far.failures = current.runs, current.failures
            done = current.runs + current.ended_early
            failing = f", {len(current.failures)} failing" if current.failures else ""
            progress.update(bar, completed=done, description=f"{label}at least {pending:,} more to run{failing}")

        others = {
            "compare": compared_outcome(options.compare),
            "stop": "first" if options.first else None, "on_run": report,
        }  # fmt: skip
        of_runs = RunOptions.from_command_line(vars(options), seed=None, strict=True, ignore=suppressions(options))
        checked = CheckedScript(script, recorded)
        started = workers(options.jobs, options.runs, 0) if pool is None else nullcontext(pool)
        with started as executor, discarded_output(), restored_input(sys.stdin):
            given = given_options(SearchOptions, {**vars(options), **others, "executor": executor})
            return explore_with(SearchOptions(**given), of_runs, checked, nprocs)
