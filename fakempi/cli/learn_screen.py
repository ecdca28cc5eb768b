"""What `fakempi learn` shows: a verdict, and a screen of it that fits."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from fakempi.checks.findings import KINDS
from fakempi.learn.course import Exercise
from fakempi.learn.judge import Verdict

MARKS = {"passed": ("✓", "green"), "open": ("·", "yellow"), "untouched": ("·", "dim"), "missing": ("?", "red")}
KEYS = (("h", "hint"), ("c", "check"), ("n", "next"), ("b", "back"), ("l", "list"), ("t", "text"), ("q", "quit"))
INDENT = "  "
WIDEST = 100
"""Columns of a text that is easy to read."""

WIDEST_PICTURE = 120

MOST_PRINTED = 8
"""Lines of what a program prints that are shown: the last ones."""


def bar(done: int, of: int, width: int) -> Text:
    """How far it is."""
    words = f" {done} of {of} done"
    room = max(width - len(words), 10)
    full = room * done // max(of, 1)
    return Text.assemble(("━" * full, "green"), ("━" * (room - full), "bright_black"), (words, "bold"))


def verdict_lines(verdict: Verdict, width: int, alone: bool = True) -> list[Text]:
    """A verdict as lines; of several, one line each."""
    one = verdict.exercise
    if verdict.passed:
        return [Text.assemble(("✓ ", "bold green"), f"{one.number:02} {one.title}", (f"  {verdict.cases} runs", "dim"))]
    head = Text(f"{one.number:02} {one.title}", "bold")
    if not alone:
        return [Text.assemble(("✗ ", "bold red"), head, ": ", verdict.sentence)]
    return [head, *sentence(verdict, width), *(line for part in details(verdict, width) for line in (Text(), *part))]


def sentence(verdict: Verdict, width: int) -> list[Text]:
    """What is wrong, in red, and where to read about it."""
    lines = wrapped(Text(verdict.sentence, "red"), width, Text("✗ ", "bold red"))
    if verdict.kind in KINDS:
        lines += wrapped(Text(f"fakempi explain {verdict.kind} says what that means.", "dim"), width)
    return lines


def details(verdict: Verdict, width: int) -> list[list[Text]]:
    """A timeline, the emulator's report, what the program printed; what there is, the most telling first."""
    parts = []
    if verdict.picture:
        parts.append(list(Text.from_ansi(verdict.picture).split("\n")))
    if verdict.report:
        parts.append([part for line in verdict.report.splitlines() for part in wrapped(Text(line, "yellow"), width)])
    if verdict.printed.strip():
        last = verdict.printed.rstrip().splitlines()[-MOST_PRINTED:]
        shown = [part for line in last for part in wrapped(Text(line), width)]
        parts.append([Text("It printed:", "dim"), *shown[-MOST_PRINTED:]])
    return parts


def page(exercise: Exercise, width: int) -> list[Text]:
    """The text of an exercise, without its title: paragraphs as wide as there is room, and code as it stands."""
    words = ast.get_docstring(ast.parse(exercise.start)) or ""
    lines: list[Text] = []
    for paragraph in words.split("\n\n")[1:]:
        if paragraph.startswith("    "):
            lines += [Text(line, "cyan") for line in paragraph.splitlines()]
        elif paragraph.startswith("See"):
            what, _, command = paragraph.partition(":  ")
            lines += wrapped(Text.assemble(f"{what}:  ", (command, "green")), width)
        else:
            lines += wrapped(prose(paragraph), min(width, WIDEST))
        lines.append(Text())
    return lines[:-1]


def prose(words: str) -> Text:
    """A paragraph; what stands in backticks is code."""
    found = Text()
    for index, part in enumerate(" ".join(words.split()).split("`")):
        found.append(part, "cyan" if index % 2 else "")
    return found


def wrapped(text: Text, width: int, mark: Text | None = None) -> list[Text]:
    """The lines of a text, indented; before the first may be a mark."""
    lines = text.wrap(Console(width=width, color_system=None), width - len(INDENT))
    for line in lines:
        line.rstrip()
    return [Text.assemble(INDENT if mark is None or index else mark, line) for index, line in enumerate(lines)]


def screen(
    progress: Text, exercise: Exercise, file: str, parts: Sequence[Sequence[Text]], width: int, height: int, said: str = ""
) -> list[Text]:
    """As many lines as fit: how far, which exercise, then parts as long as there is room, and the keys last."""
    head = [progress, Text(), *([Text(said, "bold green"), Text()] if said else [])]
    title = f"{exercise.number:02} {exercise.title}"
    gap = width - len(title) - len(file)
    head.append(Text.assemble((title, "bold"), " " * max(gap, 2), (file, "cyan")))
    if gap < 2:
        head[-1] = Text(title, "bold")
        head.append(Text(file, "cyan"))
    foot = [Text(), Text("All of the text is in the file, which is checked whenever you save it.", "dim")]
    foot.append(Text.assemble(*(piece for key, word in KEYS for piece in ((key, "bold cyan"), f" {word}   "))))
    room = height - len(head) - len(foot) - 1  # the cursor's own line
    body: list[Text] = []
    for part in parts:
        left = room - len(body) - 1
        if left < min(len(part), 3):
            break
        body += [Text(), *part[: left - 1 if len(part) > left else left]]
        if len(part) > left:
            body.append(Text(f"{INDENT}…", "dim"))
    lines = [*head, *body, *foot]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines
