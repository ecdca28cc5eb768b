"""Find students' directories, and the directories that no submission may read."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from fakempi.apps.course.course import Course, course_error
from fakempi.apps.course.worker_start import ROOT


def students(names: Sequence[str], course: Course) -> list[Path]:
    """Return students' directories: each of the named ones, or the directories in it if it contains no exercises itself."""
    found: list[Path] = []
    for path in map(Path, names):
        if not path.is_dir():
            raise course_error(f"the directory {path} does not exist.")
        inside = sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith((".", "__")))
        found += [path] if _has_exercises(path, course) or not inside else inside
    return found


def _has_exercises(path: Path, course: Course) -> bool:
    return any(exercise.file_in(path).is_file() for exercise in course)


def hidden(directories: Sequence[Path]) -> tuple[Path, ...]:
    """Return the directories that contain submissions, except those that contain Python or fakempi."""
    parents = {path.resolve().parent for path in directories}
    needed = [Path(path or os.curdir).resolve() for path in (ROOT, sys.prefix, sys.base_prefix, sys.executable, *sys.path)]
    return tuple(sorted(each for each in parents if not any(path.is_relative_to(each) for path in needed)))


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
