"""Lints texts and files."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

from fakempi.apps.lint.analysis.file_analysis import analyzed
from fakempi.apps.lint.findings import LintFinding
from fakempi.apps.lint.noqa import is_suppressed, suppressed_lines
from fakempi.apps.lint.rules.catalogue import findings_of
from fakempi.apps.lint.selection import ALL_RULES, RuleSelection

SYNTAX_ERROR = "FM001"
"""The code of files that have no syntax tree; it is no rule, so it cannot be ignored."""


def lint_file(file: str, selected: RuleSelection = ALL_RULES) -> Iterator[LintFinding]:
    """Yield the findings of a file."""
    with open(file, "rb") as stream:
        yield from lint_bytes(stream.read(), file, selected)


def lint_bytes(data: bytes, file: str, selected: RuleSelection = ALL_RULES) -> Iterator[LintFinding]:
    """Yield the findings of a program that is encoded as its first lines specify."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = io.TextIOWrapper(io.BytesIO(data), encoding).read()
    except (SyntaxError, UnicodeDecodeError) as error:
        yield LintFinding(SYNTAX_ERROR, 1, 1, f"the file cannot be decoded: {error}", file=file)
        return
    yield from lint_text(text, file, selected)


def lint_text(text: str, file: str = "<text>", selected: RuleSelection = ALL_RULES) -> Iterator[LintFinding]:
    """Yield the findings of a program that no comment suppresses."""
    try:
        analysis = analyzed(text, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # ValueError: null bytes, before Python 3.12
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        reason = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
        yield LintFinding(
            SYNTAX_ERROR, line, max(column, 1), f"syntax error, so the file is not checked: {reason}", file=file
        )
        return
    codes, lines = selected.codes_of(file), suppressed_lines(text)
    for found in findings_of(analysis):
        if found.code in codes and not is_suppressed(found, lines):
            yield found._replace(file=file)
