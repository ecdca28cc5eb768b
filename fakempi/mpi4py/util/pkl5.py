"""`mpi4py.util.pkl5`: objects whose large buffers are not copied into their pickle, but travel as messages of their own.

An object is one message with the sizes of its parts, then its pickle, then each of its buffers. All have the same tag, and
messages between two ranks keep their order, so parts of two objects are never mixed up.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fakempi import MPI
from fakempi.MPI import ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT, Pickle, Status
from fakempi.mpi4py.hidden import _commctx_inter, _commctx_intra

pickle = Pickle()
"""How objects become bytes; one for all ranks."""

SIZE = MPI.INT64_T


class _BigMPI:
    """Parts that have more bytes than a count can say, as one element each. Here a count can say any number."""

    blocksize = 2**63 - 1

    def __init__(self) -> None:
        self.cache: dict[int, MPI.Datatype] = {}

    def __enter__(self) -> _BigMPI:
        return self

    def __exit__(self, *failure: object) -> None:
        while self.cache:
            self.cache.popitem()[1].Free()

    def __call__(self, part: Any) -> Any:
        """A part as what to send, or where to receive it."""
        count = len(part)
        if count <= self.blocksize:
            return part
        if count not in self.cache:
            self.cache[count] = MPI.BYTE.Create_contiguous(count).Commit()
        return [part, 1, self.cache[count]]


_bigmpi = _BigMPI()


def _parts(obj: Any) -> list[Any]:
    """What to send: the sizes, the pickle, the buffers."""
    data, buffers = pickle.dumps_oob(obj)
    parts = [data, *buffers]
    return [array("q", map(len, parts)), *parts]


def _object(parts: Sequence[Any]) -> Any:
    """The object of a pickle and its buffers."""
    return pickle.loads_oob(parts[0], parts[1:])


def _post(start: Callable[..., Any], obj: Any, dest: int, tag: int) -> list[Any]:
    """Send, or start to send, all parts."""
    sizes, *parts = [b""] if dest == PROC_NULL else _parts(obj)
    with _bigmpi as whole:
        return [start(sizes, dest, tag), *(start(whole(part), dest, tag) for part in parts)]


def _receive(comm: MPI.Comm, source: int, tag: int, status: Status | None = None, buf: Any = None) -> Any:
    """Receive all parts; the pickle into a buffer, if that is given and large enough."""
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


class _Several(tuple[Any, ...]):
    """Handles of the parts of one object, which compare with each other, and with one handle if all of them do."""

    _kind: type
    _null: Any

    def __new__(cls, handles: Any = None) -> Any:
        handles = cls._null if handles is None else handles
        return super().__new__(cls, (handles,) if isinstance(handles, cls._kind) else handles)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type(self)):
            return tuple(self) == tuple(other)
        return all(each == other for each in self) if isinstance(other, self._kind) else NotImplemented

    def __ne__(self, other: object) -> bool:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    __hash__ = tuple.__hash__

    def __bool__(self) -> bool:
        return any(self)

    def free(self) -> None:
        """Free all that can be."""
        for each in self:
            each.free()


class Request(_Several):
    """An object under way."""

    _kind, _null = MPI.Request, MPI.REQUEST_NULL
    _incoming: list[Any] | None = None

    def Free(self) -> None:
        """Forget it; it goes on."""
        for request in self:
            request.Free()

    def cancel(self) -> None:
        """Take back what has not been matched."""
        for request in self:
            request.Cancel()

    def get_status(self, status: Status | None = None) -> bool:
        """Whether it has ended; the request stays."""
        return all([request.Get_status(status if i == 0 else None) for i, request in enumerate(self)])

    def test(self, status: Status | None = None) -> tuple[bool, Any | None]:
        """(True, the object that was received) if it has ended, else (False, None)."""
        ended = MPI.Request.Testall(self, None if status is None else [status])
        return (True, self._outcome()) if ended else (False, None)

    def wait(self, status: Status | None = None) -> Any:
        """Wait; the object that was received."""
        MPI.Request.Waitall(self, None if status is None else [status])
        return self._outcome()

    def _outcome(self) -> Any:
        incoming, self._incoming = self._incoming, None
        return None if incoming is None else _object(incoming)

    @classmethod
    def get_status_all(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Whether all have ended; they stay."""
        found = _room(statuses, len(requests))
        return all([request.get_status(status) for request, status in zip(requests, found, strict=False)])

    @classmethod
    def testall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> tuple[bool, list[Any] | None]:
        """(True, the objects) if all have ended, else (False, None)."""
        ended = MPI.Request.Testall([part for request in requests for part in request], _for_parts(requests, statuses))
        return (True, [request._outcome() for request in requests]) if ended else (False, None)

    @classmethod
    def waitall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[Any]:
        """Wait for all; the objects."""
        MPI.Request.Waitall([part for request in requests for part in request], _for_parts(requests, statuses))
        return [request._outcome() for request in requests]


