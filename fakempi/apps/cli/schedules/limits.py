"""Verify a schedule within a time limit: an estimate before it starts, and a progress bar."""

from __future__ import annotations

from argparse import Namespace

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from collectives.schedules import Fault, Schedule
from collectives.schedules.monitor import limited
from collectives.schedules.work import estimate
from fakempi.apps.cli.comparison.progress import TerminalProgress
from fakempi.apps.cli.console import error_console, print_text
from fakempi.errors.plurals import counted
from fakempi.view.numbers import amount, seconds

LONG = 2.0
"""Estimated seconds from which the estimate is printed."""


def verified(schedule: Schedule, options: Namespace) -> list[Fault]:
    """Return the faults of a schedule; VerificationTimeoutError after `--seconds`. Both displays are on standard error."""
    screen = error_console()
    time, memory = estimate(schedule)
    if time >= LONG:
        steps = counted(sum(map(len, schedule.steps)), "step", ",")
        limit = f"the limit is {seconds(options.seconds)}"
        print_text(screen, f"verifying {steps}: about {seconds(time, 2)}, at most {amount(memory)}; {limit}")
    with TerminalProgress(screen, BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}")) as progress:
        bar = progress.add_task("")

        def show(stage: str, done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total, description=stage)

        monitor = limited(options.seconds, show)
        return schedule.verify(options.operation or "", ordered=options.ordered or None, monitor=monitor)
