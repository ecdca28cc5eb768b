"""RankRecording: the parts of a recording that all wrappers share."""

from __future__ import annotations

from _thread import get_ident
from collections import Counter
from typing import Any

from fakempi.apps.record.communicators import CommNumbers
from fakempi.apps.record.log import RankFile
from fakempi.apps.record.pickles import PickleSizes
from fakempi.apps.record.requests import RequestNumbers
from fakempi.apps.record.sizes import BufferSizes


class RankRecording:
    """The recording of this rank. Calls of other threads than the first are not recorded, but counted."""

    def __init__(self, mpi: Any, log: RankFile, irecv_room: int = 32768) -> None:
        self.mpi, self.log = mpi, log
        self.irecv_room = irecv_room  # bytes for a pickled object
        self.communicators = CommNumbers(mpi, log)
        self.requests = RequestNumbers()
        self.sizes = BufferSizes(mpi)
        self.pickles = PickleSizes(mpi)
        self.thread = get_ident()
        self.other_threads: Counter[str] = Counter()
        self.commutative: dict[int, str] = {}
        self.probed: dict[int, int] = {}  # the communicators of messages from matched probes, by their id

    def is_foreign(self, name: str) -> bool:
        """Return whether another thread makes this call, and count it."""
        if get_ident() == self.thread:
            return False
        self.other_threads[name] += 1
        return True

    def peer(self, rank: Any) -> str:
        """Return a rank as the file has it: `*` for any, -1 for none."""
        if rank == self.mpi.ANY_SOURCE:
            return "*"
        return "-1" if rank == self.mpi.PROC_NULL else str(rank)

    def tag(self, tag: Any) -> str:
        """Return a tag as the file has it: `*` for any."""
        return "*" if tag == self.mpi.ANY_TAG else str(tag)

    def match(self, status: Any) -> str:
        """Return the source and the tag of a received message."""
        return f":{self.peer(status.Get_source())}:{self.tag(status.Get_tag())}"

    def order(self, op: Any) -> str:
        """Return `c` for a commutative operation, and `n` for another one."""
        if not op.is_predefined:
            return "c" if op.Is_commutative() else "n"
        handle = self.mpi._handleof(op)
        if handle not in self.commutative:
            self.commutative[handle] = "c" if op.Is_commutative() else "n"
        return self.commutative[handle]
