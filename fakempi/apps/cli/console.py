"""Standard output as a rich console, and texts whose lines fit it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from fakempi.view.lines import fitted


class StdoutConsole(Console):
    """A console that lets `main` handle a broken pipe."""

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError, where rich would exit the process."""
        raise BrokenPipeError


def console() -> Console:
    """Return a console for standard output: as wide as the terminal, or 80 columns; with color if the terminal has it."""
    return StdoutConsole(file=sys.stdout, highlight=False, markup=False, emoji=False)


def print_text(out: Console, text: str, style: str = "") -> None:
    """Print a text: on a terminal, long lines are broken between words; elsewhere no line is broken."""
    out.print(Text(fitted(text, out.width) if out.is_terminal else text, style), soft_wrap=True)


def print_command(out: Console, label: str, arguments: Sequence[str]) -> None:
    """Print a command for the user to copy, and an empty line: on a terminal, long lines end in a backslash."""
    words = [shlex.quote(word).replace(" ", "\0") for word in arguments]  # no line ends inside an argument
    text = f"{label}{' '.join(words)}"
    if out.is_terminal and len(text) > out.width:
        text = fitted(text, out.width - 2).replace("\n", " \\\n")
    out.print(Text(text.replace("\0", " ") + "\n"), soft_wrap=True)
