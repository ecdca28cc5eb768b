"""A finding of a rule: where, what, the two paths, and how to fix it."""

from __future__ import annotations

import ast
from typing import NamedTuple


class LintFinding(NamedTuple):
    """A mistake in a file. Lines count from 1, columns too."""

    code: str
    line: int
    column: int
    message: str
    paths: tuple[str, ...] = ()
    fix: str = ""
    last_line: int = 0
    file: str = ""


def finding(code: str, node: ast.AST, message: str, paths: tuple[str, ...] = (), fix: str = "") -> LintFinding:
    """Return a finding at a node of the syntax tree."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
    last = line if isinstance(node, (ast.If, ast.For, ast.While, ast.Try)) else getattr(node, "end_lineno", line)
    return LintFinding(code, line, column, message, paths, fix, last)
