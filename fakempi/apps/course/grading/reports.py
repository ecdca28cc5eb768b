"""Rows of grades as CSV, as JSON, and in the formats of autograders."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from typing import Any, TextIO

from fakempi.apps.course.grading.rows import PASS, Grade, GradeRow
from fakempi.errors.plurals import counted

ONE_STUDENT = ("gradescope", "prairielearn")
"""Formats of one submission."""


def write_csv(rows: Iterable[GradeRow], names: Iterable[str], out: TextIO) -> None:
    """Write a table to read: a row for each directory, a word for each exercise, and the reasons of failures."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["directory", "passed", "of", "points", "max", *names, "reasons"])
    for row in rows:
        words = [grade.word for grade in row.grades]
        cells = [_cell(str(row.directory)), row.passed, len(row.grades), f"{row.points:g}", f"{row.max_points:g}"]
        writer.writerow([*cells, *words, row.reasons])
        out.flush()


def write_gradebook(rows: Iterable[GradeRow], names: Iterable[str], out: TextIO) -> None:
    """Write a table to import: a row for each student, with points for each exercise."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", "points", "max", "percent", *names])
    for row in rows:
        percent = 100 * row.points / row.max_points if row.max_points else 0.0
        points = [f"{grade.points:g}" for grade in row.grades]
        writer.writerow([_cell(row.student), f"{row.points:g}", f"{row.max_points:g}", f"{percent:.1f}", *points])
        out.flush()


def _cell(text: str) -> str:
    """Return a text that spreadsheets do not take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def report_of(row: GradeRow, style: str) -> str:
    """Return the row as one of the formats of one submission, as text."""
    record = _gradescope(row) if style == "gradescope" else _prairielearn(row)
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def _gradescope(row: GradeRow) -> dict[str, Any]:
    """Return the contents of `results.json` of Gradescope: a test for each exercise."""
    tests = [
        {
            "name": _name(grade), "number": f"{grade.exercise.number}", "score": grade.points, "max_score": grade.max_points,
            "status": "passed" if grade.word == PASS else "failed", "output": details_of(grade), "output_format": "text",
        }
        for grade in row.grades
    ]  # fmt: skip
    return {"score": row.points, "output": _summary(row), "stdout_visibility": "hidden", "tests": tests}


def _prairielearn(row: GradeRow) -> dict[str, Any]:
    """Return the contents of `results.json` of PrairieLearn, whose score is a fraction."""
    tests = [
        {
            "name": _name(grade), "points": grade.points, "max_points": grade.max_points,
            "message": grade.verdict.sentence if grade.verdict else grade.word, "output": details_of(grade),
        }
        for grade in row.grades
    ]  # fmt: skip
    score = row.points / row.max_points if row.max_points else 0.0
    return {"gradable": True, "score": round(score, 4), "message": _summary(row), "tests": tests}


def _name(grade: Grade) -> str:
    return f"{grade.exercise.number:02} {grade.exercise.title}"


def _summary(row: GradeRow) -> str:
    exercises = counted(len(row.grades), "exercise")
    return f"{row.points:g} of {row.max_points:g} points; {row.passed} of {exercises} passed."


def details_of(grade: Grade) -> str:
    """Return what is known about an exercise: what failed, the mistake, the number of ranks, and the tests."""
    verdict = grade.verdict
    if verdict is None:
        return {"missing": "The file is missing.", "untouched": "The start file is unchanged."}[grade.word]
    if verdict.passed:
        return "All tests passed."
    ranks = f"Smallest number of ranks that shows it: {verdict.ranks}" if verdict.ranks else ""
    tests = [f"[{'passed' if test.passed else 'failed'}] {test.name}" for test in verdict.tests]
    return "\n".join(filter(None, [verdict.sentence, verdict.mistake, ranks, *tests]))
