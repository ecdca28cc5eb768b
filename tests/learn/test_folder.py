"""A student's folder: never overwritten, and how far it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fakempi.errors import MPIValueError
from fakempi.learn.course import OURS, Course
from fakempi.learn.folder import NOTES, Folder, here


def own(folder: Path, name: str = "30_again") -> Path:
    """A class's own exercise, which is one of ours under another name."""
    shutil.copytree(OURS / "01_hello", folder / name)
    return folder


def test_what_somebody_has_edited_stays(tmp_path: Path) -> None:
    """Files that are missing come back, others are left alone."""
    folder = Folder(tmp_path / "course")
    assert folder.set_up() == len(folder.course)
    first, second = list(folder.course)[:2]
    folder.file(first).write_text("mine", encoding="utf-8")
    folder.file(second).unlink()
    assert Folder(tmp_path / "course").set_up() == 1
    assert folder.file(first).read_text(encoding="utf-8") == "mine"
    assert folder.file(second).read_text(encoding="utf-8") == second.start
    assert [folder.state(one) for one in (first, second)] == ["open", "untouched"]


def test_an_exercise_is_passed_as_long_as_its_file_is_the_same(tmp_path: Path) -> None:
    """And the next is the first that is not."""
    folder = Folder(tmp_path)
    folder.set_up()
    first, second, *_ = folder.course
    folder.note(first, True)
    again = Folder(tmp_path)
    assert (again.state(first), again.passed(), again.next()) == ("passed", 1, second)
    folder.file(first).write_text(first.start + "#\n", encoding="utf-8")
    assert (again.state(first), again.passed(), again.next()) == ("open", 0, first)
    assert again.next(after=first) == second


def test_reset_keeps_what_was_there(tmp_path: Path) -> None:
    """Beside it; if it was the start file there is nothing to keep."""
    folder = Folder(tmp_path)
    folder.set_up()
    first = next(iter(folder.course))
    assert folder.reset(first) is None
    folder.file(first).write_text("mine", encoding="utf-8")
    kept = folder.reset(first)
    assert kept is not None
    assert (kept.name, kept.read_text(encoding="utf-8")) == ("01_hello.py.old", "mine")
    assert folder.state(first) == "untouched"


def test_hints_come_one_after_the_other_and_the_last_stays(tmp_path: Path) -> None:
    """From one call to the next."""
    Folder(tmp_path).set_up()
    numbers = [Folder(tmp_path).hint(Course().exercises[2])[0] for _ in range(3)]
    assert numbers == [1, 2, 2]


def test_notes_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    """The folder works as if it were new."""
    (tmp_path / NOTES).write_text("[1", encoding="utf-8")
    assert Folder(tmp_path).passed() == 0


def test_the_current_folder_is_meant_if_it_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else mpi_course beside us, unless a name is given."""
    monkeypatch.chdir(tmp_path)
    assert (here(None), here("x")) == (Path("mpi_course"), Path("x"))
    Folder(tmp_path).set_up()
    assert here(None) == Path()


def test_a_class_adds_its_own_and_the_folder_remembers(tmp_path: Path) -> None:
    """A folder of folders, or one of these."""
    classes = own(tmp_path / "class")
    Folder(tmp_path / "course", [classes]).set_up()
    assert (tmp_path / "course" / "30_again.py").is_file()
    assert Folder(tmp_path / "course").course.find("30").title == "Hello, ranks"
    assert len(Course([classes / "30_again"])) == 23


@pytest.mark.parametrize(
    ("name", "remove", "sentence"),
    [
        ("01_again", None, "there is an exercise 01 already, 01_hello."),
        ("30_again", "notes.md", "has no notes.md: an exercise consists of start.py, solution.py, check.py, notes.md."),
        ("30-again", None, "an exercise's folder has a name such as 30_matrix."),
    ],
)
def test_a_folder_of_another_shape_is_refused(tmp_path: Path, name: str, remove: str | None, sentence: str) -> None:
    """With what is wrong."""
    classes = own(tmp_path, name)
    if remove:
        (classes / name / remove).unlink()
    with pytest.raises(MPIValueError) as caught:
        Course([classes])
    assert str(caught.value).endswith(sentence)


def test_a_folder_that_is_not_there_or_empty_is_refused(tmp_path: Path) -> None:
    """By name."""
    with pytest.raises(MPIValueError, match="^there is no folder .*nowhere with exercises.$"):
        Course([tmp_path / "nowhere"])
    with pytest.raises(MPIValueError, match=r"has no exercises: folders whose names begin with a number, such as 30_"):
        Course([tmp_path])


@pytest.mark.parametrize("word", ["3", "03", "03_two_sends", "03_two_sends.py", "mpi_course/03_two_sends.py"])
def test_an_exercise_is_found_by_what_people_type(word: str) -> None:
    """A number, a name, a file."""
    assert Course().find(word).number == 3


@pytest.mark.parametrize("word", ["0", "99", "three", "03_other", ""])
def test_what_is_not_there_is_refused(word: str) -> None:
    """With what there is."""
    with pytest.raises(MPIValueError, match="^there is no exercise .*: there are 1 to 22, see fakempi learn --list.$"):
        Course().find(word)
