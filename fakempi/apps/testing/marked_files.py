"""Finds out whether test files have tests marked to run on ranks, before pytest imports them.

`from mpi4py import MPI` in a test module is executed before pytest knows the marks of its tests, so what it loads is decided
by the text of the files. Marks that are not written as `mark.mpi`, `mark.parallel` or `mark.mpiexec` are not found.
"""

from __future__ import annotations

import ast
import os
import re
from argparse import Namespace
from collections.abc import Iterator
from fnmatch import fnmatch
from glob import glob
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fakempi.apps.testing.markers import MARKERS

WRITTEN = re.compile(rf"\bmark\s*\.\s*({'|'.join(MARKERS)})\b".encode())
ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
"""Files of the directories of virtual environments, which pytest does not collect."""
MAX_NAMES = 8
"""Names in a `-m` expression whose values are all tried."""


def marked_file(config: pytest.Config, options: Namespace) -> tuple[str, bool]:
    """Return the first file with a selected mark, relative to the root, and whether files name mpi4py."""
    named = False
    expression = getattr(options, "markexpr", "") or ""
    for path in dict.fromkeys(_files(config, options)):
        try:
            text = path.read_bytes()
        except OSError:
            continue
        named = named or b"mpi4py" in text
        if WRITTEN.search(text) and any(may_select(expression, name) for name in _marks(text)):
            root = config.rootpath
            return str(path.relative_to(root) if path.is_relative_to(root) else path), named
    return "", named


def _marks(text: bytes) -> set[str]:
    """Return the marks in the code of a file; those in strings and comments do not count."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # pytest will report it
        return set()
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in MARKERS)
    return {node.attr for node in found if getattr(node.value, "attr", getattr(node.value, "id", "")) == "mark"}


def may_select(expression: str, mark: str) -> bool:
    """Return whether `-m EXPRESSION` selects some test with a mark, whatever its other marks are."""
    from _pytest.mark.expression import Expression

    names = sorted(set(re.findall(r"[\w:+.\\/-]+", expression)) - {"and", "or", "not", mark})
    if not expression or len(names) > MAX_NAMES:
        return True
    try:
        compiled = Expression.compile(expression)
        for values in product((True, False), repeat=len(names)):
            given: Any = {mark: True, **dict(zip(names, values, strict=True))}
            if compiled.evaluate(lambda name, /, given=given, **_: bool(given.get(name))):
                return True
    except Exception:  # an invalid expression, which pytest reports
        return True
    return False


def _files(config: pytest.Config, options: Namespace) -> Iterator[Path]:
    """Yield the test files and conftests that pytest will import, in a fixed order."""
    for path in _arguments(config, options):
        yield from (parent / "conftest.py" for parent in path.parents if parent.is_relative_to(config.rootpath))
        if path.is_file():
            yield path
            continue
        for directory, below, names in os.walk(path):
            if any(name in names or name in below for name in ENVIRONMENTS):
                below.clear()
                continue
            skipped = config.getini("norecursedirs")
            below[:] = sorted(name for name in below if not any(fnmatch(name, pattern) for pattern in skipped))
            yield from (Path(directory, name) for name in sorted(names) if _is_test_file(directory, name, config))


def _is_test_file(directory: str, name: str, config: pytest.Config) -> bool:
    if not name.endswith(".py"):
        return False
    patterns: Any = config.getini("python_files")
    path = os.path.join(directory, name)
    return name == "conftest.py" or any(fnmatch(path if "/" in given else name, given) for given in patterns)


def _arguments(config: pytest.Config, options: Namespace) -> list[Path]:
    """Return the files and directories that pytest will collect: its arguments, `testpaths`, or the working directory."""
    where = config.invocation_params.dir
    given = [str(argument).partition("::")[0] for argument in options.file_or_dir]
    paths = [path for name in given if (path := _resolve(where, name, bool(options.pyargs))) is not None]
    if not paths and where == config.rootpath:
        several = (glob(pattern, root_dir=where, recursive=True) for pattern in config.getini("testpaths"))
        paths = [where / name for found in several for name in sorted(found)]
    return paths or [where]


def _resolve(where: Path, name: str, pyargs: bool) -> Path | None:
    """Return an existing path; with `--pyargs` also that of a module, without importing its package."""
    path = Path(os.path.abspath(where / name))
    if path.exists() or not pyargs:
        return path if path.exists() else None
    top, *rest = name.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return None
    for place in [] if spec is None else spec.submodule_search_locations or ():
        inside = Path(place, *rest)
        for found in (inside, inside.with_suffix(".py")):
            if found.exists():
                return found
    return None
