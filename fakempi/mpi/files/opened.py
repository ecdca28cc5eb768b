"""What all ranks that have opened a file together share."""

from __future__ import annotations

from typing import Any

from fakempi.error_classes import ERR_AMODE
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import (
    MODE_APPEND,
    MODE_CREATE,
    MODE_EXCL,
    MODE_RDONLY,
    MODE_RDWR,
    MODE_SEQUENTIAL,
    MODE_WRONLY,
)
from fakempi.mpi.files.hints import Hints
from fakempi.mpi.files.storage import Storage
from fakempi.mpi.files.views import PLAIN, View


class Opened:
    """A file that ranks have opened: one object for all of them."""

    __slots__ = ("__weakref__", "amode", "atomic", "context", "path", "pointer", "storage", "universe")

    def __init__(self, universe: Any, path: str, amode: int, context: Any) -> None:
        self.universe, self.path, self.amode, self.context = universe, path, amode, context
        self.storage = Storage(path, amode)
        self.pointer = self.storage.size if amode & MODE_APPEND else 0  # the shared one, in etypes
        self.atomic = False

    def over_at(self, nbytes: int, runs: int) -> Any:
        """When an access that begins now is over: the file server's business, if there is one, and something to do."""
        universe, now = self.universe, self.universe.loop.now
        if universe.cost.files is None or not runs:
            return now
        if universe.file_queue is None:
            universe.file_queue = universe.cost.files.open()
        return universe.file_queue.serve(now, nbytes, runs)


class Part:
    """A rank's own part of an open file: one object for all of its handles."""

    __slots__ = ("__weakref__", "comm", "errhandler", "hints", "info", "opened", "pointer", "split", "view")

    def __init__(self, opened: Opened, comm: Any) -> None:
        self.opened: Opened | None = opened  # None: closed
        self.comm = comm  # of the ranks that have opened it, for their meetings
        self.view: View = PLAIN
        self.pointer = opened.pointer
        self.split: tuple[str, Any] | None = None  # the split collective call that has begun, and its operation
        self.info: Any = None
        self.hints = Hints()
        self.errhandler: Any = None


def check_mode(amode: int) -> None:
    """Complain of modes that contradict each other."""
    ways = [name for name, mode in (("RDONLY", MODE_RDONLY), ("WRONLY", MODE_WRONLY), ("RDWR", MODE_RDWR)) if amode & mode]
    if len(ways) != 1:
        given = " and ".join(f"MODE_{way}" for way in ways) or "none of them"
        raise _wrong(f"one of MODE_RDONLY, MODE_WRONLY and MODE_RDWR must be given, not {given}")
    if amode & MODE_RDONLY and amode & (MODE_CREATE | MODE_EXCL):
        raise _wrong("MODE_RDONLY does not go with MODE_CREATE or MODE_EXCL")
    if amode & MODE_RDWR and amode & MODE_SEQUENTIAL:
        raise _wrong("MODE_RDWR does not go with MODE_SEQUENTIAL")


def _wrong(words: str) -> Exception:
    return complaint(ERR_AMODE, f"{words}.")
