"""Text for terminals: long lines are broken between words. A terminal itself would break them within words."""

from __future__ import annotations

from textwrap import TextWrapper
from typing import TextIO


def write_text(stream: TextIO, text: str) -> None:
    """Write a text and a line end to a stream, with lines that fit if it is a terminal."""
    if stream.isatty():
        from shutil import get_terminal_size

        text = fitted(text, get_terminal_size().columns)
    stream.write(f"{text}\n")


def fitted(text: str, width: int) -> str:
    """Return a text in which lines longer than `width` are broken between words; continuation lines are indented.

    A word that is longer than a line is not broken. A `width` below 20 counts as 20.

    >>> print(fitted("  rank 0: Recv at program.py:3 waits", 24))
      rank 0: Recv at
        program.py:3 waits
    """
    lines: list[str] = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        wrapper = TextWrapper(
            max(width, 20), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, expand_tabs=False,
            replace_whitespace=False, drop_whitespace=True,
        )  # fmt: skip
        lines += (wrapper.wrap(line) if len(line) > width else [line]) or [""]
    return "\n".join(lines)
