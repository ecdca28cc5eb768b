"""Text for GitHub: tables in Markdown, annotations, groups of lines in the log, and outputs of a step.

Other systems have no annotations, so without GITHUB_ACTIONS errors and warnings are lines of the log.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

MAX_SHOWN = 20
"""Maximum number of entries of a list in the summary, which may have 1 MiB."""

SPECIAL = {"\\": "\\\\", "|": "\\|", "`": "\\`", "*": "\\*", "__": "\\_\\_", "&": "&amp;", "<": "&lt;"}
"""Characters that Markdown does not show as they are, and what to write instead."""


def say(text: str) -> None:
    """Print a line of the log."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def on_github() -> bool:
    """Whether this is a step of a GitHub workflow."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def group(title: str) -> Iterator[None]:
    """Print the lines of the block as a group that a reader can fold."""
    say(f"::group::{_data(title)}" if on_github() else f"== {title}")
    try:
        yield
    finally:
        if on_github():
            say("::endgroup::")


def error(message: str, title: str = "fakempi", file: str = "", line: int = 0, kind: str = "error") -> None:
    """Annotate a line of a file, or the job if no file is named."""
    file = relative(file)
    if not on_github():
        place = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        say(f"{kind.upper()} {place}{title}: {message}")
        return
    properties = {"file": file, "line": str(line) if line and file else "", "title": title}
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    say(f"::{kind} {listed}::{_data(message)}")


def relative(file: str) -> str:
    """Return the path relative to the repository, as annotations need it; empty for a file outside of it."""
    root = Path(os.environ.get("GITHUB_WORKSPACE") or os.curdir).resolve()
    path = Path(file).resolve()
    return path.relative_to(root).as_posix() if file and path.is_relative_to(root) else ""


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def output(name: str, value: str) -> None:
    """Set an output of the step."""
    if path := os.environ.get("GITHUB_OUTPUT"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{name}={value}\n")


class StepSummary:
    """The summary of a job, a file to which a step appends."""

    def __init__(self, path: str) -> None:
        self.path = path

    def write(self, *lines: str) -> None:
        """Append lines."""
        if self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write("".join(f"{line}\n" for line in lines))

    def head(self, *cells: str) -> None:
        """Start a table, which a blank line separates from what is above."""
        self.write("", _row(cells), "|---" * len(cells) + "|")

    def row(self, *cells: str) -> None:
        """Append a row at once, so that the rows of a step that is canceled are kept."""
        self.write(_row([escaped(cell) for cell in cells]))

    def items(self, title: str, entries: Sequence[str]) -> None:
        """Append a list, shortened; nothing if there are no entries."""
        if entries:
            more = [f"- and {len(entries) - MAX_SHOWN} more"] if len(entries) > MAX_SHOWN else []
            self.write("", title, "", *(f"- {escaped(entry)}" for entry in entries[:MAX_SHOWN]), *more)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """Return text of a program such that Markdown shows it as it is, in one line."""
    for special, instead in SPECIAL.items():
        text = text.replace(special, instead)
    return " ".join(text.split())
