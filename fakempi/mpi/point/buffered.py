"""Buffered sends: memory that the program attaches, per rank or per communicator, and the messages in it."""

from __future__ import annotations

from fakempi.core.kernel.agenda import Time
from fakempi.core.network.envelope import Envelope
from fakempi.errors.classes import ERR_BUFFER
from fakempi.mpi.base.call_site import new_call_site
from fakempi.mpi.base.constants import BSEND_OVERHEAD
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.process import Process
from fakempi.mpi.base.resource_tracker import track, untrack
from fakempi.mpi.base.waiting import AllOf, Completion, wait_all
from fakempi.mpi.buffers.address_constants import BUFFER_AUTOMATIC
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.payload import MessagePayload
from fakempi.mpi.buffers.raw import memory_of
from fakempi.mpi.interfaces.buffers import Buffer
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.point.handle import TAG_LIMIT, CommState
from fakempi.mpi.point.request import Request


class Departure:
    """A message in an attached buffer. Several flushes may wait for it, whereas an envelope has one waiter."""

    __slots__ = ("end", "followers", "nbytes")

    def __init__(self, envelope: Envelope) -> None:
        self.nbytes = envelope.nbytes
        self.end = envelope.end
        self.followers: list[Completion] = []
        if self.end is None:
            envelope.waiter = self

    def settled(self, end: Time) -> None:
        """Record that the message has left the buffer at `end`."""
        self.end = end
        for follower in self.followers:
            follower.complete(end)

    def follow(self) -> Completion:
        """Return a completion that ends when the message leaves the buffer."""
        follower = Completion("a buffered send")
        follower.end = self.end
        if self.end is None:
            self.followers.append(follower)
        return follower


class SendBuffer:
    """Attached memory. Messages are not stored in it, but they use its capacity as in a real MPI library."""

    __slots__ = ("memory", "nbytes", "pending")

    def __init__(self, memory: Buffer | None) -> None:
        self.memory: Buffer | None = BUFFER_AUTOMATIC if memory is None else memory
        self.nbytes = None if self.memory is BUFFER_AUTOMATIC else memory_of(memory, writable=True)[0].nbytes
        self.pending: list[Departure] = []  # messages that may still be in it

    def shortage(self, nbytes: int, now: Time) -> str:
        """Return why a message does not fit next to those in the buffer; empty if it fits."""
        self.pending = [send for send in self.pending if send.end is None or send.end > now]
        used = sum(send.nbytes + BSEND_OVERHEAD for send in self.pending)
        if self.nbytes is None or used + nbytes + BSEND_OVERHEAD <= self.nbytes:
            return ""
        return (
            f"the attached buffer of {self.nbytes} bytes is too small: {used} bytes are in use and the message "
            f"needs {nbytes} + {BSEND_OVERHEAD} (BSEND_OVERHEAD)."
        )


class Buffered(CommState):
    """The calls of a communicator on its attached buffer."""

    __slots__ = ()

    def Attach_buffer(self, buf: Buffer | None) -> None:
        """Attach memory for this communicator's buffered sends."""
        self._check_alive()
        attach(self._process, self._context, buf)

    def Detach_buffer(self) -> Buffer | None:
        """Wait until all messages in the buffer have been sent, and return the memory."""
        self._check_alive()
        return detach(self._process, self._context)

    def Flush_buffer(self) -> None:
        """Wait until all messages in the buffer have been sent."""
        self._check_alive()
        wait_all(self._loop, pending(self._process, self._context))

    def Iflush_buffer(self) -> Request:
        """Start to wait until all messages in the buffer have been sent."""
        self._check_alive()
        return Request._of(self, AllOf(pending(self._process, self._context)))

    def _post_buffered(self, payload: MessagePayload, nbytes: int, dest: int, tag: int) -> Operation:
        """Post a send of a payload that has been copied. The operation that is returned is complete."""
        dest, tag = integer("dest", dest, 0), integer("tag", tag, 0)
        if not 0 <= dest < self._n_peers or not 0 <= tag <= TAG_LIMIT:
            return self._null_send(dest, tag)
        process = self._process
        buffers = process.buffers or {}
        attached = buffers.get(self._context) or buffers.get(None)
        if attached is None:
            self._raise(mpi_error(ERR_BUFFER, "no buffer is attached; call MPI.Attach_buffer first."))
        process.universe.note_unexplored("how long a message is in an attached buffer")
        if shortage := attached.shortage(nbytes, process.loop.now):
            self._raise(mpi_error(ERR_BUFFER, shortage))
        envelope = self._post_send(payload, nbytes, dest, tag, eager=True)
        envelope.call_site = new_call_site()
        attached.pending.append(Departure(envelope))
        completion = Completion()
        completion.end = process.loop.now
        return completion


def pending(process: Process, where: object) -> list[Completion]:
    """Return completions for the messages in an attached buffer; none if no buffer is attached."""
    attached = (process.buffers or {}).get(where)
    return [] if attached is None else [send.follow() for send in attached.pending]


def attach(process: Process, where: object, memory: Buffer | None) -> None:
    """Attach memory to a process (`where` is None) or to one of its communicators."""
    if process.buffers is None:
        process.buffers = {}
    if where in process.buffers:
        raise mpi_error(ERR_BUFFER, "a buffer is attached already; detach it first.")
    attached = process.buffers[where] = SendBuffer(memory)
    track("attached-buffer", attached)


def detach(process: Process, where: object) -> Buffer | None:
    """Wait until the buffer is empty, detach it, and return it; as MPI defines, an empty one if no buffer is attached."""
    wait_all(process.loop, pending(process, where))
    attached: SendBuffer | None = (process.buffers or {}).pop(where, None)
    if attached is None:
        return buffer()
    untrack("attached-buffer", attached)
    return attached.memory


def Attach_buffer(buf: Buffer | None) -> None:
    """Attach memory for the buffered sends of this rank."""
    attach(running_process(), None, buf)


def Detach_buffer() -> Buffer | None:
    """Wait until all messages in this rank's buffer have been sent, and return the memory."""
    return detach(running_process(), None)


def Flush_buffer() -> None:
    """Wait until all messages in this rank's buffer have been sent."""
    process = running_process()
    wait_all(process.loop, pending(process, None))


def Iflush_buffer() -> Request:
    """Start to wait until all messages in this rank's buffer have been sent."""
    process = running_process()
    return Request._of(process.comm_world, AllOf(pending(process, None)))
