"""Feedback for each student: a file in Markdown, and a page with a timeline for each failure that has one.

Pages are made in the grading process from the text of the timeline. A page from the process of the program could contain
anything, and graders open it in a browser.
"""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from rich.text import Text

from fakempi.apps.course.grading.reports import details_of
from fakempi.apps.course.grading.rows import PASS, WIDTH, Grade, GradeRow

FILE = "feedback.md"


def write_feedback(row: GradeRow, directory: Path) -> Path:
    """Write the feedback of a student into a directory with the student's name; return the file."""
    place = directory / row.student
    place.mkdir(parents=True, exist_ok=True)
    parts = [f"# {row.student}: {row.points:g} of {row.max_points:g} points"]
    parts += [_section(grade, place) for grade in row.grades]
    file = place / FILE
    file.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return file


def _section(grade: Grade, place: Path) -> str:
    """Return the section of an exercise, and write its page."""
    exercise, verdict = grade.exercise, grade.verdict
    head = f"## {exercise.number:02} {exercise.title}: {grade.points:g} of {grade.max_points:g}"
    details = "\n".join(f"    {line}" for line in details_of(grade).splitlines())  # code: Markdown interprets other texts
    lines = [head, details]
    page = place / f"timeline_{exercise.number:02}.html"
    page.unlink(missing_ok=True)
    if verdict is not None and grade.word != PASS and verdict.picture:
        page.write_text(_page(f"{exercise.number:02} {exercise.title}", verdict.picture), encoding="utf-8")
        lines.append(f"[Timeline]({page.name})")
    return "\n\n".join(lines)


def _page(title: str, picture: str) -> str:
    """Return a timeline, which is text with colors, as HTML."""
    console = Console(record=True, file=io.StringIO(), width=WIDTH + 2, force_terminal=True, color_system="standard")
    console.print(Text(title, "bold"))
    console.print()
    console.print(Text.from_ansi(picture), soft_wrap=True)
    return console.export_html(inline_styles=True)
