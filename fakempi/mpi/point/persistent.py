"""Persistent requests: an operation that is prepared once and started many times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG, ERR_REQUEST
from fakempi.mpi.base.call_site import request_site
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from fakempi.mpi.base.identity import Identity
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.resource_tracker import track, untrack
from fakempi.mpi.base.status import Status
from fakempi.mpi.buffers.payload import describe, describe_target, snapshot
from fakempi.mpi.buffers.resolve import pinned
from fakempi.mpi.buffers.span import Payload
from fakempi.mpi.buffers.typing import BufSpec
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.point.buffered import Buffered
from fakempi.mpi.point.buffers import NULL_PAYLOAD
from fakempi.mpi.point.handle import TAG_LIMIT
from fakempi.mpi.point.owners import RequestOwner
from fakempi.mpi.point.request import Request

if TYPE_CHECKING:
    from typing_extensions import Self


class PartitionedOperation(Protocol):
    """The send or the receive of a partitioned operation."""

    def start(self) -> Operation:
        """Start the operation."""

    def ready(self, partition: int) -> None:
        """Mark a partition as ready to be sent."""

    def has_arrived(self, partition: int) -> bool:
        """Return whether a partition has arrived."""

    def arrived(self) -> tuple[int, int, int] | None:
        """Return source, tag and size of the received message, None for a send."""

    def secure(self) -> None:
        """Copy the partitions that have not been received, since the program may use the buffer now."""

    def retire(self) -> None:
        """Become inactive."""


class Prequest(Request):
    """A request that can be started again after it is complete."""

    __slots__ = ("_partitioned", "_start", "_tracked_as", "_waited_inactive")

    _start: Callable[[], Operation] | None
    _partitioned: PartitionedOperation | None
    _tracked_as: Identity | None  # the key of the resource tracker
    _waited_inactive: bool  # whether the program has waited for it while it was not started

    def __new__(cls, request: Request | None = None) -> Self:
        self = super().__new__(cls, request)
        if request and not isinstance(request, Prequest):
            raise mpi_error(ERR_REQUEST, f"expecting a persistent request, not {request!r}.", MPITypeError)
        self._start = self._partitioned = self._tracked_as = None
        self._waited_inactive = False
        if isinstance(request, Prequest):
            self._start, self._partitioned, self._tracked_as = request._start, request._partitioned, request._tracked_as
        return self

    @classmethod
    def _prepared(cls, comm: RequestOwner, buffer: object, start: Callable[[], Operation]) -> Self:
        self = cls._of(comm, None, buffer)
        self._start, self._partitioned = start, None
        self._tracked_as, self._waited_inactive = Identity(), False
        track("missing-start", self._tracked_as)
        track("request-leak", self._tracked_as)
        return self

    @classmethod
    def _of_partitions(cls, comm: RequestOwner, buffer: object, partitioned: PartitionedOperation) -> Self:
        self = cls._prepared(comm, buffer, partitioned.start)
        self._partitioned = partitioned
        return self

    def Start(self) -> None:
        """Start the operation."""
        self._check_alive()
        if self._operation is not None:
            raise mpi_error(ERR_REQUEST, "the request is active: wait for it before it is started again.")
        self._cancelled = False
        assert self._start is not None  # None only if the request is null
        untrack("missing-start", self._tracked_as)
        self._operation = self._start()
        notes, checks = self._comm._process.call_sites, self._comm._process.request_checks
        if notes is not None:
            self._operation.call_site = self._open_call_site = request_site(notes)
            self._open_call_site.open += 1
        if checks is not None:
            self._buffer_use = checks.of(self._operation, self._buffer)

    def Free(self) -> None:
        """Free the request; its operation continues."""
        super().Free()
        untrack("request-leak", self._tracked_as)
        if not self._waited_inactive:
            untrack("missing-start", self._tracked_as)  # a request that was not started or waited for is not an error

    def Wait(self, status: Status | None = None) -> Literal[True]:
        """Wait until the operation is complete, if it was started."""
        self._waited_inactive = self._operation is None
        return super().Wait(status)

    def wait(self, status: Status | None = None) -> Any:
        """Like `Wait`."""
        self._waited_inactive = self._operation is None
        return super().wait(status)

    @classmethod
    def Startall(cls, requests: list[Prequest]) -> None:
        """Start all requests, in order."""
        _check_iterable(requests, ERR_REQUEST, f"expecting a sequence of requests, not {requests!r}.")
        for index, request in enumerate(requests):
            if not isinstance(request, Prequest):
                raise mpi_error(ERR_REQUEST, f"the request at index {index} is not persistent: {request!r}.")
            request.Start()

    # -- partitions ---------------------------------------------------------------------------------------------------

    def Pready(self, partition: int) -> None:
        """Mark a partition of a send as ready."""
        self._partitions().ready(partition)

    def Pready_range(self, partition_low: int, partition_high: int) -> None:
        """Mark a range of partitions, including the last, as ready."""
        for partition in range(integer("partition_low", partition_low), integer("partition_high", partition_high) + 1):
            self._partitions().ready(partition)

    def Pready_list(self, partitions: Sequence[int]) -> None:
        """Mark several partitions as ready."""
        _check_iterable(partitions, ERR_ARG, f"partitions is {partitions!r}, not a sequence of integers.")
        for partition in partitions:
            self._partitions().ready(partition)

    def Parrived(self, partition: int) -> bool:
        """Return whether a partition of a receive has arrived. If not, let other ranks run, and test again."""
        return self._partitions().has_arrived(partition)

    def _partitions(self) -> PartitionedOperation:
        self._check_alive()
        if self._partitioned is None:
            raise mpi_error(ERR_REQUEST, "the request is not partitioned.")
        return self._partitioned

    # -- private ------------------------------------------------------------------------------------------------------

    def _fill(self, status: Status | None) -> None:
        super()._fill(status)
        if status is not None and self._partitioned is not None and self._operation is not None:
            arrived = self._partitioned.arrived()
            if arrived is not None:
                status._fill(*arrived)

    def _copy_unreceived(self) -> None:
        super()._copy_unreceived()
        if self._partitioned is not None:
            self._partitioned.secure()

    def _retire(self) -> None:
        self._close_call_site()
        self._operation = None  # inactive: it can be started again
        if self._partitioned is not None:
            self._partitioned.retire()


class Persistent(Buffered):
    """Send_init and similar calls. The buffer is described again at each start."""

    __slots__ = ()

    def Send_init(self, buf: BufSpec, dest: int, tag: int = 0) -> Prequest:
        """Prepare a send."""
        comm, buf = self._checked_for_send(buf, dest, tag)
        return Prequest._prepared(self, buf, lambda: comm._post_send(*_payload(buf, dest), dest, tag))

    def Ssend_init(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Prepare a synchronous send."""
        comm, buf = self._checked_for_send(buf, dest, tag)
        return Prequest._prepared(self, buf, lambda: comm._post_send(*_payload(buf, dest), dest, tag, eager=False))

    def Bsend_init(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Prepare a buffered send."""
        comm, buf = self._checked_for_send(buf, dest, tag)

        def start() -> Operation:
            payload, nbytes = _payload(buf, dest)
            return comm._post_buffered(snapshot(payload), nbytes, dest, tag)

        return Prequest._prepared(self, buf, start)

    def Rsend_init(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Prepare a ready-mode send: when it is started, its receive must be posted."""
        comm, buf = self._checked_for_send(buf, dest, tag)

        def start() -> Operation:
            comm._check_ready(dest, tag)
            return comm._post_send(*_payload(buf, dest), dest, tag)

        return Prequest._prepared(self, buf, start)

    def Recv_init(self, buf: BufSpec, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Prequest:
        """Prepare a receive."""
        self._check_alive()
        source, tag = integer("source", source, 0), integer("tag", tag, 0)
        if not (source == ANY_SOURCE or 0 <= source < self._n_peers) or not ANY_TAG <= tag <= TAG_LIMIT:
            self._null_receive(source, tag)
        buf = pinned(buf)
        _target(buf, source)
        comm = self._second_handle()
        return Prequest._prepared(self, buf, lambda: comm._post_receive(*_target(buf, source), source, tag))

    def _checked_for_send(self, buf: BufSpec, dest: int, tag: int) -> tuple[Self, Any]:
        """Check the arguments of a send; return a handle to send from later, and the buffer with types that stay valid."""
        self._check_alive()
        dest, tag = integer("dest", dest, 0), integer("tag", tag, 0)
        if not 0 <= dest < self._n_peers or not 0 <= tag <= TAG_LIMIT:
            self._null_send(dest, tag)
        buf = pinned(buf)
        _payload(buf, dest)
        return self._second_handle(), buf

    def _second_handle(self) -> Self:
        """Return another handle of this communicator: requests can be started after the program has freed its handle."""
        return self._make(self._process, self._side, self._peer_side, self._rank)


def _payload(buf: Any, dest: int) -> tuple[Payload, int]:
    """Return the payload to send, and its size; for PROC_NULL the buffer is ignored."""
    return NULL_PAYLOAD if dest == PROC_NULL else describe(buf)


def _target(buf: Any, source: int) -> tuple[Payload, int]:
    """Return the payload to receive into, and its size; for PROC_NULL the buffer is ignored."""
    return NULL_PAYLOAD if source == PROC_NULL else describe_target(buf)


def _check_iterable(argument: object, code: int, sentence: str) -> None:
    """Raise an error if an argument is not iterable."""
    if not isinstance(argument, Iterable):
        raise mpi_error(code, sentence, MPITypeError)
