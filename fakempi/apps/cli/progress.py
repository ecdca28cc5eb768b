"""Progress bars on standard error."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn


class TerminalProgress(Progress):
    """A progress bar that is shown only on a terminal, and removed at its end."""

    def __init__(self, screen: Console, *columns: str | ProgressColumn, hidden: bool = False, **options: Any) -> None:
        super().__init__(*columns, console=screen, transient=True, disable=hidden or not screen.is_terminal, **options)

    def stop(self) -> None:
        """End the display. Older versions of rich print an empty line in place of a bar that is not shown."""
        if not self.disable:
            super().stop()