def _room(statuses: list[Status] | None, count: int) -> list[Any]:
    if statuses is None:
        return [None] * count
    if isinstance(statuses, list):
        statuses += [Status() for _ in range(count - len(statuses))]
    return statuses


def _for_parts(requests: Sequence[Request], statuses: list[Status] | None) -> list[Status] | None:
    """A status for each part: an object has the one of its last."""
    if statuses is None:
        return None
    pairs = zip(requests, _room(statuses, len(requests)), strict=False)
    return [status for request, status in pairs for _ in request]


class Message(_Several):
    """An object that a probe has taken, for this rank alone to receive."""

    _kind, _null = MPI.Message, MPI.MESSAGE_NULL

    def recv(self, status: Status | None = None) -> Any:
        """Receive it."""
        parts = self._rooms(status)
        for message, part in zip(self[1:], parts, strict=True):
            message.Recv(part)
        return _object(parts) if parts else None

    def irecv(self) -> Request:
        """Start to receive it."""
        parts, messages = self._rooms(None), self[1:]
        if not messages:  # from PROC_NULL
            return Request(MPI.Message(MPI.MESSAGE_NO_PROC).Irecv(bytearray()))  # type: ignore[no-any-return]
        request: Request = Request([message.Irecv(part) for message, part in zip(messages, parts, strict=True)])
        request._incoming = parts
        return request

    def _rooms(self, status: Status | None) -> list[bytearray]:
        """Receive the sizes, and make room."""
        sizes = array("q", bytes(8 * (len(self) - 1)))
        self[0].Recv([sizes, SIZE], status)
        if status is not None and len(self) > 1:
            status.Set_elements(MPI.BYTE, sum(sizes))
        return [bytearray(size) for size in sizes]

    @classmethod
    def probe(
        cls, comm: MPI.Comm, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message:
        """Wait for an object and take it."""
        status = Status() if status is None else status
        return cls._with_parts(comm, MPI.Comm.Mprobe(comm, source, tag, status), status)

    @classmethod
    def iprobe(
        cls, comm: MPI.Comm, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message | None:
        """Take an object if one is there."""
        status = Status() if status is None else status
        first = MPI.Comm.Improbe(comm, source, tag, status)
        return None if first is None else cls._with_parts(comm, first, status)

    @classmethod
    def _with_parts(cls, comm: MPI.Comm, first: MPI.Message, status: Status) -> Message:
        """The sizes were there, so all else is, or is on its way."""
        if first == MPI.MESSAGE_NO_PROC:
            return cls([first])  # type: ignore[no-any-return]
        source, tag, count, nbytes = status.Get_source(), status.Get_tag(), status.Get_count(SIZE), 0
        messages = [first]
        for _ in range(count):
            messages.append(MPI.Comm.Mprobe(comm, source, tag, status))
            nbytes += status.Get_count(MPI.BYTE)
        status.Set_elements(MPI.BYTE, nbytes)
        return cls(messages)  # type: ignore[no-any-return]


class Comm(MPI.Comm):
    """A communicator that sends objects in parts."""

    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object."""
        _post(self.Send, obj, dest, tag)

    def bsend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object from the attached buffer."""
        _post(self.Bsend, obj, dest, tag)

    def ssend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object, and wait until it is received."""
        self.issend(obj, dest, tag).wait()

    def isend(self, obj: Any, dest: int, tag: int = 0) -> Request:  # type: ignore[override]
        """Start to send an object."""
        return Request(_post(self.Isend, obj, dest, tag))  # type: ignore[no-any-return]

    def ibsend(self, obj: Any, dest: int, tag: int = 0) -> Request:  # type: ignore[override]
        """Start to send an object from the attached buffer."""
        return Request(_post(self.Ibsend, obj, dest, tag))  # type: ignore[no-any-return]

    def issend(self, obj: Any, dest: int, tag: int = 0) -> Request:  # type: ignore[override]
        """Start to send an object; ends only with its receive."""
        return Request(_post(self.Issend, obj, dest, tag))  # type: ignore[no-any-return]

    def recv(
        self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Any:
        """Receive an object."""
        return _receive(self, source, tag, status, buf)

    def irecv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Any:
        """Not there, as in mpi4py: how many parts will come is not known. `improbe` and `irecv` of the message do it."""
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

    def mprobe(  # type: ignore[override]
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message:
        """Wait for an object and take it."""
        return Message.probe(self, source, tag, status)

    def improbe(  # type: ignore[override]
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message | None:
        """Take an object if one is there."""
        return Message.iprobe(self, source, tag, status)

    # -- collectives ----------------------------------------------------------------------------------------------

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """The root's object, everywhere; between two groups, in the other one."""
        if not self.Is_inter():
            return _broadcast(self, obj, root)
        gives, takes = self._parts_played(root)
        twin, tag, local, _ = _commctx_inter(self)
        if gives == [0]:
            _post(twin.Send, obj, 0, tag)
        if not takes:
            return None
        return _broadcast(local, _receive(twin, root, tag) if local.Get_rank() == 0 else None, 0)

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """A list of all objects at the root."""
        takes, gives = self._parts_played(root, everybody=True)
        found = self._exchange({dest: sendobj for dest in gives}, takes)
        return found if takes else None

    def scatter(self, sendobj: Sequence[Any] | None, root: int = 0) -> Any:
        """This rank's item of the root's."""
        gives, takes = self._parts_played(root, everybody=True)
        found = self._exchange(dict(enumerate(self._items(sendobj))) if gives else {}, takes)
        return found[0] if found else None

    def allgather(self, sendobj: Any) -> list[Any]:
        """A list of all objects."""
        return self._exchange(dict.fromkeys(range(self._reach), sendobj), range(self._reach))

    def alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """Item i goes to rank i; what came from each."""
        return self._exchange(dict(enumerate(self._items(sendobj))), range(self._reach))

    def _items(self, objects: Any) -> list[Any]:
        found = [None] * self._reach if objects is None else list(objects)
        if len(found) != self._reach:
            raise ValueError(f"expecting {self._reach} items, got {len(found)}")
        return found

    def _parts_played(self, root: int, everybody: bool = False) -> tuple[list[int], list[int]]:
        """In a call with a root: whom this rank sends to if it is the root, and whom it receives from if it is served."""
        inter = self.Is_inter()
        if not (0 <= root < self._reach or (inter and root in (ROOT, PROC_NULL))):
            self.Call_errhandler(MPI.ERR_ROOT)
            raise MPI.Exception(MPI.ERR_ROOT)
        here = root == ROOT if inter else root == self.Get_rank()
        away = root == PROC_NULL or (inter and here)
        return list(range(self._reach if everybody else 1)) if here else [], [] if away else [root]

    def _exchange(self, out: dict[int, Any], sources: Iterable[int]) -> list[Any]:
        """Send an object to each of some ranks, and receive one from each of others, on the twin."""
        twin, tag, *_ = _commctx_inter(self) if self.Is_inter() else _commctx_intra(self)
        requests = [part for dest, obj in out.items() for part in _post(twin.Isend, obj, dest, tag)]
        found = [_receive(twin, source, tag) for source in sources]
        MPI.Request.Waitall(requests)
        return found


def _broadcast(comm: MPI.Comm, obj: Any, root: int) -> Any:
    """Within a group: how many parts, their sizes, and each of them."""
    here = comm.Get_rank() == root
    sizes, *parts = _parts(obj) if here else (array("q"),)
    count = array("q", [len(sizes)])
    MPI.Comm.Bcast(comm, count, root)
    if not here:
        sizes = array("q", bytes(8 * count[0]))
    MPI.Comm.Bcast(comm, sizes, root)
    if not here:
        parts = [bytearray(size) for size in sizes]
    for part in parts:
        MPI.Comm.Bcast(comm, part, root)
    return _object(parts)


class Intracomm(Comm, MPI.Intracomm):
    """Of one group."""


class Intercomm(Comm, MPI.Intercomm):
    """Of two groups."""
