"""The Python files that arguments name: files, and directories with all files below them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

SKIPPED = {
    ".git", ".hg", ".svn", ".tox", ".nox", ".venv", "venv", "__pycache__", ".mypy_cache", ".ruff_cache",
    ".pytest_cache", "node_modules", ".eggs", "build", "dist", "site-packages",
}  # fmt: skip
"""Directories that are skipped below an argument, since they contain files of other projects or generated files."""
SUFFIXES = (".py", ".pyw")


def python_files(arguments: Iterable[str], excluded: Iterable[str] = ()) -> Iterator[str]:
    """Yield the files, each once; files that an argument names have any suffix. OSError if an argument does not exist."""
    patterns, seen = list(excluded), set()
    for argument in arguments:
        if os.path.isdir(argument):
            found: Iterable[str] = _below(argument, patterns)
        else:
            os.stat(argument)
            found = [argument]
        for file in found:
            if (path := os.path.realpath(file)) not in seen:
                seen.add(path)
                yield file


def _below(directory: str, patterns: list[str]) -> Iterator[str]:
    for parent, directories, files in os.walk(directory):
        kept = (each for each in directories if each not in SKIPPED and not matches(os.path.join(parent, each), patterns))
        directories[:] = sorted(kept)
        for name in sorted(files):
            path = os.path.normpath(os.path.join(parent, name))
            if name.endswith(SUFFIXES) and not matches(path, patterns):
                yield path


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Return whether a path, its end, or a directory of it matches a pattern."""
    pure = Path(os.path.normpath(path))
    return any(
        pure.match(pattern) or fnmatch(pure.as_posix(), pattern) or pattern.rstrip("/") in pure.parts for pattern in patterns
    )
