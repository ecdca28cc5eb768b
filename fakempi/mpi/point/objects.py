"""Point-to-point communication of Python objects: pack, post, wait, unpack."""

from __future__ import annotations

import warnings
from typing import Any

from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import wait_one, wait_two
from fakempi.mpi.buffers.objects import pack, room_for, unpack
from fakempi.mpi.buffers.payload import copy_into
from fakempi.mpi.point.arrival import leave, truncation
from fakempi.mpi.point.buffered import Buffered
from fakempi.mpi.point.handle import TAG_LIMIT, fill_status
from fakempi.mpi.point.request import Request

UNLIMITED = 1 << 62
"""An object is received whatever its size."""


class PointToPointObjects(Buffered):
    """send, recv and their kin. `recv` and `irecv` put the pickle into mpi4py's `buf`, if there is one; none is needed."""

    __slots__ = ()

    # -- blocking -------------------------------------------------------------------------------------------------

    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object."""
        content, nbytes = self._pack(obj)
        self._wait_sent(self._post(content, nbytes, dest, tag))

    def ssend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object, and wait for its receive whatever the size."""
        content, nbytes = self._pack(obj)
        self._wait_sent(self._post(content, nbytes, dest, tag, eager=False))

    def bsend(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Send an object from the attached buffer."""
        content, nbytes = self._pack(obj)
        self._post_buffered(content, nbytes, dest, tag)

    def recv(
        self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Any:
        """Receive an object."""
        place, room = (None, UNLIMITED) if buf is None else self._room_for(buf, "buf")
        pattern = self._await(None, room, source, tag)
        wait_one(self._loop, pattern)
        if status is not None:
            fill_status(status, pattern)
        return self._unpack(pattern) if buf is None else self._put(pattern, place)

    def sendrecv(
        self,
        sendobj: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> Any:
        """Send an object and receive one at the same time."""
        content, nbytes = self._pack(sendobj)
        if not 0 <= dest < self._reach or not 0 <= sendtag <= TAG_LIMIT:
            self._post_nowhere(dest, sendtag)  # complain before the receive is posted, or it would stay behind
        place, room = (None, UNLIMITED) if recvbuf is None else self._room_for(recvbuf, "recvbuf")
        pattern = self._await(None, room, source, recvtag)
        envelope = self._post(content, nbytes, dest, sendtag, None, pattern.call)
        wait_two(self._loop, envelope, pattern)
        if envelope.content is not None:
            leave(envelope, self._notes, 2)
        if status is not None:
            fill_status(status, pattern)
        return self._unpack(pattern) if recvbuf is None else self._put(pattern, place)

    # -- nonblocking ----------------------------------------------------------------------------------------------

    def isend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        """Start to send an object."""
        content, nbytes = self._pack(obj)
        return Request._of(self, self._post(content, nbytes, dest, tag))

    def issend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        """Start to send an object; ends only with its receive."""
        content, nbytes = self._pack(obj)
        return Request._of(self, self._post(content, nbytes, dest, tag, eager=False))

    def ibsend(self, obj: Any, dest: int, tag: int = 0) -> Request:
        """Start to send an object from the attached buffer."""
        content, nbytes = self._pack(obj)
        return Request._of(self, self._post_buffered(content, nbytes, dest, tag))

    def irecv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Start to receive an object."""
        if buf is not None:
            place, room = room_for(buf)
            return Request._of(self, self._await(None, room, source, tag), place, is_object=True)
        return Request._of(self, self._await(None, UNLIMITED, source, tag), is_object=True)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _room_for(self, buf: Any, name: str) -> tuple[Any, int]:
        """Of a buffer that mpi4py advises against, too."""
        warnings.warn(f"{name!r} is deprecated: an object is received without a buffer.", UserWarning, stacklevel=3)
        return room_for(buf)

    def _put(self, pattern: Any, place: Any) -> Any:
        """The object, after its pickle was put in its place."""
        envelope = pattern.envelope
        if envelope.nbytes > pattern.capacity:
            self._raise(truncation(pattern))
        if place is not None and envelope.nbytes:
            copy_into(envelope.content, place, envelope.nbytes)
        return self._unpack(pattern)

    def _pack(self, obj: Any) -> tuple[Any, int]:
        self._check_alive()
        return pack(obj, self._process.pickle)

    def _unpack(self, pattern: Any) -> Any:
        envelope = pattern.envelope
        if not envelope.nbytes:
            return None  # from PROC_NULL, or an empty buffer that somebody sent
        return unpack(envelope.content, envelope.nbytes, self._process.pickle, take=True)
