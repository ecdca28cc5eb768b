"""The exercises of the course: every start file fails its check, and every solution passes."""

from __future__ import annotations

import ast

import pytest

from fakempi.apps.course.course import Course, Exercise
from fakempi.apps.course.judge import judge
from fakempi.apps.course.limits import CheckLimits
from tests.helpers.loops import for_each

COURSE = Course()
QUICK = {1, 16}
"""Exercises that every test run checks; all of them together take many seconds."""

EACH = [pytest.param(one, id=one.name, marks=[] if one.number in QUICK else [pytest.mark.slow]) for one in COURSE]


def test_there_are_four_parts() -> None:
    """The numbers of exercises are consecutive from 1."""
    parts = {part: len(exercises) for part, exercises in COURSE.parts().items()}
    assert parts == {"1 First steps": 6, "2 Collectives and groups": 9, "3 Bugs to find": 5, "4 Costs": 5}
    assert list(COURSE.exercises) == list(range(1, 26))


@for_each("exercise", list(COURSE))
def test_an_exercise_has_all_of_its_texts(exercise: Exercise) -> None:
    """The text has a task and a command, and is at most 79 columns wide except for commands."""
    text = ast.get_docstring(ast.parse(exercise.start)) or ""
    prose = [line for line in text.splitlines() if not line.startswith(("See", "    "))]
    assert max(map(len, prose)) <= 79
    assert "Your task: " in text
    assert exercise.file in text
    assert 'if __name__ == "__main__":' in exercise.start
    assert 1 <= len(exercise.hints) <= 2
    assert len(exercise.note) > 200


@pytest.mark.quick(1)
@pytest.mark.parametrize("exercise", EACH)
def test_a_start_file_fails_and_a_solution_passes(exercise: Exercise) -> None:
    """The message of the start file contains a location."""
    fails = judge(exercise, exercise.directory / "start.py", apart=False)
    assert not fails.passed
    assert fails.sentence.endswith(".")
    assert fails.mistake.endswith(".")
    passes = judge(exercise, exercise.directory / "solution.py", apart=False)
    assert (passes.passed, passes.sentence) == (True, "")
    assert passes.cases >= 7


@pytest.mark.slow
@pytest.mark.parametrize("number", [14, 23])
def test_a_solution_passes_in_a_worker_process(number: int) -> None:
    """The answers, which are sent through a pipe, contain tuples and arrays."""
    exercise = COURSE.exercises[number]
    verdict = judge(exercise, exercise.directory / "solution.py", CheckLimits(100.0))
    assert (verdict.passed, verdict.sentence) == (True, "")
