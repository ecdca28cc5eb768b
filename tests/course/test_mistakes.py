"""The course is passed from end to end with typical mistakes at each exercise; each gets the hint that is written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakempi.apps.course.course import Course
from fakempi.apps.course.judge import CheckResult, judge
from fakempi.apps.course.student_directory import StudentDirectory
from tests.course.typical_mistakes import ALL, Mistake

COURSE = Course()


def verdict_of(directory: StudentDirectory, mistake: Mistake) -> CheckResult:
    """Make the mistake in the student's file, and check it."""
    exercise = COURSE.exercises[mistake.exercise]
    text = exercise.start + "#\n"
    if mistake.old:
        assert exercise.solution.count(mistake.old) == 1, mistake
        text = exercise.solution.replace(mistake.old, mistake.new)
    file = directory.file(exercise)
    file.write_text(text, encoding="utf-8")
    verdict = judge(exercise, file, apart=False)
    directory.note(exercise, verdict.passed)
    return verdict


@pytest.mark.slow
def test_the_course_is_passed_with_typical_mistakes_on_the_way(tmp_path: Path) -> None:
    """Each exercise: its mistakes with their hints, then the solution, which passes."""
    directory = StudentDirectory(tmp_path)
    directory.set_up()
    without = set(COURSE.exercises) - {mistake.exercise for mistake in ALL}
    assert not without
    for exercise in COURSE:
        assert directory.next() == exercise
        for mistake in ALL:
            if mistake.exercise == exercise.number:
                verdict = verdict_of(directory, mistake)
                assert not verdict.passed, mistake
                assert mistake.hint in verdict.mistake, (mistake, verdict.sentence, verdict.mistake)
        directory.file(exercise).write_text(exercise.solution, encoding="utf-8")
        verdict = judge(exercise, directory.file(exercise), apart=False)
        directory.note(exercise, verdict.passed)
        assert verdict.passed, verdict.sentence
    assert directory.next() is None


@pytest.mark.quick(4)
@pytest.mark.parametrize("mistake", ALL, ids=lambda mistake: f"{mistake.exercise}-{mistake.hint[:30]}")
def test_a_mistake_gets_its_hint(mistake: Mistake, tmp_path: Path) -> None:
    """A sample of those above."""
    directory = StudentDirectory(tmp_path)
    directory.set_up()
    verdict = verdict_of(directory, mistake)
    assert not verdict.passed
    assert mistake.hint in verdict.mistake, verdict.sentence
