"""The exercises: those of this package, and directories of additional ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fakempi.apps.course.former_names import FORMER, FormerName
from fakempi.apps.course.trial import Trial
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG

OURS = Path(str(files("fakempi.apps.course") / "exercises"))
FILES = ("start.py", "solution.py", "check.py", "notes.md")


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes
    ----------
    number, name : 3 and "03_two_sends", the name of its directory and, with .py, of the student's file
    title : the first line of the start file's docstring
    part : the part of the course, such as "1 First steps"
    start, solution : the contents of these files
    hints : one or two texts
    mistakes : typical mistakes: a regular expression for the failure, and the text that names the mistake
    note : a text for teachers
    directory : the path of the exercise
    """

    number: int
    name: str
    title: str
    part: str
    start: str
    solution: str
    hints: tuple[str, ...]
    mistakes: tuple[tuple[str, str], ...]
    note: str
    directory: Path

    @property
    def file(self) -> str:
        """The name of the student's file."""
        return f"{self.name}.py"

    @property
    def former(self) -> FormerName | None:
        """The name that the exercise had before its number changed."""
        return FORMER.get(self.name)

    def file_in(self, directory: Path) -> Path:
        """Return the student's file in a directory: under the former name if there is only that."""
        file = directory / self.file
        if self.former is not None and not file.exists() and (directory / self.former.file).is_file():
            return directory / self.former.file
        return file

    def is_start(self, text: bytes) -> bool:
        """Whether a file is the start file, unedited."""
        return text == self.start.encode() or (self.former is not None and self.former.is_start(text))

    def check(self, trial: Trial) -> None:
        """Run check.py on a trial; raises `Wrong` if the solution is wrong."""
        path = self.directory / "check.py"
        names: dict[str, Any] = {"__name__": f"check of {self.name}", "__file__": str(path)}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
        check: Callable[[Trial], None] = names["check"]
        check(trial)


class Course:
    """Exercises by number."""

    def __init__(self, more: Iterable[Path] = ()) -> None:
        self.exercises: dict[int, Exercise] = {}
        self.more = [path.resolve() for path in more]
        theirs = (read(directory) for place in self.more for directory in _directories(place))
        for exercise in (*ours(), *theirs):
            there = self.exercises.get(exercise.number)
            if there is not None:
                raise course_error(f"{exercise.directory}: the number {exercise.number:02} is already used by {there.name}.")
            self.exercises[exercise.number] = exercise
        self.exercises = dict(sorted(self.exercises.items()))

    def __iter__(self) -> Iterator[Exercise]:
        return iter(self.exercises.values())

    def __len__(self) -> int:
        return len(self.exercises)

    def find(self, word: str) -> Exercise:
        """Return the exercise named by `3`, `03`, `03_two_sends`, `03_two_sends.py` or its former name."""
        name = Path(word).name.removesuffix(".py")
        for each in self:
            if name == each.name or (each.former is not None and name == each.former.name):
                return each
        exercise = self.exercises.get(int(word)) if re.fullmatch(r"\d{1,6}", word) else None
        if exercise is None:
            numbers = list(self.exercises)
            raise course_error(
                f"there is no exercise {word}: use {numbers[0]} to {numbers[-1]}; fakempi learn --list lists them."
            )
        return exercise

    def parts(self) -> dict[str, list[Exercise]]:
        """Return the exercises of each part, in order."""
        by_part: dict[str, list[Exercise]] = {}
        for exercise in self:
            by_part.setdefault(exercise.part, []).append(exercise)
        return by_part


@cache
def ours() -> tuple[Exercise, ...]:
    """Return the exercises of this package, read once."""
    return tuple(map(read, _directories(OURS)))


def _directories(place: Path) -> list[Path]:
    """Return the exercise directories in a directory, or the directory if it is an exercise."""
    if not place.is_dir():
        raise course_error(f"the directory of exercises {place} does not exist.")
    if (place / "check.py").is_file():
        return [place]
    directories = sorted(path for path in place.iterdir() if path.is_dir() and re.match(r"\d", path.name))
    if not directories:
        raise course_error(f"{place} contains no exercises: directories with a number in front, such as 30_matrix.")
    return directories


def read(directory: Path) -> Exercise:
    """Read an exercise from its directory."""
    match = re.fullmatch(r"(\d{2,3})_\w+", directory.name)
    if match is None:
        raise course_error(f"{directory}: name the directory by a number of 2 or 3 digits and a word, such as 30_matrix.")
    for name in FILES:
        if not (directory / name).is_file():
            raise course_error(f"{directory} has no {name}: an exercise consists of {', '.join(FILES)}.")
    start, solution, _, notes = ((directory / name).read_text(encoding="utf-8") for name in FILES)
    part, *sections = re.split(r"^## ", notes, flags=re.MULTILINE)
    texts = [(heading.strip(), text.strip()) for heading, _, text in (section.partition("\n") for section in sections)]
    hints = tuple(text for heading, text in texts if heading.startswith("Hint"))
    mistakes = tuple((heading[3:].strip(), text) for heading, text in texts if heading.startswith("If:"))
    note = "\n\n".join(text for heading, text in texts if heading == "For teachers")
    docstring = ast.get_docstring(ast.parse(start)) or ""
    if not (hints and note and docstring and part.startswith("# ")):
        needed = "notes.md needs '# part', '## Hint' and '## For teachers', and start.py a docstring"
        raise course_error(f"{directory}: {needed}.")
    title = docstring.splitlines()[0].rstrip(".")
    return Exercise(
        int(match[1]), directory.name, title, part.strip("# \n"), start, solution, hints, mistakes, note, directory
    )


def course_error(sentence: str) -> MPIValueError:
    """Return the error to raise for a wrong argument or file."""
    return MPIValueError(ERR_ARG, sentence)
