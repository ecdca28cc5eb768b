"""The site has a page for each exercise of the course, with its task and folded hints, and without its solution."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from docs.hooks import site
from docs.hooks.course import course, path
from fakempi.apps.course.course import Exercise, ours
from tests.helpers.loops import for_each

NAVIGATION = (Path(__file__).parents[2] / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
DETAILS = re.compile(r"<details markdown><summary>Hint (\d)</summary>\n\n(.*?)\n\n</details>", re.DOTALL)


def words(text: str) -> list[str]:
    """The words of a text, without the marks of Markdown."""
    text = re.sub(r"^```\w*$", "", text, flags=re.MULTILINE)
    return re.findall(r"\w+", text.replace("&lt;", "<"))


def test_the_course_follows_the_tutorial_in_the_navigation() -> None:
    """It has its own section, which the hook fills in: the index, then the exercises in their order."""
    assert re.findall(r"^  - (\w[\w-]*):", NAVIGATION, re.MULTILINE)[:3] == ["Home", "Tutorial", "Course"]
    [section] = site.filled([{"Course": []}])
    assert section["Course"] == ["course/index.md", *map(path, ours())]


@for_each("exercise", ours())
def test_a_page_has_the_task_the_start_file_and_folded_hints(exercise: Exercise) -> None:
    """All words of the task are there; the hints are, and nothing else is, in folded parts."""
    text = course()[path(exercise)]
    task, _, rest = text.partition("\n## Start\n")
    assert words(task) == [f"{exercise.number:02}", *words(ast.get_docstring(ast.parse(exercise.start)) or "")]
    [program] = re.findall(r'^```py title="(.*?)"\n(.*?)^```$', rest, re.MULTILINE | re.DOTALL)
    assert program[0] == exercise.file
    assert exercise.start.rstrip().endswith(program[1].rstrip())
    assert ast.parse(program[1]).body
    assert [hint for _, hint in DETAILS.findall(rest)] == list(exercise.hints)


@for_each("exercise", ours())
def test_a_page_has_no_solution_and_no_note_for_teachers(exercise: Exercise) -> None:
    """The lines that only the solution has are not on the page, outside of the hints."""
    text = DETAILS.sub("", course()[path(exercise)])
    solved = [line.strip() for line in exercise.solution.splitlines() if line.strip() and line.strip() not in exercise.start]
    assert solved
    assert [line for line in solved if line in text] == []
    assert exercise.note not in text


def test_the_index_lists_all_exercises() -> None:
    """By part, with their titles."""
    index = course()["course/index.md"]
    assert [f"{one.name}.md" for one in ours()] == re.findall(r"\]\(([^)]*\.md)\)", index.partition("\n## ")[2])
    assert all(one.part in index for one in ours())
