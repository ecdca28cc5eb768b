"""A student's directory: files are never overwritten, and progress is recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fakempi.apps.course.course import OURS, Course
from fakempi.apps.course.student_directory import NOTES, StudentDirectory, directory_path
from fakempi.errors import MPIValueError


def copied_exercise(directory: Path, name: str = "30_again") -> Path:
    """Copy an exercise of the package under another name."""
    shutil.copytree(OURS / "01_hello", directory / name)
    return directory


def test_edited_files_are_kept(tmp_path: Path) -> None:
    """Missing files are created again, others stay unchanged."""
    directory = StudentDirectory(tmp_path / "course")
    assert directory.set_up() == len(directory.course)
    first, second = list(directory.course)[:2]
    directory.file(first).write_text("mine", encoding="utf-8")
    directory.file(second).unlink()
    assert StudentDirectory(tmp_path / "course").set_up() == 1
    assert directory.file(first).read_text(encoding="utf-8") == "mine"
    assert directory.file(second).read_text(encoding="utf-8") == second.start
    assert [directory.state(one) for one in (first, second)] == ["open", "untouched"]


def test_an_exercise_is_passed_as_long_as_its_file_is_the_same(tmp_path: Path) -> None:
    """The next exercise is the first that is not passed."""
    directory = StudentDirectory(tmp_path)
    directory.set_up()
    first, second, *_ = directory.course
    directory.note(first, True)
    again = StudentDirectory(tmp_path)
    assert (again.state(first), again.passed(), again.next()) == ("passed", 1, second)
    directory.file(first).write_text(first.start + "#\n", encoding="utf-8")
    assert (again.state(first), again.passed(), again.next()) == ("open", 0, first)
    assert again.next(after=first) == second


def test_reset_keeps_a_copy(tmp_path: Path) -> None:
    """An unchanged start file is not copied."""
    directory = StudentDirectory(tmp_path)
    directory.set_up()
    first = next(iter(directory.course))
    assert directory.reset(first) is None
    directory.file(first).write_text("mine", encoding="utf-8")
    kept = directory.reset(first)
    assert kept is not None
    assert (kept.name, kept.read_text(encoding="utf-8")) == ("01_hello.py.old", "mine")
    assert directory.state(first) == "untouched"


def test_hints_are_shown_in_order_and_the_last_repeats(tmp_path: Path) -> None:
    """Each call shows the next hint."""
    StudentDirectory(tmp_path).set_up()
    numbers = [StudentDirectory(tmp_path).hint(Course().exercises[2])[0] for _ in range(3)]
    assert numbers == [1, 2, 2]


def test_an_unreadable_progress_file_is_ignored(tmp_path: Path) -> None:
    """The directory is treated as new."""
    (tmp_path / NOTES).write_text("[1", encoding="utf-8")
    assert StudentDirectory(tmp_path).passed() == 0


def test_the_default_is_the_current_directory_of_a_student(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it is mpi_course, unless a name is given."""
    monkeypatch.chdir(tmp_path)
    assert (directory_path(None), directory_path("x")) == (Path("mpi_course"), Path("x"))
    StudentDirectory(tmp_path).set_up()
    assert directory_path(None) == Path()


def test_additional_exercises_are_recorded(tmp_path: Path) -> None:
    """The path is a directory of exercises, or one exercise."""
    classes = copied_exercise(tmp_path / "class")
    StudentDirectory(tmp_path / "course", [classes]).set_up()
    assert (tmp_path / "course" / "30_again.py").is_file()
    assert StudentDirectory(tmp_path / "course").course.find("30").title == "Hello, ranks"
    assert len(Course([classes / "30_again"])) == 26


@pytest.mark.parametrize(
    ("name", "remove", "sentence"),
    [
        ("01_again", None, "the number 01 is already used by 01_hello."),
        ("30_again", "notes.md", "has no notes.md: an exercise consists of start.py, solution.py, check.py, notes.md."),
        ("30-again", None, "name the directory by a number of 2 or 3 digits and a word, such as 30_matrix."),
    ],
)
def test_an_invalid_exercise_directory_is_rejected(tmp_path: Path, name: str, remove: str | None, sentence: str) -> None:
    """The message states what is wrong."""
    classes = copied_exercise(tmp_path, name)
    if remove:
        (classes / name / remove).unlink()
    with pytest.raises(MPIValueError) as caught:
        Course([classes])
    assert str(caught.value).endswith(sentence)


def test_a_missing_or_empty_directory_is_rejected(tmp_path: Path) -> None:
    """The message names it."""
    with pytest.raises(MPIValueError, match="^the directory of exercises .*nowhere does not exist.$"):
        Course([tmp_path / "nowhere"])
    with pytest.raises(MPIValueError, match=r"contains no exercises: directories with a number in front, such"):
        Course([tmp_path])


@pytest.mark.parametrize("word", ["3", "03", "03_two_sends", "03_two_sends.py", "mpi_course/03_two_sends.py"])
def test_an_exercise_is_found_by_number_name_or_file(word: str) -> None:
    """Leading zeros and the suffix are optional."""
    assert Course().find(word).number == 3


@pytest.mark.parametrize("word", ["0", "99", "three", "03_other", ""])
def test_an_unknown_exercise_is_rejected(word: str) -> None:
    """The message has the valid numbers."""
    with pytest.raises(MPIValueError, match="^there is no exercise .*: use 1 to 25; fakempi learn --list lists them.$"):
        Course().find(word)
