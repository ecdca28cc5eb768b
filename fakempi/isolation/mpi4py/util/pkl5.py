"""`mpi4py.util.pkl5`: communication of pickled objects whose large buffers are sent out of band, as separate messages.

An object is sent as a message with the sizes of its parts, then its pickle, then each of its buffers. All have the same
tag, and messages between two ranks do not overtake each other, so parts of different objects are not mixed.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fakempi import MPI
from fakempi.isolation.mpi4py.private_names import _commctx_inter, _commctx_intra
from fakempi.MPI import ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT, Pickle, Status

if TYPE_CHECKING:
    from typing_extensions import Self

pickle = Pickle()
"""The pickler, shared by all ranks."""

SIZE = MPI.INT64_T


class _BigMPI:
    """Wraps parts with more bytes than the largest count as one element. The emulator has no such limit."""

    blocksize = 2**63 - 1

    def __init__(self) -> None:
        self.cache: dict[int, MPI.Datatype] = {}

    def __enter__(self) -> _BigMPI:
        return self

    def __exit__(self, *failure: object) -> None:
        while self.cache:
            self.cache.popitem()[1].Free()

    def __call__(self, part: Any) -> Any:
        """Return a buffer specification for a part."""
        count = len(part)
        if count <= self.blocksize:
            return part
        if count not in self.cache:
            self.cache[count] = MPI.BYTE.Create_contiguous(count).Commit()
        return [part, 1, self.cache[count]]


_bigmpi = _BigMPI()


def _parts(obj: Any) -> list[Any]:
    """Return the messages of an object: sizes, pickle, buffers."""
    data, buffers = pickle.dumps_oob(obj)
    parts = [data, *buffers]
    return [array("q", map(len, parts)), *parts]


def _object(parts: Sequence[Any]) -> Any:
    """Return the object of a pickle and its buffers."""
    return pickle.loads_oob(parts[0], parts[1:])


def _post(start: Callable[..., Any], obj: Any, dest: int, tag: int) -> list[Any]:
    """Send all parts with `start`; return its results."""
    sizes, *parts = [b""] if dest == PROC_NULL else _parts(obj)
    with _bigmpi as whole:
        return [start(sizes, dest, tag), *(start(whole(part), dest, tag) for part in parts)]


def _receive(comm: MPI.Comm, source: int, tag: int, status: Status | None = None, buf: Any = None) -> Any:
    """Receive an object; its pickle into `buf`, if given and large enough."""
    status = Status() if status is None else status
    if source == PROC_NULL:
        MPI.Comm.Recv(comm, b"", source, tag, status)
        return None
    MPI.Comm.Probe(comm, source, tag, status)
    source, tag = status.Get_source(), status.Get_tag()
    sizes = array("q", bytes(status.Get_count(MPI.BYTE)))
    MPI.Comm.Recv(comm, sizes, source, tag, status)
    parts: list[Any] = [bytearray(size) for size in sizes]
    if buf is not None and memoryview(buf).nbytes >= sizes[0]:
        parts[0] = memoryview(buf).cast("B")[: sizes[0]]
    with _bigmpi as whole:
        for part in parts:
            MPI.Comm.Recv(comm, whole(part), source, tag)
    status.Set_elements(MPI.BYTE, sum(sizes))
    return _object(parts)


class _HandleTuple(tuple[Any, ...]):
    """Handles of the parts of an object. It equals a single handle if all parts equal it."""

    _kind: type
    _null: Any

    def __new__(cls, handles: Any = None) -> Self:
        handles = cls._null if handles is None else handles
        return super().__new__(cls, (handles,) if isinstance(handles, cls._kind) else handles)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type(self)):
            return tuple(self) == tuple(other)
        return all(handle == other for handle in self) if isinstance(other, self._kind) else NotImplemented

    def __ne__(self, other: object) -> bool:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    __hash__ = tuple.__hash__

    def __bool__(self) -> bool:
        return any(self)

    def free(self) -> None:
        """Free all handles."""
        for handle in self:
            handle.free()


class Request(_HandleTuple):
    """A request for the communication of an object."""

    _kind, _null = MPI.Request, MPI.REQUEST_NULL
    _incoming: list[Any] | None = None

    def Free(self) -> None:
        """Free the requests; the communication completes."""
        for request in self:
            request.Free()

    def cancel(self) -> None:
        """Cancel the requests that have not been matched."""
        for request in self:
            request.Cancel()

    def get_status(self, status: Status | None = None) -> bool:
        """Return whether the request has completed, without freeing it."""
        return all([request.Get_status(status if i == 0 else None) for i, request in enumerate(self)])

    def test(self, status: Status | None = None) -> tuple[bool, Any | None]:
        """Return (True, received object) if the request has completed, else (False, None)."""
        ended = MPI.Request.Testall(self, None if status is None else [status])
        return (True, self._result()) if ended else (False, None)

    def wait(self, status: Status | None = None) -> Any:
        """Wait for completion and return the received object."""
        MPI.Request.Waitall(self, None if status is None else [status])
        return self._result()

    def _result(self) -> Any:
        incoming, self._incoming = self._incoming, None
        return None if incoming is None else _object(incoming)

    @classmethod
    def get_status_all(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Return whether all requests have completed, without freeing them."""
        status_list = _status_list(statuses, len(requests))
        return all([request.get_status(status) for request, status in zip(requests, status_list, strict=False)])

    @classmethod
    def testall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> tuple[bool, list[Any] | None]:
        """Return (True, objects) if all requests have completed, else (False, None)."""
        ended = MPI.Request.Testall([part for request in requests for part in request], _for_parts(requests, statuses))
        return (True, [request._result() for request in requests]) if ended else (False, None)

    @classmethod
    def waitall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[Any]:
        """Wait for all requests and return the objects."""
        MPI.Request.Waitall([part for request in requests for part in request], _for_parts(requests, statuses))
        return [request._result() for request in requests]


