"""The files of the project, read and parsed once per process: several tests of this directory look at all of them."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXERCISES = ROOT / "fakempi" / "apps" / "course" / "exercises"
"""Students' programs are not part of the package."""

FILES = sorted(
    path
    for package in ("fakempi", "collectives")
    for path in (ROOT / package).rglob("*.py")
    if not path.is_relative_to(EXERCISES)
)


@cache
def text(path: Path) -> str:
    """The text of a file."""
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file, which callers do not change."""
    with collector_stopped():
        return ast.parse(text(path))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All nodes of the syntax tree of a file."""
    with collector_stopped():
        return list(ast.walk(tree(path)))


@contextmanager
def collector_stopped() -> Iterator[None]:
    """Without garbage collections, now and later: all trees are alive, and to visit them doubles the time of parsing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # trees have no cycles, so `forget` frees them nevertheless
        if was_enabled:
            gc.enable()


def forget() -> None:
    """Free all trees: they are 700,000 objects, which each garbage collection of later tests would visit."""
    for function in (text, tree, nodes):
        function.cache_clear()
