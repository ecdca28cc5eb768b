"""`fakempi lint`: print the MPI mistakes that are visible in source files."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from fakempi.apps.lint.file_search import python_files
from fakempi.apps.lint.findings import LintFinding
from fakempi.apps.lint.linting import lint_bytes, lint_file
from fakempi.apps.lint.reports import FORMATS, as_statistics
from fakempi.apps.lint.selection import RuleSelection, selection
from fakempi.errors import LAYOUT_CHARACTERS, printable

CLEAN, FOUND = 0, 1
STANDARD_INPUT = "-"


def lint(options: Namespace) -> int:
    """Print the findings; returns the exit code."""
    chosen = selection(options.select, options.ignore, options.exclude)
    findings = list(_findings(options, chosen))
    text = as_statistics(findings) if options.statistics else FORMATS[options.format](findings)
    if options.format == "text":  # texts of programs may have control characters
        text = printable(text, keep=LAYOUT_CHARACTERS)
    if options.output:
        Path(options.output).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return FOUND if findings and not options.exit_zero else CLEAN


def _findings(options: Namespace, chosen: RuleSelection) -> Iterator[LintFinding]:
    arguments = options.files or ["."]
    if STANDARD_INPUT in arguments:
        yield from lint_bytes(sys.stdin.buffer.read(), options.stdin_filename, chosen)
    for file in python_files((each for each in arguments if each != STANDARD_INPUT), chosen.exclude):
        yield from lint_file(file, chosen)
