"""Many students' folders, checked anew, as a table."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from fakempi.learn.course import Course, Exercise, refusal
from fakempi.learn.judge import Verdict, judge
from fakempi.learn.limits import Limits

PASS, FAIL, UNTOUCHED, MISSING = "pass", "fail", "untouched", "missing"


@dataclass(frozen=True)
class Grade:
    """One student's exercise: in a word, and, if it was checked, the verdict."""

    exercise: Exercise
    word: str
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Row:
    """One student."""

    folder: Path
    grades: tuple[Grade, ...]

    @property
    def passed(self) -> int:
        """How many exercises hold."""
        return sum(one.word == PASS for one in self.grades)

    def as_record(self) -> dict[str, Any]:
        """In plain values, with the sentences, for JSON."""
        results = [
            {"name": one.exercise.name, "result": one.word, "sentence": one.verdict.sentence if one.verdict else ""}
            for one in self.grades
        ]
        return {"folder": str(self.folder), "passed": self.passed, "of": len(self.grades), "results": results}


def grade(
    folders: Sequence[str], course: Course, limits: Limits, jobs: int | None = None, tell: Callable[[str], object] = str
) -> Iterator[Row]:
    """A row for each folder, in the order given; several programs run at a time. `tell` hears what is done."""
    paths = [Path(folder) for folder in folders]
    for path in paths:
        if not path.is_dir():
            raise refusal(f"there is no folder {path} to grade.")
    return _rows(paths, course, limits, jobs or os.cpu_count() or 1, tell)


def _rows(
    paths: list[Path], course: Course, limits: Limits, jobs: int, tell: Callable[[str], object]
) -> Iterator[Row]:
    pool = ThreadPoolExecutor(jobs)  # of threads: each waits for a process
    try:
        rows = [[pool.submit(_graded, exercise, path, limits) for exercise in course] for path in paths]
        for path, row in zip(paths, rows, strict=True):
            tell(str(path))
            yield Row(path, tuple(one.result() for one in row))
    finally:
        pool.shutdown(cancel_futures=True)


def _graded(exercise: Exercise, folder: Path, limits: Limits) -> Grade:
    file = folder / exercise.file
    if not file.is_file():
        return Grade(exercise, MISSING)
    if file.read_bytes() == exercise.start.encode():
        return Grade(exercise, UNTOUCHED)
    verdict = judge(exercise, file, limits)
    return Grade(exercise, PASS if verdict.passed else FAIL, verdict)


def write_csv(rows: Iterable[Row], course: Course, out: TextIO) -> None:
    """The table: a row a folder, a column an exercise."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["folder", "passed", "of", *(exercise.name for exercise in course)])
    for row in rows:
        writer.writerow([row.folder, row.passed, len(row.grades), *(one.word for one in row.grades)])
        out.flush()
