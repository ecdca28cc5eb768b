"""Find students' directories, and the directories that no submission may read."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir

from fakempi.apps.course.course import Course, course_error
from fakempi.apps.course.worker_start import ROOT


def students(names: Sequence[str], course: Course) -> list[Path]:
    """Return students' directories: each of the named ones, or the directories in it if it contains no exercises itself."""
    found: list[Path] = []
    for path in map(Path, names):
        if not path.is_dir():
            raise course_error(f"the directory {path} does not exist.")
        inside = sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith((".", "__")))
        has_exercises = any(exercise.file_in(path).is_file() for exercise in course)
        found += [path] if has_exercises or not inside else inside
    return found


def hidden(directories: Sequence[Path]) -> tuple[Path, ...]:
    """Return directories that contain the submissions, and nothing that a check needs: Python, fakempi, temporary files.

    That is the parent of a submission, which often contains more of the class, or else the submission itself.
    """
    paths = (ROOT, sys.prefix, sys.base_prefix, sys.executable, gettempdir(), *sys.path)
    needed = [Path(path or os.curdir).resolve() for path in paths]

    def may_be_hidden(path: Path) -> bool:
        return not any(other.is_relative_to(path) for other in needed)

    found = set()
    for path in map(Path.resolve, directories):
        found.update([each for each in (path.parent, path) if may_be_hidden(each)][:1])
    return tuple(sorted(found))


def labels(directories: Sequence[Path]) -> list[str]:
    """Return a name for each student, which is also that of the student's feedback: the name of the directory."""
    names: list[str] = []
    for path in directories:
        base = path.resolve().name or "student"
        name, number = base, 2
        while name in names:
            name, number = f"{base}-{number}", number + 1
        names.append(name)
    return names
