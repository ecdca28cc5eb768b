"""Read and write schedule files; the suffix determines the format."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from collectives.schedules import goal, json_format, msccl
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.schedule import Schedule
from collectives.tools.text_files import decoded, read_bytes

FORMATS: Final[dict[str, tuple[Callable[[str], Schedule], Callable[[Schedule], str]]]] = {
    ".json": (json_format.read, json_format.write),
    ".goal": (goal.read, goal.write),
    ".bin": (goal.read, goal.refuse_binary),
    ".xml": (msccl.read, msccl.write),
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def load(path: str | Path) -> Schedule:
    """Read a schedule file.

    Parameters
    ----------
    path : a file with the suffix .goal (GOAL, also in binary form), .bin (binary GOAL), .xml (MSCCL) or .json

    Raises
    ------
    InvalidScheduleError
        If the file cannot be read; the message has the path, the line number if it is known, and the reason.
    """
    path = Path(path)
    read, _ = _format(path)
    try:
        data = read_bytes(path)
        text = "" if data.startswith(goal.MAGIC) else decoded(data)
    except ValueError as error:
        raise InvalidScheduleError(f"{path}: {error}") from None
    try:
        schedule = read(text) if text or not data.startswith(goal.MAGIC) else goal.read_binary(data)
        _check_names(schedule)
    except InvalidScheduleError as error:
        raise InvalidScheduleError(f"{path}: {_printable(str(error))}") from None
    except RecursionError:
        raise InvalidScheduleError(f"{path}: its values are nested too deeply") from None
    return schedule


def _check_names(schedule: Schedule) -> None:
    """Raise an error if a name has control characters: reports print names, and a terminal would execute these."""
    names = {schedule.name, schedule.operation, *schedule.labels.values()}
    names.update(name for sizes in schedule.buffers for name in sizes)
    for name in sorted(names):
        if _CONTROL.search(name):
            raise InvalidScheduleError(f"the name {name!r} has control characters")


def _printable(text: str) -> str:
    """Return a text with control characters as in Python's literals; a message may quote a file."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def save(schedule: Schedule, path: Path) -> None:
    """Write a schedule file in the format of the suffix of `path`."""
    _, write = _format(path)
    path.write_text(write(schedule), encoding="utf-8")


def _format(path: Path) -> tuple[Callable[[str], Schedule], Callable[[Schedule], str]]:
    """Return the functions that read and write the format of a path's suffix."""
    if path.suffix not in FORMATS:
        raise InvalidScheduleError(f"{path}: unknown suffix {path.suffix!r}; use one of {', '.join(FORMATS)}")
    return FORMATS[path.suffix]
