"""Find the format of a recording, and read it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.formats import recorded, traced
from fakempi.recordings.formats.allprof import reading as allprof
from fakempi.recordings.formats.dumpi import reading as dumpi
from fakempi.recordings.recording import Recording

Progress: TypeAlias = Callable[[float], None]
"""Receives the part that has been read, from 0 to 1, about every 10,000 events."""


class Format(NamedTuple):
    """A format: its name, a function that recognizes a path, and the reader."""

    name: str
    recognizes: Callable[[Path], bool]
    read: Callable[[Path, Progress], Recording]


FORMATS: Sequence[Format] = (
    Format("files of `python -m fakempi.record`", recorded.recognizes, recorded.read),
    Format("text traces of liballprof", allprof.recognizes, allprof.read),
    Format("binary traces of DUMPI", dumpi.recognizes, dumpi.read),
    Format("traces of `fakempi run --cpu-scale 1`", traced.recognizes, traced.read),
)
"""One line for each format. A path is a file or a directory with one file per rank."""


def read(path: str | os.PathLike[str], progress: Progress | None = None) -> Recording:
    """Return the recording in a file or directory; RecordingError if it has no known format or is wrong."""
    where = Path(os.path.expanduser(path))
    if not where.exists():
        raise RecordingError("no such file or directory.", path)
    for known in FORMATS:
        if known.recognizes(where):
            return known.read(where, progress or (lambda part: None))
    names = ", ".join(known.name for known in FORMATS)
    raise RecordingError(f"not a recording that fakempi can read. The formats are: {names}.", path)
