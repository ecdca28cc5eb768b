"""Standard output and standard error as rich consoles that escape control characters, and texts whose lines fit them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from fakempi.errors import LAYOUT_CHARACTERS, printable
from fakempi.view.lines import fitted


class SafeConsole(Console):
    """A console that escapes control characters in texts, which may be from files of other people.

    It lets `main` handle a broken pipe.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable; colors and movements of the cursor are not part of their texts."""
        for segment in super().render(renderable, options):
            text = segment.text
            if segment.control or text == "\n" or text.isprintable():
                yield segment
            else:
                yield segment._replace(text=printable(text, keep=LAYOUT_CHARACTERS))

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError, where rich would exit the process."""
        raise BrokenPipeError


def console() -> Console:
    """Return a console for standard output: as wide as the terminal, or 80 columns; with color if the terminal has it."""
    return SafeConsole(file=sys.stdout, highlight=False, markup=False, emoji=False)


def error_console(**options: Any) -> Console:
    """Return a console for standard error."""
    return SafeConsole(file=sys.stderr, highlight=False, **options)


def print_text(out: Console, text: str, style: str = "") -> None:
    """Print a text: on a terminal, long lines are broken between words; elsewhere no line is broken."""
    out.print(Text(fitted(text, out.width) if out.is_terminal else text, style), soft_wrap=True)


def prose(paragraph: str) -> Text:
    """Return a paragraph in which text in backticks has the style of code."""
    text = Text()
    for index, part in enumerate(" ".join(paragraph.split()).split("`")):
        text.append(part, "cyan" if index % 2 else "")
    return text


def print_command(out: Console, label: str, arguments: Sequence[str]) -> None:
    """Print a command for the user to copy, and an empty line: on a terminal, long lines end in a backslash."""
    words = [shlex.quote(word).replace(" ", "\0") for word in arguments]  # no line ends inside an argument
    text = f"{label}{' '.join(words)}"
    if out.is_terminal and len(text) > out.width:
        text = fitted(text, out.width - 2).replace("\n", " \\\n")
    out.print(Text(text.replace("\0", " ") + "\n"), soft_wrap=True)
