"""Checks of many students' directories, as a table."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from fakempi.apps.course.course import Course, Exercise, course_error
from fakempi.apps.course.judge import CheckResult, judge
from fakempi.apps.course.limits import CheckLimits

PASS, FAIL, UNTOUCHED, MISSING = "pass", "fail", "untouched", "missing"


@dataclass(frozen=True)
class Grade:
    """The result of one student's exercise as a word, and the verdict if it was checked."""

    exercise: Exercise
    word: str
    verdict: CheckResult | None = None


@dataclass(frozen=True)
class GradeRow:
    """The results of one student."""

    directory: Path
    grades: tuple[Grade, ...]

    @property
    def passed(self) -> int:
        """The number of passed exercises."""
        return sum(grade.word == PASS for grade in self.grades)

    @property
    def reasons(self) -> str:
        """The sentences of failed exercises, one per line."""
        failed = [one for one in self.grades if one.word == FAIL and one.verdict is not None]
        return "\n".join(f"{one.exercise.name}: {one.verdict.sentence}" for one in failed if one.verdict)

    def as_record(self) -> dict[str, Any]:
        """Return the row as plain values, with the verdicts' sentences, for JSON."""
        results = [
            {"name": grade.exercise.name, "result": grade.word, "sentence": grade.verdict.sentence if grade.verdict else ""}
            for grade in self.grades
        ]
        return {"directory": str(self.directory), "passed": self.passed, "of": len(self.grades), "results": results}


def grade(
    directories: Sequence[str],
    course: Course,
    limits: CheckLimits,
    jobs: int | None = None,
    report: Callable[[str], object] = str,
) -> Iterator[GradeRow]:
    """Return a row for each directory, in the given order; `jobs` programs run at a time.

    `report` is called with the path of each directory when its row is next.
    """
    paths = [Path(directory) for directory in directories]
    for path in paths:
        if not path.is_dir():
            raise course_error(f"the directory {path} does not exist.")
    return _rows(paths, course, limits, jobs or os.cpu_count() or 1, report)


def _rows(
    paths: list[Path], course: Course, limits: CheckLimits, jobs: int, report: Callable[[str], object]
) -> Iterator[GradeRow]:
    pool = ThreadPoolExecutor(jobs)  # threads suffice: each waits for a process
    try:
        rows = [[pool.submit(_graded, exercise, path, limits) for exercise in course] for path in paths]
        for path, row in zip(paths, rows, strict=True):
            report(str(path))
            yield GradeRow(path, tuple(future.result() for future in row))
    finally:
        pool.shutdown(cancel_futures=True)


def _graded(exercise: Exercise, directory: Path, limits: CheckLimits) -> Grade:
    file = directory / exercise.file
    if not file.is_file():
        return Grade(exercise, MISSING)
    if file.read_bytes() == exercise.start.encode():
        return Grade(exercise, UNTOUCHED)
    verdict = judge(exercise, file, limits)
    return Grade(exercise, PASS if verdict.passed else FAIL, verdict)


def write_csv(rows: Iterable[GradeRow], course: Course, out: TextIO) -> None:
    """Write the table: one row for each directory, one column for each exercise, and the reasons of failures."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["directory", "passed", "of", *(exercise.name for exercise in course), "reasons"])
    for row in rows:
        writer.writerow([row.directory, row.passed, len(row.grades), *(grade.word for grade in row.grades), row.reasons])
        out.flush()
