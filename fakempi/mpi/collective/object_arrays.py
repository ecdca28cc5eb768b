"""Arrays of pickled objects, so that algorithms for arrays also reduce Python objects.

An element is a `PickledElement`: the pickle of an object, or the result of an operation that is not pickled yet. Elements
never change, so algorithms may copy references by slice assignments. Algorithms get an `ElementComm`, a communicator that
sends arrays of elements as pickles, whose sizes are known on arrival, and other arrays unchanged.
Combining objects takes no modeled time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from fakempi.core.network.envelope import PostedReceive
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_COUNT
from fakempi.mpi.base.mpi_errors import mpi_error, shown
from fakempi.mpi.base.waiting import wait_one, wait_two
from fakempi.mpi.buffers.objects import joined, pack, unpack
from fakempi.mpi.buffers.payload import MessagePayload, as_bytes
from fakempi.mpi.buffers.pickling import PickleSettings
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.point.objects import UNLIMITED
from fakempi.mpi.point.request import Request

Packed = tuple[MessagePayload, int]


class PickledElement:
    """An object as an element: each reader gets a copy."""

    __slots__ = ("_packed", "_settings", "_value")

    def __init__(self, settings: PickleSettings | None, packed: Packed | None, value: Any = None) -> None:
        self._settings, self._packed, self._value = settings, packed, value

    @property
    def packed(self) -> Packed:
        """The pickle and its size."""
        if self._packed is None:
            self._packed, self._value = pack(self._value, self._settings), None
        return self._packed

    def copy(self) -> Any:
        """Return a copy of the object, which the caller may modify."""
        return unpack(*self.packed, self._settings)

    def take(self) -> Any:
        """Return the result at the end. The result of an operation on this rank needs no pickling."""
        return self._value if self._packed is None else self.copy()


class ObjectOp:
    """An operation on objects with the interface of `Op`; applied in rank order, because it may not commute.

    `operand` is the object of this rank.
    """

    is_predefined = False

    def __init__(self, op: Callable[[Any, Any], Any], settings: PickleSettings | None, operand: Any = None) -> None:
        self.op, self.settings, self.operand = op, settings, operand

    def Is_commutative(self) -> bool:
        """Return False: the operands keep their order."""
        return False

    def Reduce_local(self, inbuf: Array, inoutbuf: Array) -> None:
        """Combine two arrays as `Op.Reduce_local`. The operation gets copies, so it may modify its operands."""
        for i in range(inoutbuf.size):
            inoutbuf[i] = PickledElement(self.settings, None, self.op(inbuf[i].copy(), inoutbuf[i].copy()))


class ElementComm:
    """The methods of a communicator that algorithms call, for arrays of elements and other arrays."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self.Get_rank, self.Get_size, self._compute = comm.Get_rank, comm.Get_size, comm._compute
        self.Get_remote_size = getattr(comm, "Get_remote_size", None)

    def Send(self, buf: Array, dest: int, tag: int) -> None:
        """Send an array."""
        if not _holds_elements(buf):
            self._comm.Send(buf, dest, tag)
            return
        wait_one(self._comm._loop, self._post_send(buf, dest, tag))

    def Recv(self, buf: Array, source: int, tag: int) -> None:
        """Receive into an array."""
        if not _holds_elements(buf):
            self._comm.Recv(buf, source, tag)
            return
        receive = self._post_receive(source, tag)
        wait_one(self._comm._loop, receive)
        self._store_elements(receive, buf)

    def Sendrecv(self, sendbuf: Array, dest: int, sendtag: int, recvbuf: Array, source: int, recvtag: int) -> None:
        """Send and receive at the same time."""
        if not _holds_elements(sendbuf) or not _holds_elements(recvbuf):
            ElementRequest.Waitall([self.Irecv(recvbuf, source, recvtag), self.Isend(sendbuf, dest, sendtag)])
            return
        receive = self._post_receive(source, recvtag)
        wait_two(self._comm._loop, self._post_send(sendbuf, dest, sendtag), receive)
        self._store_elements(receive, recvbuf)

    def Isend(self, buf: Array, dest: int, tag: int) -> ElementRequest:
        """Start to send an array."""
        if not _holds_elements(buf):
            return ElementRequest(self._comm.Isend(buf, dest, tag))
        return ElementRequest(Request._of(self._comm, self._post_send(buf, dest, tag)))

    def Irecv(self, buf: Array, source: int, tag: int) -> ElementRequest:
        """Start to receive into an array."""
        if not _holds_elements(buf):
            return ElementRequest(self._comm.Irecv(buf, source, tag))
        receive = self._post_receive(source, tag)
        return ElementRequest(Request._of(self._comm, receive), lambda: self._store_elements(receive, buf))

    def _post_send(self, buf: Array, dest: int, tag: int) -> Any:
        packed = [element.packed for element in buf]
        return self._comm._post_send((packed,), sum(nbytes for _, nbytes in packed), dest, tag)

    def _post_receive(self, source: int, tag: int) -> Any:
        return self._comm._post_receive(None, UNLIMITED, source, tag)

    def _store_elements(self, receive: PostedReceive, buf: Array) -> None:
        (packed,) = receive.envelope.payload
        for i, element in enumerate(packed):
            buf[i] = PickledElement(self._comm._process.pickle, element)


