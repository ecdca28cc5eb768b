"""Show a page of the tour: its text, its program, and the program's output."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from fakempi.apps.tour.page import Page

RunCommand = Callable[[Sequence[str]], Any]
"""Runs a `fakempi` command, given its arguments."""

LONG_SUMMARY = {"CI", "BUILD_NUMBER"}
"""Environment variables with which pytest's summary has whole messages, which would not fit the screen."""


class Presenter:
    """Shows pages on a console and runs their programs; `run_command` runs `fakempi` commands.

    A page with a command to try fits a screen of 80 columns and 24 lines. Other pages are two screens: the program and its
    output. `pause` is called between them with a question for the user, and returns whether to continue.
    """

    def __init__(self, out: Console, run_command: RunCommand, pause: Callable[[str], bool] = lambda question: True) -> None:
        self.out, self.run_command, self.pause = out, run_command, pause

    def present(self, number: int, page: Page) -> bool:
        """Show a page and run its program and commands; returns False if the user quits."""
        self.heading(f"{number}  {page.title}")
        self.out.print(page.text)
        self.out.print()
        if page.code:
            self.out.print(Text(page.name, "bold"))
            style: dict[str, Any] = {"theme": "ansi_dark", "background_color": "default", "line_numbers": True}
            self.out.print(Syntax(page.code.rstrip(), "python", **style))
            self.out.print()
        if not page.suggestion and not self.pause("any key: run it, q: quit "):
            return False
        with TemporaryDirectory(prefix="fakempi_tour_") as directory:
            path = Path(directory, page.name or "none.py")
            if page.code:
                path.write_text(page.code, encoding="utf-8")
            if page.code and not any(page.name in command for command in page.commands):
                self.command(f"python {page.name}")
                self._run(page)
            for command in page.commands:
                self.command(command)
                self.out.file.flush()
                first, *arguments = [str(path) if word == page.name else word for word in shlex.split(command)]
                if first == "fakempi":
                    self.run_command(arguments)
                else:
                    self._pytest(directory, arguments)
        self.out.print()
        if page.suggestion:
            self.out.print(Text.assemble(("Try it: ", "dim"), (page.suggestion, "bold")))
            self.out.print()
        return True

    def heading(self, text: str) -> None:
        """Print a heading in a horizontal line."""
        rest = "─" * (self.out.width - len(text) - 4)
        self.out.print(Text.assemble(("── ", "blue"), (text, "bold"), (f" {rest}", "blue")))

    def command(self, text: str) -> None:
        """Print a command after a prompt."""
        self.out.print(Text.assemble(("$ ", "bold green"), (text, "bold")))

    def _run(self, page: Page) -> None:
        """Run the program in this process, so that pictures keep their colors; reports refer to the line numbers shown."""
        with self.out.status("running ...") if self.out.is_terminal else nullcontext():
            exec(compile(page.code, page.name, "exec"), {"__name__": "__main__", "print": self._print})

    def _print(self, *values: Any) -> None:
        """Replace `print` in a program: pictures keep their colors, and long lines continue indented."""
        if all(isinstance(value, str) for value in values):
            self._lines(Text(" ".join(values)))
        else:
            self.out.print(*values)

    def _lines(self, text: Text) -> None:
        for line in text.split("\n", allow_blank=True):
            fits = line.cell_len <= self.out.width
            for index, part in enumerate([line] if fits else line.wrap(self.out, self.out.width - 4)):
                part.rstrip()
                self.out.print(Text.assemble("    ", part) if index else part)

    def _pytest(self, directory: str, arguments: Sequence[str]) -> None:
        """Run pytest in a separate process, without other plugins, so that its output is the same everywhere."""
        color = "yes" if self.out.color_system and not self.out.no_color else "no"
        command = [sys.executable, "-m", "pytest", "-p", "fakempi.apps.pytest_plugin", "-p", "no:cacheprovider"]
        our_directory = str(Path(__file__).parents[3])  # of this fakempi, installed or not
        kept = {name: value for name, value in os.environ.items() if name not in LONG_SUMMARY}
        changed = {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",
            "COLUMNS": str(self.out.width),
            "PYTHONPATH": os.pathsep.join(filter(None, (our_directory, os.environ.get("PYTHONPATH")))),
            "PYTHONUTF8": "1",
        }
        with self.out.status("running ...") if self.out.is_terminal else nullcontext():
            ended = subprocess.run(
                [*command, f"--color={color}", *arguments],
                cwd=directory,
                env=kept | changed,
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
        if "No module named pytest" in ended.stderr:
            self.out.print("pytest is not installed: pip install pytest")
        else:
            self._lines(Text.from_ansi((ended.stdout or ended.stderr).rstrip()))
