"""A data race on a file: two ranks access the same bytes, one of them writes, and no Sync is between the two accesses."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from fakempi import MPI

EXPECTED = "file-race"
WORDS = "with no Sync in between"
RANKS = 2
PATH = os.path.join(tempfile.gettempdir(), f"file_race_{os.getpid()}")


def _opened(comm: Any) -> Any:
    return MPI.File.Open(comm, PATH, MPI.MODE_CREATE | MPI.MODE_RDWR | MPI.MODE_DELETE_ON_CLOSE)


def wrong(comm: Any) -> None:
    file = _opened(comm)
    file.Write_at(0, bytes([comm.rank]))  # here
    file.Close()


def right(comm: Any) -> None:
    file = _opened(comm)
    file.Write_at(comm.rank, bytes([comm.rank]))
    file.Sync()
    comm.Barrier()
    file.Sync()
    file.Read_at(1 - comm.rank, bytearray(1))
    file.Close()
