"""Fit views to the height of the terminal, and use a pager for those that do not fit, as `git log` does."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console, RenderableType

MINIMUM_ROWS = 8
"""The minimum number of rows of a timeline. If fewer fit, the output is paged."""
EXTRA_LINES = 6
"""Lines of a timeline that are not rows, plus the shell's prompt after it."""


def rows_left(out: Console, others: Sequence[RenderableType]) -> int:
    """Return the number of timeline rows that fit next to the other views; if these are too few, the number without them."""
    available = out.height - sum(len(out.render_lines(other, pad=False)) + 1 for other in others) - EXTRA_LINES
    return available if available >= MINIMUM_ROWS else max(out.height - 8, MINIMUM_ROWS)


def show(out: Console, views: Sequence[Any], pager: bool = True) -> None:
    """Print views; use a pager if the terminal is not high enough."""
    with out.capture() as captured:
        for view in views:
            out.print(view)
    text = captured.get()
    command = _pager() if pager and sys.stdout.isatty() and len(text.splitlines()) >= out.height else []
    if not command or not _paged(command, text):
        out.file.write(text)
        out.file.flush()


def _pager() -> list[str]:
    """Return the command in $PAGER, by default `less`, or an empty list if it is `cat`, empty or not installed."""
    command = shlex.split(os.environ.get("PAGER", "less"))
    return command if command and command != ["cat"] and shutil.which(command[0]) else []


def _paged(command: list[str], text: str) -> bool:
    """Run the pager on a text; return whether it could be started."""
    environment = {"LESS": "FRX", **os.environ}  # exit if one screen suffices, keep colors, leave the text on the screen
    try:
        pager = subprocess.Popen(command, stdin=subprocess.PIPE, encoding="utf-8", env=environment)
    except OSError:
        return False
    while True:
        try:
            pager.communicate(text)
            return True
        except KeyboardInterrupt:  # the pager receives it as well, and decides whether to quit
            continue
