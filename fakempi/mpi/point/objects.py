"""Point-to-point communication of Python objects: pack, post, wait, unpack."""

from __future__ import annotations

from operator import index
from typing import Any

from fakempi.core.network.envelope import PostedReceive
from fakempi.mpi.base.call_site import frame_at, warn_caller
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from fakempi.mpi.base.mpi_errors import integers
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import wait_one, wait_two
from fakempi.mpi.buffers.objects import pack, pickle_target
from fakempi.mpi.buffers.payload import ObjectPayload, copy_into
from fakempi.mpi.buffers.span import Payload
from fakempi.mpi.interfaces.buffers import Buffer
from fakempi.mpi.point.arrival import complete_send, truncation_error, unpack_received
from fakempi.mpi.point.buffered import Buffered
from fakempi.mpi.point.handle import TAG_LIMIT, fill_status
from fakempi.mpi.point.request import Request

UNLIMITED = 1 << 62
"""The capacity of a receive of an object: any size."""


class PointToPointObjects(Buffered):
    """send, recv and similar calls. mpi4py's parameter `buf` of `recv` and `irecv` receives the pickle; it is optional."""

    __slots__ = ()

    # -- blocking -------------------------------------------------------------------------------------------------

    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object."""
        payload, nbytes = self._pack(obj, dest)
        envelope = self._post_send(payload, nbytes, dest, tag)
        wait_one(self._loop, envelope)
        if envelope.payload is not None:
            complete_send(envelope, self._call_sites, frame_at(1) if self._call_sites is not None else None)

    def ssend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object of any size, and wait until its receive is matched."""
        payload, nbytes = self._pack(obj, dest)
        envelope = self._post_send(payload, nbytes, dest, tag, eager=False)
        wait_one(self._loop, envelope)
        if envelope.payload is not None:
            complete_send(envelope, self._call_sites, frame_at(1) if self._call_sites is not None else None)

    def bsend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object through the attached buffer, without waiting."""
        payload, nbytes = self._pack(obj, dest)
        self._post_buffered(payload, nbytes, dest, tag)

    def recv(
        self, buf: Buffer | None = None, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Any:
        """Receive an object."""
        target, capacity = (None, UNLIMITED) if buf is None else _deprecated_target(buf, "buf")
        receive = self._post_receive(None, capacity, source, tag)
        wait_one(self._loop, receive)
        if status is not None:
            fill_status(status, receive)
        return self._unpack(receive) if buf is None else self._unpack_into(receive, target)

    def sendrecv(
        self,
        sendobj: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Buffer | None = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> Any:
        """Send an object and receive one at the same time."""
        payload, nbytes = self._pack(sendobj, dest)
        try:
            if type(dest) is not int or type(sendtag) is not int:
                dest, sendtag = index(dest), index(sendtag)
            if not (0 <= sendtag <= TAG_LIMIT and (0 <= dest < self._n_peers or dest == PROC_NULL)):
                self._null_send(dest, sendtag)  # raise its error before the receive is posted
        except TypeError:
            dest, sendtag = integers(dest=dest, tag=sendtag)
        target, capacity = (None, UNLIMITED) if recvbuf is None else _deprecated_target(recvbuf, "recvbuf")
        receive = self._post_receive(None, capacity, source, recvtag)
        envelope = self._post_send(payload, nbytes, dest, sendtag, None, receive.call)
        if wait_two(self._loop, envelope, receive):
            complete_send(envelope, self._call_sites, frame_at(1) if self._call_sites is not None else None)
        if status is not None:
            fill_status(status, receive)
        return self._unpack(receive) if recvbuf is None else self._unpack_into(receive, target)

    # -- nonblocking ----------------------------------------------------------------------------------------------

    def isend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        """Start to send an object."""
        payload, nbytes = self._pack(obj, dest)
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of(self, self._post_send(payload, nbytes, dest, tag), None, False, caller)

    def issend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        """Start to send an object; the send completes only after its receive is matched."""
        payload, nbytes = self._pack(obj, dest)
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of(self, self._post_send(payload, nbytes, dest, tag, eager=False), None, False, caller)

    def ibsend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        """Start to send an object through the attached buffer."""
        payload, nbytes = self._pack(obj, dest)
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of(self, self._post_buffered(payload, nbytes, dest, tag), None, False, caller)

    def irecv(self, buf: Buffer | None = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Start to receive an object."""
        target, capacity = (None, UNLIMITED) if buf is None else pickle_target(buf)
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of(self, self._post_receive(None, capacity, source, tag), target, True, caller)

    # -- private --------------------------------------------------------------------------------------------------

    def _unpack_into(self, receive: PostedReceive, target: Payload | None) -> object:
        """Copy the pickle to its target, if there is one, and return the object."""
        envelope = receive.envelope
        if envelope.nbytes > receive.capacity:
            self._raise(truncation_error(receive))
        if target is not None and envelope.nbytes:
            copy_into(envelope.payload, target, envelope.nbytes)
        return self._unpack(receive)

    def _pack(self, obj: object, dest: int) -> tuple[ObjectPayload, int]:
        self._check_alive()
        if dest == PROC_NULL:  # as in mpi4py, the object need not have a pickle
            return b"", 0
        return pack(obj, self._process.pickle)

    def _unpack(self, receive: PostedReceive) -> object:
        envelope = receive.envelope
        if not envelope.nbytes:
            return None  # from PROC_NULL, or an empty buffer
        return unpack_received(receive, self._process.pickle)


def _deprecated_target(buf: Buffer, name: str) -> tuple[Payload | None, int]:
    """Return the target for a pickle, with a warning as in mpi4py."""
    warn_caller(f"{name!r} is deprecated: an object is received without a buffer.", UserWarning)
    return pickle_target(buf)
