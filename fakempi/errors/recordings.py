"""The error of recordings: runs of applications that `fakempi replay` reads."""

from __future__ import annotations

import os

from fakempi.errors import TraceError, printable
from fakempi.errors.paths import short_path


class RecordingError(TraceError):
    """A recording cannot be read or replayed; the text gives the file, the offset or line, and the reason.

    Attributes
    ----------
    path, offset, line
        The file, and the byte or line at which it is wrong; None if unknown.
    """

    def __init__(
        self,
        reason: str,
        path: str | os.PathLike[str] | None = None,
        *,
        offset: int | None = None,
        line: int | None = None,
    ) -> None:
        self.path, self.offset, self.line = path, offset, line
        place = "" if path is None else short_path(os.path.normpath(path))
        if line is not None:
            place += f":{line}"
        if offset is not None:
            place += f" (offset {offset:,})"
        super().__init__(printable(f"{place}: {reason}" if place else reason, keep="\n"))
