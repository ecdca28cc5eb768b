"""Grading of many directories: points, tables, feedback, formats of autograders."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import gettempdir

import pytest

from fakempi.apps.cli import main
from fakempi.apps.course.course import Course, Exercise
from fakempi.apps.course.grading import rows
from fakempi.apps.course.grading.feedback import write_feedback
from fakempi.apps.course.grading.reports import report_of, write_csv, write_gradebook
from fakempi.apps.course.grading.rows import GradeRow
from fakempi.apps.course.grading.students import hidden, labels, students
from fakempi.apps.course.grading.weights import weights
from fakempi.apps.course.judge import judge
from fakempi.apps.course.limits import CheckLimits
from fakempi.apps.course.worker_start import NewProcesses
from fakempi.errors import MPIValueError
from tests.cli.test_running import Capture

COURSE = Course()
FIRST, SECOND = COURSE.find("1"), COURSE.find("3")
WRONG = "hello returns 'rank 0 of 1' on rank 0 instead of 'rank 0 of 2'."
ALL_BUT_ONE_RANK = SECOND.solution.replace("        return mine\n", "        return mine if comm.Get_size() > 1 else None\n")


def submitted(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of submissions: correct, unchanged, wrong, and nearly correct. Checks run in this process."""
    monkeypatch.setattr(rows, "judge", partial(judge, apart=False))
    monkeypatch.setattr(rows, "can_fork", lambda: False)
    files: Mapping[str, Mapping[Exercise, str]] = {
        "ann": {FIRST: FIRST.solution},
        "bob": {FIRST: FIRST.start, SECOND: SECOND.start},
        "eve": {FIRST: FIRST.start + "#"},
        "zoe": {FIRST: FIRST.solution, SECOND: ALL_BUT_ONE_RANK},
    }
    for name, texts in files.items():
        (directory / name).mkdir(parents=True)
        for exercise, text in texts.items():
            (directory / name / exercise.file).write_text(text, encoding="utf-8")
    return directory


@pytest.fixture
def class_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The submissions, for tests that change them."""
    return submitted(tmp_path / "class", monkeypatch)


@pytest.fixture(scope="module")
def class_rows(tmp_path_factory: pytest.TempPathFactory) -> list[GradeRow]:
    """The rows of all students, which take 2 s: made once."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return graded(submitted(tmp_path_factory.mktemp("grading") / "class", monkeypatch))


def graded(directory: Path, points: str = "1=2,3=3") -> list[GradeRow]:
    """Return the rows of all students, or of one."""
    found = students([str(directory)], COURSE)
    return list(rows.grade(found, weights(points, COURSE), CheckLimits(), jobs=1))


def test_tables_have_a_row_for_each_student(class_rows: list[GradeRow]) -> None:
    """One has words and reasons, the other one points."""
    found, class_directory = class_rows, class_rows[0].directory.parent
    out = io.StringIO()
    write_csv(found, [FIRST.name, SECOND.name], out)
    table = list(csv.reader(io.StringIO(out.getvalue())))
    assert table[0] == ["directory", "passed", "of", "points", "max", "01_hello", "03_two_sends", "reasons"]
    assert table[1] == [str(class_directory / "ann"), "1", "2", "2", "5", "pass", "missing", ""]
    assert table[2] == [str(class_directory / "bob"), "0", "2", "0", "5", "untouched", "untouched", ""]
    assert table[3] == [str(class_directory / "eve"), "0", "2", "0", "5", "fail", "missing", f"01_hello: {WRONG}"]
    assert table[4][:1] + table[4][5:7] == [str(class_directory / "zoe"), "pass", "fail"]
    out = io.StringIO()
    write_gradebook(found, [FIRST.name, SECOND.name], out)
    lines = out.getvalue().splitlines()
    assert lines[:2] == ["student,points,max,percent,01_hello,03_two_sends", "ann,2,5,40.0,2,0"]
    assert float(lines[4].split(",")[5]) == found[3].grades[1].points


def test_partial_credit_counts_the_tests_that_the_start_file_fails(class_rows: list[GradeRow]) -> None:
    """A start file with a comment has no points; a solution that fails a single test has part of them."""
    assert [row.points for row in class_rows[:3]] == [2, 0, 0]
    assert 0 < class_rows[3].grades[1].points < 3


def test_exercises_without_a_weight_are_not_graded(class_directory: Path, tmp_path: Path) -> None:
    """Weights are a text or a file."""
    file = tmp_path / "weights.txt"
    file.write_text("# the second week\n03_two_sends, 2.5\n\n1 = 1\n", encoding="utf-8")
    assert {each.number: points for each, points in weights(str(file), COURSE).items()} == {1: 1.0, 3: 2.5}
    assert [[grade.exercise for grade in row.grades] for row in graded(class_directory / "bob", "1=1")] == [[FIRST]]
    assert set(weights(None, COURSE).values()) == {1.0}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nowhere", "the weights nowhere are not a file, and not of the form 1=2,3=0.5."),
        ("1=much", "the weight '1=much' is not of the form 3=2, with the number of an exercise and its points."),
        ("77=1", "there is no exercise 77: use 1 to 25; fakempi learn --list lists them."),
        ("1=1,01_hello=2", "exercise 01 has two weights."),
        ("1=0", "the weights have no points: list at least one exercise, such as 3=2."),
    ],
)
def test_invalid_weights_are_rejected(text: str, sentence: str) -> None:
    """The message has the entry."""
    with pytest.raises(MPIValueError) as caught:
        weights(text, COURSE)
    assert str(caught.value) == sentence


