"""The columns of events: one row of 72 bytes for each call of a rank, in the order of the calls.

Numbers of variable length (requests that a call waits for, counts of vector forms, the receiving half of a sendrecv) are
in one flat array per rank; a row has the position of its first number and how many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]

PROC_NULL, ANY = -1, -2
"""Values of `peer`: no partner; and a partner (or tag) that the recording does not know."""

SEND, SSEND, BSEND, RECEIVE, SENDRECV, WAIT, COLLECTIVE, END = range(8)
"""Kinds of events. SEND, SSEND, RECEIVE and COLLECTIVE with a request are nonblocking. END is a rank's last event."""

KIND_NAMES = ("send", "ssend", "bsend", "receive", "sendrecv", "wait", "collective", "end")

OPERATIONS = (
    "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
    "reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan", "create",
)  # fmt: skip
"""Collective operations. "create" is a call that creates communicators (Split, Dup ...): ranks wait for each other."""

ROOTED = frozenset({"bcast", "gather", "gatherv", "scatter", "scatterv", "reduce"})

COUNTS_AT_ROOT = frozenset({"gatherv", "scatterv"})
COUNTS_EVERYWHERE = frozenset({"allgatherv", "reduce_scatter"})
"""Vector forms with a count in bytes for each rank, and those that need it at the root only. The counts of alltoallv are
those sent, followed by those received; alltoallw is recorded as alltoallv."""

NO_REQUEST = -1
NOT_COMMUTATIVE = 1
"""Bit of `flags`: the reduction operation is not commutative."""

COLUMNS = {
    "compute": "f8",  # seconds of computing between the previous call and this one
    "seconds": "f8",  # the duration of the call in the recorded run; 0 if unknown
    "nbytes": "i8",  # of the message; of a collective call, see `EventWriter.collective`
    "request": "i8",  # the number of the request that the call starts, or NO_REQUEST
    "first": "i8",  # of its numbers
    "count": "i4",
    "peer": "i4",  # destination, source or root: a rank of the communicator, PROC_NULL or ANY
    "tag": "i4",  # or ANY
    "comm": "i4",  # an index into the communicators of the recording
    "site": "i4",  # an index into the call sites of the recording; 0: unknown
    "itemsize": "i4",  # bytes of an element; blocks of collective algorithms contain whole elements
    "kind": "u1",
    "operation": "u1",  # an index into OPERATIONS
    "flags": "u1",
}


@dataclass(frozen=True)
class Communicator:
    """The members of a communicator as ranks of the world, in the order of their ranks; `remote` has the other group."""

    members: npt.NDArray[np.int32]
    remote: npt.NDArray[np.int32]

    @property
    def peers(self) -> int:
        """The number of ranks that messages can be sent to."""
        return len(self.remote) or len(self.members)


_PADDING = 5
_CODES = {"f8": "d", "i8": "q", "i4": "i", "u1": "B"}
EVENTS = np.dtype([*COLUMNS.items(), ("padding", f"V{_PADDING}")])
"""A row. It is padded to a multiple of 8 bytes, so that columns are aligned."""

pack = Struct("=" + "".join(_CODES[kind] for kind in COLUMNS.values()) + f"{_PADDING}x").pack


def patch(*names: str) -> tuple[Any, int]:
    """Return a function that overwrites adjacent columns of a packed row, and the offset of the first in the row."""
    offsets = {name: offset for name, (_, offset, *_) in (EVENTS.fields or {}).items()}
    return Struct("=" + "".join(_CODES[COLUMNS[name]] for name in names)).pack_into, offsets[names[0]]
