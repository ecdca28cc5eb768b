"""Buffered sends: memory that the program attaches, per rank or per communicator, and what is in it."""

from __future__ import annotations

from typing import Any

from fakempi.error_classes import ERR_BUFFER
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import BSEND_OVERHEAD
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.base.origin import here
from fakempi.mpi.base.waiting import AllOf, Completion, wait_all
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.places import BUFFER_AUTOMATIC
from fakempi.mpi.buffers.raw import memory_of
from fakempi.mpi.point.handle import TAG_LIMIT, CommState
from fakempi.mpi.point.request import Request


class Departure:
    """A message that leaves a buffer. Any number of flushes may wait for it, where an envelope has one waiter."""

    __slots__ = ("end", "followers", "nbytes")

    def __init__(self, envelope: Any) -> None:
        self.nbytes = envelope.nbytes
        self.end = envelope.end
        self.followers: list[Completion] = []
        if self.end is None:
            envelope.waiter = self

    def settled(self, end: Any) -> None:
        """It will have left then."""
        self.end = end
        for follower in self.followers:
            follower.complete(end)

    def follow(self) -> Completion:
        """Something to wait for, which ends with it."""
        follower = Completion("a buffered send")
        follower.end = self.end
        if self.end is None:
            self.followers.append(follower)
        return follower


class SendBuffer:
    """Attached memory. Nothing is kept in it here, but it fills and empties as a real one would."""

    __slots__ = ("memory", "nbytes", "pending")

    def __init__(self, memory: Any) -> None:
        self.memory = BUFFER_AUTOMATIC if memory is None else memory
        self.nbytes = None if self.memory is BUFFER_AUTOMATIC else memory_of(memory, writable=True)[0].nbytes
        self.pending: list[Departure] = []  # what may not have left it yet

    def shortage(self, nbytes: int, now: Any) -> str:
        """Why a message does not fit beside those that are still under way; empty if it does."""
        self.pending = [each for each in self.pending if each.end is None or each.end > now]
        used = sum(each.nbytes + BSEND_OVERHEAD for each in self.pending)
        if self.nbytes is None or used + nbytes + BSEND_OVERHEAD <= self.nbytes:
            return ""
        return (
            f"the attached buffer of {self.nbytes} bytes is too small: {used} bytes are in use and the message "
            f"needs {nbytes} + {BSEND_OVERHEAD} (BSEND_OVERHEAD)."
        )


class Buffered(CommState):
    """Bsend's half of a communicator."""

    __slots__ = ()

    def Attach_buffer(self, buf: Any) -> None:
        """Attach memory for this communicator's buffered sends."""
        self._check_alive()
        attach(self._process, self._context, buf)

    def Detach_buffer(self) -> Any:
        """Wait until what is in the buffer has been sent, and return the memory."""
        self._check_alive()
        return detach(self._process, self._context)

    def Flush_buffer(self) -> None:
        """Wait until what is in the buffer has been sent."""
        self._check_alive()
        wait_all(self._loop, pending(self._process, self._context))

    def Iflush_buffer(self) -> Request:
        """Start to wait until what is in the buffer has been sent."""
        self._check_alive()
        return Request._of(self, AllOf(pending(self._process, self._context)))

    def _post_buffered(self, content: Any, nbytes: int, dest: int, tag: int) -> Any:
        """Send what has been copied: for the sender it is over at once."""
        if not 0 <= dest < self._reach or not 0 <= tag <= TAG_LIMIT:
            return self._post_nowhere(dest, tag)
        process = self._process
        buffers = process.buffers or {}
        attached = buffers.get(self._context) or buffers.get(None)
        if attached is None:
            self._raise(complaint(ERR_BUFFER, "no buffer is attached; call MPI.Attach_buffer first."))
        process.universe.leaves_open("how long a message is in an attached buffer")
        if shortage := attached.shortage(nbytes, process.loop.now):
            self._raise(complaint(ERR_BUFFER, shortage))
        envelope = self._post(content, nbytes, dest, tag, eager=True)
        envelope.origin = here()
        attached.pending.append(Departure(envelope))
        over = Completion()
        over.end = process.loop.now
        return over


def pending(process: Any, where: Any) -> list[Completion]:
    """What is still in an attached buffer; where none is attached, MPI says that one of no bytes is."""
    attached = (process.buffers or {}).get(where)
    return [] if attached is None else [each.follow() for each in attached.pending]


def attach(process: Any, where: Any, memory: Any) -> None:
    """Attach memory to a process (`where` is None) or to one of its communicators."""
    if process.buffers is None:
        process.buffers = {}
    if where in process.buffers:
        raise complaint(ERR_BUFFER, "a buffer is attached already; detach it first.")
    attached = process.buffers[where] = SendBuffer(memory)
    owes("attached-buffer", attached)


def detach(process: Any, where: Any) -> Any:
    """Wait until the buffer is empty, and give it back."""
    wait_all(process.loop, pending(process, where))
    found = (process.buffers or {}).pop(where, None)
    if found is None:
        return buffer()
    done("attached-buffer", found)
    return found.memory


def Attach_buffer(buf: Any) -> None:
    """Attach memory for the buffered sends of this rank."""
    attach(running_process(), None, buf)


def Detach_buffer() -> Any:
    """Wait until what is in this rank's buffer has been sent, and return the memory."""
    return detach(running_process(), None)


def Flush_buffer() -> None:
    """Wait until what is in this rank's buffer has been sent."""
    process = running_process()
    wait_all(process.loop, pending(process, None))


def Iflush_buffer() -> Request:
    """Start to wait until what is in this rank's buffer has been sent."""
    process = running_process()
    return Request._of(process.comm_world, AllOf(pending(process, None)))
