"""The submission that benchmarks/grading.py has graded consists of all exercises."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakempi.apps.course.course import Course
from tests.helpers.scripts import imported

pytest.importorskip("resource", reason="Windows does not report the CPU time of child processes")


def test_a_submission_has_the_solutions_of_all_exercises(tmp_path: Path) -> None:
    """Under the names of a student's files."""
    grading = imported("grading")["grading"]
    grading.submission(grading.HERE, tmp_path / "ann")
    assert {file.name: file.read_text(encoding="utf-8") for file in (tmp_path / "ann").iterdir()} == {
        exercise.file: exercise.solution for exercise in Course()
    }
