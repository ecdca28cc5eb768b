"""Check students' directories: a row of grades for each."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fakempi.apps.course.course import Exercise
from fakempi.apps.course.grading.students import hidden, labels
from fakempi.apps.course.judge import CheckResult, judge
from fakempi.apps.course.limits import CheckLimits
from fakempi.apps.course.worker_start import ForkServer, NewProcesses, Starter, can_fork

PASS, FAIL, UNTOUCHED, MISSING = "pass", "fail", "untouched", "missing"

WIDTH = 110
"""Columns of the timelines in feedback."""


@dataclass(frozen=True)
class Grade:
    """The result of one student's exercise as a word, its points of `max_points`, and the verdict if it was checked."""

    exercise: Exercise
    word: str
    max_points: float
    points: float = 0.0
    verdict: CheckResult | None = None


@dataclass(frozen=True)
class GradeRow:
    """The results of one student."""

    directory: Path
    student: str
    grades: tuple[Grade, ...]

    @property
    def passed(self) -> int:
        """The number of passed exercises."""
        return sum(grade.word == PASS for grade in self.grades)

    @property
    def points(self) -> float:
        """The sum of points."""
        return round(sum(grade.points for grade in self.grades), 2)

    @property
    def max_points(self) -> float:
        """The sum of points of a correct submission."""
        return round(sum(grade.max_points for grade in self.grades), 2)

    @property
    def reasons(self) -> str:
        """The sentences of failed exercises, one per line."""
        failed = [one for one in self.grades if one.word == FAIL and one.verdict is not None]
        return "\n".join(f"{one.exercise.name}: {one.verdict.sentence}" for one in failed if one.verdict)

    def as_record(self) -> dict[str, Any]:
        """Return the row as plain values, with the verdicts' sentences, for JSON."""
        results = [
            {
                "name": grade.exercise.name, "result": grade.word, "points": grade.points, "max_points": grade.max_points,
                "sentence": grade.verdict.sentence if grade.verdict else "",
                "mistake": grade.verdict.mistake if grade.verdict else "",
                "ranks": grade.verdict.ranks if grade.verdict else 0,
                "tests": grade.verdict.as_record()["tests"] if grade.verdict else [],
            }
            for grade in self.grades
        ]  # fmt: skip
        return {
            "directory": str(self.directory), "student": self.student, "points": self.points, "max_points": self.max_points,
            "passed": self.passed, "of": len(self.grades), "results": results,
        }  # fmt: skip


class Grader:
    """Checks files with the same limits; knows which tests the start files pass."""

    def __init__(self, limits: CheckLimits, starter: Starter, secret: Sequence[Path]) -> None:
        self.limits, self.starter, self.secret = limits, starter, secret
        self._free: dict[int, list[bool]] = {}
        self._lock = threading.Lock()

    def grade(self, exercise: Exercise, points: float, directory: Path) -> Grade:
        """Return the grade of a student's exercise."""
        file = exercise.file_in(directory)
        if file.is_symlink():
            verdict = CheckResult(exercise, False, f"{file.name} is a symbolic link; submit the file itself.", "missing")
            return Grade(exercise, FAIL, points, verdict=verdict)
        if not file.is_file():
            return Grade(exercise, MISSING, points)
        if exercise.is_start(file.read_bytes()):
            return Grade(exercise, UNTOUCHED, points)
        verdict = self._judge(exercise, file)
        earned = points * self._fraction(verdict)
        return Grade(exercise, PASS if verdict.passed else FAIL, points, round(earned, 2), verdict)

    def _judge(self, exercise: Exercise, file: Path) -> CheckResult:
        return judge(exercise, file, self.limits, WIDTH, go_on=True, starter=self.starter, hidden=self.secret)

    def _fraction(self, verdict: CheckResult) -> float:
        """Return the part of the points that a solution earns: the tests that it passes, of those that the start file fails.

        A solution that fails only tests that the start file passes loses one test.
        """
        if verdict.passed:
            return 1.0
        if not any(test.passed for test in verdict.tests):
            return 0.0
        free = self._passed_by_start(verdict.exercise)
        if len(free) != len(verdict.tests):  # a check whose number of tests depends on the program
            return verdict.score
        earned = [test.passed for test, given in zip(verdict.tests, free, strict=True) if not given]
        return min(sum(earned), len(earned) - 1) / len(earned) if earned else 0.0

    def _passed_by_start(self, exercise: Exercise) -> list[bool]:
        with self._lock:
            if exercise.number not in self._free:
                verdict = self._judge(exercise, exercise.directory / "start.py")
                self._free[exercise.number] = [test.passed for test in verdict.tests]
            return self._free[exercise.number]


def grade(
    directories: Sequence[Path],
    points: Mapping[Exercise, float],
    limits: CheckLimits,
    jobs: int | None = None,
    report: Callable[[str], object] = str,
) -> Iterator[GradeRow]:
    """Yield a row for each directory, in the given order; `jobs` programs run at a time.

    `report` is called with the path of each directory when its row is next.
    """
    with ExitStack() as stack:
        starter: Starter = stack.enter_context(ForkServer()) if can_fork() else NewProcesses()
        grader = Grader(limits, starter, hidden(directories))
        pool = ThreadPoolExecutor(jobs or os.cpu_count() or 1)  # threads suffice: each waits for a process
        stack.callback(pool.shutdown, cancel_futures=True)
        rows = [[pool.submit(grader.grade, exercise, points[exercise], path) for exercise in points] for path in directories]
        for path, student, row in zip(directories, labels(directories), rows, strict=True):
            report(str(path))
            yield GradeRow(path, student, tuple(future.result() for future in row))
