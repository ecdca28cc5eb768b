"""What all ranks that have opened a file together share."""

from __future__ import annotations

import os
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

SIZE = (1 << 62, 1)
"""In place of bytes: how long the file is."""


class Opened:
    """A file that ranks have opened: one object for all of them."""

    __slots__ = ("__weakref__", "amode", "atomic", "context", "path", "pointer", "storage", "universe")

    def __init__(self, universe: Any, path: str, amode: int, context: Any) -> None:
        self.universe, self.path, self.amode, self.context = universe, path, amode, context
        self.storage = Storage(path, amode)
        self.pointer = self.storage.size if amode & MODE_APPEND else 0  # the shared one, in etypes
        self.atomic = False

    def note(self, comm: Any, runs: list[tuple[int, int]], *, write: bool) -> None:
        """Where choices are made: a rank's access to runs of bytes. Their order is not chosen, so if that can show, say so.

        It can if another rank accesses the same bytes, one of the two writes, and no call of all ranks on the file is
        between them: of these a rank has made so many.
        """
        process, calls = comm._process.number, comm._side.calls.get(comm._rank, 0)
        noted = self.universe.file_accesses.setdefault(os.path.realpath(self.path), [])
        for other, opened, made, there, wrote in noted:
            apart = process == other or (opened is self and made != calls)
            mine = runs[:-1] if write and wrote and runs[-1:] == [SIZE] else runs  # the longer one decides, whoever is first
            if not apart and (write or wrote) and _meet(mine, there):
                self.universe.leaves_open("the order in which ranks access the same bytes of a file")
        noted.append((process, self, calls, runs, write))

    def over_at(self, nbytes: int, runs: int) -> Any:
        """When an access that begins now is over: the file server's business, if there is one, and something to do."""
        universe, now = self.universe, self.universe.loop.now
        if universe.cost.files is None or not runs:
            return now
        if universe.file_queue is None:
            universe.file_queue = universe.cost.files.open()
        return universe.file_queue.serve(now, nbytes, runs)


def _meet(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> bool:
    """Whether runs have a byte in common."""
    return any(a < d + m and d < a + n for a, n in some for d, m in others)


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
