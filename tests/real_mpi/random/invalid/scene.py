"""The environment of an invalid call: a duplicate of the communicator, buffers, and random choices."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np


class Scene:
    """A duplicate of the communicator and the objects that a case creates; all are freed in the end."""

    def __init__(self, MPI: Any, comm: Any, rng: Random) -> None:
        self.MPI, self.rng = MPI, rng
        self.world = comm
        self.comm = comm.Dup()
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.ints = np.zeros(8, "i4")
        self.more = np.zeros(8 * self.size, "i4")
        self._kept: list[Any] = []
        self._directory: str | None = None

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *_: object) -> None:
        for each in reversed(self._kept):
            close = getattr(each, "Close", None) or getattr(each, "Free", None)
            if each and close:
                close()
        self.comm.Free()
        if self._directory is not None:
            self.world.Barrier()
            if self.rank == 0:
                for path in Path(self._directory).iterdir():
                    path.unlink()
                os.rmdir(self._directory)

    def pick(self, *values: Any) -> Any:
        """One of the values, the same on all ranks."""
        return self.rng.choice(values)

    def keep(self, made: Any) -> Any:
        """Free an object in the end, unless it is predefined."""
        MPI = self.MPI
        predefined = isinstance(made, MPI.Datatype) and made.is_predefined
        if (
            not predefined
            and made not in self._kept
            and hasattr(made, "Free" if not isinstance(made, MPI.File) else "Close")
        ):
            self._kept.append(made)
        return made

    def bad_rank(self) -> int:
        """A number that is no rank of the communicator, no wildcard and not PROC_NULL."""
        return int(self.pick(-77, -10, self.size, self.size + 1, 10**6))

    def bad_tag(self, wildcard: bool = False) -> int:
        """A number that is no tag; for sends also ANY_TAG."""
        return int(self.pick(-77, -5, *([] if wildcard else [self.MPI.ANY_TAG])))

    def path(self, name: str = "file") -> str:
        """A path in a directory of this case."""
        if self._directory is None:
            parent = "/dev/shm" if os.path.isdir("/dev/shm") else None
            self._directory = self.world.bcast(tempfile.mkdtemp(dir=parent) if self.rank == 0 else None)
        return os.path.join(str(self._directory), name)

    def file(self, mode: int | None = None, length: int = 64) -> Any:
        """An open file of this length."""
        MPI = self.MPI
        if mode is not None and not mode & MPI.MODE_CREATE:
            if self.rank == 0:
                Path(self.path()).write_bytes(bytes(length))
            else:
                self.path()
            self.world.Barrier()
        return self.keep(MPI.File.Open(self.comm, self.path(), MPI.MODE_RDWR | MPI.MODE_CREATE if mode is None else mode))

    def window(self, unit: int = 4) -> Any:
        """A window of 8 integers per rank."""
        return self.keep(self.MPI.Win.Allocate(32, unit, comm=self.comm))

    def inter(self) -> Any:
        """An intercommunicator of rank 0 and the others; the communicator itself if there is one rank."""
        if self.size == 1:
            return self.comm
        local = self.keep(self.comm.Split(self.rank > 0, 0))
        return self.keep(local.Create_intercomm(0, self.comm, 0 if self.rank else 1, 3))

    def group(self, ranks: Sequence[int] | None = None) -> Any:
        """The group of the communicator, or of some of its ranks."""
        whole = self.keep(self.comm.Get_group())
        return whole if ranks is None else self.keep(whole.Incl(ranks))
