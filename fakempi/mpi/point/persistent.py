"""Persistent requests: an operation that is described once and started many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from fakempi.error_classes import ERR_REQUEST
from fakempi.errors import MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.base.identity import Identity
from fakempi.mpi.base.origin import noted
from fakempi.mpi.base.status import Status
from fakempi.mpi.buffers.payload import describe, describe_target, snapshot
from fakempi.mpi.point.buffered import Buffered
from fakempi.mpi.point.handle import TAG_LIMIT
from fakempi.mpi.point.request import Request


class Prequest(Request):
    """A request that can be started again after it has ended."""

    __slots__ = ("_awaited_idle", "_half", "_prepared_as", "_start")

    _start: Callable[[], Any] | None
    _half: Any  # of a partitioned operation: its partitions
    _prepared_as: Identity | None  # what is to be started, and freed
    _awaited_idle: bool  # whether somebody has waited for it while it was not started

    def __new__(cls, request: Request | None = None) -> Any:
        self = super().__new__(cls, request)
        if request and not isinstance(request, Prequest):
            raise complaint(ERR_REQUEST, f"expecting a persistent request, not {request!r}.", MPITypeError)
        self._start, self._half = (request._start, request._half) if isinstance(request, Prequest) else (None, None)
        self._prepared_as = request._prepared_as if isinstance(request, Prequest) else None
        self._awaited_idle = False
        return self

    @classmethod
    def _prepared(cls, comm: Any, buffer: Any, start: Callable[[], Any]) -> Prequest:
        self: Prequest = cls._of(comm, None, buffer)  # type: ignore[assignment]
        self._start, self._half = start, None
        self._prepared_as, self._awaited_idle = Identity(), False
        owes("missing-start", self._prepared_as)
        owes("request-leak", self._prepared_as)
        return self

    @classmethod
    def _in_parts(cls, comm: Any, buffer: Any, half: Any) -> Prequest:
        self = cls._prepared(comm, buffer, half.start)
        self._half = half
        return self

    def Start(self) -> None:
        """Start the operation."""
        self._check_alive()
        if self._operation is not None:
            raise complaint(ERR_REQUEST, "the request is active: wait for it before it is started again.")
        self._cancelled = False
        assert self._start is not None  # only a null one has none
        done("missing-start", self._prepared_as)
        self._operation = self._start()
        notes, pins = self._comm._process.notes, self._comm._process.pins
        if notes is not None:
            self._operation.origin = self._open = noted(notes)
            self._open.open += 1
        if pins is not None:
            self._pin = pins.of(self._operation, self._buffer)

    def Free(self) -> None:
        """Forget the request; its operation goes on."""
        super().Free()
        done("request-leak", self._prepared_as)
        if not self._awaited_idle:
            done("missing-start", self._prepared_as)  # it was not needed, and nobody thought that it was under way

    def Wait(self, status: Status | None = None) -> Literal[True]:
        """Wait until the operation has ended, if it was started."""
        self._awaited_idle = self._operation is None
        return super().Wait(status)

    def wait(self, status: Status | None = None) -> Any:
        """As `Wait`."""
        self._awaited_idle = self._operation is None
        return super().wait(status)

    @classmethod
    def Startall(cls, requests: list[Prequest]) -> None:
        """Start all of them, in order."""
        for index, request in enumerate(requests):
            if not isinstance(request, Prequest):
                raise complaint(ERR_REQUEST, f"the request at index {index} is not persistent: {request!r}.")
            request.Start()

    # -- partitions ---------------------------------------------------------------------------------------------------

    def Pready(self, partition: int) -> None:
        """A partition of a send may go."""
        self._partitions().ready(partition)

    def Pready_range(self, partition_low: int, partition_high: int) -> None:
        """All partitions from one to another may go."""
        for partition in range(partition_low, partition_high + 1):
            self._partitions().ready(partition)

    def Pready_list(self, partitions: Sequence[int]) -> None:
        """Some partitions may go."""
        for partition in partitions:
            self._partitions().ready(partition)

    def Parrived(self, partition: int) -> bool:
        """Whether a partition of a receive is there; if not, other ranks run before this returns."""
        arrived: bool = self._partitions().has_arrived(partition)
        return arrived

    def _partitions(self) -> Any:
        self._check_alive()
        if self._half is None:
            raise complaint(ERR_REQUEST, "the request is not a partitioned one.")
        return self._half

    # -- inside -------------------------------------------------------------------------------------------------------

    def _secure(self) -> None:
        super()._secure()
        if self._half is not None:
            self._half.secure()

    def _retire(self) -> None:
        self._close()
        self._operation = None  # inactive, and ready to be started again
        if self._half is not None:
            self._half.retire()


class Persistent(Buffered):
    """Send_init and its kin. The buffer is described anew at each start, as it then is."""

    __slots__ = ()
    _make: Any

    def Send_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        """Prepare a send."""
        comm = self._for_sends(buf, dest, tag)
        return Prequest._prepared(self, buf, lambda: comm._post(*_content(buf, dest), dest, tag))

    def Ssend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        """Prepare a synchronous send."""
        comm = self._for_sends(buf, dest, tag)
        return Prequest._prepared(self, buf, lambda: comm._post(*_content(buf, dest), dest, tag, eager=False))

    def Bsend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        """Prepare a buffered send."""
        comm = self._for_sends(buf, dest, tag)

        def start() -> Any:
            content, nbytes = _content(buf, dest)
            return comm._post_buffered(snapshot(content), nbytes, dest, tag)

        return Prequest._prepared(self, buf, start)

    def Rsend_init(self, buf: Any, dest: int, tag: int = 0) -> Prequest:
        """Prepare a send to a receive that the program will know to be posted."""
        comm = self._for_sends(buf, dest, tag)

        def start() -> Any:
            comm._check_ready(dest, tag)
            return comm._post(*_content(buf, dest), dest, tag)

        return Prequest._prepared(self, buf, start)

    def Recv_init(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Prequest:
        """Prepare a receive."""
        self._check_alive()
        if not (source == ANY_SOURCE or 0 <= source < self._reach) or not ANY_TAG <= tag <= TAG_LIMIT:
            self._await_nothing(source, tag)
        _place(buf, source)
        comm = self._that_outlives_free()
        return Prequest._prepared(self, buf, lambda: comm._await(*_place(buf, source), source, tag))

    def _for_sends(self, buf: Any, dest: int, tag: int) -> Any:
        """A handle to send from later, after a check that it will be possible."""
        self._check_alive()
        if not 0 <= dest < self._reach or not 0 <= tag <= TAG_LIMIT:
            self._post_nowhere(dest, tag)
        _content(buf, dest)
        return self._that_outlives_free()

    def _that_outlives_free(self) -> Any:
        """Another handle of this communicator: requests can be started after the program has freed its own."""
        return self._make(self._process, self._side, self._there, self._rank)


def _content(buf: Any, dest: int) -> tuple[Any, int]:
    """What to send; PROC_NULL gets nothing, whatever the buffer is."""
    return (None, 0) if dest == PROC_NULL else describe(buf)


def _place(buf: Any, source: int) -> tuple[Any, int]:
    """Where to receive; from PROC_NULL comes nothing, whatever the buffer is."""
    return (None, 0) if source == PROC_NULL else describe_target(buf)
