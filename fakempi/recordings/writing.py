"""EventWriter: appends the events of one rank, packed; it keeps no object per event."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

from fakempi.recordings.events import (
    BSEND,
    COLLECTIVE,
    END,
    EVENTS,
    NO_REQUEST,
    NOT_COMMUTATIVE,
    OPERATIONS,
    RECEIVE,
    SEND,
    SENDRECV,
    SSEND,
    WAIT,
    Numbers,
    Rows,
    pack,
    patch,
)

_NUMBERS = {name: number for number, name in enumerate(OPERATIONS)}
_SENDS = {"standard": SEND, "synchronous": SSEND, "buffered": BSEND}


class EventWriter:
    """The events of one rank, in the order of its calls.

    A reader calls one method for each MPI call. Ranks are ranks of the communicator; sizes are bytes; `site` is the call
    site as text; `seconds` is the duration of the call in the recorded run, if it is known. A request is any hashable key,
    such as the address in the trace: it names the operation from the call that starts it until a `wait` that includes it.

    A receive from any source is written with the source and tag of the message that it received. If a nonblocking one is
    completed later, `matched` adds them. Unsuccessful tests and probes are left out, and so are probes that succeed.
    """

    def __init__(self, site_number: Callable[[str], int]) -> None:
        self._site_number = site_number
        self._rows, self._numbers = bytearray(), array("q")
        self._open: dict[Hashable, tuple[int, int]] = {}  # key of a request -> its number, the offset of its row
        self._counts: dict[bytes, int] = {}  # counts -> the position of the same ones: loops repeat them
        self._computed = 0.0
        self._next_request = 0

    def __len__(self) -> int:
        return len(self._rows) // EVENTS.itemsize

    def compute(self, seconds: float) -> None:
        """Add computing time before the next call."""
        self._computed += seconds

    def send(
        self,
        dest: int,
        tag: int,
        nbytes: int,
        comm: int = 0,
        *,
        request: Hashable = None,
        mode: str = "standard",
        site: str = "",
        seconds: float = 0.0,
    ) -> None:
        """A send; nonblocking if it has a request. `mode`: standard (also ready), synchronous or buffered."""
        self._append(_SENDS[mode], nbytes, dest, tag, comm, site, seconds, request=request)

    def receive(
        self,
        source: int,
        tag: int,
        nbytes: int,
        comm: int = 0,
        *,
        request: Hashable = None,
        site: str = "",
        seconds: float = 0.0,
    ) -> None:
        """A receive; nonblocking if it has a request. `source` and `tag` are ANY until `matched` adds them."""
        self._append(RECEIVE, nbytes, source, tag, comm, site, seconds, request=request)

    def sendrecv(
        self,
        dest: int,
        sendtag: int,
        sent: int,
        source: int,
        recvtag: int,
        received: int,
        comm: int = 0,
        *,
        site: str = "",
        seconds: float = 0.0,
    ) -> None:
        """A Sendrecv, also one with Sendrecv_replace."""
        self._append(SENDRECV, sent, dest, sendtag, comm, site, seconds, numbers=(source, recvtag, received))

    def wait(self, requests: Iterable[Hashable], *, site: str = "", seconds: float = 0.0) -> None:
        """A call that completed requests: Wait, Waitall, or those that Waitany, Waitsome or a successful test returned.

        Keys of no open request are ignored: MPI permits null and inactive requests.
        """
        numbers = [self._open.pop(key)[0] for key in requests if key in self._open]
        self._append(WAIT, 0, 0, 0, 0, site, seconds, numbers=numbers)

    def matched(self, request: Hashable, source: int, tag: int) -> None:
        """Add the source and tag of the message that an open nonblocking receive has received."""
        if request in self._open:
            _PATCH_MATCH(self._rows, self._open[request][1] + _MATCH, source, tag)

    def collective(
        self,
        operation: str,
        comm: int = 0,
        nbytes: int = 0,
        *,
        root: int = 0,
        counts: Sequence[int] = (),
        itemsize: int = 1,
        commutative: bool = True,
        request: Hashable = None,
        site: str = "",
        seconds: float = 0.0,
    ) -> None:
        """A collective call; nonblocking if it has a request.

        `nbytes` is the size of the vector (bcast, reduce, allreduce, scan, exscan), of one rank's block (gather, allgather,
        scatter, reduce_scatter_block, and the caller's own block in gatherv, scatterv and allgatherv), or of the block for
        one rank (alltoall). `counts` are bytes: see COUNTS_EVERYWHERE. `itemsize` is the size of an element.
        """
        flags = 0 if commutative else NOT_COMMUTATIVE
        self._append(
            COLLECTIVE, nbytes, root, 0, comm, site, seconds, request=request, first=self._same_counts(counts),
            count=len(counts), itemsize=itemsize, operation=_NUMBERS[operation], flags=flags,
        )  # fmt: skip

    def finish(self) -> tuple[Rows, Numbers]:
        """Append END, and return the rows and their numbers."""
        self._append(END, 0, 0, 0, 0, "", 0.0)
        return np.frombuffer(self._rows, EVENTS), np.frombuffer(self._numbers, np.int64)

    def _append(
        self,
        kind: int,
        nbytes: int,
        peer: int,
        tag: int,
        comm: int,
        site: str,
        seconds: float,
        *,
        request: Hashable = None,
        numbers: Sequence[int] = (),
        first: int = 0,
        count: int = 0,
        itemsize: int = 1,
        operation: int = 0,
        flags: int = 0,
    ) -> None:
        number = NO_REQUEST if request is None else self._start(request)
        if numbers:
            first, count = len(self._numbers), len(numbers)
            self._numbers.extend(numbers)
        self._rows += pack(
            self._computed, seconds, nbytes, number, first, count, peer, tag, comm, self._site_number(site), itemsize, kind,
            operation, flags,
        )  # fmt: skip
        self._computed = 0.0

    def _start(self, request: Hashable) -> int:
        """Return the number of a new request. A key in use is replaced: the recorded program has freed that request."""
        number = self._next_request
        self._next_request += 1
        self._open[request] = number, len(self._rows)
        return number

    def _same_counts(self, counts: Sequence[int]) -> int:
        """Return the position of the counts in the numbers, where they are added once."""
        if not len(counts):
            return 0
        values = array("q", counts)
        position = self._counts.setdefault(values.tobytes(), len(self._numbers))
        if position == len(self._numbers):
            self._numbers.extend(values)
        return position


_PATCH_MATCH, _MATCH = patch("peer", "tag")
