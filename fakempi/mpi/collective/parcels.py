"""Objects as the elements of arrays, so that algorithms which know arrays alone reduce objects.

An element is a `Parcel`: the pickle of an object, or what an operation has just made. Parcels never change, so to copy one,
as algorithms do by slices, is to copy the reference. `Courier` is the communicator that such an algorithm is handed: what
consists of parcels travels as their pickles, whose sizes are known on arrival, and all else as it would without it.
Combining objects takes no modelled time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fakempi.mpi.base.waiting import wait_one, wait_two
from fakempi.mpi.buffers.objects import joined, pack, unpack
from fakempi.mpi.buffers.payload import Payload, as_bytes
from fakempi.mpi.point.objects import UNLIMITED
from fakempi.mpi.point.request import Request

Packed = tuple[Payload, int]


class Parcel:
    """An object as others get it: each its own."""

    __slots__ = ("_made", "_packed", "_settings")

    def __init__(self, settings: Any, packed: Packed | None, made: Any = None) -> None:
        self._settings, self._packed, self._made = settings, packed, made

    @property
    def packed(self) -> Packed:
        """What to send, and its size."""
        if self._packed is None:
            self._packed, self._made = pack(self._made, self._settings), None
        return self._packed

    def copy(self) -> Any:
        """An object to do with whatever one likes."""
        return unpack(*self.packed, self._settings)

    def take(self) -> Any:
        """The object, at the end: what an operation has made need not be pickled if it stays where it is."""
        return self._made if self._packed is None else self.copy()


class Combining:
    """An operation on objects as algorithms want it: in rank order, for nobody knows whether it commutes."""

    is_predefined = False

    def __init__(self, op: Callable[[Any, Any], Any], settings: Any) -> None:
        self._op, self._settings = op, settings

    def Is_commutative(self) -> bool:
        """May the operands change places?"""
        return False

    def Reduce_local(self, inbuf: Any, inoutbuf: Any) -> None:
        """As `Op.Reduce_local`; the operation gets copies, so it may change what it is given."""
        for i in range(inoutbuf.size):
            inoutbuf[i] = Parcel(self._settings, None, self._op(inbuf[i].copy(), inoutbuf[i].copy()))


class Courier:
    """A communicator, or one between two groups, as far as algorithms ask of one, which delivers parcels too."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self.Get_rank, self.Get_size = comm.Get_rank, comm.Get_size
        self.Get_remote_size = getattr(comm, "Get_remote_size", None)

    def Send(self, buf: Any, dest: int, tag: int) -> None:
        """Send an array."""
        if not _holds_parcels(buf):
            self._comm.Send(buf, dest, tag)
            return
        wait_one(self._comm._loop, self._post(buf, dest, tag))

    def Recv(self, buf: Any, source: int, tag: int) -> None:
        """Receive into an array."""
        if not _holds_parcels(buf):
            self._comm.Recv(buf, source, tag)
            return
        pattern = self._await(source, tag)
        wait_one(self._comm._loop, pattern)
        self._unload(pattern, buf)

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int) -> None:
        """Send and receive at the same time."""
        if not _holds_parcels(sendbuf) or not _holds_parcels(recvbuf):
            Delivery.Waitall([self.Irecv(recvbuf, source, recvtag), self.Isend(sendbuf, dest, sendtag)])
            return
        pattern = self._await(source, recvtag)
        wait_two(self._comm._loop, self._post(sendbuf, dest, sendtag), pattern)
        self._unload(pattern, recvbuf)

    def Isend(self, buf: Any, dest: int, tag: int) -> Delivery:
        """Start to send an array."""
        if not _holds_parcels(buf):
            return Delivery(self._comm.Isend(buf, dest, tag))
        return Delivery(Request._of(self._comm, self._post(buf, dest, tag)))

    def Irecv(self, buf: Any, source: int, tag: int) -> Delivery:
        """Start to receive into an array."""
        if not _holds_parcels(buf):
            return Delivery(self._comm.Irecv(buf, source, tag))
        pattern = self._await(source, tag)
        return Delivery(Request._of(self._comm, pattern), lambda: self._unload(pattern, buf))

    def _post(self, buf: Any, dest: int, tag: int) -> Any:
        packed = [parcel.packed for parcel in buf]
        return self._comm._post((packed,), sum(nbytes for _, nbytes in packed), dest, tag)

    def _await(self, source: int, tag: int) -> Any:
        return self._comm._await(None, UNLIMITED, source, tag)

    def _unload(self, pattern: Any, buf: Any) -> None:
        (packed,) = pattern.envelope.content
        for i, each in enumerate(packed):
            buf[i] = Parcel(self._comm._process.pickle, each)


class OnParcels:
    """A choice, for parcels, as recipes have it: the operation comes with the buffers, since it is each rank's own."""

    __slots__ = ("_choice",)

    def __init__(self, choice: Any) -> None:
        self._choice = choice

    def on(self, comms: Sequence[Any], **options: Any) -> Callable[..., Any]:
        """The algorithm on communicators."""
        couriers = tuple(map(Courier, comms))
        return lambda out, into, op: self._choice.on(couriers, op=op, **options)(out, into)


class Delivery:
    """A transfer under way, and what is to be done when it is over."""

    __slots__ = ("_request", "_then")

    def __init__(self, request: Request, then: Callable[[], None] | None = None) -> None:
        self._request, self._then = request, then

    def Wait(self) -> None:
        """Wait for its end."""
        self._request.Wait()
        self._end()

    @classmethod
    def Waitall(cls, deliveries: Sequence[Delivery]) -> None:
        """Wait for the end of all."""
        Request.Waitall([each._request for each in deliveries])
        for each in deliveries:
            each._end()

    @classmethod
    def Waitany(cls, deliveries: Sequence[Delivery]) -> int:
        """Wait for the end of one."""
        index = Request.Waitany([each._request for each in deliveries])
        if index >= 0:
            deliveries[index]._end()
        return index

    def _end(self) -> None:
        if self._then is not None:
            self._then()
            self._then = None


def one_parcel(parcel: Parcel | None) -> Any:
    """An array of one element: a parcel, or room for one."""
    array = np.empty(1, object)
    array[0] = parcel
    return array


def sizes_first(bcast: Callable[..., Any], settings: Any) -> Callable[..., None]:
    """A broadcast of parcels by an algorithm for bytes: everybody is told the sizes, and then come the pickles."""

    def run(comm: Any, buf: Any, *, root: int = 0, **options: Any) -> None:
        if not _holds_parcels(buf):
            bcast(comm, buf, root=root, **options)
            return
        if comm.Get_size() == 1:
            return
        here = comm.Get_rank() == root
        packed = [parcel.packed for parcel in buf] if here else []
        sizes = np.array([nbytes for _, nbytes in packed], np.int64) if here else np.empty(buf.size, np.int64)
        data = joined([as_bytes(*each) for each in packed]) if here else None
        bcast(comm, sizes, root=root, **options)
        if data is None:
            data = np.empty(int(sizes.sum()), np.uint8)
        bcast(comm, data, root=root, **options)
        if not here:
            for i, each in enumerate(parted(data, sizes)):
                buf[i] = Parcel(settings, each)

    return run


def parted(data: Any, sizes: Any) -> list[Packed]:
    """The pickles in a row."""
    ends = np.cumsum(sizes).tolist()
    return [(data[end - size : end], size) for size, end in zip(sizes.tolist(), ends, strict=True)]


def _holds_parcels(buf: Any) -> bool:
    return isinstance(buf, np.ndarray) and buf.dtype.hasobject
