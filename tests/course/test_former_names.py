"""Exercises whose numbers have changed: files and progress of students stay with their exercise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakempi.apps.course.course import Course
from fakempi.apps.course.former_names import FORMER, FormerName
from fakempi.apps.course.student_directory import NOTES, StudentDirectory

EDITED = "# edited by the student\n"


@pytest.fixture
def broadcast(tmp_path: Path) -> StudentDirectory:
    """A directory from before the change: exercise 7 was the broadcast by hand, which is 10 now; it is passed."""
    (tmp_path / "07_broadcast.py").write_text(EDITED, encoding="utf-8")
    before = StudentDirectory(tmp_path)
    before.note(before.course.find("10"), True)
    notes = json.loads((tmp_path / NOTES).read_text(encoding="utf-8"))
    notes["passed"] = {"07_broadcast": notes["passed"]["10_broadcast"], "01_hello": "0"}
    notes["hints"] = {"07_broadcast": 1}
    (tmp_path / NOTES).write_text(json.dumps(notes), encoding="utf-8")
    return StudentDirectory(tmp_path)


def test_progress_is_that_of_the_same_exercise(broadcast: StudentDirectory) -> None:
    """Not of the exercise that has the number now. Nothing is renamed before the directory is set up."""
    old, new = broadcast.course.find("10"), broadcast.course.find("7")
    assert (broadcast.state(old), broadcast.state(new)) == ("passed", "missing")
    assert broadcast.file(old).name == "07_broadcast.py"
    assert broadcast.hint(old)[0] == 2
    assert broadcast.passed() == 1


def test_files_get_the_present_names(broadcast: StudentDirectory) -> None:
    """An edited file keeps its text, and is still passed."""
    broadcast.set_up()
    assert broadcast.renamed == 1
    assert not (broadcast.path / "07_broadcast.py").exists()
    assert (broadcast.path / "10_broadcast.py").read_text(encoding="utf-8") == EDITED
    again = StudentDirectory(broadcast.path)
    assert again.state(again.course.find("10")) == "passed"
    assert again.state(again.course.find("7")) == "untouched"
    again.set_up()
    assert again.renamed == 0


def test_an_unedited_file_becomes_the_present_start_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is recognized by its hash, and counts as untouched also before it is renamed."""
    former = b"the start file of that time\n"
    known = FormerName("07_broadcast", "c9d1d9c1")
    monkeypatch.setattr(FormerName, "is_start", lambda name, text: text == former)
    (tmp_path / known.file).write_bytes(former)
    directory = StudentDirectory(tmp_path)
    exercise = directory.course.find("10")
    assert directory.state(exercise) == "untouched"
    directory.set_up()
    assert directory.file(exercise).read_bytes() == exercise.start.encode()


def test_a_file_with_the_present_name_is_preferred(tmp_path: Path) -> None:
    """The other one is left alone."""
    for name in ("07_broadcast.py", "10_broadcast.py"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    directory = StudentDirectory(tmp_path)
    directory.set_up()
    assert directory.renamed == 0
    assert (tmp_path / "07_broadcast.py").read_text(encoding="utf-8") == "07_broadcast.py"


def test_former_names_are_not_present_ones() -> None:
    """A former name belongs to one exercise, and finds it."""
    course = Course()
    names = [each.name for each in course]
    assert set(FORMER) <= set(names)
    former = [each.name for each in FORMER.values()]
    assert len(set(former)) == len(former)
    assert not set(former) & set(names)
    for name, each in FORMER.items():
        assert course.find(each.name).name == course.find(each.file).name == name
        assert len(each.start) == 64
