"""Read and write schedule files; the suffix determines the format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from collectives.schedules import goal, json_format, msccl
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.schedule import Schedule

FORMATS: Final[dict[str, tuple[Callable[[str], Schedule], Callable[[Schedule], str]]]] = {
    ".json": (json_format.read, json_format.write),
    ".goal": (goal.read, goal.write),
    ".xml": (msccl.read, msccl.write),
}
MAX_BYTES = 1 << 30
"""Upper limit of the size of a file that is read."""


def load(path: str | Path) -> Schedule:
    """Read a schedule file.

    Parameters
    ----------
    path : a file with the suffix .goal (GOAL), .xml (MSCCL) or .json

    Raises
    ------
    InvalidScheduleError
        If the file cannot be read; the message has the path, the line number if it is known, and the reason.
    """
    path = Path(path)
    read, _ = _format(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidScheduleError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidScheduleError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidScheduleError(f"{path}: not a text file in UTF-8") from None
    try:
        return read(text)
    except InvalidScheduleError as error:
        raise InvalidScheduleError(f"{path}: {error}") from None


def save(schedule: Schedule, path: Path) -> None:
    """Write a schedule file in the format of the suffix of `path`."""
    _, write = _format(path)
    path.write_text(write(schedule), encoding="utf-8")


def _format(path: Path) -> tuple[Callable[[str], Schedule], Callable[[Schedule], str]]:
    """Return the functions that read and write the format of a path's suffix."""
    if path.suffix not in FORMATS:
        raise InvalidScheduleError(f"{path}: unknown suffix {path.suffix!r}; use one of {', '.join(FORMATS)}")
    return FORMATS[path.suffix]
