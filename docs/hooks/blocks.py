"""Run the code blocks of a page in order in a directory, and compare their output with the page.

    ```python title="hello.py"      write a file; later blocks can use it
    ```python title="hello.py, in place of x = 1"      replace that line of the file
    ```python                       run at once; names persist, and a block ```text right below has the expected output
    ```console                      lines `$ command` (fakempi, python or pytest), each followed by its expected output

A line `...`, or dots within a line, match any text. Blocks named ```py, ```sh or ```text are not run.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FENCE = re.compile(r"^```(\w+)(?: +title=\"(.*?)\")?[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

TERMINAL = (
    "COLUMNS", "LINES", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS",
    "TTY_COMPATIBLE", "TTY_INTERACTIVE",
)  # fmt: skip
"""Environment variables that change the width or the colors of output."""


class Block(NamedTuple):
    """A fenced block: kind, file name, text, line on the page, and the expected output if the next block has it."""

    kind: str
    title: str
    text: str
    line: int
    expected: str | None = None


class Difference(NamedTuple):
    """A difference between the output and the page."""

    line: int
    expected: str
    printed: str


def blocks(page: str) -> list[Block]:
    """All fenced blocks that have a language."""
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(page):
        kind, title, text = match.groups()
        follows = bool(found) and not page[end : match.start()].strip()
        if kind == "text" and follows and found[-1].kind == "python" and not found[-1].title:
            found[-1] = found[-1]._replace(expected=text)
        else:
            found.append(Block(kind, title or "", text, page[: match.start()].count("\n") + 1))
        end = match.end()
    return found


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with its expected output."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def takes_seconds(page: str) -> bool:
    """Whether a page starts processes or verifies an algorithm, which takes seconds, or has the comment `takes seconds`."""
    if "<!-- takes seconds -->" in page:
        return True
    typed = [command for one in blocks(page) if one.kind == "console" for command, _ in commands(one.text)]
    return any(command.startswith(("pytest", "fakempi verify")) for command in typed)


def perform(page: str, directory: Path) -> list[Difference]:
    """Run the blocks of a page in a directory and return the differences."""
    found: list[Difference] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    with environment(), inside(directory):
        for block in blocks(page):
            if block.kind == "python" and block.title:
                write(block)
            elif block.kind == "python":
                with captured() as out:
                    exec(compile("\n" * block.line + block.text, "page.py", "exec"), names)
                if block.expected is not None or out.getvalue():
                    found += differences(block.line, block.expected or "", out.getvalue())
            elif block.kind == "console":
                for command, expected in commands(block.text):
                    found += differences(block.line, expected, output_of(command))
    return found


def write(block: Block) -> None:
    """Write the file of a block, or replace the line that its title names."""
    name, _, line = block.title.partition(", in place of ")
    if "," in name:
        raise ValueError(f"{block.title}: a title is the name of a file, or 'NAME, in place of LINE'")
    text = block.text
    if line:
        before, after = Path(name).read_text(encoding="utf-8").split(f"{line}\n")
        text = before + text + after
    Path(name).write_text(text, encoding="utf-8")


def differences(line: int, expected: str, printed: str) -> Iterator[Difference]:
    """Yield a difference if the output does not match."""
    tidy = "".join(f"{one.rstrip()}\n" for one in printed.rstrip().splitlines())
    if not doctest.OutputChecker().check_output(expected.rstrip() + "\n" * bool(expected.strip()), tidy, doctest.ELLIPSIS):
        yield Difference(line, expected, tidy)


def output_of(command: str) -> str:
    """The output of a command on stdout and stderr. Only pytest gets a new process: starting Python takes half a second."""
    from fakempi.apps.cli.main import main

    first, *words = shlex.split(command)
    if first == "pytest":
        quiet = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        call = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
        return subprocess.run(call, env=quiet, capture_output=True, encoding="utf-8", check=False, timeout=100).stdout
    with captured() as out:
        if first == "fakempi":
            main(words)
        elif first == "python":
            before, sys.argv = sys.argv, words
            try:
                runpy.run_path(words[0], run_name="__main__")
            finally:
                sys.argv = before
        else:
            raise ValueError(f"{command}: pages can only run fakempi, python and pytest")
    return out.getvalue().replace(os.path.join(os.getcwd(), ""), "")  # as in tracebacks on a page: without the directory


@contextlib.contextmanager
def environment() -> Iterator[None]:
    """Hide the terminal of the caller: output is 80 columns wide and has no color."""
    before = {name: os.environ.pop(name, None) for name in TERMINAL}
    os.environ["COLUMNS"] = "80"
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def captured() -> Iterator[io.StringIO]:
    """Capture stdout and stderr."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        yield out


@contextlib.contextmanager
def inside(directory: Path) -> Iterator[None]:
    """Use a directory as working directory and import path; forget the modules that were imported from it afterwards."""
    before, path, modules = os.getcwd(), list(sys.path), set(sys.modules)
    os.chdir(directory)
    sys.path.insert(0, str(directory))
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and Path(file).is_relative_to(directory):
                del sys.modules[name]
