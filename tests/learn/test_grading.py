"""Many folders as a table."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import pytest

from fakempi.errors import MPIValueError
from fakempi.learn import grading
from fakempi.learn.course import Course
from fakempi.learn.judge import judge
from fakempi.learn.limits import Limits


def test_a_table_has_a_row_a_folder_and_a_column_an_exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is right, wrong, as it was, or not there."""
    monkeypatch.setattr(grading, "judge", partial(judge, apart=False))
    course = Course()
    course.exercises = {number: course.exercises[number] for number in (1, 2)}
    first, second = course
    for name, text in (("ann", first.solution), ("bob", first.start), ("eve", first.start + "#")):
        (tmp_path / name).mkdir()
        (tmp_path / name / first.file).write_text(text, encoding="utf-8")
    (tmp_path / "bob" / second.file).write_text(second.start, encoding="utf-8")
    folders = [str(tmp_path / name) for name in ("ann", "bob", "eve")]
    rows = list(grading.grade(folders, course, Limits(), jobs=1))
    out = io.StringIO()
    grading.write_csv(rows, course, out)
    assert out.getvalue().splitlines() == [
        "folder,passed,of,01_hello,02_relay",
        f"{folders[0]},1,2,pass,missing",
        f"{folders[1]},0,2,untouched,untouched",
        f"{folders[2]},0,2,fail,missing",
    ]
    results = rows[2].as_record()["results"]
    assert results[0]["sentence"] == "On 2 ranks, rank 0: hello returns 'rank 0 of 1', and should return 'rank 0 of 2'."


def test_a_folder_that_is_not_there_is_refused() -> None:
    """Before anything is run."""
    with pytest.raises(MPIValueError, match="^there is no folder nowhere to grade.$"):
        list(grading.grade(["nowhere"], Course(), Limits()))
