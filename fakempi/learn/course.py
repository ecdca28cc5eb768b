"""Exercises, as they lie in folders: ours, and those that a class adds."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError
from fakempi.learn.trial import Trial

OURS = Path(str(files("fakempi.learn") / "exercises"))
FILES = ("start.py", "solution.py", "check.py", "notes.md")


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes
    ----------
    number, name : 3 and "03_two_sends", which is its folder's name, and, with .py, the student's file's
    title : the first line of the start file's text
    part : of the course, in words
    start, solution : the files
    hints : one or two
    note : for teachers
    folder : where it lies
    """

    number: int
    name: str
    title: str
    part: str
    start: str
    solution: str
    hints: tuple[str, ...]
    note: str
    folder: Path

    @property
    def file(self) -> str:
        """The name of the student's file."""
        return f"{self.name}.py"

    def check(self, trial: Trial) -> None:
        """Try a file: what does not hold raises `Wrong`."""
        path = self.folder / "check.py"
        names: dict[str, Any] = {"__name__": f"check of {self.name}", "__file__": str(path)}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
        check: Callable[[Trial], None] = names["check"]
        check(trial)


class Course:
    """Exercises by number."""

    def __init__(self, more: Iterable[Path] = ()) -> None:
        self.exercises: dict[int, Exercise] = {}
        self.more = [path.resolve() for path in more]
        theirs = (read(folder) for place in self.more for folder in _folders(place))
        for exercise in (*ours(), *theirs):
            there = self.exercises.get(exercise.number)
            if there is not None:
                raise refusal(f"{exercise.folder}: there is an exercise {exercise.number:02} already, {there.name}.")
            self.exercises[exercise.number] = exercise
        self.exercises = dict(sorted(self.exercises.items()))

    def __iter__(self) -> Any:
        return iter(self.exercises.values())

    def __len__(self) -> int:
        return len(self.exercises)

    def find(self, word: str) -> Exercise:
        """The exercise that somebody means by `3`, `03`, `03_two_sends` or `03_two_sends.py`."""
        digits = re.match(r"\d{1,6}", Path(word).name)
        found = self.exercises.get(int(digits[0])) if digits else None
        if found is None or not (word.isdecimal() or Path(word).name.removesuffix(".py") == found.name):
            numbers = list(self.exercises)
            raise refusal(f"there is no exercise {word}: there are {numbers[0]} to {numbers[-1]}, see fakempi learn --list.")
        return found

    def parts(self) -> dict[str, list[Exercise]]:
        """The exercises of each part, in order."""
        found: dict[str, list[Exercise]] = {}
        for exercise in self:
            found.setdefault(exercise.part, []).append(exercise)
        return found


@cache
def ours() -> tuple[Exercise, ...]:
    """Those of this package, read once."""
    return tuple(map(read, _folders(OURS)))


def _folders(place: Path) -> list[Path]:
    """The folders of exercises in a folder; or it is one itself."""
    if not place.is_dir():
        raise refusal(f"there is no folder {place} with exercises.")
    if (place / "check.py").is_file():
        return [place]
    found = sorted(path for path in place.iterdir() if path.is_dir() and re.match(r"\d", path.name))
    if not found:
        raise refusal(f"{place} has no exercises: folders whose names begin with a number, such as 30_matrix.")
    return found


def read(folder: Path) -> Exercise:
    """An exercise from its folder."""
    match = re.fullmatch(r"(\d{2,3})_\w+", folder.name)
    if match is None:
        raise refusal(f"{folder}: an exercise's folder has a name such as 30_matrix.")
    for name in FILES:
        if not (folder / name).is_file():
            raise refusal(f"{folder} has no {name}: an exercise consists of {', '.join(FILES)}.")
    start, solution, _, notes = ((folder / name).read_text(encoding="utf-8") for name in FILES)
    part, *sections = re.split(r"^## ", notes, flags=re.MULTILINE)
    told = [(heading.strip(), text.strip()) for heading, _, text in (one.partition("\n") for one in sections)]
    hints = tuple(text for heading, text in told if heading.startswith("Hint"))
    note = "\n\n".join(text for heading, text in told if heading == "For teachers")
    words = ast.get_docstring(ast.parse(start)) or ""
    if not (hints and note and words and part.startswith("# ")):
        raise refusal(f"{folder}: notes.md needs '# part', '## Hint' and '## For teachers', and start.py a docstring.")
    title = words.splitlines()[0].rstrip(".")
    return Exercise(int(match[1]), folder.name, title, part.strip("# \n"), start, solution, hints, note, folder)


def refusal(sentence: str) -> MPIValueError:
    """The error to raise for what people have typed."""
    return MPIValueError(ERR_ARG, sentence)
