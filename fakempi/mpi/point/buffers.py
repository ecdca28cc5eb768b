"""Point-to-point communication of buffers: describe the buffer, post a send or a receive, wait."""

from __future__ import annotations

from types import FrameType

from fakempi.errors import MPIError
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.child import ChildTask
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from fakempi.mpi.base.process import Process
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import wait_one, wait_two
from fakempi.mpi.buffers.overlap import report_overlap, share_bytes
from fakempi.mpi.buffers.payload import describe, describe_target, snapshot
from fakempi.mpi.buffers.raw import NO_BYTES
from fakempi.mpi.buffers.span import Payload
from fakempi.mpi.buffers.typing import BufSpec
from fakempi.mpi.interfaces.services import Closable
from fakempi.mpi.point.arrival import complete_send
from fakempi.mpi.point.buffered import Buffered
from fakempi.mpi.point.request import Request

NULL_PAYLOAD: tuple[Payload, int] = (NO_BYTES, 0)
"""Payload and size of a message to or from PROC_NULL. As in mpi4py, the buffer is ignored."""


def begin_use(process: Process, payload: Payload | None, target: Payload | None = None) -> list[Closable]:
    """Check the buffers of a blocking call: the one that it reads, and the one that it writes.

    Returns accesses for `end_use`. The buffers of a child task were checked when its nonblocking call started.
    """
    checks, task = process.buffer_checks, process.loop.running
    if checks is None or not (checks.roots or checks.exposed) or (task is not None and isinstance(task.body, ChildTask)):
        return []
    end_use(checks.check_blocking_use(payload, False))
    return checks.check_blocking_use(target, True)


def end_use(accesses: list[Closable]) -> None:
    """Close the accesses of a blocking call that has written to its buffer."""
    for access in accesses:
        access.close()


