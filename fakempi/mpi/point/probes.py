"""Looking for a message before it is received: probes, and messages that a probe has taken."""

from __future__ import annotations

from typing import Any, Literal

from fakempi.error_classes import ERR_REQUEST
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import wait_one
from fakempi.mpi.buffers.payload import describe_target
from fakempi.mpi.point.arrival import truncation
from fakempi.mpi.point.handle import NULL_MESSAGE, TAG_LIMIT, CommState, NullOperation
from fakempi.mpi.point.many import let_others_run
from fakempi.mpi.point.objects import UNLIMITED
from fakempi.mpi.point.request import Request
from fakempi.wire.envelope import Envelope, new_pattern


class Matched:
    """What a probe has taken out of a mailbox; None once it has been received."""

    __slots__ = ("__weakref__", "envelope")

    def __init__(self, envelope: Envelope | None) -> None:
        self.envelope = envelope


NOBODY = Matched(NULL_MESSAGE)
"""What there is to receive from PROC_NULL, as often as one likes."""


class Message(Handled):
    """A message that Mprobe or Improbe has taken out of the mailbox, for this rank alone to receive."""

    __slots__ = ("__weakref__", "_comm", "_matched")

    _comm: Any
    _matched: Matched | None

    def __new__(cls, message: Message | None = None) -> Any:
        if message is not None and not isinstance(message, Message):
            raise complaint(ERR_REQUEST, f"cannot make a {cls.__name__} of {message!r}.", MPITypeError)
        self = super().__new__(cls)
        self._comm = None if message is None else message._comm
        self._matched = None if message is None else message._matched
        return self

    @classmethod
    def _of(cls, comm: Any, envelope: Envelope) -> Message:
        self: Message = cls()
        self._comm = comm
        self._matched = NOBODY if envelope is NULL_MESSAGE else Matched(envelope)
        if envelope is not NULL_MESSAGE:
            owes("message-lost", self._matched, "it has taken a message out of the mailbox which it never received")
        return self

    def _stands_for(self) -> object | None:
        return None if self._matched is None or self._matched.envelope is None else self._matched

    @property
    def _shared(self) -> bool:
        return self._matched is NOBODY

    def __reduce__(self) -> Any:
        for name, message in (("MESSAGE_NULL", MESSAGE_NULL), ("MESSAGE_NO_PROC", MESSAGE_NO_PROC)):
            if self is message:
                return name
            if self == message:
                return type(self), (message,)
        raise complaint(ERR_REQUEST, "a Message cannot be pickled: it means nothing to another process.", MPIValueError)

    def free(self) -> None:
        """Nothing: a message goes when it has been received. A copy of MESSAGE_NO_PROC becomes null."""
        if self._matched is NOBODY and self is not MESSAGE_NO_PROC:
            self._matched = None

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
        """Start to receive it into a buffer; from PROC_NULL comes nothing, whatever the buffer is."""
        place, capacity = (None, 0) if self._matched is NOBODY else describe_target(buf)
        return self._receive(place, capacity, buf, is_object=False)

    def recv(self, status: Status | None = None) -> Any:
        """Receive the object."""
        return self.irecv().wait(status)

    def irecv(self) -> Request:
        """Start to receive the object."""
        return self._receive(None, UNLIMITED, None, is_object=True)

    def _receive(self, place: Any, capacity: int, buf: Any, is_object: bool) -> Request:
        matched = self._matched
        if matched is None or matched.envelope is None:
            raise complaint(ERR_REQUEST, "the message is null: it has been received already.")
        if matched is NOBODY:
            process = running_process()
            if self is not MESSAGE_NO_PROC:
                self._matched = None
            return Request._of(process.comm_world, NullOperation(process.loop.now))
        envelope, matched.envelope = matched.envelope, None
        done("message-lost", matched)
        pattern = new_pattern(envelope.source, envelope.tag, envelope.box, place, capacity)
        running_process().wire.join(envelope, pattern)
        return Request._of(self._comm, pattern, buf, is_object)


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
        self._check_caller()
        loop = self._loop
        if self._process.universe.choices is not None:
            return self._seen(self._chosen_message(source, tag, status, take, polls=False), status, take)  # type: ignore[arg-type]
        envelope = self._find(source, tag)
        while envelope is None:
            look = new_pattern(source, tag, self._mailbox(), None, 0)
            self._check_peer(source)
            look.box.probes = [*(look.box.probes or ()), look]
            wait_one(loop, look)
            if look.envelope is not None:
                self._raise(truncation(look))
            envelope = self._find(source, tag)
        if envelope.arrived is not None and envelope.arrived > loop.now:
            loop.sleep_until(envelope.arrived)
        return self._seen(envelope, status, take)

    def _probe_now(self, source: int, tag: int, status: Status | None, take: bool) -> Envelope | None:
        self._check_alive()
        self._check_caller()
        if self._process.universe.choices is not None:
            found = self._chosen_message(source, tag, status, take, polls=True)
            return None if found is None else self._seen(found, status, take)
        envelope = self._find(source, tag)
        if not self._is_there(envelope):
            look = new_pattern(source, tag, self._mailbox(), None, 0)
            self._check_peer(source)
            let_others_run(self._loop, look, None if envelope is None else envelope.arrived)
            envelope = self._find(source, tag)
        return self._seen(envelope, status, take) if envelope is not None and self._is_there(envelope) else None

    def _chosen_message(self, source: int, tag: int, status: Status | None, take: bool, polls: bool) -> Envelope | None:
        """The message that is chosen to be seen; None if that is none yet."""
        if self._is_nothing(source, tag):
            return NULL_MESSAGE
        look = new_pattern(source, tag, self._mailbox(), None, 0)
        found: Envelope | None = self._process.universe.choices.looked(look, polls, take, status is not None)
        return found

    def _check_peer(self, source: int) -> None:
        """Complain if nothing will come any more from who is known to have died, or if the communicator was revoked."""
        trouble = self._context.trouble  # type: ignore[union-attr]
        if trouble is not None:
            peer = None if source == ANY_SOURCE else self._there.members[source]  # type: ignore[union-attr]
            try:
                trouble.check(self._process.number, peer)
            except MPIError as error:
                self._raise(error)

    def _is_there(self, envelope: Envelope | None) -> bool:
        """Whether there is a message, and all of it."""
        return envelope is not None and (envelope.arrived is None or envelope.arrived <= self._loop.now)

    def _find(self, source: int, tag: int) -> Envelope | None:
        return NULL_MESSAGE if self._is_nothing(source, tag) else self._mailbox().find(source, tag)

    def _is_nothing(self, source: int, tag: int) -> bool:
        """Whether it is PROC_NULL that is looked at; complains of what is nobody."""
        if (source < 0 and source != ANY_SOURCE) or source >= self._reach or not -1 <= tag <= TAG_LIMIT:
            self._await_nothing(source, tag)
            return True
        return False

    def _seen(self, envelope: Envelope, status: Status | None, take: bool) -> Envelope:
        if status is not None:
            status._fill(envelope.source, envelope.tag, envelope.nbytes)
        if take and envelope is not NULL_MESSAGE:
            envelope.box.withdraw(envelope)
        return envelope
