"""The files of a recording with one file per rank."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.recording import MAX_RANKS

PROGRESS_LINES = 10_000


def numbered(directory: Path, pattern: str) -> dict[int, Path]:
    """Return the files of a directory by the number in their names, which is the group of the pattern."""
    if not directory.is_dir():
        return {}
    found = {}
    for path in directory.iterdir():
        match = re.fullmatch(pattern, path.name)
        if match and len(match[1]) < 10:
            found[int(match[1])] = path
    return found


def starts_with(path: Path, beginning: bytes) -> bool:
    """Return whether a file can be read, and starts with these bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(beginning)) == beginning
    except OSError:
        return False


def all_ranks(files: dict[int, Path], ranks: int, directory: Path) -> list[Path]:
    """Return the files of all ranks in order; RecordingError if one is absent."""
    if not 0 < ranks <= MAX_RANKS:
        raise RecordingError(f"the number of ranks, {ranks:,}, is not between 1 and {MAX_RANKS:,}.", directory)
    absent = [rank for rank in range(ranks) if rank not in files]
    if absent:
        one = f"rank {absent[0]} has none"
        which = one if len(absent) == 1 else f"{len(absent):,} ranks have none, such as rank {absent[0]}"
        raise RecordingError(f"the files of {ranks:,} ranks are expected, and {which}.", directory)
    return [files[rank] for rank in range(ranks)]


class ByteProgress:
    """Reports the part of all files that has been read."""

    def __init__(self, paths: Sequence[Path], progress: Callable[[float], None]) -> None:
        self._total = max(sum(path.stat().st_size for path in paths), 1)
        self._done = 0
        self._progress = progress

    def lines(self, path: Path) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a file with their numbers."""
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                self._done += len(line)
                if number % PROGRESS_LINES == 0:
                    self._progress(min(self._done / self._total, 1.0))
                yield number, line

    def add(self, nbytes: int) -> None:
        """Report that more bytes have been read."""
        self._done += nbytes
        self._progress(min(self._done / self._total, 1.0))
