"""Recognize DUMPI traces, and read them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.formats.dumpi import communicators as known
from fakempi.recordings.formats.dumpi.communicators import CommResolution, RankComms, Slot
from fakempi.recordings.formats.dumpi.rank import RankRecords
from fakempi.recordings.formats.dumpi.records import MAGIC, WRONG, DumpiFile, Record
from fakempi.recordings.formats.files import ByteProgress, all_ranks, numbered, starts_with
from fakempi.recordings.recording import Recording, RecordingBuilder

META = 100_000
"""Bytes of a metafile that are read."""


def recognizes(path: Path) -> bool:
    """Return whether this is a DUMPI trace: a metafile, the file of a rank, or a directory with one trace."""
    if path.suffix == ".meta":
        return True
    files = _files(path) if path.is_dir() else {0: path}
    return bool(files) and starts_with(files[min(files)], MAGIC)


def _files(path: Path) -> dict[int, Path]:
    """Return the files by rank."""
    if path.is_dir():
        metafiles = sorted(path.glob("*.meta"))
        return _files(metafiles[0]) if len(metafiles) == 1 else numbered(path, r".*-(\d{4,})\.bin")
    prefix = path.name.removesuffix(".meta") if path.suffix == ".meta" else re.sub(r"-\d+\.bin$", "", path.name)
    return numbered(path.parent, re.escape(prefix) + r"-(\d{4,})\.bin")


def _number_of_ranks(path: Path, files: dict[int, Path]) -> int:
    """Return the number of ranks in the metafile; without one, all files are those of the trace."""
    metafiles = sorted(path.glob("*.meta")) if path.is_dir() else [path] if path.suffix == ".meta" else []
    if len(metafiles) == 1:
        with metafiles[0].open("rb") as file:
            found = re.search(rb"^numprocs=(\d{1,9})\s*$", file.read(META), re.MULTILINE)
        if found:
            return int(found[1])
    return len(files)


def read(path: Path, progress: Callable[[float], None]) -> Recording:
    """Return the recording of a trace. Each file is read twice: for the communicators, and for the events."""
    files = _files(path)
    if not files:
        raise RecordingError("the trace has no files such as dumpi-0000.bin.", path)
    paths = all_ranks(files, _number_of_ranks(path, files), path)
    builder = RecordingBuilder(len(paths), str(path))
    resolution, counter = CommResolution(len(paths), builder.communicator), ByteProgress([*paths, *paths], progress)
    null = set[int]()
    for each, comms in zip(paths, resolution.ranks, strict=True):
        file = DumpiFile(each)
        for record in file.records():
            try:
                resolution.scan(comms, record)
                _note_null(record, null)
            except WRONG:
                file.reject(record.offset, f"MPI_{record.name} has arguments that no call has.")
        counter.add(len(file.data))
    resolution.run()
    seconds = 0.0
    for each, comms in zip(paths, resolution.ranks, strict=True):
        seconds = max(seconds, _read_rank(DumpiFile(each), comms, builder, null, counter))
    return builder.finish(seconds)


def _note_null(record: Record, null: set[int]) -> None:
    """Collect negative destinations: the value of MPI_PROC_NULL in the library of the trace."""
    if record.name in ("Send", "Isend", "Sendrecv", "Sendrecv_replace", "Send_init") and record.values[2] < 0:
        null.add(record.values[2])
    elif record.name == "Cart_shift":
        null.update(each for each in record.values[3:] if each < 0)


def _read_rank(file: DumpiFile, comms: RankComms, builder: RecordingBuilder, null: set[int], counter: ByteProgress) -> float:
    """Write the events of a rank; returns its measured time."""
    final, made = comms.slots, iter(comms.made)
    slots = {number: final[number] for number in (known.WORLD, known.SELF)}
    writer = RankRecords(file, comms, builder, sorted(null))
    last = file.body
    for count, record in enumerate(file.records()):
        if count % 10_000 == 0:
            counter.add(record.offset - last)
            last = record.offset
        writer.write(record, slots)
        if record.name in known.CREATE:
            number = record.values[known.CREATE[record.name]]
            # a call on an unknown communicator is not in the list
            if slots.get(record.values[known.PARENT[record.name]]) is not None and (call := next(made, None)) is not None:
                slots[number] = call.new
        elif record.name in known.OTHERS:
            slots[record.values[known.OTHERS[record.name]]] = Slot(-1)
    counter.add(len(file.data) - last)
    return writer.seconds
