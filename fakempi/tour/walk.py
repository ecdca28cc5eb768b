"""Going from station to station: words, the program as it stands, what comes out."""

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

from fakempi.tour.page import Page

Do = Callable[[Sequence[str]], Any]
"""Does a command of ours, given by its words without `fakempi`."""


class Walk:
    """Shows pages on a console and runs what is on them; commands of ours are done by `do`.

    A page is two screens of 80 columns and 24 lines, the program and what it prints. `pause` comes between them, with the
    question to ask, and says whether to go on.
    """

    def __init__(self, out: Console, do: Do, pause: Callable[[str], bool] = lambda question: True) -> None:
        self.out, self.do, self.pause = out, do, pause

    def visit(self, number: int, page: Page) -> bool:
        """A heading, the words, the program, the commands, and what each of them prints; False if that was not wanted."""
        self.heading(f"{number}  {page.title}")
        self.out.print(page.words)
        self.out.print()
        self.out.print(Text(page.name, "bold"))
        look: dict[str, Any] = {"theme": "ansi_dark", "background_color": "default", "line_numbers": True}
        self.out.print(Syntax(page.code.rstrip(), "python", **look))
        self.out.print()
        if not self.pause("Enter runs it, q leaves "):
            return False
        with TemporaryDirectory(prefix="fakempi_tour_") as folder:
            path = Path(folder, page.name)
            path.write_text(page.code, encoding="utf-8")
            if not any(page.name in command for command in page.commands):
                self.command(f"python {page.name}")
                self._run(page)
            for command in page.commands:
                self.command(command)
                self.out.file.flush()
                first, *words = [str(path) if word == page.name else word for word in shlex.split(command)]
                if first == "fakempi":
                    self.do(words)
                else:
                    self._pytest(folder, words)
        self.out.print()
        return True

    def heading(self, words: str) -> None:
        """A line across."""
        rest = "─" * (self.out.width - len(words) - 4)
        self.out.print(Text.assemble(("── ", "blue"), (words, "bold"), (f" {rest}", "blue")))

    def command(self, words: str) -> None:
        """As if somebody typed it."""
        self.out.print(Text.assemble(("$ ", "bold green"), (words, "bold")))

    def _run(self, page: Page) -> None:
        """In this process, so that pictures have their colours; lines are numbered as shown, which reports go by."""
        with self.out.status("running ...") if self.out.is_terminal else nullcontext():
            exec(compile(page.code, page.name, "exec"), {"__name__": "__main__", "print": self._print})

    def _print(self, *things: Any) -> None:
        """What `print` is in a program: pictures keep their colours, and long lines are continued further in."""
        if all(isinstance(thing, str) for thing in things):
            self._lines(Text(" ".join(things)))
        else:
            self.out.print(*things)

    def _lines(self, text: Text) -> None:
        for line in text.split("\n", allow_blank=True):
            fits = line.cell_len <= self.out.width
            for index, part in enumerate([line] if fits else line.wrap(self.out, self.out.width - 4)):
                part.rstrip()
                self.out.print(Text.assemble("    ", part) if index else part)

    def _pytest(self, folder: str, words: Sequence[str]) -> None:
        """In a process of its own, without other plugins, so that it looks the same everywhere."""
        colour = "yes" if self.out.color_system and not self.out.no_color else "no"
        command = [sys.executable, "-m", "pytest", "-p", "fakempi.pytest_plugin", "-p", "no:cacheprovider"]
        beside = str(Path(__file__).parents[2])  # where this fakempi is, be it installed or not
        changed = {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",
            "COLUMNS": str(self.out.width),
            "PYTHONPATH": os.pathsep.join(filter(None, (beside, os.environ.get("PYTHONPATH")))),
            "PYTHONUTF8": "1",
        }
        with self.out.status("running ...") if self.out.is_terminal else nullcontext():
            ended = subprocess.run(
                [*command, f"--color={colour}", *words],
                cwd=folder,
                env={**os.environ, **changed},
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
        if "No module named pytest" in ended.stderr:
            self.out.print("pytest is not installed here: pip install pytest, and come again.")
        else:
            self._lines(Text.from_ansi((ended.stdout or ended.stderr).rstrip()))
