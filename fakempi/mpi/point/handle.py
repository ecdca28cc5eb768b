"""What every communicator handle is made of, and the two things it does with the wire: post a message, await one.

A handle belongs to one rank and is small; what all ranks share is in its context.
"""

from __future__ import annotations

from typing import Any

from fakempi.error_classes import ERR_COMM, ERR_OTHER, ERR_RANK, ERR_TAG
from fakempi.errors import MPIError
from fakempi.kernel.loop import Ended
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from fakempi.mpi.base.context import Context, Side
from fakempi.mpi.base.current import FOREIGN, here
from fakempi.mpi.base.duties import tell_late
from fakempi.mpi.base.handling import HandlesErrors
from fakempi.mpi.base.origin import Notes
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import wait_one, wait_two
from fakempi.mpi.point.arrival import leave, truncation
from fakempi.mpi.point.races import look_around, look_back
from fakempi.mpi.point.unsafe import look_behind
from fakempi.wire.envelope import new_envelope, new_pattern
from fakempi.wire.matching import Mailbox

TAG_LIMIT = 2**31 - 1
"""The largest tag: the attribute TAG_UB."""

NOWHERE: tuple[None, ...] = ()


class CommState(HandlesErrors):
    """The state of a communicator handle, shared by Comm and its mixins. A null handle reaches nobody."""

    __slots__ = (
        "__weakref__", "_box", "_boxes", "_context", "_eager_limit", "_hidden", "_loop", "_notes", "_out",
        "_process", "_rank", "_reach", "_side", "_there", "_wire",
    )  # fmt: skip

    _context: Context | None
    _side: Side | None
    _there: Side | None
    _process: Any
    _loop: Any  # the process's own, here to be at hand
    _wire: Any
    _out: Any

    def _become_null(self) -> None:
        self._context = self._side = self._there = None
        self._box: Mailbox | None = None  # my own mailbox, once it has been used
        self._boxes: Any = NOWHERE  # mailboxes of those I can send to
        self._reach = 0  # and their number
        self._rank = -1
        self._process = self._loop = self._wire = self._out = None
        self._eager_limit = 0
        self._hidden: Any = None  # the twins for collectives, once there are any
        self._notes: Notes | None = None  # the origins of requests; a twin has none

    def _attach(self, process: Any, side: Side, there: Side, rank: int) -> None:
        """Become the handle of a process that is `rank` on this side and sends to the other (or the same) side."""
        self._become_null()
        self._context = side.context
        self._side, self._there = side, there
        self._boxes = there.boxes
        self._reach = len(there.boxes)
        self._rank = rank
        self._process = process
        self._loop, self._wire, self._out = process.loop, process.wire, process.out
        self._eager_limit = process.eager_limit
        if side.original is None:
            self._notes = process.notes

    # -- what point-to-point calls do -----------------------------------------------------------------------------

    def _post(self, content: Any, nbytes: int, dest: int, tag: int, eager: bool | None = None, call: Any = 0) -> Any:
        """Send: an envelope on its way (or, to PROC_NULL, something that has ended). Eager by size unless told.

        A call that receives as well tells what its pattern's `call` is, which saves whoever watches a second look.
        """
        if not (0 <= dest < self._reach and 0 <= tag <= TAG_LIMIT):
            return self._post_nowhere(dest, tag)
        running = self._loop.running
        if running is None or running.acts_for is not self._process:
            self._complain_of_owner()
        box = self._boxes[dest]
        if box is None:
            box = self._there.box(dest)  # type: ignore[union-attr]
        if eager is None:
            eager = nbytes <= self._eager_limit
        envelope = new_envelope(self._out, self._rank, tag, nbytes, box, content, eager, call)
        self._wire.send(envelope)
        return envelope

    def _await(self, place: Any, capacity: int, source: int, tag: int) -> Any:
        """Receive: a pattern in this rank's mailbox (or, from PROC_NULL, something that has ended)."""
        if not (0 <= source < self._reach and -1 <= tag <= TAG_LIMIT):
            return self._await_unusual(place, capacity, source, tag)
        running = self._loop.running
        if running is None or running.acts_for is not self._process:
            self._complain_of_owner()
        pattern = new_pattern(source, tag, self._box or self._mailbox(), place, capacity)
        self._wire.expect(pattern)
        return pattern

    def _await_unusual(self, place: Any, capacity: int, source: int, tag: int) -> Any:
        """Receive from anybody, or from PROC_NULL; complains of what is neither."""
        if source != ANY_SOURCE or not self._reach or not -1 <= tag <= TAG_LIMIT:
            return self._await_nothing(source, tag)
        self._check_caller()
        box = self._mailbox()
        look_back(self, box)
        pattern = new_pattern(source, tag, box, place, capacity)
        self._wire.expect(pattern)
        look_around(self, pattern)
        return pattern

    def _mailbox(self) -> Mailbox:
        if self._box is None:
            self._box = self._side.box(self._rank)  # type: ignore[union-attr]
        return self._box

    def _wait_sent(self, envelope: Any) -> None:
        """Wait for a blocking send of mine."""
        if self._wire.looks_behind and envelope.eager:
            look_behind(self._process, envelope)
        wait_one(self._loop, envelope)
        if envelope.content is not None:
            leave(envelope, self._notes, 3)

    def _wait_received(self, pattern: Any, status: Status | None) -> None:
        """Wait for a receive of mine, and raise what went wrong with it."""
        wait_one(self._loop, pattern)
        if status is not None:
            fill_status(status, pattern)
        if pattern.envelope.nbytes > pattern.capacity:
            self._raise(truncation(pattern))

    def _post_or_withdraw(self, content: Any, nbytes: int, dest: int, tag: int, pattern: Any) -> Any:
        """The send of a pair whose receive is posted already: if it cannot be posted, neither shall that be."""
        try:
            return self._post(content, nbytes, dest, tag, None, pattern.call)
        except MPIError:
            self._withdraw(pattern)
            raise

    @staticmethod
    def _withdraw(pattern: Any) -> None:
        """Take a receive back that nothing has come for."""
        if pattern.envelope is None:
            pattern.box.withdraw(pattern)

    def _wait_both(self, envelope: Any, pattern: Any, status: Status | None) -> None:
        """Wait for a send and a receive of mine."""
        wait_two(self._loop, envelope, pattern)
        if envelope.content is not None:
            leave(envelope, self._notes, 3)
        self._wait_received(pattern, status)

    # -- where it does not fit ------------------------------------------------------------------------------------

    def _post_nowhere(self, dest: int, tag: int) -> Any:
        self._check_trouble()
        if dest == PROC_NULL and 0 <= tag <= TAG_LIMIT:
            return NullOperation(self._loop.now)
        if dest != PROC_NULL:
            self._check_rank(dest, "dest")
        self._raise(complaint(ERR_TAG, f"tag {tag} is not in 0..{TAG_LIMIT}."))

    def _await_nothing(self, source: int, tag: int) -> Any:
        self._check_trouble()
        if source == PROC_NULL and -1 <= tag <= TAG_LIMIT:
            return NullOperation(self._loop.now)
        if source not in (PROC_NULL, ANY_SOURCE):
            self._check_rank(source, "source")
        self._raise(complaint(ERR_TAG, f"tag {tag} is neither ANY_TAG ({ANY_TAG}) nor in 0..{TAG_LIMIT}."))

    def _check_ready(self, dest: int, tag: int) -> None:
        """In a strict run, complain if a ready-mode send finds no receive posted."""
        if self._process is not None and self._process.universe.strict and 0 <= dest < self._reach:
            self._process.universe.leaves_open("whether Rsend finds its receive posted")
            box = self._there.box(dest)  # type: ignore[union-attr]
            envelope = new_envelope(self._out, self._rank, tag, 0, box, None, True)
            if not any(pattern.fits(envelope) for pattern in box.patterns()):
                self._raise(complaint(ERR_OTHER, f"rank {dest} has not posted a receive for tag {tag}."))

    def _check_rank(self, rank: int, what: str) -> None:
        """Complain unless it is the rank of somebody I can reach."""
        if not 0 <= rank < self._reach:
            whose = "the remote group" if self._between else "the communicator"
            clash = f"{what} {rank} is not in 0..{self._reach - 1}: {whose} has {self._reach} ranks."
            self._raise(complaint(ERR_RANK, clash))

    @property
    def _pins(self) -> Any:
        """Memory of this rank's that is in use, if that is watched."""
        return self._process.pins

    @property
    def _between(self) -> bool:
        """Whether it is between two groups: others than its own are those that a rank sends to."""
        return self._there is not self._side

    def _local(self) -> Side:
        """This rank's own side; complains if there is none."""
        self._check_alive()
        assert self._side is not None
        return self._side

    def _twins(self) -> tuple[Any, ...]:
        """Hidden communicators of the same ranks, for our own messages."""
        raise NotImplementedError

    def _check_caller(self) -> None:
        """Complain unless it is the handle's own rank that calls."""
        running = self._loop.running
        if running is None or running.acts_for is not self._process:
            self._complain_of_owner()

    def _complain_of_owner(self) -> None:
        """A handle is its own rank's; ranks share module globals here, which they do not on a real MPI.

        Its own rank may call, too, when it has finalized: that is told.
        """
        running = self._loop.running
        if running is not None and running.owner is self._process:
            return tell_late(self._process)
        if running is None:
            if self._loop.ending and here.loop is self._loop:  # a thread of the run that was left behind, and goes on
                raise Ended
            over = "the communicator belongs to a run that is over."
            raise complaint(ERR_COMM, over if self._loop.ending else FOREIGN)
        words = "was it kept in a global, which all ranks share?"
        raise complaint(ERR_COMM, f"the communicator belongs to {self._process.name}: {words}")

    def _check_alive(self) -> None:
        """Complain if this is the null communicator, or was freed, or if it is of the world of one and a rank asks."""
        context = self._context
        if context is None:
            raise complaint(ERR_COMM, "the communicator is null: it was freed, or this rank is not in it.")
        if context.universe.alone:
            self._loop.running  # noqa: B018  which looks who asks
        elif self._process.finalized:
            tell_late(self._process)

    def _check_trouble(self, together: bool = False) -> None:
        """Complain if it is null; or if it was revoked, or all are to do something together of whom some have died."""
        self._check_alive()
        if self._context.trouble is not None:  # type: ignore[union-attr]
            try:
                self._context.trouble.check(self._process.number, -1, together)  # type: ignore[union-attr]
            except MPIError as error:
                self._raise(error)


NULL_MESSAGE = new_envelope(None, PROC_NULL, ANY_TAG, 0, None, (None,), True)
"""What is received from PROC_NULL."""


class NullOperation:
    """A message to or from PROC_NULL: over before it began."""

    __slots__ = ("capacity", "content", "eager", "end", "envelope", "origin", "told", "waiter")

    call = 0  # nobody watches it

    def __init__(self, now: Any) -> None:
        self.end = now
        self.envelope = NULL_MESSAGE
        self.content = self.waiter = None
        self.capacity = 0
        self.eager = False


def fill_status(status: Status, pattern: Any) -> None:
    """Tell a status what a receive got."""
    envelope = pattern.envelope
    pattern.told = True
    status._fill(envelope.source, envelope.tag, envelope.nbytes)
