"""The results of keys in the course: a run of the student's program, its timeline, a hint, a solution."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.text import Text

from fakempi.apps.cli.console import prose
from fakempi.apps.cli.learn.screen import WIDEST, wrapped
from fakempi.apps.course.course import Exercise
from fakempi.apps.course.student_directory import StudentDirectory
from fakempi.errors.plurals import counted

SECONDS = 20
"""Time limit of a run, which `fakempi run` enforces and reports."""

MARGIN = 40
"""Seconds for the start of Python and for the report of a run that is stopped, on a busy machine."""


def ranks_of(exercise: Exercise) -> int:
    """Return the number of ranks in the command of the exercise's text."""
    found = re.search(r"fakempi run -n (\d+)", exercise.start)
    return int(found[1]) if found else 4


def run_output(exercise: Exercise, file: Path, width: int) -> list[Text]:
    """Run the student's program as the command in the text does; return the command and the output."""
    ranks = str(ranks_of(exercise))
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    head = Text(f"  fakempi run -n {ranks} {shown}", "green")
    out = _fakempi(["run", "-n", ranks, "--timeout", str(SECONDS), file.name], file.parent, width)
    lines = out.rstrip().splitlines() or ["(no output)"]
    return [head, *(part for line in lines for part in wrapped(Text.from_ansi(line), width))]


def timeline_of(exercise: Exercise, file: Path, width: int) -> list[Text]:
    """Run the student's program and return its timeline, or what the run printed if there is none."""
    ranks = str(ranks_of(exercise))
    head = Text(f"  timeline on {counted(int(ranks), 'rank')}", "bold magenta")
    with TemporaryDirectory(prefix="fakempi_learn_") as directory:
        trace = Path(directory, "trace.json")
        run = ["run", "-n", ranks, "--timeout", str(SECONDS), "--trace", str(trace), file.name]
        out = _fakempi(run, file.parent, width)
        if trace.is_file():
            out = _fakempi(["view", str(trace), "--what", "timeline", "--height", "10"], file.parent, width)
    return [head, *Text.from_ansi(out.rstrip()).split("\n")]


def _fakempi(words: list[str], directory: Path, width: int) -> str:
    """Return what a command prints to either stream."""
    environment = {**os.environ, "COLUMNS": str(width), "FORCE_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "fakempi", *words], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=SECONDS + MARGIN,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"the program did not finish in {SECONDS} s, and was stopped."
    return done.stdout


def hint_lines(directory: StudentDirectory, exercise: Exercise, width: int) -> list[Text]:
    """Return the next hint."""
    number, text = directory.hint(exercise)
    head = Text(f"  Hint {number} of {len(exercise.hints)}", "bold magenta")
    return [head, *wrapped(prose(text), min(width, WIDEST))]


def solution_lines(directory: StudentDirectory, exercise: Exercise, width: int) -> list[Text]:
    """Return a solution without its docstring and script part; before a pass, only after some tries."""
    left = directory.tries_left(exercise)
    if left:
        when = f"The solution is shown after a pass, or after {counted(left, 'more failed check')} of your changes."
        return wrapped(Text(when, "bold magenta"), width)
    functions = [node for node in ast.parse(exercise.solution).body if not isinstance(node, ast.If | ast.Expr)]
    lines = exercise.solution.splitlines()
    chosen = [line for node in functions for line in lines[node.lineno - 1 : node.end_lineno]]
    shown = [line for line in chosen if not line.strip().startswith('"""')]
    return [Text("  A solution", "bold magenta"), *(Text(f"    {line}", "cyan") for line in shown)]
