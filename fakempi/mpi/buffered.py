"""Buffered sends: memory that the program attaches, per rank or per communicator, and what is in it."""

from __future__ import annotations

from typing import Any

from fakempi.error_classes import ERR_BUFFER
from fakempi.mpi.comm_state import CommState
from fakempi.mpi.complain import complaint
from fakempi.mpi.constants import BSEND_OVERHEAD
from fakempi.mpi.current import running_process
from fakempi.mpi.memory import BUFFER_AUTOMATIC
from fakempi.mpi.request import Request
from fakempi.mpi.waiting import AllOf, Completion, wait_all


class SendBuffer:
    """Attached memory. Nothing is kept in it here, but it fills and empties as a real one would."""

    __slots__ = ("memory", "nbytes", "pending")

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.nbytes = None if memory is BUFFER_AUTOMATIC or memory is None else memoryview(memory).nbytes
        self.pending: list[Any] = []  # envelopes that have not left it yet

    def reserve(self, nbytes: int, now: Any) -> None:
        """Make sure that a message fits beside those that are still under way."""
        self.pending = [envelope for envelope in self.pending if envelope.end is None or envelope.end > now]
        if self.nbytes is None:
            return
        used = sum(envelope.nbytes + BSEND_OVERHEAD for envelope in self.pending)
        if used + nbytes + BSEND_OVERHEAD > self.nbytes:
            raise complaint(
                ERR_BUFFER,
                f"the attached buffer of {self.nbytes} bytes is too small: {used} bytes are in use and the message "
                f"needs {nbytes} + {BSEND_OVERHEAD} (BSEND_OVERHEAD).",
            )


class Buffered(CommState):
    """Bsend's half of a communicator."""

    __slots__ = ()

    def Attach_buffer(self, buf: Any) -> None:
        """Attach memory for this communicator's buffered sends."""
        self._check_alive()
        _attach(self._process, self._context, buf)

    def Detach_buffer(self) -> Any:
        """Wait until what is in the buffer has been sent, and return the memory."""
        self._check_alive()
        return _detach(self._process, self._context)

    def Flush_buffer(self) -> None:
        """Wait until what is in the buffer has been sent."""
        self._check_alive()
        wait_all(self._loop, _attached(self._process, self._context).pending)

    def Iflush_buffer(self) -> Request:
        """Start to wait until what is in the buffer has been sent."""
        self._check_alive()
        return Request._of(self, AllOf(_attached(self._process, self._context).pending))

    def _post_buffered(self, content: Any, nbytes: int, dest: int, tag: int) -> Completion:
        """Send what has been copied: for the sender it is over at once."""
        self._check_alive()
        process = self._process
        buffers = process.buffers or {}
        buffer = buffers.get(self._context) or buffers.get(None)
        if buffer is None:
            self._raise(complaint(ERR_BUFFER, "no buffer is attached; call MPI.Attach_buffer first."))
        buffer.reserve(nbytes, process.loop.now)
        buffer.pending.append(self._post(content, nbytes, dest, tag, eager=True))
        over = Completion()
        over.end = process.loop.now
        return over


def _attached(process: Any, where: Any) -> SendBuffer:
    buffer = (process.buffers or {}).get(where)
    if buffer is None:
        raise complaint(ERR_BUFFER, "no buffer is attached.")
    return buffer  # type: ignore[no-any-return]


def _attach(process: Any, where: Any, memory: Any) -> None:
    """Attach memory to a process (`where` is None) or to one of its communicators."""
    if process.buffers is None:
        process.buffers = {}
    if where in process.buffers:
        raise complaint(ERR_BUFFER, "a buffer is attached already; detach it first.")
    process.buffers[where] = SendBuffer(memory)


def _detach(process: Any, where: Any) -> Any:
    """Wait until the buffer is empty, and give it back."""
    buffer = _attached(process, where)
    wait_all(process.loop, buffer.pending)
    del process.buffers[where]
    return buffer.memory


def Attach_buffer(buf: Any) -> None:
    """Attach memory for the buffered sends of this rank."""
    _attach(running_process(), None, buf)


def Detach_buffer() -> Any:
    """Wait until what is in this rank's buffer has been sent, and return the memory."""
    return _detach(running_process(), None)


def Flush_buffer() -> None:
    """Wait until what is in this rank's buffer has been sent."""
    process = running_process()
    wait_all(process.loop, _attached(process, None).pending)


def Iflush_buffer() -> Request:
    """Start to wait until what is in this rank's buffer has been sent."""
    process = running_process()
    return Request._of(process.comm_world, AllOf(_attached(process, None).pending))
