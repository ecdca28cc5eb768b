"""A student's folder: the files to edit, and, in a file of ours beside them, how far it is.

That file is a convenience. Nobody is graded by it: whether an exercise is done is found out by its check.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from fakempi.learn.course import Course, Exercise, refusal

NOTES = ".fakempi-learn.json"
NAME = "mpi_course"
"""What the folder is called unless somebody says otherwise."""

PASSED, OPEN, UNTOUCHED, MISSING = "passed", "open", "untouched", "missing"


def here(name: str | None) -> Path:
    """The folder that is meant: the one that is named, the current one if it is a student's, or `mpi_course` beside us."""
    if name is not None:
        return Path(name)
    return Path() if Path(NOTES).is_file() else Path(NAME)


class Folder:
    """The files of one student. `more` are folders of a class with further exercises, which are remembered."""

    def __init__(self, path: Path, more: list[Path] | None = None) -> None:
        self.path = path
        self.notes: dict[str, Any] = self._read()
        known = [Path(one) for one in self.notes.get("more", [])]
        self.course = Course(dict.fromkeys([*known, *(one.resolve() for one in more or ())]))

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads((self.path / NOTES).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self) -> None:
        self.notes["more"] = [str(one) for one in self.course.more]
        if self.path.is_dir():
            (self.path / NOTES).write_text(json.dumps(self.notes, indent=1) + "\n", encoding="utf-8")

    def set_up(self) -> int:
        """Put the files there that are not; says how many. What is there stays as it is."""
        self.path.mkdir(parents=True, exist_ok=True)
        new = [exercise for exercise in self.course if not self.file(exercise).exists()]
        for exercise in new:
            self.file(exercise).write_bytes(exercise.start.encode())
        self._write()
        return len(new)

    def file(self, exercise: Exercise) -> Path:
        """The student's file."""
        return self.path / exercise.file

    def there(self, exercise: Exercise) -> Path:
        """The student's file, which must be there."""
        file = self.file(exercise)
        if not file.is_file():
            raise refusal(f"there is no {file}: fakempi learn {self.path} puts it there.")
        return file

    def state(self, exercise: Exercise) -> str:
        """Passed, if its check has passed and the file is still the same; else open, untouched, or missing."""
        text = self._bytes(exercise)
        if text is None:
            return MISSING
        passed = self.notes.get("passed", {})
        if isinstance(passed, dict) and passed.get(exercise.name) == sha256(text).hexdigest():
            return PASSED
        return UNTOUCHED if text == exercise.start.encode() else OPEN

    def _bytes(self, exercise: Exercise) -> bytes | None:
        try:
            return self.file(exercise).read_bytes()
        except OSError:
            return None

    def note(self, exercise: Exercise, passed: bool) -> None:
        """Remember what a check has said."""
        text = self._bytes(exercise)
        known = self.notes.setdefault("passed", {})
        if passed and text is not None:
            known[exercise.name] = sha256(text).hexdigest()
        else:
            known.pop(exercise.name, None)
        self._write()

    def passed(self) -> int:
        """How many are."""
        return sum(self.state(exercise) == PASSED for exercise in self.course)

    def next(self, after: Exercise | None = None) -> Exercise | None:
        """The first that is not passed; after a given one, if there is one there."""
        open_ones = [exercise for exercise in self.course if self.state(exercise) != PASSED]
        later = [exercise for exercise in open_ones if after is not None and exercise.number > after.number]
        return next(iter(later or open_ones), None)

    def hint(self, exercise: Exercise) -> tuple[int, str]:
        """The next hint, and which it is; the last stays."""
        seen = self.notes.setdefault("hints", {})
        number = min(int(seen.get(exercise.name, 0)) + 1, len(exercise.hints))
        seen[exercise.name] = number
        self._write()
        return number, exercise.hints[number - 1]

    def reset(self, exercise: Exercise) -> Path | None:
        """The start file again; what was there is kept beside it, if that was another one."""
        kept, text = None, self._bytes(exercise)
        if text is not None and text != exercise.start.encode():
            kept = self.file(exercise).with_suffix(".py.old")
            kept.write_bytes(text)
        self.path.mkdir(parents=True, exist_ok=True)
        self.file(exercise).write_bytes(exercise.start.encode())
        self.notes.get("hints", {}).pop(exercise.name, None)
        self.note(exercise, False)
        return kept
