"""Point-to-point communication of buffers: describe the memory, post it, wait."""

from __future__ import annotations

from typing import Any

from fakempi.errors import MPIError
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import wait_two
from fakempi.mpi.buffers.overlap import share_bytes, tell_of_overlap
from fakempi.mpi.buffers.payload import describe, describe_target, snapshot
from fakempi.mpi.buffers.raw import NOTHING as NO_BYTES
from fakempi.mpi.point.arrival import leave
from fakempi.mpi.point.buffered import Buffered
from fakempi.mpi.point.request import Request

BufSpec = Any
"""Anything with memory: an array, `[buffer, count]`, `[buffer, datatype]`, `[buffer, count, datatype]`, ..."""

NOTHING: tuple[Any, int] = (NO_BYTES, 0)
"""What goes to PROC_NULL or comes from there; mpi4py does not look at the buffer then, and neither do we."""


class PointToPoint(Buffered):
    """Send, Recv and their kin, blocking and nonblocking."""

    __slots__ = ()

    # -- blocking -------------------------------------------------------------------------------------------------

    def Send(self, buf: BufSpec, dest: int, tag: int = 0) -> None:
        """Send a buffer; small messages do not wait for their receive, large ones do (the model's eager limit)."""
        content, nbytes = describe(buf) if dest != PROC_NULL else NOTHING
        self._wait_sent(self._post(content, nbytes, dest, tag))

    def Recv(
        self, buf: BufSpec, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> None:
        """Receive into a buffer."""
        place, capacity = describe_target(buf) if source != PROC_NULL else NOTHING
        pattern = self._await(place, capacity, source, tag)
        self._wait_received(pattern, status)

    def Sendrecv(
        self,
        sendbuf: BufSpec,
        dest: int,
        sendtag: int = 0,
        recvbuf: BufSpec | None = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> None:
        """Send and receive at the same time."""
        content, nbytes = describe(sendbuf) if dest != PROC_NULL else NOTHING
        place, capacity = describe_target(recvbuf) if source != PROC_NULL else NOTHING
        if place.base is not None or content.base is not None or content is place:  # else each has its own memory
            self._check_buffers(content, place)
        pattern = self._await(place, capacity, source, recvtag)
        try:  # `_post_or_withdraw` and `_wait_both`, inlined: two calls less, and one frame less to wake up with
            envelope = self._post(content, nbytes, dest, sendtag, None, pattern.call)
        except MPIError:
            self._withdraw(pattern)
            raise
        wait_two(self._loop, envelope, pattern)
        if envelope.content is not None:
            leave(envelope, self._notes, 2)
        if status is not None or pattern.envelope.nbytes > pattern.capacity:
            self._wait_received(pattern, status)

    def Sendrecv_replace(
        self,
        buf: BufSpec,
        dest: int,
        sendtag: int = 0,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> None:
        """Send a buffer and receive into the same one."""
        place, capacity = describe_target(buf) if (dest, source) != (PROC_NULL, PROC_NULL) else NOTHING
        content = snapshot(place)  # before the receive is posted, which may fill the buffer at once
        pattern = self._await(place, capacity, source, recvtag)
        self._wait_both(self._post_or_withdraw(content, capacity, dest, sendtag, pattern), pattern, status)

    def Ssend(self, buf: BufSpec, dest: int, tag: int = 0) -> None:
        """Send, and wait for the receive whatever the size."""
        content, nbytes = describe(buf) if dest != PROC_NULL else NOTHING
        self._wait_sent(self._post(content, nbytes, dest, tag, eager=False))

    def Bsend(self, buf: BufSpec, dest: int, tag: int = 0) -> None:
        """Send from the attached buffer: returns at once."""
        content, nbytes = describe(buf) if dest != PROC_NULL else NOTHING
        self._post_buffered(snapshot(content), nbytes, dest, tag)

    def Rsend(self, buf: BufSpec, dest: int, tag: int = 0) -> None:
        """Send to a receive that the program knows to be posted."""
        content, nbytes = describe(buf) if dest != PROC_NULL else NOTHING
        self._check_ready(dest, tag)
        self._wait_sent(self._post(content, nbytes, dest, tag))

    # -- nonblocking ----------------------------------------------------------------------------------------------

    def Isend(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Start to send a buffer."""
        content, nbytes = describe(buf) if dest != PROC_NULL else NOTHING
        return Request._of(self, self._post(content, nbytes, dest, tag), buf)

    def Issend(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Start to send a buffer; ends only with its receive."""
        content, nbytes = describe(buf) if dest != PROC_NULL else NOTHING
        return Request._of(self, self._post(content, nbytes, dest, tag, eager=False), buf)

    def Ibsend(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Start to send from the attached buffer."""
        content, nbytes = describe(buf) if dest != PROC_NULL else NOTHING
        return Request._of(self, self._post_buffered(snapshot(content), nbytes, dest, tag), buf)

    def Irsend(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Start to send to a receive that the program knows to be posted."""
        content, nbytes = describe(buf) if dest != PROC_NULL else NOTHING
        self._check_ready(dest, tag)
        return Request._of(self, self._post(content, nbytes, dest, tag), buf)

    def Irecv(self, buf: BufSpec, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Start to receive into a buffer."""
        place, capacity = describe_target(buf) if source != PROC_NULL else NOTHING
        return Request._of(self, self._await(place, capacity, source, tag), buf)

    def Isendrecv(
        self,
        sendbuf: BufSpec,
        dest: int,
        sendtag: int = 0,
        recvbuf: BufSpec | None = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
    ) -> Request:
        """Start to send and to receive at the same time."""
        content, nbytes = describe(sendbuf) if dest != PROC_NULL else NOTHING
        place, capacity = describe_target(recvbuf) if source != PROC_NULL else NOTHING
        self._check_buffers(content, place)
        pattern = self._await(place, capacity, source, recvtag)
        envelope = self._post_or_withdraw(content, nbytes, dest, sendtag, pattern)
        return Request._of_both(self, envelope, pattern, (sendbuf, recvbuf))

    def Isendrecv_replace(
        self, buf: BufSpec, dest: int, sendtag: int = 0, source: int = ANY_SOURCE, recvtag: int = ANY_TAG
    ) -> Request:
        """Start to send a buffer and to receive into the same one."""
        place, capacity = describe_target(buf) if (dest, source) != (PROC_NULL, PROC_NULL) else NOTHING
        content = snapshot(place)
        pattern = self._await(place, capacity, source, recvtag)
        envelope = self._post_or_withdraw(content, capacity, dest, sendtag, pattern)
        return Request._of_both(self, envelope, pattern, (None, buf))

    def _check_buffers(self, content: Any, place: Any) -> None:
        """Tell of memory that is sent and received at once; our own algorithms know what they do."""
        if self._side is not None and self._side.original is None and share_bytes(content, place):
            tell_of_overlap("sendbuf and recvbuf overlap")
