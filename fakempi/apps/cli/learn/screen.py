"""Lay out the verdict on an exercise, and a screen that fits the terminal."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from fakempi.apps.cli.console import prose
from fakempi.apps.course.course import Exercise
from fakempi.apps.course.judge import CheckResult
from fakempi.core.reports.findings import KINDS
from fakempi.errors.plurals import counted

MARKS = {"passed": ("✓", "green"), "open": ("·", "yellow"), "untouched": ("·", "dim"), "missing": ("?", "red")}
KEYS = (
    ("r", "run"), ("t", "timeline"), ("h", "hint"), ("s", "solution"), ("c", "check"), ("n", "next"), ("b", "back"),
    ("l", "list"), ("q", "quit"),
)  # fmt: skip
INDENT = "  "
WIDEST = 100
"""Maximum width of a text, in columns."""

WIDEST_PICTURE = 120

MAX_PRINTED = 8
"""Number of the last lines of a program's output that are shown."""


def bar(done: int, of: int, width: int) -> Text:
    """Return a progress bar with the number of exercises done."""
    label = f" {done} of {of} done"
    length = max(width - len(label), 10)
    full = length * done // max(of, 1)
    return Text.assemble(("━" * full, "green"), ("━" * (length - full), "bright_black"), (label, "bold"))


def verdict_lines(verdict: CheckResult, width: int, alone: bool = True) -> list[Text]:
    """Return the lines of a verdict: all details if it is `alone`, otherwise one line."""
    exercise = verdict.exercise
    if verdict.passed:
        return [
            Text.assemble(
                ("✓ ", "bold green"), f"{exercise.number:02} {exercise.title}", (f"  {counted(verdict.cases, 'run')}", "dim")
            )
        ]
    head = Text(f"{exercise.number:02} {exercise.title}", "bold")
    if not alone:
        return [Text.assemble(("✗ ", "bold red"), head, ": ", verdict.sentence)]
    return [head, *sentence(verdict, width), *(line for part in details(verdict, width) for line in (Text(), *part))]


def sentence(verdict: CheckResult, width: int) -> list[Text]:
    """Return the failure as a sentence in red, the mistake behind it if known, and the command that explains it."""
    lines = wrapped(Text(verdict.sentence, "red"), width, Text("✗ ", "bold red"))
    if verdict.mistake:
        lines += wrapped(prose(verdict.mistake), min(width, WIDEST), Text("→ ", "bold yellow"))
    if verdict.kind in KINDS:
        lines += wrapped(Text(f"For details, run: fakempi explain {verdict.kind}", "dim"), width)
    return lines


def details(verdict: CheckResult, width: int) -> list[list[Text]]:
    """Return the details of a failure, if available: a timeline, the emulator's report, the program's output."""
    parts = []
    if verdict.picture:
        head = [Text(f"On {counted(verdict.ranks, 'rank')}:", "dim")] if verdict.ranks else []
        parts.append([*head, *Text.from_ansi(verdict.picture).split("\n")])
    if verdict.report:
        parts.append([part for line in verdict.report.splitlines() for part in wrapped(Text(line, "yellow"), width)])
    if verdict.printed.strip():
        last = verdict.printed.rstrip().splitlines()[-MAX_PRINTED:]
        shown = [part for line in last for part in wrapped(Text(line), width)]
        parts.append([Text("Its output:", "dim"), *shown[-MAX_PRINTED:]])
    return parts


def page(exercise: Exercise, width: int, file: str = "") -> list[Text]:
    """Return the text of an exercise without its title: wrapped paragraphs and code.

    In commands, `file` replaces the name of the exercise's file, so that they work from the current directory.
    """
    docstring = ast.get_docstring(ast.parse(exercise.start)) or ""
    path = shlex.quote(file or exercise.file)
    whole = docstring.split("\n")
    docstring = "\n".join(line.replace(exercise.file, path) if "fakempi " in line else line for line in whole)
    lines: list[Text] = []
    for paragraph in docstring.split("\n\n")[1:]:
        if paragraph.startswith("    "):
            lines += [Text(line, "cyan") for line in paragraph.splitlines()]
        elif paragraph.startswith("See"):
            label, _, command = paragraph.partition(":  ")
            lines += wrapped(Text.assemble(f"{label}:  ", (command, "green")), width)
        else:
            lines += wrapped(prose(paragraph), min(width, WIDEST))
        lines.append(Text())
    return lines[:-1]


def task(exercise: Exercise, width: int) -> list[Text]:
    """Return the paragraphs of the text that state the task."""
    docstring = ast.get_docstring(ast.parse(exercise.start)) or ""
    paragraphs = docstring.split("\n\n")
    first = next((index for index, text in enumerate(paragraphs) if text.startswith("Your task")), 0)
    chosen = [text for text in paragraphs[first:] if not text.startswith(("See", "    "))]
    return [line for text in chosen for line in wrapped(prose(text), min(width, WIDEST))]


def wrapped(text: Text, width: int, mark: Text | None = None) -> list[Text]:
    """Return the wrapped and indented lines of a text, with an optional mark before the first."""
    lines = text.wrap(Console(width=width, color_system=None), width - len(INDENT))
    for line in lines:
        line.rstrip()
    return [Text.assemble(INDENT if mark is None or index else mark, line) for index, line in enumerate(lines)]


def screen(
    progress: Text,
    exercise: Exercise,
    file: str,
    parts: Sequence[Sequence[Text]],
    width: int,
    height: int,
    message: str = "",
) -> list[Text]:
    """Return the lines of a screen: progress, message, exercise, as many lines of the parts as fit, and the keys."""
    head = [progress, Text(), *([Text(message, "bold green"), Text()] if message else [])]
    title = f"{exercise.number:02} {exercise.title}"
    gap = width - len(title) - len(file)
    head.append(Text.assemble((title, "bold"), " " * max(gap, 2), (file, "cyan")))
    if gap < 2:
        head[-1] = Text(title, "bold")
        head.append(Text(file, "cyan"))
    foot = [Text(), Text("The file contains the full text. It is checked whenever you save it.", "dim")]
    gap_of_keys = "   " if width >= 90 else "  "
    foot.append(Text.assemble(*(piece for key, word in KEYS for piece in ((key, "bold cyan"), f" {word}{gap_of_keys}"))))
    available = height - len(head) - len(foot) - 1  # the line of the cursor
    body: list[Text] = []
    for part in parts:
        lines_left = available - len(body) - 1
        if lines_left < min(len(part), 3):
            break
        body += [Text(), *part[: lines_left - 1 if len(part) > lines_left else lines_left]]
        if len(part) > lines_left:
            body.append(Text(f"{INDENT}…", "dim"))
    lines = [*head, *body, *foot]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines
