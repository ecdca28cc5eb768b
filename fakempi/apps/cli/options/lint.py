"""Define the options of `fakempi lint`."""

from __future__ import annotations

from argparse import ArgumentParser

LINT = """\
examples:
  fakempi lint work.py src                files, and directories with all below
  fakempi lint --select FM1,FM301 src     only these codes, or their beginnings
  fakempi lint --format sarif --output lint.sarif src
                                          for GitHub's code scanning
  fakempi lint --statistics src           number of findings of each code
  fakempi lint - < work.py                standard input
  fakempi explain FM101                   a rule: a wrong and a right program

The program does not run: the command reads the source and finds mistakes such
as a collective call in a branch that only some ranks take. The comment
  comm.bcast(x)  # noqa: FM101
suppresses a finding on its line. pyproject.toml may have a table
[tool.fakempi.lint] with select, ignore, exclude and per-file-ignores.

exit code: 0 without findings, 1 with findings, 2 for a usage error.
"""


def add_lint(lint: ArgumentParser) -> None:
    """Add the options to a parser."""
    lint.add_argument("files", nargs="*", metavar="FILE", help="files and directories (default: the working directory)")
    lint.add_argument("--select", metavar="LIST", action="append", default=[], help="only these codes: FM101 or FM1,FM3")
    lint.add_argument("--ignore", metavar="LIST", action="append", default=[], help="not these codes")
    lint.add_argument("--exclude", metavar="PATTERN", action="append", default=[], help="skip files that match: tests/*")
    lint.add_argument("--format", choices=("text", "json", "sarif", "github"), default="text", help="format of findings")
    lint.add_argument("-o", "--output", metavar="FILE", help="write the findings to a file")
    lint.add_argument("--statistics", action="store_true", help="print only the number of findings of each code")
    lint.add_argument("--exit-zero", action="store_true", help="end with exit code 0 also if there are findings")
    lint.add_argument("--stdin-filename", metavar="FILE", default="-", help="name of standard input in findings")