class ChoiceForObjects:
    """A choice of an algorithm for arrays of objects. Ranks share it in a recipe, so each rank passes its own operation."""

    __slots__ = ("_choice", "algorithm")

    def __init__(self, choice: Any) -> None:
        self._choice, self.algorithm = choice, choice.algorithm

    def on(self, comms: Sequence[Any], **options: Any) -> Callable[..., Any]:
        """Return the algorithm on these communicators."""
        comms_of_elements = tuple(map(ElementComm, comms))
        return lambda out, into, op: self._choice.on(comms_of_elements, op=op, **options)(out, into)


class ElementRequest:
    """A pending transfer, and the action that completes it."""

    __slots__ = ("_request", "_then")

    def __init__(self, request: Request, then: Callable[[], None] | None = None) -> None:
        self._request, self._then = request, then

    def Wait(self) -> None:
        """Wait for the transfer."""
        self._request.Wait()
        self._end()

    @classmethod
    def Waitall(cls, requests: Sequence[ElementRequest]) -> None:
        """Wait for all transfers."""
        Request.Waitall([request._request for request in requests])
        for request in requests:
            request._end()

    @classmethod
    def Waitany(cls, requests: Sequence[ElementRequest]) -> int:
        """Wait for one transfer; return its index."""
        index = Request.Waitany([request._request for request in requests])
        if index >= 0:
            requests[index]._end()
        return index

    def _end(self) -> None:
        if self._then is not None:
            self._then()
            self._then = None


def one_element(element: PickledElement | None) -> Any:
    """Return an array of one element, or of None."""
    array = np.empty(1, object)
    array[0] = element
    return array


def bcast_elements(bcast: Callable[..., Any], settings: PickleSettings | None) -> Callable[..., None]:
    """Return a broadcast of elements by an algorithm for bytes: first the sizes, then the pickles."""

    def run(comm: Any, buf: Array, *, root: int = 0, **options: Any) -> None:
        if not _holds_elements(buf):
            bcast(comm, buf, root=root, **options)
            return
        if comm.Get_size() == 1:
            return
        is_root = comm.Get_rank() == root
        packed = [element.packed for element in buf] if is_root else []
        sizes = np.array([nbytes for _, nbytes in packed], np.int64) if is_root else np.empty(buf.size, np.int64)
        data = joined([as_bytes(*pickled) for pickled in packed]) if is_root else None
        bcast(comm, sizes, root=root, **options)
        if data is None:
            data = np.empty(int(sizes.sum()), np.uint8)
        bcast(comm, data, root=root, **options)
        if not is_root:
            for i, pickled in enumerate(split_pickles(data, sizes)):
                buf[i] = PickledElement(settings, pickled)

    return run


def split_pickles(data: Array, sizes: Array) -> list[Packed]:
    """Return the pickles in one array, each with its size."""
    ends = np.cumsum(sizes).tolist()
    return [(data[end - size : end], size) for size, end in zip(sizes.tolist(), ends, strict=True)]


def _holds_elements(buf: Array) -> bool:
    return isinstance(buf, np.ndarray) and buf.dtype.hasobject


def items(objects: Any, size: int) -> list[Any]:
    """Return one object per rank as a list; None is treated as a list of None."""
    if objects is not None and not isinstance(objects, Iterable):
        sentence = f"sendobj is {shown(objects)}, not a sequence of {size} objects, one per rank."
        raise mpi_error(ERR_ARG, sentence, MPITypeError)
    found = [None] * size if objects is None else list(objects)
    if len(found) != size:
        raise mpi_error(ERR_COUNT, f"expecting {size} items, got {len(found)}.", MPIValueError)
    return found
