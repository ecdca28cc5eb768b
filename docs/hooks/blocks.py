"""What a page shows is what runs: its blocks of code, done in order in a folder of their own.

    ```python title="hello.py"      a file; it is there for what comes after it
    ```python title="hello.py, continued"      more of it
    ```python                       done at once; names stay, and a block ```text right below is what it prints
    ```console                      `$ command`, and below it what that prints: fakempi, python and pytest

A line `...`, or dots within one, stand for anything. What is not to be run is called ```py, ```sh or ```text.
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


CONTINUED = ", continued"


class Block(NamedTuple):
    """A fenced block: what kind, which file, its text, its line on the page, and what it prints, if that is below it."""

    kind: str
    title: str
    text: str
    line: int
    prints: str | None = None


class Difference(NamedTuple):
    """What is printed and is not what the page says."""

    line: int
    said: str
    printed: str


def blocks(page: str) -> list[Block]:
    """All blocks with a language."""
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(page):
        kind, title, text = match.groups()
        follows = bool(found) and not page[end : match.start()].strip()
        if kind == "text" and follows and found[-1].kind == "python" and not found[-1].title:
            found[-1] = found[-1]._replace(prints=text)
        else:
            found.append(Block(kind, title or "", text, page[: match.start()].count("\n") + 1))
        end = match.end()
    return found


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console, each with what it prints."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def takes_seconds(page: str) -> bool:
    """Whether a page starts processes, or verifies an algorithm."""
    typed = [command for one in blocks(page) if one.kind == "console" for command, _ in commands(one.text)]
    return any(command.startswith(("pytest", "fakempi verify")) for command in typed)


def perform(page: str, folder: Path) -> list[Difference]:
    """Do what a page shows, there; say what is not as it says."""
    found: list[Difference] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    with inside(folder):
        for block in blocks(page):
            if block.kind == "python" and block.title:
                name = block.title.removesuffix(CONTINUED)
                before = Path(name).read_text(encoding="utf-8") if name != block.title else ""
                Path(name).write_text(before + block.text, encoding="utf-8")
            elif block.kind == "python":
                with printing() as out:
                    exec(compile("\n" * block.line + block.text, "page.py", "exec"), names)
                if block.prints is not None or out.getvalue():
                    found += differences(block.line, block.prints or "", out.getvalue())
            elif block.kind == "console":
                for command, said in commands(block.text):
                    found += differences(block.line, said, printed(command))
    return found


def differences(line: int, said: str, got: str) -> Iterator[Difference]:
    """One, or none."""
    tidy = "".join(f"{one.rstrip()}\n" for one in got.rstrip().splitlines())
    if not doctest.OutputChecker().check_output(said.rstrip() + "\n" * bool(said.strip()), tidy, doctest.ELLIPSIS):
        yield Difference(line, said, tidy)


def printed(command: str) -> str:
    """What a command prints, to both streams. Only pytest gets a process of its own: starting Python takes half a second."""
    from fakempi.cli.main import main

    first, *words = shlex.split(command)
    if first == "pytest":
        quiet = {**os.environ, "PYTEST_ADDOPTS": "", "COLUMNS": "80", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        call = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
        return subprocess.run(call, env=quiet, capture_output=True, encoding="utf-8", check=False, timeout=100).stdout
    with printing() as out:
        if first == "fakempi":
            main(words)
        elif first == "python":
            before, sys.argv = sys.argv, words
            try:
                runpy.run_path(words[0], run_name="__main__")
            finally:
                sys.argv = before
        else:
            raise ValueError(f"{command}: pages can run fakempi, python and pytest")
    return out.getvalue()


@contextlib.contextmanager
def printing() -> Iterator[io.StringIO]:
    """Whatever is printed meanwhile."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        yield out


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """There, as if Python had been started there."""
    before, path, modules = os.getcwd(), list(sys.path), set(sys.modules)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and Path(file).is_relative_to(folder):
                del sys.modules[name]
