"""Pictures on a terminal: as high as it is where they can be, and page by page where they cannot, as git shows its log."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console, RenderableType

LEAST = 8
"""Rows of a timeline, at least: fewer say too little, and then it is rather paged."""
AROUND = 6
"""Lines of a timeline that are no rows, and of the prompt after it."""


def rows_left(out: Console, others: Sequence[RenderableType]) -> int:
    """How many rows a timeline may have for all to be seen at once; if that is too few, how many of them fit alone."""
    left = out.height - sum(len(out.render_lines(other, pad=False)) + 1 for other in others) - AROUND
    return left if left >= LEAST else max(out.height - 8, LEAST)


def show(out: Console, things: Sequence[Any], pager: bool = True) -> None:
    """Print them; on a terminal that is not high enough, through a pager."""
    with out.capture() as captured:
        for thing in things:
            out.print(thing)
    text = captured.get()
    command = _pager() if pager and sys.stdout.isatty() and len(text.splitlines()) >= out.height else []
    if not command or not _paged(command, text):
        out.file.write(text)
        out.file.flush()


def _pager() -> list[str]:
    """What people have chosen, which may be nothing, or less if it is there."""
    chosen = os.environ.get("PAGER", "less")
    words = shlex.split(chosen)
    return words if words and words != ["cat"] and shutil.which(words[0]) else []


def _paged(command: list[str], text: str) -> bool:
    """Whether a pager showed it. Less is asked to keep colours, and what was shown, and to end if it all fits."""
    environment = {"LESS": "FRX", **os.environ}
    try:
        pager = subprocess.Popen(command, stdin=subprocess.PIPE, encoding="utf-8", env=environment)
    except OSError:
        return False
    while True:
        try:
            pager.communicate(text)
            return True
        except KeyboardInterrupt:  # which the pager gets as well, and makes of it what it likes
            continue
