"""Looking for a message before it is received: probes, and messages that a probe has taken."""

from __future__ import annotations

from typing import Any, Literal

from fakempi.error_classes import ERR_REQUEST
from fakempi.mpi.buffers import describe_target
from fakempi.mpi.comm_state import NULL_MESSAGE, CommState
from fakempi.mpi.complain import complaint
from fakempi.mpi.constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from fakempi.mpi.identity import Handled
from fakempi.mpi.point_objects import UNLIMITED
from fakempi.mpi.request import Request
from fakempi.mpi.status import Status
from fakempi.mpi.waiting import wait_one
from fakempi.wire.envelope import Envelope, Pattern


class Message(Handled):
    """A message that Mprobe or Improbe has taken out of the mailbox, for this rank alone to receive."""

    __slots__ = ("_comm", "_envelope", "_no_process")

    _comm: Any
    _envelope: Envelope | None
    _no_process: bool

    def __new__(cls, message: Message | None = None) -> Any:
        self = super().__new__(cls)
        self._comm = message._comm if message is not None else None
        self._envelope = message._envelope if message is not None else None
        self._no_process = message._no_process if message is not None else False
        return self

    @classmethod
    def _of(cls, comm: Any, envelope: Envelope) -> Message:
        self: Message = cls()
        self._comm, self._envelope = comm, envelope
        self._no_process = envelope is NULL_MESSAGE
        return self

    def _stands_for(self) -> object | None:
        return self._envelope

    @classmethod
    def Probe(cls, comm: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Message:
        """Wait for a message and take it."""
        return cls._of(comm, comm._probe(source, tag, status, take=True))

    @classmethod
    def Iprobe(
        cls, comm: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message | None:
        """Take a message if one is there."""
        envelope = comm._probe_now(source, tag, status, take=True)
        return None if envelope is None else cls._of(comm, envelope)

    probe = Probe
    iprobe = Iprobe

    def Recv(self, buf: Any, status: Status | None = None) -> None:
        """Receive it into a buffer."""
        self.Irecv(buf).Wait(status)

    def Irecv(self, buf: Any) -> Request:
        """Start to receive it into a buffer."""
        place, capacity = describe_target(buf)
        return Request._of(self._comm, self._receive(place, capacity), buf)

    def recv(self, status: Status | None = None) -> Any:
        """Receive the object."""
        return self.irecv().wait(status)

    def irecv(self) -> Request:
        """Start to receive the object."""
        return Request._of(self._comm, self._receive(None, UNLIMITED), is_object=True)

    def _receive(self, place: Any, capacity: int) -> Pattern:
        envelope, self._envelope = self._envelope, None
        if envelope is None:
            raise complaint(ERR_REQUEST, "the message is null: it has been received already.")
        if envelope is NULL_MESSAGE:
            return self._comm._await(place, capacity, PROC_NULL, ANY_TAG)  # type: ignore[no-any-return]
        pattern = Pattern(envelope.source, envelope.tag, envelope.box, place, capacity)
        self._comm._process.wire.join(envelope, pattern)
        return pattern


MESSAGE_NULL = Message()
MESSAGE_NO_PROC = Message._of(None, NULL_MESSAGE)


class Probes(CommState):
    """Probe and its kin. Object messages are probed in the same way."""

    __slots__ = ()

    def Probe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Literal[True]:
        """Wait until a message is there to receive."""
        self._probe(source, tag, status, take=False)
        return True

    def Iprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> bool:
        """Whether a message is there; if not, other ranks run before this returns."""
        return self._probe_now(source, tag, status, take=False) is not None

    def Mprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Message:
        """Wait for a message and take it."""
        return Message.Probe(self, source, tag, status)

    def Improbe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Message | None:
        """Take a message if one is there."""
        return Message.Iprobe(self, source, tag, status)

    probe, iprobe, mprobe, improbe = Probe, Iprobe, Mprobe, Improbe

    def _probe(self, source: int, tag: int, status: Status | None, take: bool) -> Envelope:
        """Wait until there is a message that fits, and all of it has arrived."""
        self._check_alive()
        loop = self._loop
        envelope = self._find(source, tag)
        while envelope is None:
            look = Pattern(source, tag, self._mailbox(), None, 0)
            look.box.probes = [*(look.box.probes or ()), look]
            wait_one(loop, look)
            envelope = self._find(source, tag)
        if envelope.arrived is not None and envelope.arrived > loop.now:
            loop.sleep_until(envelope.arrived)
        return self._seen(envelope, status, take)

    def _probe_now(self, source: int, tag: int, status: Status | None, take: bool) -> Envelope | None:
        envelope = self._there_now(source, tag)
        if envelope is None:
            self._loop.poll()
            envelope = self._there_now(source, tag)
        return None if envelope is None else self._seen(envelope, status, take)

    def _there_now(self, source: int, tag: int) -> Envelope | None:
        envelope = self._find(source, tag)
        if envelope is not None and envelope.arrived is not None and envelope.arrived > self._loop.now:
            return None
        return envelope

    def _find(self, source: int, tag: int) -> Envelope | None:
        if (source < 0 and source != ANY_SOURCE) or not self._reach or not tag >= -1 or source >= self._reach:
            self._await_nothing(source, tag)
            return NULL_MESSAGE
        return self._mailbox().find(source, tag)

    def _seen(self, envelope: Envelope, status: Status | None, take: bool) -> Envelope:
        if status is not None:
            status._fill(envelope.source, envelope.tag, envelope.nbytes)
        if take and envelope is not NULL_MESSAGE:
            envelope.box.withdraw(envelope)
        return envelope
