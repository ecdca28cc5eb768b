"""`fakempi learn --grade`: grades of many students."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from fakempi.apps.course.course import Course, course_error
from fakempi.apps.course.grading.feedback import write_feedback
from fakempi.apps.course.grading.reports import ONE_STUDENT, report_of, write_csv, write_gradebook
from fakempi.apps.course.grading.rows import GradeRow, grade
from fakempi.apps.course.grading.students import students
from fakempi.apps.course.grading.weights import weights
from fakempi.apps.course.limits import CheckLimits, missing

DONE = 0


def grade_students(options: Namespace, course: Course, limits: CheckLimits) -> int:
    """Print the grades to standard output, and progress to standard error if it is a terminal; return the exit code."""
    style = "json" if options.json else options.format
    directories = students(options.grade, course)
    feedback = None if options.feedback is None else Path(options.feedback)
    if style in ONE_STUDENT and len(directories) > 1 and feedback is None:
        raise course_error(f"--format {style} describes one submission: for {len(directories)}, add --feedback DIR.")
    points = weights(options.weights, course)
    if missing():
        sys.stderr.write(f"fakempi learn: {missing()}\n")

    def report(directory: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"{directory} ...\n")

    rows = _with_feedback(grade(directories, points, limits, options.jobs, report), feedback, style)
    names = [exercise.name for exercise in points]
    if style == "json":
        sys.stdout.write(json.dumps([row.as_record() for row in rows], indent=1) + "\n")
    elif style in ONE_STUDENT and len(directories) == 1:
        sys.stdout.write(report_of(next(iter(list(rows))), style))
    elif style == "csv":
        write_csv(rows, names, sys.stdout)
    else:
        write_gradebook(rows, names, sys.stdout)
    return DONE


def _with_feedback(rows: Iterator[GradeRow], directory: Path | None, style: str) -> Iterator[GradeRow]:
    """Yield the rows, after writing the files of each student."""
    for row in rows:
        if directory is not None:
            file = write_feedback(row, directory)
            if style in ONE_STUDENT:
                (file.parent / "results.json").write_text(report_of(row, style), encoding="utf-8")
        yield row
