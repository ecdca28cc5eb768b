"""Probes, and messages that a matched probe has removed from the mailbox."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Literal

from fakempi.core.network.envelope import Envelope, new_receive
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_COMM, ERR_REQUEST
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.mpi_errors import integers, mpi_error
from fakempi.mpi.base.region import wait_region
from fakempi.mpi.base.resource_tracker import track, untrack
from fakempi.mpi.base.status import Status, check_status
from fakempi.mpi.base.waiting import wait_one
from fakempi.mpi.buffers.payload import describe_target
from fakempi.mpi.buffers.span import Payload
from fakempi.mpi.buffers.typing import BufSpec
from fakempi.mpi.point.arrival import truncation_error
from fakempi.mpi.point.handle import NULL_MESSAGE, TAG_LIMIT, CommState, NullOperation
from fakempi.mpi.point.objects import UNLIMITED
from fakempi.mpi.point.owners import RequestOwner
from fakempi.mpi.point.request import Request
from fakempi.mpi.point.request_lists import let_others_run

if TYPE_CHECKING:
    from typing_extensions import Self


class TakenMessage:
    """The envelope of a message that a matched probe has taken; None after the message has been received.

    All handles of a message share this object.
    """

    __slots__ = ("__weakref__", "envelope")

    def __init__(self, envelope: Envelope | None) -> None:
        self.envelope = envelope


NO_PROC = TakenMessage(NULL_MESSAGE)
"""The message from PROC_NULL, which can be received any number of times."""


class Message(Handled["Message"]):
    """A message that Mprobe or Improbe has taken out of the mailbox, so that no other receive can match it."""

    __slots__ = ("__weakref__", "_comm", "_taken")

    _comm: RequestOwner | None
    _taken: TakenMessage | None

    def __new__(cls, message: Message | None = None) -> Self:
        if message is not None and not isinstance(message, Message):
            raise mpi_error(ERR_REQUEST, f"cannot create a {cls.__name__} from {message!r}.", MPITypeError)
        self = super().__new__(cls)
        self._comm = None if message is None else message._comm
        self._taken = None if message is None else message._taken
        return self

    @classmethod
    def _of(cls, comm: RequestOwner | None, envelope: Envelope) -> Self:
        self = cls()
        self._comm = comm
        self._taken = NO_PROC if envelope is NULL_MESSAGE else TakenMessage(envelope)
        if envelope is not NULL_MESSAGE:
            track("message-lost", self._taken, "it takes a message out of the mailbox and never receives it")
        return self

    def _mpi_object(self) -> object | None:
        return None if self._taken is None or self._taken.envelope is None else self._taken

    @property
    def _shared(self) -> bool:
        return self._taken is NO_PROC

    def __reduce__(self) -> str | tuple[Any, ...]:
        for name, message in (("MESSAGE_NULL", MESSAGE_NULL), ("MESSAGE_NO_PROC", MESSAGE_NO_PROC)):
            if self is message:
                return name
            if self == message:
                return type(self), (message,)
        raise mpi_error(ERR_REQUEST, "a Message cannot be pickled: it is only valid in this process.", MPIValueError)

    def free(self) -> None:
        """Make a copy of MESSAGE_NO_PROC null. Do nothing for other messages, which become null when they are received."""
        if self._taken is NO_PROC and self is not MESSAGE_NO_PROC:
            self._taken = None

    @classmethod
    def Probe(cls, comm: Probes, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Self:
        """Wait for a message, and take it out of the mailbox."""
        _check_comm(comm)
        return cls._of(comm, comm._probe(source, tag, status, take=True))

    @classmethod
    def Iprobe(cls, comm: Probes, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Self | None:
        """Take a message out of the mailbox if one has arrived."""
        _check_comm(comm)
        envelope = comm._probe_now(source, tag, status, take=True)
        return None if envelope is None else cls._of(comm, envelope)

    @classmethod
    def probe(cls, comm: Probes, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Self:
        """Wait for a message with an object, and take it out of the mailbox."""
        return cls.Probe(comm, source, tag, status)

    @classmethod
    def iprobe(cls, comm: Probes, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Self | None:
        """Take a message with an object out of the mailbox if one has arrived."""
        return cls.Iprobe(comm, source, tag, status)

    def Recv(self, buf: BufSpec, status: Status | None = None) -> None:
        """Receive the message into a buffer."""
        self.Irecv(buf).Wait(status)

    def Irecv(self, buf: BufSpec) -> Request:
        """Start to receive the message into a buffer. For a message from PROC_NULL the buffer is ignored."""
        target, capacity = (None, 0) if self._taken is NO_PROC else describe_target(buf)
        return self._receive(target, capacity, buf, is_object=False)

    def recv(self, status: Status | None = None) -> Any:
        """Receive the object."""
        return self.irecv().wait(status)

    def irecv(self) -> Request:
        """Start to receive the object."""
        return self._receive(None, UNLIMITED, None, is_object=True)

    def _receive(self, target: Payload | None, capacity: int, buf: object, is_object: bool) -> Request:
        taken = self._taken
        if taken is None or taken.envelope is None:
            raise mpi_error(ERR_REQUEST, "the message is null: it has already been received.")
        if taken is NO_PROC:
            process = running_process()
            if self is not MESSAGE_NO_PROC:
                self._taken = None
            return Request._of(process.comm_world, NullOperation(process.loop.now))
        envelope, taken.envelope = taken.envelope, None
        untrack("message-lost", taken)
        receive = new_receive(envelope.source, envelope.tag, envelope.box, target, capacity)
        process = running_process()
        if process.loop.wait_tracker is not None:
            receive.needs = process.loop.wait_tracker.current_step()
        process.network.match_waiting(envelope, receive)
        assert self._comm is not None
        return Request._of(self._comm, receive, buf, is_object)


MESSAGE_NULL = Message()
MESSAGE_NO_PROC = Message._of(None, NULL_MESSAGE)


class Probes(CommState):
    """Probe and similar calls, for messages that contain buffers and for messages that contain pickled objects."""

    __slots__ = ()

    def Probe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Literal[True]:
        """Wait until a matching message has arrived."""
        self._probe(source, tag, status, take=False)
        return True

    def Iprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> bool:
        """Return whether a matching message has arrived. If none has, let other ranks run, and check again."""
        return self._probe_now(source, tag, status, take=False) is not None

    def Mprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Message:
        """Wait for a message, and take it out of the mailbox."""
        return Message.Probe(self, source, tag, status)

    def Improbe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Message | None:
        """Take a message out of the mailbox if one has arrived."""
        return Message.Iprobe(self, source, tag, status)

    # Separate functions, not aliases, so that traces and reports name the call that the program has made.

    def probe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Literal[True]:
        """Wait until a matching message with an object has arrived."""
        return self.Probe(source, tag, status)

    def iprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> bool:
        """Return whether a matching message with an object has arrived. If none has, let other ranks run; check again."""
        return self.Iprobe(source, tag, status)

    def mprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Message:
        """Wait for a message with an object, and take it out of the mailbox."""
        return self.Mprobe(source, tag, status)

    def improbe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Message | None:
        """Take a message with an object out of the mailbox if one has arrived."""
        return self.Improbe(source, tag, status)

    def _probe(self, source: int, tag: int, status: Status | None, take: bool) -> Envelope:
        """Wait until a matching message has arrived completely, and return it."""
        self._check_alive()
        self._check_caller()
        loop = self._loop
        if self._process.universe.choices is not None:
            return self._fill_and_take(self._chosen_message(source, tag, status, take, polls=False), status, take)  # type: ignore[arg-type]  # with polls=False there is a message
        while True:
            envelope = self._find(source, tag)
            if envelope is None:
                probe = new_receive(source, tag, self._mailbox(), None, 0)
                self._check_peer(source)
                probe.box.probes = [*(probe.box.probes or ()), probe]
                with wait_region(self._process, "probe"):
                    wait_one(loop, probe)
                if probe.envelope is not None:
                    self._raise(truncation_error(probe))
            elif envelope.arrived is None or envelope.arrived <= loop.now:
                if loop.wait_tracker is not None and envelope is not NULL_MESSAGE:
                    loop.wait_tracker.probed(new_receive(source, tag, envelope.box, None, 0), envelope)
                return self._fill_and_take(envelope, status, take)
            else:  # another thread of this rank may take the message meanwhile
                loop.sleep_until(envelope.arrived)

    def _probe_now(self, source: int, tag: int, status: Status | None, take: bool) -> Envelope | None:
        """Return a matching message that has arrived; None if there is none, even after other ranks have run."""
        self._check_alive()
        self._check_caller()
        if self._process.universe.choices is not None:
            chosen = self._chosen_message(source, tag, status, take, polls=True)
            return None if chosen is None else self._fill_and_take(chosen, status, take)
        envelope = self._find(source, tag)
        if not self._has_arrived(envelope):
            probe = new_receive(source, tag, self._mailbox(), None, 0)
            self._check_peer(source)
            let_others_run(self._loop, probe, None if envelope is None else envelope.arrived)
            envelope = self._find(source, tag)
        return self._fill_and_take(envelope, status, take) if envelope is not None and self._has_arrived(envelope) else None

    def _chosen_message(self, source: int, tag: int, status: Status | None, take: bool, polls: bool) -> Envelope | None:
        """Return the message that the model checker chooses; None if it chooses "not yet", which requires `polls`."""
        if self._is_proc_null(source, tag):
            return NULL_MESSAGE
        probe = new_receive(source, tag, self._mailbox(), None, 0)
        choices = self._process.universe.choices
        assert choices is not None
        return choices.probe(probe, polls, take, status is not None)

    def _check_peer(self, source: int) -> None:
        """Raise an error if the source has failed, or if the communicator was revoked."""
        fault_state = self._context.fault_state
        if fault_state is not None:
            peer = None if source == ANY_SOURCE else self._peer_side.members[source]
            try:
                fault_state.check(self._process.number, peer)
            except MPIError as error:
                self._raise(error)

    def _has_arrived(self, envelope: Envelope | None) -> bool:
        """Return whether there is a message and it has arrived completely."""
        return envelope is not None and (envelope.arrived is None or envelope.arrived <= self._loop.now)

    def _find(self, source: int, tag: int) -> Envelope | None:
        return NULL_MESSAGE if self._is_proc_null(source, tag) else self._mailbox().find(source, tag)

    def _is_proc_null(self, source: int, tag: int) -> bool:
        """Whether the source is PROC_NULL; raise an error for a source or a tag that is out of range."""
        try:
            source, tag = index(source), index(tag)
            if (0 <= source < self._n_peers or source == ANY_SOURCE) and -1 <= tag <= TAG_LIMIT:
                return False
        except TypeError:
            integers(source=source, tag=tag)
        self._null_receive(source, tag)
        return True

    def _fill_and_take(self, envelope: Envelope, status: Status | None, take: bool) -> Envelope:
        if status is not None:
            check_status(status)
            status._fill(envelope.source, envelope.tag, envelope.nbytes)
        if take and envelope is not NULL_MESSAGE:
            envelope.box.withdraw(envelope)
        return envelope


def _check_comm(comm: object) -> None:
    """Raise an error if an argument is not a communicator."""
    if not isinstance(comm, Probes):
        raise mpi_error(ERR_COMM, f"comm is {comm!r}, not a communicator.", MPITypeError)