class PointToPoint(Buffered):
    """Send, Recv and similar calls, blocking and nonblocking."""

    __slots__ = ()

    # -- blocking -------------------------------------------------------------------------------------------------

    def Send(self, buf: BufSpec, dest: int, tag: int = 0) -> None:
        """Send a buffer; a message above the eager limit of the cost model waits for its receive."""
        payload, nbytes = describe(buf) if dest != PROC_NULL else NULL_PAYLOAD
        if self._checks_buffers:
            begin_use(self._process, payload)
        envelope = self._post_send(payload, nbytes, dest, tag)
        wait_one(self._loop, envelope)
        if envelope.payload is not None:
            complete_send(envelope, self._call_sites, frame_at(1) if self._call_sites is not None else None)

    def Recv(self, buf: BufSpec, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> None:
        """Receive into a buffer."""
        target, capacity = describe_target(buf) if source != PROC_NULL else NULL_PAYLOAD
        accesses = begin_use(self._process, None, target) if self._checks_buffers else None
        receive = self._post_receive(target, capacity, source, tag)
        self._wait_received(receive, status)
        if accesses:
            end_use(accesses)

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
        payload, nbytes = describe(sendbuf) if dest != PROC_NULL else NULL_PAYLOAD
        target, capacity = describe_target(recvbuf) if source != PROC_NULL else NULL_PAYLOAD
        if target.base is not None or payload.base is not None or payload is target:  # otherwise each has its own memory
            self._check_overlap(payload, target)
        if self._checks_buffers:
            return self._sendrecv(payload, nbytes, dest, sendtag, target, capacity, source, recvtag, status, frame_at(1))
        receive = self._post_receive(target, capacity, source, recvtag)
        try:  # the rest of `_sendrecv`, inlined: saves three calls, and frames while waiting
            envelope = self._post_send(payload, nbytes, dest, sendtag, None, receive.call)
        except MPIError:
            self._withdraw(receive)
            raise
        if wait_two(self._loop, envelope, receive):
            complete_send(envelope, self._call_sites, frame_at(1) if self._call_sites is not None else None)
        if status is not None or receive.envelope.nbytes > capacity:
            self._wait_received(receive, status)

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
        target, capacity = describe_target(buf) if (dest, source) != (PROC_NULL, PROC_NULL) else NULL_PAYLOAD
        payload = snapshot(target)  # before the receive is posted, which may write to the buffer immediately
        self._sendrecv(payload, capacity, dest, sendtag, target, capacity, source, recvtag, status, frame_at(1))

    def _sendrecv(
        self, payload: Payload, nbytes: int, dest: int, sendtag: int, target: Payload, capacity: int, source: int,
        recvtag: int, status: Status | None, caller: FrameType,
    ) -> None:  # fmt: skip
        """Send and receive, and check the buffers if the run does; `caller` is the frame that called the public method."""
        accesses = begin_use(self._process, payload, target) if self._checks_buffers else None
        receive = self._post_receive(target, capacity, source, recvtag)
        self._wait_both(self._post_or_withdraw(payload, nbytes, dest, sendtag, receive), receive, status, caller)
        if accesses:
            end_use(accesses)

    def Ssend(self, buf: BufSpec, dest: int, tag: int = 0) -> None:
        """Send a buffer of any size, and wait until its receive is matched."""
        payload, nbytes = describe(buf) if dest != PROC_NULL else NULL_PAYLOAD
        if self._checks_buffers:
            begin_use(self._process, payload)
        envelope = self._post_send(payload, nbytes, dest, tag, eager=False)
        wait_one(self._loop, envelope)
        if envelope.payload is not None:
            complete_send(envelope, self._call_sites, frame_at(1) if self._call_sites is not None else None)

    def Bsend(self, buf: BufSpec, dest: int, tag: int = 0) -> None:
        """Send a buffer through the attached buffer, without waiting."""
        payload, nbytes = describe(buf) if dest != PROC_NULL else NULL_PAYLOAD
        if self._checks_buffers:
            begin_use(self._process, payload)
        self._post_buffered(snapshot(payload), nbytes, dest, tag)

    def Rsend(self, buf: BufSpec, dest: int, tag: int = 0) -> None:
        """Send a buffer to a receive that the program knows to be posted."""
        payload, nbytes = describe(buf) if dest != PROC_NULL else NULL_PAYLOAD
        self._check_ready(dest, tag)
        if self._checks_buffers:
            begin_use(self._process, payload)
        envelope = self._post_send(payload, nbytes, dest, tag)
        wait_one(self._loop, envelope)
        if envelope.payload is not None:
            complete_send(envelope, self._call_sites, frame_at(1) if self._call_sites is not None else None)

    # -- nonblocking ----------------------------------------------------------------------------------------------

    def Isend(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Start to send a buffer."""
        payload, nbytes = describe(buf) if dest != PROC_NULL else NULL_PAYLOAD
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of(self, self._post_send(payload, nbytes, dest, tag), buf, False, caller)

    def Issend(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Start to send a buffer; the send completes only after its receive is matched."""
        payload, nbytes = describe(buf) if dest != PROC_NULL else NULL_PAYLOAD
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of(self, self._post_send(payload, nbytes, dest, tag, eager=False), buf, False, caller)

    def Ibsend(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Start to send a buffer through the attached buffer."""
        payload, nbytes = describe(buf) if dest != PROC_NULL else NULL_PAYLOAD
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of(self, self._post_buffered(snapshot(payload), nbytes, dest, tag), buf, False, caller)

    def Irsend(self, buf: BufSpec, dest: int, tag: int = 0) -> Request:
        """Start to send a buffer to a receive that the program knows to be posted."""
        payload, nbytes = describe(buf) if dest != PROC_NULL else NULL_PAYLOAD
        self._check_ready(dest, tag)
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of(self, self._post_send(payload, nbytes, dest, tag), buf, False, caller)

    def Irecv(self, buf: BufSpec, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Start to receive into a buffer."""
        target, capacity = describe_target(buf) if source != PROC_NULL else NULL_PAYLOAD
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of(self, self._post_receive(target, capacity, source, tag), buf, False, caller)

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
        payload, nbytes = describe(sendbuf) if dest != PROC_NULL else NULL_PAYLOAD
        target, capacity = describe_target(recvbuf) if source != PROC_NULL else NULL_PAYLOAD
        self._check_overlap(payload, target)
        receive = self._post_receive(target, capacity, source, recvtag)
        envelope = self._post_or_withdraw(payload, nbytes, dest, sendtag, receive)
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of_both(self, envelope, receive, (sendbuf, recvbuf), caller)

    def Isendrecv_replace(
        self, buf: BufSpec, dest: int, sendtag: int = 0, source: int = ANY_SOURCE, recvtag: int = ANY_TAG
    ) -> Request:
        """Start to send a buffer and to receive into the same one."""
        target, capacity = describe_target(buf) if (dest, source) != (PROC_NULL, PROC_NULL) else NULL_PAYLOAD
        payload = snapshot(target)
        receive = self._post_receive(target, capacity, source, recvtag)
        envelope = self._post_or_withdraw(payload, capacity, dest, sendtag, receive)
        caller = frame_at(1) if self._call_sites is not None else None
        return Request._of_both(self, envelope, receive, (None, buf), caller)

    def _check_overlap(self, payload: Payload, target: Payload) -> None:
        """Report memory that the program sends and receives at once; messages of algorithms are not checked."""
        if self._side is not None and self._side.original is None and share_bytes(payload, target):
            report_overlap("sendbuf and recvbuf overlap")
