"""A student's directory: the files to edit, and a file that records progress.

The progress file is for the student's convenience. Grading ignores it and runs the checks.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from fakempi.apps.course.course import Course, Exercise, course_error
from fakempi.errors.files import read_bytes

NOTES = ".fakempi-learn.json"
TRIES = 3
"""Failed checks of an edited file after which the course shows a solution."""

NAME = "mpi_course"
"""The default name of the directory."""

PASSED, OPEN, UNTOUCHED, MISSING = "passed", "open", "untouched", "missing"


def directory_path(name: str | None) -> Path:
    """Return the named directory; by default the current one if it is a student's directory, else `mpi_course` in it."""
    if name is not None:
        return Path(name)
    return Path() if Path(NOTES).is_file() else Path(NAME)


class StudentDirectory:
    """The files of one student. `more` are directories of additional exercises, which the progress file records."""

    def __init__(self, path: Path, more: list[Path] | None = None) -> None:
        self.path = path
        self.notes: dict[str, Any] = self._read()
        self.renamed = 0
        known = [directory for directory in map(Path, self.notes["more"]) if self._is_elsewhere(directory)]
        self.course = Course(dict.fromkeys([*known, *(directory.resolve() for directory in more or ())]))
        self._use_present_names()

    def _read(self) -> dict[str, Any]:
        try:
            notes = json.loads(read_bytes(self.path / NOTES))
        except (OSError, ValueError, RecursionError):
            notes = {}
        found = notes if isinstance(notes, dict) else {}
        more, passed = found.get("more"), found.get("passed")
        return {
            "more": [each for each in more if isinstance(each, str)] if isinstance(more, list) else [],
            "hints": _numbers(found.get("hints")),
            "tries": _numbers(found.get("tries")),
            "passed": passed if isinstance(passed, dict) else {},
        }

    def _use_present_names(self) -> None:
        """Move the progress of exercises that had other names to their present names."""
        for exercise in self.course:
            for known in (self.notes["hints"], self.notes["tries"], self.notes["passed"]):
                if exercise.former is not None and exercise.former.name in known:
                    former = known.pop(exercise.former.name)
                    known.setdefault(exercise.name, former)

    def _is_elsewhere(self, directory: Path) -> bool:
        """Whether a directory is outside of this one: checks are programs, which an exchanged directory does not choose."""
        try:
            inside = directory.resolve().is_relative_to(self.path.resolve())
        except (OSError, ValueError, RuntimeError):
            return False
        return directory.is_absolute() and not inside and directory.is_dir()

    def _write(self) -> None:
        self.notes["more"] = [str(directory) for directory in self.course.more]
        if self.path.is_dir():
            (self.path / NOTES).write_text(json.dumps(self.notes, indent=1) + "\n", encoding="utf-8")

    def set_up(self) -> int:
        """Create missing files and return their number; existing files stay unchanged.

        Files with former names get their present names (`renamed` is their number). Of these, unedited start files become
        the present ones.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        self.renamed = sum(map(self._rename, self.course))
        new = [exercise for exercise in self.course if not self.file(exercise).exists()]
        for exercise in new:
            self.file(exercise).write_bytes(exercise.start.encode())
        self._write()
        return len(new)

    def _rename(self, exercise: Exercise) -> bool:
        """Give a student's file that has the exercise's former name the present one; returns whether there was one."""
        file, present = self.file(exercise), self.path / exercise.file
        if file == present:
            return False
        file.rename(present)
        if exercise.is_start(present.read_bytes()):
            present.write_bytes(exercise.start.encode())
        return True

    def file(self, exercise: Exercise) -> Path:
        """Return the path of the student's file."""
        return exercise.file_in(self.path)

    def existing_file(self, exercise: Exercise) -> Path:
        """Return the path of the student's file; raise an error if it does not exist."""
        file = self.file(exercise)
        if not file.is_file():
            raise course_error(f"{file} does not exist. To create it, run: fakempi learn {self.path}")
        return file

    def state(self, exercise: Exercise) -> str:
        """Return PASSED if its check has passed and the file is unchanged since; else OPEN, UNTOUCHED or MISSING."""
        text = self._bytes(exercise)
        if text is None:
            return MISSING
        passed = self.notes.get("passed", {})
        if isinstance(passed, dict) and passed.get(exercise.name) == sha256(text).hexdigest():
            return PASSED
        return UNTOUCHED if exercise.is_start(text) else OPEN

    def _bytes(self, exercise: Exercise) -> bytes | None:
        try:
            return self.file(exercise).read_bytes()
        except OSError:
            return None

    def note(self, exercise: Exercise, passed: bool) -> None:
        """Record the result of a check."""
        text = self._bytes(exercise)
        known = self.notes.setdefault("passed", {})
        if passed and text is not None:
            known[exercise.name] = sha256(text).hexdigest()
        else:
            known.pop(exercise.name, None)
            if text is not None and not exercise.is_start(text):
                self.notes["tries"][exercise.name] = self.notes["tries"].get(exercise.name, 0) + 1
        self._write()

    def tries_left(self, exercise: Exercise) -> int:
        """Return how many more failed checks of an edited file it takes to see the solution; 0 after a pass."""
        if self.state(exercise) == PASSED:
            return 0
        return max(0, TRIES - int(self.notes["tries"].get(exercise.name, 0)))

    def passed(self) -> int:
        """Return the number of passed exercises."""
        return sum(self.state(exercise) == PASSED for exercise in self.course)

    def next(self, after: Exercise | None = None) -> Exercise | None:
        """Return the first exercise that is not passed, preferably after a given one; None if all are passed."""
        open_ones = [exercise for exercise in self.course if self.state(exercise) != PASSED]
        later = [exercise for exercise in open_ones if after is not None and exercise.number > after.number]
        return next(iter(later or open_ones), None)

    def hint(self, exercise: Exercise) -> tuple[int, str]:
        """Return the number and text of the next hint; after the last one, the last again."""
        seen = self.notes.setdefault("hints", {})
        number = min(max(0, seen.get(exercise.name, 0)) + 1, len(exercise.hints))
        seen[exercise.name] = number
        self._write()
        return number, exercise.hints[number - 1]

    def reset(self, exercise: Exercise) -> Path | None:
        """Restore the start file; return the path of the backup copy if the file was changed, else None."""
        kept, text = None, self._bytes(exercise)
        if text is not None and not exercise.is_start(text):
            kept = self.file(exercise).with_suffix(".py.old")
            kept.write_bytes(text)
        self.path.mkdir(parents=True, exist_ok=True)
        self.file(exercise).write_bytes(exercise.start.encode())
        for known in (self.notes["hints"], self.notes["tries"]):
            known.pop(exercise.name, None)
        self.note(exercise, False)
        return kept


def _numbers(found: object) -> dict[str, int]:
    """Return the entries of an object of the progress file that are integers."""
    return {name: number for name, number in found.items() if type(number) is int} if isinstance(found, dict) else {}
