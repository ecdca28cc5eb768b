"""Pages of the course `fakempi learn`: each exercise with its task, its start file and its hints, but without the solution.

Everything is read from the exercises, so a new one has a page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from docs.hooks.generated import cell, paragraph
from fakempi.apps.course.course import Course, Exercise

COMMAND = re.compile(r"(See [^:]*):\s+(fakempi .*)", re.DOTALL)
"""The last paragraph of a task: what to see, and the command to try."""


def course() -> dict[str, str]:
    """A page for each exercise, after an index page."""
    exercises = Course()
    pages = {"course/index.md": "\n".join(index(exercises)) + "\n"}
    return pages | {path(exercise): "\n\n".join(page(exercise)) + "\n" for exercise in exercises}


def path(exercise: Exercise) -> str:
    """The path of an exercise's page."""
    return f"course/{exercise.name}.md"


def index(exercises: Course) -> Iterator[str]:
    """The lines of the index page: a table for each part of the course."""
    yield "# Course"
    yield ""
    yield (
        f"Which exercises does `fakempi learn` have? These {len(exercises)}, in this order. Each page has the task, the "
        "file to start from, and hints. `fakempi learn` writes the files into a directory and checks an exercise whenever "
        "its file is saved; it prints a solution on request. [Teach with fakempi](../learn.md) describes the command."
    )
    for part, members in exercises.parts().items():
        yield from ("", f"## {part}", "", "| exercise | subject |", "|---|---|")
        for exercise in members:
            yield f"| [{exercise.number:02}]({exercise.name}.md) | {cell(exercise.title)} |"


def page(exercise: Exercise) -> Iterator[str]:
    """The paragraphs of an exercise's page."""
    yield f"# {exercise.number:02} {exercise.title}"
    tree = ast.parse(exercise.start)
    for text in re.split(r"\n\s*\n", (ast.get_docstring(tree) or "").partition("\n")[2].strip("\n")):
        yield from task(text)
    yield "## Start"
    yield f"`fakempi learn` creates this file. `fakempi learn --check {exercise.number}` checks it."
    docstring = tree.body[0]
    program = "\n".join(exercise.start.splitlines()[docstring.end_lineno or 0 :]).strip("\n")
    yield f'```py title="{exercise.file}"\n{program}\n```'
    yield "## Hints"
    for number, hint in enumerate(exercise.hints, 1):
        yield f"<details markdown><summary>Hint {number}</summary>"
        yield from (hint, "</details>")


def task(text: str) -> Iterator[str]:
    """A paragraph of a task: the command to try is a code block."""
    command = COMMAND.fullmatch(text.strip())
    if command is not None:
        yield f"{command[1]}:"
        yield f"```sh\n{command[2]}\n```"
    else:
        yield re.sub(r"^Your task:", "**Your task:**", paragraph(text))
