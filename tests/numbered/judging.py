"""Runs the programs: `fakempi check` finds the smallest number, the corrected versions are clean, and `fakempi lint`."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path

from fakempi.apps.cli import main
from tests.numbered.program import NumberedProgram

RUNS = "400"
"""The budget of a search; corrected versions may be clean so far, because their searches on many ranks are long."""


def call(words: list[str]) -> tuple[int, str]:
    """Call `fakempi`; return the exit code and the standard output."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = main(words)
    return code, out.getvalue()


def written(program: NumberedProgram, directory: Path, right: bool) -> str:
    """Write a version to a file; return its path."""
    path = directory / ("right.py" if right else "work.py")
    path.write_text(program.source(right), encoding="utf-8")
    return str(path)


def failing_number(program: NumberedProgram, directory: Path) -> int:
    """Return the number of ranks that `fakempi check` reports for the wrong version; 0 if it reports none."""
    numbers = f"1..{max(9, program.smallest + 1)}"
    code, text = call(["check", "-n", numbers, "--runs", RUNS, "--quiet", written(program, directory, False)])
    found = re.findall(r"^fails on (\d+) ranks?; |^fails on (\d+) ranks?$", text, re.MULTILINE)
    return int("".join(found[-1])) if code == 1 and found else 0


def problem_of_right(program: NumberedProgram, directory: Path) -> str:
    """Return the report on the corrected version, up to one rank more; empty if it is clean."""
    numbers = f"1..{program.smallest + 1}"
    code, text = call(["check", "-n", numbers, "--runs", RUNS, "--quiet", written(program, directory, True)])
    return "" if code in (0, 4) and "clean" in text else text


def lint_codes(program: NumberedProgram, directory: Path, right: bool) -> list[str]:
    """Return the codes of the findings of `fakempi lint` in a version."""
    _, text = call(["lint", "--format", "json", written(program, directory, right)])
    return [finding["code"] for finding in json.loads(text)]