def test_feedback_has_the_failure_the_ranks_and_a_timeline(class_directory: Path, tmp_path: Path) -> None:
    """An earlier timeline does not remain."""
    (class_directory / "eve" / SECOND.file).write_text(SECOND.start + "#", encoding="utf-8")
    [row] = graded(class_directory / "eve")
    file = write_feedback(row, tmp_path / "feedback")
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# eve: 0 of 5 points\n")
    assert f"    {WRONG}\n" in text
    assert "    Smallest number of ranks that shows it: 2\n" in text
    assert "    [failed] swap, with unbuffered sends\n" in text
    assert "[Timeline](timeline_03.html)" in text
    page = (file.parent / "timeline_03.html").read_text(encoding="utf-8")
    assert "Deadlock by two sends" in page
    assert "<script" not in page
    (class_directory / "eve" / SECOND.file).write_text(SECOND.solution, encoding="utf-8")
    [row] = graded(class_directory / "eve", "3=1")
    write_feedback(row, tmp_path / "feedback")
    assert not (file.parent / "timeline_03.html").exists()


def test_reports_have_the_formats_of_autograders(class_rows: list[GradeRow]) -> None:
    """Gradescope adds the scores of tests; the score of PrairieLearn is a fraction."""
    row = class_rows[3]
    record = json.loads(report_of(row, "gradescope"))
    assert record["score"] == row.points == sum(test["score"] for test in record["tests"])
    assert [test["max_score"] for test in record["tests"]] == [2, 3]
    assert [test["status"] for test in record["tests"]] == ["passed", "failed"]
    record = json.loads(report_of(row, "prairielearn"))
    assert record["gradable"] is True
    assert record["score"] == pytest.approx(row.points / 5, abs=1e-4)
    assert [test["max_points"] for test in record["tests"]] == [2, 3]


def test_the_command_writes_a_report_for_each_student(class_directory: Path, tmp_path: Path, capsys: Capture) -> None:
    """One submission is printed; several need a directory."""
    ann = str(class_directory / "ann")
    assert main(["learn", "--grade", ann, "--weights", "1=1", "--format", "gradescope", "--jobs", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["score"] == 1
    words = ["learn", "--grade", str(class_directory), "--weights", "1=1", "--format", "prairielearn", "--jobs", "1"]
    assert main(words) == 2
    assert "for 4, add --feedback DIR." in capsys.readouterr().err
    assert main([*words, "--feedback", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "ann,1,1,100.0,1"
    scores = [json.loads((tmp_path / "out" / name / "results.json").read_text())["score"] for name in ("ann", "bob", "zoe")]
    assert scores == [1.0, 0.0, 1.0]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links")
def test_a_symbolic_link_is_not_a_submission(class_directory: Path) -> None:
    """It could lead to the solution, or to the file of another student."""
    link = class_directory / "bob" / FIRST.file
    link.unlink()
    try:
        link.symlink_to(FIRST.directory / "solution.py")
    except OSError:
        pytest.skip("no permission for symbolic links")
    [row] = graded(class_directory / "bob")
    assert row.grades[0].word == "fail"
    assert row.points == 0


def test_students_are_found_in_a_directory(class_directory: Path) -> None:
    """A directory with exercises is that of a student; students with the same name get different labels."""
    assert [path.name for path in students([str(class_directory)], COURSE)] == ["ann", "bob", "eve", "zoe"]
    ann = students([str(class_directory / "ann")], COURSE)
    assert [path.name for path in ann] == ["ann"]
    assert labels([*ann, *ann, class_directory / "bob"]) == ["ann", "ann-2", "bob"]
    assert hidden(ann) == (class_directory.resolve(),)
    assert hidden([Path(os.__file__).parent]) == ()
    alone = Path(gettempdir(), "ann")  # checks need files next to it
    assert hidden([alone]) == (alone.resolve(),)
    with pytest.raises(MPIValueError, match="^the directory nowhere does not exist.$"):
        students(["nowhere"], COURSE)


def test_a_file_with_a_former_name_is_graded(class_directory: Path) -> None:
    """Exercise 10 was 7."""
    tenth = COURSE.find("10")
    (class_directory / "ann" / "07_broadcast.py").write_text(tenth.solution, encoding="utf-8")
    [row] = graded(class_directory / "ann", "10=1")
    assert row.points == 1


@pytest.mark.slow
def test_several_programs_are_checked_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With processes, by either way of starting them; a program that ends its process does not affect the others."""
    ends = "import os, signal\ndef hello(comm):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    for name, text in (("ann", FIRST.solution), ("bob", ends), ("eve", FIRST.solution)):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / FIRST.file).write_text(text, encoding="utf-8")
    found = students([str(tmp_path / "class")], COURSE)
    for starter in (None, NewProcesses):
        if starter is not None:
            monkeypatch.setattr(rows, "can_fork", lambda: False)
        points = [row.points for row in rows.grade(found, weights("1=1", COURSE), CheckLimits(100.0), jobs=2)]
        assert points == [1, 0, 1]
