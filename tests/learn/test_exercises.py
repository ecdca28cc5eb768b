"""The course: what is in it, and that every start file fails its check and every solution passes it."""

from __future__ import annotations

import ast

import pytest

from fakempi.learn.course import Course, Exercise
from fakempi.learn.judge import judge
from fakempi.learn.limits import Limits

COURSE = Course()
QUICK = {1, 14}
"""Of these it is seen in each run of the tests; all of them together take many seconds."""

EACH = [pytest.param(one, id=one.name, marks=[] if one.number in QUICK else [pytest.mark.slow]) for one in COURSE]


def test_there_are_four_parts() -> None:
    """With so many exercises each, numbered from 1 without a gap."""
    parts = {part: len(exercises) for part, exercises in COURSE.parts().items()}
    assert parts == {"1 First steps": 6, "2 Groups": 6, "3 Bugs to find": 5, "4 Costs": 5}
    assert list(COURSE.exercises) == list(range(1, 23))


@pytest.mark.parametrize("exercise", list(COURSE), ids=lambda one: one.name)
def test_an_exercise_is_a_page_that_fits_an_editor(exercise: Exercise) -> None:
    """Its text has a task and is no wider than 79 columns, but for commands; the file says how to see something."""
    text = ast.get_docstring(ast.parse(exercise.start)) or ""
    prose = [line for line in text.splitlines() if not line.startswith(("See", "    "))]
    assert max(map(len, prose)) <= 79
    assert "Your task: " in text
    assert exercise.file in text
    assert 'if __name__ == "__main__":' in exercise.start
    assert 1 <= len(exercise.hints) <= 2
    assert len(exercise.note) > 200


@pytest.mark.parametrize("exercise", EACH)
def test_a_start_file_fails_and_a_solution_passes(exercise: Exercise) -> None:
    """The first with a sentence that says where."""
    fails = judge(exercise, exercise.folder / "start.py", apart=False)
    assert not fails.passed
    assert fails.sentence.startswith("On ")
    assert fails.sentence.endswith(".")
    passes = judge(exercise, exercise.folder / "solution.py", apart=False)
    assert (passes.passed, passes.sentence) == (True, "")
    assert passes.cases >= 10


@pytest.mark.slow
@pytest.mark.parametrize("number", [11, 20])
def test_a_solution_passes_in_a_process_of_its_own(number: int) -> None:
    """Whose answers come through a pipe: tuples and arrays among them."""
    exercise = COURSE.exercises[number]
    verdict = judge(exercise, exercise.folder / "solution.py", Limits(100.0))
    assert (verdict.passed, verdict.sentence) == (True, "")
