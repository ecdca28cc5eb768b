"""Recognize traces of liballprof, and read them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.formats.allprof.handles import Creation, HandleResolution, HandleUse, RankHandles
from fakempi.recordings.formats.allprof.lines import CREATIONS, WRONG, comm_at, reject
from fakempi.recordings.formats.allprof.rank import RankLines
from fakempi.recordings.formats.files import ByteProgress, all_ranks, numbered, starts_with
from fakempi.recordings.recording import MAX_RANKS, Recording, RecordingBuilder

TITLE = b"# htor's PMPI Tracer"


def recognizes(path: Path) -> bool:
    """Return whether this is a trace of liballprof, or a directory of them."""
    files = _files(path) if path.is_dir() else {0: path}
    return bool(files) and starts_with(files[min(files)], TITLE)


def _files(path: Path) -> dict[int, Path]:
    """Return the files by rank: of a directory, or those with the same name as a file except for the number."""
    if path.is_dir():
        return numbered(path, r"pmpi-trace-rank-(\d+)\.txt") or numbered(path, r".*?(\d+)\.txt")
    prefix = re.sub(r"\d+\.txt$", "", path.name)
    return numbered(path.parent, re.escape(prefix) + r"(\d+)\.txt")


def read(path: Path, progress: Callable[[float], None]) -> Recording:
    """Return the recording of a directory, or of the files like the given one."""
    files = _files(path)
    if not 0 < len(files) <= MAX_RANKS:
        raise RecordingError("no files such as pmpi-trace-rank-0.txt.", path)
    paths = all_ranks(files, max(files) + 1 if max(files) < 2 * len(files) else len(files), path)
    builder = RecordingBuilder(len(paths), str(path))
    counter = ByteProgress([*paths, *paths], progress)
    handles = [_scan(each, rank, counter) for rank, each in enumerate(paths)]
    HandleResolution(handles, builder.communicator).run()
    seconds = 0.0
    for each, found in zip(paths, handles, strict=True):
        reader = RankLines(each, found, builder)
        reader.read(counter)
        seconds = max(seconds, reader.seconds)
    return builder.finish(seconds)


def _scan(path: Path, rank: int, counter: ByteProgress) -> RankHandles:
    """Return the creations of communicators and the first uses of their handles."""
    found, seen = RankHandles(rank), set[str]()
    for number, line in counter.lines(path):
        if number == 1 and not line.startswith(TITLE):
            raise RecordingError(f"the first line does not start with {TITLE.decode()!r}.", path, line=1)
        if not line.startswith(b"MPI_"):
            continue
        fields = line.decode("ascii", "replace").rstrip("\n").split(":")
        at = comm_at(fields)
        if at is None:
            continue
        try:
            handle, place, size = fields[at].split(",")
            if handle not in seen:
                found.uses.append(HandleUse(handle, len(found.creations), int(place), int(size)))
                seen.add(handle)
            if fields[0] in CREATIONS:
                split = fields[0] == "MPI_Comm_split"
                color, key = (int(fields[3]), int(fields[4])) if split else (0, 0)
                found.creations.append(Creation(handle, fields[0], color, key))
        except WRONG:
            reject(path, number, line)
    return found
