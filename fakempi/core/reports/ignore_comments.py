"""Comments in programs that suppress findings: `# fakempi: ignore[message-lost] the reason`.

A comment applies to the statement on whose lines it stands: to all lines of a statement that continues over several lines.
Python's tokenizer finds the comments, so the same text in a string is none.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import tokenize
from functools import lru_cache
from io import StringIO
from itertools import islice

from fakempi.core.reports.suppression_rules import Suppression, problem_with
from fakempi.errors.paths import short_path

MARK = "fakempi:"
_COMMENT = re.compile(r"#\s*fakempi:\s*ignore\b(?:\s*\[([^\]#]*)\])?\s*([^#]*)")

MOST_TOKENS = 100_000
"""At most this number of tokens is read, plus one for each two characters; a usual program has four characters per token.

The tokenizer of Python 3.11 needs 2.3 s for a megabyte of tokens of one character.
"""

Comments = tuple[tuple[Suppression, ...], tuple[str, ...]]
"""The suppressions of a file, and what is wrong with the others."""


def comments_of(file: str) -> Comments:
    """Return the suppressions in the comments of a file, and sentences on those that are invalid."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):  # a cell of a notebook, an archive, "<string>"
        return _parsed(file, "".join(linecache.getlines(file)))
    return _of_file(file, status.st_mtime_ns, status.st_size)


@lru_cache(1024)
def _of_file(file: str, time: int, size: int) -> Comments:
    text = _text(file)
    return _parsed(file, text)


def _text(file: str) -> str:
    try:
        with tokenize.open(file) as stream:
            return stream.read()
    except (OSError, SyntaxError, UnicodeError, ValueError):
        return ""


def _parsed(file: str, text: str) -> Comments:
    found: list[Suppression] = []
    problems: list[str] = []
    if MARK not in text:
        return (), ()
    comments, end = _comments(text)
    if end:
        problems.append(
            f"{short_path(file)}:{end}: the file has too many tokens for its size; comments from here on are not read."
        )
    for first, last, line, comment in comments:
        for match in _COMMENT.finditer(comment):
            at = f"{short_path(file)}:{line}"
            kinds = [kind.strip() for kind in (match[1] or "").split(",")]
            for kind in kinds:
                if problem := problem_with(kind):
                    problems.append(f"{at}: # fakempi: ignore[{kind}]: {problem}")
                else:
                    origin = f"the comment at {at}"
                    found.append(Suppression(kind, origin, file, "", match[2].strip(" -:"), (first, last)))
    return tuple(found), tuple(problems)


def _comments(text: str) -> tuple[list[tuple[int, int, int, str]], int]:
    """Return the comments of a program: the first and the last line of the statement, the line and the text of each.

    A comment between two statements belongs to neither of them; its range of lines is empty. The second value is the line
    at which reading ended because there are too many tokens, or 0.
    """
    found: list[tuple[int, int, int, str]] = []
    open_comments: list[tuple[int, str]] = []
    first = 0  # of the present statement; 0 between two statements
    tokens = tokenize.generate_tokens(StringIO(text).readline)
    try:
        for token in islice(tokens, MOST_TOKENS + len(text) // 2):
            if token.type == tokenize.COMMENT:
                open_comments.append((token.start[0], token.string))
            elif token.type in (tokenize.NEWLINE, tokenize.NL) and (not first or token.type == tokenize.NEWLINE):
                last = token.end[0] if first else 0
                found += [(first or 1, last, line, comment) for line, comment in open_comments]
                open_comments, first = [], 0
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER) and not first:
                first = token.start[0]
        end = next(tokens, None)
    except (tokenize.TokenError, SyntaxError):
        end = None  # not a Python program, or one that does not compile
    return found, end.start[0] if end else 0


def enclosing_functions(file: str, line: int) -> list[str]:
    """Return the functions around a line, the innermost first: `MPIPool.close`; methods have the name of their class."""
    try:
        status = os.stat(file)
        spans = _functions(file, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError):
        spans = _spans("".join(linecache.getlines(file)))
    return [name for name, first, last in spans if first <= line <= last]


@lru_cache(256)
def _functions(file: str, time: int, size: int) -> list[tuple[str, int, int]]:
    return _spans(_text(file))


def _spans(text: str) -> list[tuple[str, int, int]]:
    """Return the names and the lines of the functions in a program, the inner ones first."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    spans: list[tuple[str, int, int]] = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{prefix}{child.name}"
                visit(child, f"{name}.")
                if not isinstance(child, ast.ClassDef):
                    spans.append((name, child.lineno, child.end_lineno or child.lineno))
            else:
                visit(child, prefix)

    visit(tree, "")
    return spans
