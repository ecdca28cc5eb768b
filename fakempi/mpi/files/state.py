"""The open files of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakSet

from fakempi.core.network.parameters import Time
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.process import RunState, Universe
from fakempi.mpi.files.races import FileRaces
from fakempi.mpi.files.storage import Storage


class AccessRecord(NamedTuple):
    """An access to a file, in a run of the model checker."""

    process: int
    file: object  # the `SharedFile`
    calls: int  # collective calls on the file that the rank had made
    runs: list[tuple[int, int]]
    writes: bool


class OpenFiles(RunState):
    """The state of files in a run."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        universe.at_end.append(self.close)
        self.storages: WeakSet[Storage] = WeakSet()  # open files of the operating system
        self.accesses: dict[str, list[AccessRecord]] = {}  # by path
        self.races: dict[str, FileRaces] = {}  # by path: accesses since the file was synchronized
        self.open_count = 0  # number of files that have been opened
        self.errhandlers: dict[int, Errhandler] = {}  # by process: the handler of files that it opens
        self.datareps: dict[int, set[str]] = {}  # by process: registered data representations
        files = universe.cost.files
        self.serve: Callable[[Time, int, int], Time] | None = None if files is None else files.open().serve

    def close(self) -> None:
        """Close files that the program has left open: no rank can use them after the run."""
        for storage in list(self.storages):
            storage.close()
