"""RankRecording: the parts of a recording that all wrappers share."""

from __future__ import annotations

from typing import Any, Protocol

from fakempi.extensions.recorder.communicators import CommNumbers
from fakempi.extensions.recorder.lines import CallLog
from fakempi.extensions.recorder.requests import RequestNumbers
from fakempi.extensions.recorder.sizes import BufferSizes


class ObjectSizes(Protocol):
    """The sizes of the objects that this rank has pickled (`written`) and unpickled (`read`) since the last `clear`."""

    written: list[int]
    read: list[int]

    def clear(self) -> None:
        """Forget all sizes: a call begins."""


class RankRecording:
    """The recording of a rank.

    Attributes
    ----------
    mpi : the module MPI: mpi4py's, or the emulator's
    log, communicators, requests, sizes, pickles : they collect lines, number objects, and measure buffers and objects
    irecv_room : the bytes that a nonblocking receive of an object allocates
    probed : the messages of matched probes by their id: the communicator, and the words of source, tag and bytes
    """

    def __init__(
        self, mpi: Any, log: CallLog, communicators: CommNumbers, pickles: ObjectSizes, irecv_room: int = 32768
    ) -> None:
        self.mpi, self.log, self.communicators, self.pickles, self.irecv_room = mpi, log, communicators, pickles, irecv_room
        self.requests = RequestNumbers()
        self.sizes = BufferSizes(mpi)
        self.probed: dict[int, tuple[int, str]] = {}
        self._null, self._any_source, self._any_tag = mpi.PROC_NULL, mpi.ANY_SOURCE, mpi.ANY_TAG

    def is_foreign(self, name: str) -> bool:
        """Return whether another thread than the recorded one makes this call, and count it."""
        return False

    def is_commutative(self, op: Any) -> bool:
        """Return whether an operation is commutative; a function of Python is not."""
        return bool(getattr(op, "Is_commutative", bool)())

    def peer(self, rank: Any) -> Any:
        """Return a rank as the lines have it: `*` for any, -1 for none."""
        return rank if rank >= 0 else "*" if rank == self._any_source else "-1"

    def tag(self, tag: Any) -> Any:
        """Return a tag as the lines have it: `*` for any."""
        return "*" if tag == self._any_tag else tag

    def match(self, status: Any) -> str:
        """Return the source and the tag of a received message."""
        return f":{self.peer(status.Get_source())}:{self.tag(status.Get_tag())}"

    def received(self, status: Any) -> str:
        """Return the words of the source, the tag and the bytes of a received message."""
        source = status.Get_source()
        if source < 0:
            return f"{self.peer(source)} {self.tag(status.Get_tag())} 0"
        return f"{source} {status.Get_tag()} {status.Get_count(self.mpi.BYTE)}"

    def order(self, op: Any) -> str:
        """Return `c` for a commutative operation or None, and `n` for another one."""
        return "c" if op is None or self.is_commutative(op) else "n"
