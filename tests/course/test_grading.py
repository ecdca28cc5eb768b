"""Grading of many directories as a table."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import pytest

from fakempi.apps.course import grading
from fakempi.apps.course.course import Course
from fakempi.apps.course.judge import judge
from fakempi.apps.course.limits import CheckLimits
from fakempi.errors import MPIValueError


def test_a_table_has_a_row_per_directory_and_a_column_per_exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is correct, wrong, unchanged, or missing."""
    monkeypatch.setattr(grading, "judge", partial(judge, apart=False))
    course = Course()
    course.exercises = {number: course.exercises[number] for number in (1, 2)}
    first, second = course
    for name, text in (("ann", first.solution), ("bob", first.start), ("eve", first.start + "#")):
        (tmp_path / name).mkdir()
        (tmp_path / name / first.file).write_text(text, encoding="utf-8")
    (tmp_path / "bob" / second.file).write_text(second.start, encoding="utf-8")
    directories = [str(tmp_path / name) for name in ("ann", "bob", "eve")]
    rows = list(grading.grade(directories, course, CheckLimits(), jobs=1))
    out = io.StringIO()
    grading.write_csv(rows, course, out)
    wrong = "hello returns 'rank 0 of 1' on rank 0 instead of 'rank 0 of 2'."
    assert out.getvalue().splitlines() == [
        "directory,passed,of,01_hello,02_relay,reasons",
        f"{directories[0]},1,2,pass,missing,",
        f"{directories[1]},0,2,untouched,untouched,",
        f"{directories[2]},0,2,fail,missing,01_hello: {wrong}",
    ]
    results = rows[2].as_record()["results"]
    assert results[0]["sentence"] == wrong


def test_a_missing_directory_is_rejected() -> None:
    """The error is raised before any program runs."""
    with pytest.raises(MPIValueError, match="^the directory nowhere does not exist.$"):
        list(grading.grade(["nowhere"], Course(), CheckLimits()))
