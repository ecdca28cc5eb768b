"""The points of exercises: from a text such as `1=2,3=0.5`, or from a file with such a line for each exercise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from fakempi.apps.course.course import Course, Exercise, course_error

LINE = re.compile(r"\s*([\w.]+)\s*[=,:]\s*(\d+(?:\.\d+)?)\s*")


def weights(text: str | None, course: Course) -> Mapping[Exercise, float]:
    """Return the points of each exercise to grade, in order; by default all exercises have one point.

    Exercises that are not listed are not graded.
    """
    if text is None:
        return dict.fromkeys(course, 1.0)
    found: dict[int, float] = {}
    for line in _lines(text):
        match = LINE.fullmatch(line)
        if match is None:
            raise course_error(
                f"the weight {line.strip()!r} is not of the form 3=2, with the number of an exercise and its points."
            )
        number = course.find(match[1]).number
        if number in found:
            raise course_error(f"exercise {number:02} has two weights.")
        found[number] = float(match[2])
    if not sum(found.values()):
        raise course_error("the weights have no points: list at least one exercise, such as 3=2.")
    return {each: found[each.number] for each in course if each.number in found}


def _lines(text: str) -> list[str]:
    """Return the entries of a text or file, without comments and empty ones."""
    if re.fullmatch(r"[\w.]+=[^,/\\]*(,[\w.]+=[^,/\\]*)*", text):
        return text.split(",")
    path = Path(text)
    if not path.is_file():
        raise course_error(f"the weights {text} are not a file, and not of the form 1=2,3=0.5.")
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise course_error(f"the file of weights {text} cannot be read: {error}.") from None
    entries = (line.partition("#")[0] for line in content.splitlines())
    return [entry for entry in entries if entry.strip()]
