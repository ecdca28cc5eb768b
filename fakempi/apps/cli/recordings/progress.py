"""Progress of `fakempi replay` on standard error: a bar on a terminal, and lines on request."""

from __future__ import annotations

from time import monotonic
from types import TracebackType

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from fakempi.apps.cli.comparison.progress import PERIOD, TerminalProgress
from fakempi.apps.cli.console import error_console


class ReplayProgress:
    """A context manager around reading a recording and replaying it."""

    def __init__(self, is_requested: bool) -> None:
        screen = error_console()
        columns = BarColumn(24), TextColumn("{task.percentage:3.0f} %"), TimeElapsedColumn(), TextColumn("about")
        text = TextColumn("left: {task.description}")
        self.bar = TerminalProgress(screen, *columns, TimeRemainingColumn(), text)
        self.lines = screen if is_requested and not screen.is_terminal else None
        self.task = self.bar.add_task("", total=1)
        self.printed, self.total, self.done, self.step = monotonic(), 1.0, 0.0, ""

    def __enter__(self) -> ReplayProgress:
        self.bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.bar.stop()

    def start(self, step: str, total: float) -> None:
        """Start a step with a number of events; `step` names it."""
        self.total, self.done, self.step = max(total, 1), 0.0, step
        self.bar.reset(self.task, total=self.total, description=step)

    def reach(self, done: float) -> None:
        """Record that a number of events is done."""
        self.done = done
        self.bar.update(self.task, completed=done)
        if self.lines is not None and (now := monotonic()) >= self.printed + PERIOD:
            self.lines.print(f"{self.step}: {done / self.total:.0%}", soft_wrap=True)
            self.printed = now

    def advance(self, events: int) -> None:
        """Record that further events are done."""
        self.reach(self.done + events)
