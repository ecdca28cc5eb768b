"""The state of a communicator handle, and the two operations on the network: post a send, post a receive.

A handle belongs to one rank and is small. The state that all ranks share is in its context.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from types import FrameType
from typing import TYPE_CHECKING, Any, SupportsIndex

from fakempi.core.kernel.agenda import Time
from fakempi.core.kernel.loop import Ended, Loop
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.envelope import Envelope, PostedReceive, new_envelope, new_receive
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.ports import Port
from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_COMM, ERR_OTHER, ERR_RANK, ERR_TAG
from fakempi.errors.plurals import counted
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from fakempi.mpi.base.context import Context, Side
from fakempi.mpi.base.current import OUTSIDE_THREAD, os_thread
from fakempi.mpi.base.environment import compute
from fakempi.mpi.base.errhandler_calls import HandlesErrors
from fakempi.mpi.base.mpi_errors import integer, integers, mpi_error, range_error
from fakempi.mpi.base.process import Process
from fakempi.mpi.base.resource_tracker import report_after_finalize
from fakempi.mpi.base.status import Status, check_status
from fakempi.mpi.base.waiting import wait_one, wait_two
from fakempi.mpi.buffers.payload import MessagePayload
from fakempi.mpi.buffers.span import Payload
from fakempi.mpi.interfaces.operations import Waiter
from fakempi.mpi.interfaces.records import CallSite, CallSites
from fakempi.mpi.interfaces.services import ChoicePoints, RequestChecks
from fakempi.mpi.point.arrival import complete_send, truncation_error
from fakempi.mpi.point.races import check_previous_wildcard, check_wildcard
from fakempi.mpi.point.rank_numbers import check_number

if TYPE_CHECKING:
    from typing_extensions import Self

TAG_LIMIT = 2**31 - 1
"""The largest tag: the attribute TAG_UB."""


class CommState(HandlesErrors):
    """The state of a communicator handle, shared by Comm and its mixins. A null handle has no peers."""

    __slots__ = (
        "__weakref__", "_box", "_boxes", "_call_sites", "_checks_buffers", "_choices", "_collective_handles", "_context",
        "_eager_limit", "_loop", "_n_peers", "_network", "_out_port", "_peer_side", "_process", "_rank", "_request_checks",
        "_side",
    )  # fmt: skip

    _context: Context  # this and the next ones are None in a null handle, which `_check_alive` rejects
    _side: Side
    _peer_side: Side
    _process: Process
    _loop: Loop  # this and the next two are the process's, copied for speed
    _network: Delivery
    _out_port: Port
    _request_checks: RequestChecks | None  # of the buffers that requests use; None if the run does not check them

    def _become_null(self) -> None:
        self._context = self._side = self._peer_side = None  # type: ignore[assignment]  # None only in a null handle, which _check_alive reports
        self._box: Mailbox | None = None  # this rank's mailbox, after its first use
        self._boxes: Sequence[Mailbox | None] = ()  # mailboxes of the ranks that this one can send to
        self._n_peers = 0  # the number of these ranks
        self._rank = -1
        self._request_checks = None
        self._process = self._loop = self._network = self._out_port = None  # type: ignore[assignment]  # None only in a null handle, which _check_alive reports
        self._eager_limit = 0
        self._choices: ChoicePoints | None = None  # decides whether standard sends above that limit are buffered
        self._checks_buffers = False
        self._collective_handles: tuple[Any, ...] | None = None  # handles on the collective contexts, after their first use
        self._call_sites: CallSites | None = None  # of requests; None on a collective context

    def _attach(self, process: Process, side: Side, peer_side: Side, rank: int) -> None:
        """Become the handle of a process that is `rank` on this side and sends to the other (or the same) side."""
        self._become_null()
        self._context = side.context
        self._side, self._peer_side = side, peer_side
        self._boxes = peer_side.boxes
        self._n_peers = len(peer_side.boxes)
        self._rank = rank
        self._process = process
        self._loop, self._network, self._out_port = process.loop, process.network, process.out
        self._checks_buffers = process.buffer_checks is not None
        if side.original is None:
            self._eager_limit = process.eager_limit
            self._choices = process.universe.choices
            self._call_sites = process.call_sites
            self._request_checks = process.request_checks
        else:
            self._eager_limit = process.inner_limit

    @classmethod
    def _make(cls, process: Process, side: Side, peer_side: Side, rank: int) -> Self:
        """Return a handle for a process that is `rank` on a side."""
        raise NotImplementedError

    def _compute(self, seconds: float) -> None:
        """Advance the rank's clock; called by steps that compute (`collectives.schedules.running.executor`)."""
        compute(seconds)

    # -- post and wait --------------------------------------------------------------------------------------------

    def _post_send(
        self, payload: MessagePayload | None, nbytes: int, dest: int, tag: int, eager: bool | None = None, call: int = 0
    ) -> Envelope:
        """Post a send. Returns its envelope, or for PROC_NULL an operation that has completed.

        By default the size determines whether it is eager. A call that also receives passes `call` of its receive, so that
        the trace looks up the call once.
        """
        try:
            if type(dest) is not int or type(tag) is not int:
                dest, tag = index(dest), index(tag)
            if not (0 <= dest < self._n_peers and 0 <= tag <= TAG_LIMIT):
                return self._null_send(dest, tag)
            box = self._boxes[dest]
        except TypeError:
            dest, tag = integers(dest=dest, tag=tag)
            return self._post_send(payload, nbytes, dest, tag, eager, call)
        running = self._loop.running
        if running is None or running.acts_for is not self._process:
            self._check_running_rank()
        if box is None:
            box = self._peer_side.box(dest)
        if eager is None:
            eager = nbytes <= self._eager_limit or (self._choices is not None and self._choices.is_eager(nbytes))
        envelope = new_envelope(self._out_port, self._rank, tag, nbytes, box, payload, eager, call)
        self._network.send(envelope)
        return envelope

    def _post_receive(self, target: Payload | None, capacity: int, source: int, tag: int) -> PostedReceive:
        """Post a receive. Returns its receive, or for PROC_NULL an operation that has completed."""
        try:
            if type(source) is not int or type(tag) is not int:
                source, tag = index(source), index(tag)
            if not (0 <= source < self._n_peers and -1 <= tag <= TAG_LIMIT):
                return self._post_wildcard_receive(target, capacity, source, tag)
        except TypeError:
            source, tag = integers(source=source, tag=tag)
            return self._post_receive(target, capacity, source, tag)
        running = self._loop.running
        if running is None or running.acts_for is not self._process:
            self._check_running_rank()
        receive = new_receive(source, tag, self._box or self._mailbox(), target, capacity)
        self._network.post_receive(receive)
        return receive

    def _post_wildcard_receive(self, target: Payload | None, capacity: int, source: int, tag: int) -> PostedReceive:
        """Post a receive from ANY_SOURCE or PROC_NULL; raise an error for any other source."""
        if source != ANY_SOURCE or not self._n_peers or not -1 <= tag <= TAG_LIMIT:
            return self._null_receive(source, tag)
        self._check_caller()
        box = self._mailbox()
        check_previous_wildcard(self._process, box)
        receive = new_receive(source, tag, box, target, capacity)
        self._network.post_receive(receive)
        check_wildcard(self._process, receive)
        return receive

    def _mailbox(self) -> Mailbox:
        if self._box is None:
            self._box = self._side.box(self._rank)
        return self._box

    def _wait_received(self, receive: PostedReceive, status: Status | None) -> None:
        """Wait for a receive, fill the status, and raise its error if there is one."""
        wait_one(self._loop, receive)
        if status is not None:
            fill_status(status, receive)
        if receive.envelope.nbytes > receive.capacity:
            self._raise(truncation_error(receive))

    def _post_or_withdraw(
        self, payload: MessagePayload, nbytes: int, dest: int, tag: int, receive: PostedReceive
    ) -> Envelope:
        """Post the send of a pair whose receive is posted; if that fails, withdraw the receive."""
        try:
            return self._post_send(payload, nbytes, dest, tag, None, receive.call)
        except MPIError:
            self._withdraw(receive)
            raise

    @staticmethod
    def _withdraw(receive: PostedReceive) -> None:
        """Withdraw a receive, unless it is matched."""
        if receive.envelope is None:
            receive.box.withdraw(receive)

    def _wait_both(self, envelope: Envelope, receive: PostedReceive, status: Status | None, caller: FrameType) -> None:
        """Wait for a send and a receive; `caller` is the frame that called the public method."""
        if wait_two(self._loop, envelope, receive):
            complete_send(envelope, self._call_sites, caller)
        self._wait_received(receive, status)

    # -- PROC_NULL, and checks of arguments -------------------------------------------------------------------------

    def _null_send(self, dest: int, tag: int) -> Envelope:
        """Return a completed send to PROC_NULL; raise an error for another dest, or if the tag is invalid."""
        self._check_faults()
        if dest == PROC_NULL and 0 <= tag <= TAG_LIMIT:
            if self._call_sites is not None and self._process.number_checks:
                check_number(self._process, "dest")
            return NullOperation(self._loop.now)  # type: ignore[return-value]  # it has the attributes that callers use
        if dest != PROC_NULL:
            self._check_rank(dest, "dest")
        self._raise(range_error(ERR_TAG, f"tag {tag} is not in 0..{TAG_LIMIT}.", index(tag)))

    def _check_tag(self, tag: SupportsIndex) -> None:
        """Raise an error for a tag that no message can have."""
        if not 0 <= integer("tag", tag, 0) <= TAG_LIMIT:
            self._raise(range_error(ERR_TAG, f"tag {tag} is not in 0..{TAG_LIMIT}.", index(tag)))

    def _null_receive(self, source: int, tag: int) -> PostedReceive:
        """Return a completed receive from PROC_NULL; raise an error for another source, or if the tag is invalid."""
        self._check_faults()
        if source == PROC_NULL and -1 <= tag <= TAG_LIMIT:
            if self._call_sites is not None and self._process.number_checks:
                check_number(self._process, "source")
            return NullOperation(self._loop.now)  # type: ignore[return-value]  # it has the attributes that callers use
        if source not in (PROC_NULL, ANY_SOURCE):
            self._check_rank(source, "source")
        sentence = f"tag {tag} is not ANY_TAG ({ANY_TAG}), and not in 0..{TAG_LIMIT}."
        self._raise(range_error(ERR_TAG, sentence, tag))

    def _check_ready(self, dest: int, tag: int) -> None:
        """In a strict run, raise an error if no receive is posted for a ready-mode send."""
        if self._process is not None and self._process.universe.strict and 0 <= dest < self._n_peers:
            self._process.universe.note_unexplored("whether Rsend finds its receive posted")
            box = self._peer_side.box(dest)
            envelope = new_envelope(self._out_port, self._rank, tag, 0, box, None, True)
            if not any(receive.matches(envelope) for receive in box.receives()):
                self._raise(mpi_error(ERR_OTHER, f"rank {dest} has not posted a receive for tag {tag}."))

    def _check_rank(self, rank: int, parameter: str) -> None:
        """Raise an error unless the value of a parameter is the rank of a peer."""
        if not 0 <= rank < self._n_peers:
            peers = "the remote group" if self._is_inter else "the communicator"
            number = counted(self._n_peers, "rank")
            sentence = f"{parameter} {rank} is not in 0..{self._n_peers - 1}: {peers} has {number}."
            self._raise(range_error(ERR_RANK, sentence, rank))

    @property
    def _is_inter(self) -> bool:
        """Whether the communicator is an intercommunicator."""
        return self._peer_side is not self._side

    def _local(self) -> Side:
        """Return this rank's side; raise an error on a null handle."""
        self._check_alive()
        assert self._side is not None
        return self._side

    def _collective_comms(self) -> tuple[Any, ...]:
        """Return handles on the collective contexts, for messages of algorithms."""
        raise NotImplementedError

    def _check_caller(self) -> None:
        """Raise an error unless the caller is the handle's rank."""
        running = self._loop.running
        if running is None or running.acts_for is not self._process:
            self._check_running_rank()

    def _check_running_rank(self) -> None:
        """Raise an error unless the caller is the handle's rank: ranks share module globals, unlike processes of an MPI.

        For the handle's own rank, this is called after Finalize, which is reported, or if the loop checks its callers.
        """
        running = self._loop.running
        if running is not None:
            self._loop.check_caller(running)
            if running.owner is self._process:
                return report_after_finalize(self._process) if self._process.finalized else None
        else:
            if self._loop.ending and os_thread.loop is self._loop:  # a thread of the run that was abandoned and continues
                raise Ended
            ended = "the communicator belongs to a run that has ended."
            raise mpi_error(ERR_COMM, ended if self._loop.ending else OUTSIDE_THREAD)
        advice = "store it in a local variable, not in a global one."
        raise mpi_error(ERR_COMM, f"the communicator belongs to {self._process.name}: {advice}")

    def _check_alive(self) -> None:
        """Raise an error if the communicator is null or freed, or if a rank of a run uses the singleton's."""
        context = self._context
        if context is None:
            raise mpi_error(ERR_COMM, "the communicator is null: it was freed, or this rank is not in it.")
        if context.universe.is_singleton:
            self._loop.running  # noqa: B018  the property checks the caller
        elif self._process.finalized:
            report_after_finalize(self._process)

    def _check_faults(self, collective: bool = False) -> None:
        """Raise an error if the communicator is null or revoked, or if a rank has failed and the call is collective."""
        self._check_alive()
        if self._context.fault_state is not None:
            try:
                self._context.fault_state.check(self._process.number, -1, collective)
            except MPIError as error:
                self._raise(error)


NULL_MESSAGE = new_envelope(None, PROC_NULL, ANY_TAG, 0, None, (None,), True)
"""The message that is received from PROC_NULL."""


class NullOperation:
    """A send to PROC_NULL or a receive from it: complete from the start."""

    __slots__ = ("call_site", "capacity", "eager", "end", "envelope", "observed", "payload", "waiter")

    call = 0  # not in the trace

    call_site: CallSite
    observed: bool

    def __init__(self, now: Time) -> None:
        self.end: Time | None = now
        self.envelope = NULL_MESSAGE
        self.payload = None
        self.waiter: Waiter | None = None
        self.capacity = 0
        self.eager = False


def fill_status(status: Status, receive: PostedReceive) -> None:
    """Fill a status with source, tag and size of the message that a receive has received."""
    envelope = receive.envelope
    receive.observed = True
    try:
        status._fill(envelope.source, envelope.tag, envelope.nbytes)
    except AttributeError:
        check_status(status)
        raise
