"""RankOfMPI: the recording of a rank of a real MPI."""

from __future__ import annotations

from _thread import get_ident
from collections import Counter
from typing import Any

from fakempi.apps.record.log import RankFile
from fakempi.apps.record.pickles import PickleSizes
from fakempi.extensions.recorder.communicators import CountedComms
from fakempi.extensions.recorder.rank_recording import RankRecording


class RankOfMPI(RankRecording):
    """The recording of this rank. Calls of other threads than the first are not recorded, but counted."""

    log: RankFile
    pickles: PickleSizes

    def __init__(self, mpi: Any, log: RankFile, irecv_room: int = 32768) -> None:
        super().__init__(mpi, log, CountedComms(mpi, log), PickleSizes(mpi), irecv_room)
        self.thread = get_ident()
        self.other_threads: Counter[str] = Counter()
        self._commutative: dict[int, bool] = {}

    def is_foreign(self, name: str) -> bool:
        """Return whether another thread makes this call, and count it."""
        if get_ident() == self.thread:
            return False
        self.other_threads[name] += 1
        return True

    def is_commutative(self, op: Any) -> bool:
        """Return whether an operation is commutative, for predefined ones from memory."""
        if not getattr(op, "is_predefined", False):
            return super().is_commutative(op)
        handle = self.mpi._handleof(op)
        if handle not in self._commutative:
            self._commutative[handle] = bool(op.Is_commutative())
        return self._commutative[handle]
