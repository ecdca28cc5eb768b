"""Progress on standard error: a bar on a terminal; for comparisons with the remaining time, and lines on request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from fakempi.apps.cli.console import error_console

PERIOD = 5.0
"""Seconds between two lines without a terminal."""


class TerminalProgress(Progress):
    """A progress bar that is shown only on a terminal, and removed at its end."""

    def __init__(self, screen: Console, *columns: str | ProgressColumn, hidden: bool = False, **options: Any) -> None:
        super().__init__(*columns, console=screen, transient=True, disable=hidden or not screen.is_terminal, **options)

    def stop(self) -> None:
        """End the display. Older versions of rich print an empty line in place of a bar that is not shown."""
        if not self.disable:
            super().stop()


class CompareProgress:
    """A context manager around all sweeps of a comparison.

    The remaining time is an estimate from the average time of an algorithm and column so far.
    """

    def __init__(self, total: int, is_requested: bool) -> None:
        screen = error_console()
        screen.width -= 4  # the terminal echoes ^C; in a full line it would wrap, and the bar would not be erased
        # In a narrow terminal, only the name of the algorithm is shortened.
        whole, rest = Column(no_wrap=True), Column(no_wrap=True, overflow="ellipsis", ratio=1)
        columns = (
            BarColumn(16),
            MofNCompleteColumn(table_column=whole),
            TimeElapsedColumn(table_column=whole),
            TextColumn("about", table_column=whole),
            TimeRemainingColumn(table_column=whole),
            TextColumn("left: {task.description}", table_column=rest),
        )
        self.bar = TerminalProgress(screen, *columns, expand=True)
        self.lines = screen if is_requested and not screen.is_terminal else None
        self.started = self.printed = monotonic()
        self.total, self.done = total, -1
        self.task = self.bar.add_task("", total=total)

    def __enter__(self) -> CompareProgress:
        self.bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.bar.stop()

    def advance(self, current: str) -> None:
        """Record that the next time is being computed; `current` names it."""
        self.done += 1
        self.bar.update(self.task, completed=self.done, description=current)
        now = monotonic()
        if self.lines is not None and now >= self.printed + PERIOD:
            left = (now - self.started) / max(self.done, 1) * (self.total - self.done)
            self.lines.print(f"{self.done} of {self.total} times, about {left:,.0f} s left: {current}", soft_wrap=True)
            self.printed = now

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Remove the bar while a table is printed."""
        self.bar.stop()
        yield
        self.bar.start()