def _status_list(statuses: list[Status] | None, count: int) -> list[Any]:
    if statuses is None:
        return [None] * count
    if isinstance(statuses, list):
        statuses += [Status() for _ in range(count - len(statuses))]
    return statuses


def _for_parts(requests: Sequence[Request], statuses: list[Status] | None) -> list[Status] | None:
    """Return a status for each part: all parts of an object share one, which the last part sets."""
    if statuses is None:
        return None
    pairs = zip(requests, _status_list(statuses, len(requests)), strict=False)
    return [status for request, status in pairs for _ in request]


class Message(_HandleTuple):
    """An object matched by a probe."""

    _kind, _null = MPI.Message, MPI.MESSAGE_NULL

    def recv(self, status: Status | None = None) -> Any:
        """Receive the object."""
        parts = self._receive_sizes(status)
        for message, part in zip(self[1:], parts, strict=True):
            message.Recv(part)
        return _object(parts) if parts else None

    def irecv(self) -> Request:
        """Start to receive the object."""
        parts, messages = self._receive_sizes(None), self[1:]
        if not messages:  # from PROC_NULL
            return Request(MPI.Message(MPI.MESSAGE_NO_PROC).Irecv(bytearray()))
        request: Request = Request([message.Irecv(part) for message, part in zip(messages, parts, strict=True)])
        request._incoming = parts
        return request

    def _receive_sizes(self, status: Status | None) -> list[bytearray]:
        """Receive the sizes and return buffers for the parts."""
        sizes = array("q", bytes(8 * (len(self) - 1)))
        self[0].Recv([sizes, SIZE], status)
        if status is not None and len(self) > 1:
            status.Set_elements(MPI.BYTE, sum(sizes))
        return [bytearray(size) for size in sizes]

    @classmethod
    def probe(cls, comm: MPI.Comm, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Message:
        """Wait for an object and match it."""
        status = Status() if status is None else status
        return cls._with_parts(comm, MPI.Comm.Mprobe(comm, source, tag, status), status)

    @classmethod
    def iprobe(
        cls, comm: MPI.Comm, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message | None:
        """Match an object if one has arrived, else return None."""
        status = Status() if status is None else status
        first = MPI.Comm.Improbe(comm, source, tag, status)
        return None if first is None else cls._with_parts(comm, first, status)

    @classmethod
    def _with_parts(cls, comm: MPI.Comm, first: MPI.Message, status: Status) -> Message:
        """Match the other parts, which the sender has sent or is sending."""
        if first == MPI.MESSAGE_NO_PROC:
            return cls([first])
        source, tag, count, nbytes = status.Get_source(), status.Get_tag(), status.Get_count(SIZE), 0
        messages = [first]
        for _ in range(count):
            messages.append(MPI.Comm.Mprobe(comm, source, tag, status))
            nbytes += status.Get_count(MPI.BYTE)
        status.Set_elements(MPI.BYTE, nbytes)
        return cls(messages)


class Comm(MPI.Comm):
    """A communicator that sends large buffers of objects out of band."""

    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object."""
        _post(self.Send, obj, dest, tag)

    def bsend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object from the attached buffer."""
        _post(self.Bsend, obj, dest, tag)

    def ssend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object, and wait until it is received."""
        self.issend(obj, dest, tag).wait()

    def isend(self, obj: Any, dest: int, tag: int = 0) -> Request:  # type: ignore[override]  # as in mpi4py: the requests and messages of this module
        """Start to send an object."""
        return Request(_post(self.Isend, obj, dest, tag))

    def ibsend(self, obj: Any, dest: int, tag: int = 0) -> Request:  # type: ignore[override]  # as in mpi4py: the requests and messages of this module
        """Start to send an object from the attached buffer."""
        return Request(_post(self.Ibsend, obj, dest, tag))

    def issend(self, obj: Any, dest: int, tag: int = 0) -> Request:  # type: ignore[override]  # as in mpi4py: the requests and messages of this module
        """Start to send an object in synchronous mode."""
        return Request(_post(self.Issend, obj, dest, tag))

    def recv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Any:
        """Receive an object."""
        return _receive(self, source, tag, status, buf)

    def irecv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Any:
        """Raise RuntimeError, as in mpi4py: the number of parts is unknown. Use `improbe` and `Message.irecv`."""
        raise RuntimeError("unsupported")

    def sendrecv(
        self, sendobj: Any, dest: int, sendtag: int = 0, recvbuf: Any = None, source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG, status: Status | None = None,
    ) -> Any:  # fmt: skip
        """Send an object and receive one."""
        request = self.isend(sendobj, dest, sendtag)
        received = _receive(self, source, recvtag, status, recvbuf)
        request.wait()
        return received

    def mprobe(  # type: ignore[override]  # as in mpi4py: the requests and messages of this module
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message:
        """Wait for an object and match it."""
        return Message.probe(self, source, tag, status)

    def improbe(  # type: ignore[override]  # as in mpi4py: the requests and messages of this module
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message | None:
        """Match an object if one has arrived, else return None."""
        return Message.iprobe(self, source, tag, status)

    # -- collectives ----------------------------------------------------------------------------------------------

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """Return the object of root; on an intercommunicator, in the remote group."""
        if not self.Is_inter():
            return _broadcast(self, obj, root)
        dests, sources = self._peers(root)
        context, tag, local, _ = _commctx_inter(self)
        if dests == [0]:
            _post(context.Send, obj, 0, tag)
        if not sources:
            return None
        return _broadcast(local, _receive(context, root, tag) if local.Get_rank() == 0 else None, 0)

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """Return the list of all objects on root, None elsewhere."""
        sources, dests = self._peers(root, all_ranks=True)
        received = self._exchange({dest: sendobj for dest in dests}, sources)
        return received if sources else None

    def scatter(self, sendobj: Sequence[Any] | None, root: int = 0) -> Any:
        """Return this rank's item of the objects of root."""
        dests, sources = self._peers(root, all_ranks=True)
        received = self._exchange(dict(enumerate(self._items(sendobj))) if dests else {}, sources)
        return received[0] if received else None

    def allgather(self, sendobj: Any) -> list[Any]:
        """Return the list of all objects."""
        return self._exchange(dict.fromkeys(range(self._n_peers), sendobj), range(self._n_peers))

    def alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """Send item i to rank i and return the list of received objects."""
        return self._exchange(dict(enumerate(self._items(sendobj))), range(self._n_peers))

    def _items(self, objects: Any) -> list[Any]:
        items = [None] * self._n_peers if objects is None else list(objects)
        if len(items) != self._n_peers:
            raise ValueError(f"expecting {self._n_peers} items, got {len(items)}")
        return items

    def _peers(self, root: int, all_ranks: bool = False) -> tuple[list[int], list[int]]:
        """Return the ranks that root sends to (empty on other ranks) and the rank that this rank receives from (or none)."""
        inter = self.Is_inter()
        if not (0 <= root < self._n_peers or (inter and root in (ROOT, PROC_NULL))):
            self.Call_errhandler(MPI.ERR_ROOT)
            raise MPI.Exception(MPI.ERR_ROOT)
        is_root = root == ROOT if inter else root == self.Get_rank()
        excluded = root == PROC_NULL or (inter and is_root)
        return list(range(self._n_peers if all_ranks else 1)) if is_root else [], [] if excluded else [root]

    def _exchange(self, out: dict[int, Any], sources: Iterable[int]) -> list[Any]:
        """Send objects by destination and receive one from each source, in the collective context."""
        context, tag, *_ = _commctx_inter(self) if self.Is_inter() else _commctx_intra(self)
        requests = [part for dest, obj in out.items() for part in _post(context.Isend, obj, dest, tag)]
        received = [_receive(context, source, tag) for source in sources]
        MPI.Request.Waitall(requests)
        return received


def _broadcast(comm: MPI.Comm, obj: Any, root: int) -> Any:
    """Broadcast an object within a group: the number of parts, their sizes, the parts."""
    is_root = comm.Get_rank() == root
    sizes, *parts = _parts(obj) if is_root else (array("q"),)
    count = array("q", [len(sizes)])
    MPI.Comm.Bcast(comm, count, root)
    if not is_root:
        sizes = array("q", bytes(8 * count[0]))
    MPI.Comm.Bcast(comm, sizes, root)
    if not is_root:
        parts = [bytearray(size) for size in sizes]
    for part in parts:
        MPI.Comm.Bcast(comm, part, root)
    return _object(parts)


class Intracomm(Comm, MPI.Intracomm):
    """An intracommunicator."""


class Intercomm(Comm, MPI.Intercomm):
    """An intercommunicator."""
