"""The state that all ranks of an open file share, and the state of one rank."""

from __future__ import annotations

import os

from fakempi.core.network.parameters import Time
from fakempi.errors.classes import ERR_AMODE
from fakempi.mpi.base.constants import (
    MODE_APPEND,
    MODE_CREATE,
    MODE_EXCL,
    MODE_RDONLY,
    MODE_RDWR,
    MODE_SEQUENTIAL,
    MODE_WRONLY,
)
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.info import Info
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.process import Universe
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.files.hints import Hints
from fakempi.mpi.files.races import FileRaces
from fakempi.mpi.files.state import AccessRecord, OpenFiles
from fakempi.mpi.files.storage import Storage
from fakempi.mpi.files.views import PLAIN, View
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.point.handle import CommState

SIZE = (1 << 62, 1)
"""A pseudo run of bytes that represents the file's size."""


class SharedFile:
    """An open file: one object for all of its ranks."""

    __slots__ = (
        "__weakref__", "amode", "atomic", "begin", "context", "path", "pointer", "races", "serial", "storage", "universe",
    )  # fmt: skip

    def __init__(self, universe: Universe, path: str, amode: int, context: Context) -> None:
        self.universe, self.path, self.amode, self.context = universe, path, amode, context
        self.storage = Storage(path, amode)
        files = universe.state(OpenFiles)
        files.storages.add(self.storage)
        self.begin = self.storage.size if amode & MODE_APPEND else 0  # initial value of all pointers, in etypes
        self.pointer = self.begin  # the shared pointer
        self.atomic = False
        files.open_count = self.serial = files.open_count + 1
        self.races: FileRaces | None = None  # one object for all ranks and all opens of this path
        if not universe.is_singleton and os.path.isfile(path):
            self.races = files.races.setdefault(os.path.realpath(path), FileRaces())

    def synchronized(self) -> None:
        """Note that all ranks have synchronized or closed the file: earlier accesses are ordered before later ones."""
        if self.races is not None:
            self.races.synchronized(self.serial)

    def note(self, comm: CommState, runs: list[tuple[int, int]], *, write: bool) -> None:
        """Record an access in a run of the model checker, and report if the order of accesses matters.

        The order is not explored. It matters if another rank accesses the same bytes, one of the two writes, and no
        collective call on the file is between them; each rank's collective calls are counted.
        """
        process, calls = comm._process.number, comm._side.calls[comm._rank]
        records = self.universe.state(OpenFiles).accesses.setdefault(os.path.realpath(self.path), [])
        for other, file, call_number, other_runs, wrote in records:
            ordered = process == other or (file is self and call_number != calls)
            # if both write, the final size is the same in any order
            compared = runs[:-1] if write and wrote and runs[-1:] == [SIZE] else runs
            if not ordered and (write or wrote) and _overlap(compared, other_runs):
                self.universe.note_unexplored("the order in which ranks access the same bytes of a file")
        records.append(AccessRecord(process, self, calls, runs, write))

    def end_time(self, nbytes: int, runs: int) -> Time:
        """Return the end of an access that begins now: as the file server reports it, or now without one."""
        now, serve = self.universe.loop.now, self.universe.state(OpenFiles).serve
        return now if serve is None or not runs else serve(now, nbytes, runs)


def _overlap(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> bool:
    """Whether runs have a byte in common."""
    return any(a < d + m and d < a + n for a, n in some for d, m in others)


class FilePart:
    """The state of one rank for an open file: one object for all of its handles."""

    __slots__ = ("__weakref__", "comm", "errhandler", "hints", "info", "opened", "pointer", "split", "view")

    def __init__(self, opened: SharedFile, comm: Comm) -> None:
        self.opened: SharedFile | None = opened  # None: closed
        self.comm = comm  # of the ranks that have opened it, for collective calls
        self.view: View = PLAIN
        self.pointer = opened.begin  # ranks that left Open earlier may have moved the shared one already
        self.split: tuple[str, Operation] | None = None  # the split collective call that has begun, and its operation
        self.info: Info | None = None
        self.hints = Hints()
        self.errhandler: Errhandler | None = None


def check_mode(amode: int) -> None:
    """Raise an error for an invalid combination of modes."""
    ways = [name for name, mode in (("RDONLY", MODE_RDONLY), ("WRONLY", MODE_WRONLY), ("RDWR", MODE_RDWR)) if amode & mode]
    if len(ways) != 1:
        given = " and ".join(f"MODE_{way}" for way in ways) or "none of them"
        raise _mode_error(f"expecting exactly one of MODE_RDONLY, MODE_WRONLY and MODE_RDWR, got {given}")
    if amode & MODE_RDONLY and amode & (MODE_CREATE | MODE_EXCL):
        raise _mode_error("MODE_RDONLY cannot be combined with MODE_CREATE or MODE_EXCL")
    if amode & MODE_RDWR and amode & MODE_SEQUENTIAL:
        raise _mode_error("MODE_RDWR cannot be combined with MODE_SEQUENTIAL")


def _mode_error(problem: str) -> Exception:
    return mpi_error(ERR_AMODE, f"{problem}.")
