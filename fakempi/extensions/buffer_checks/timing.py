"""When data move in a run that follows a schedule: as early or as late as MPI allows (`LibraryMode.late`).

MPI permits data to arrive in a receive buffer at any time from the match to the completion of the call, and permits a send
buffer to be read at any time until the send completes. The two ends are explored:

early   A nonblocking send copies its buffer at the call. A receive gets its data at the match; after a nonblocking call,
        the other ranks therefore run until none of them can, so that data arrive before the program continues.
late    A receive writes to a copy of its buffer, which holds the pattern of `MemoryRegion.poison` until the call that
        completes the operation. A send buffer is read by that call too, or when the receiver completes the message before.

A run without a schedule has no `DataTiming`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from numpy import ndarray

from fakempi.core.kernel.loop import Loop
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.mpi.buffers.flat import Flat, FlatVector
from fakempi.mpi.buffers.payload import copy_into, snapshot
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.regions import MemoryRegion
from fakempi.mpi.buffers.span import Span
from fakempi.mpi.interfaces.services import ChoicePoints


class EndOfUse(Protocol):
    """An operation that uses memory: functions to call when it ends."""

    at_end: list[Callable[[], object]]


class Match(NamedTuple):
    """A message from a nonblocking send that has been matched: the use of its buffer, its payload, its size."""

    use: EndOfUse
    payload: Any
    nbytes: int


class DataTiming:
    """The timing of one run, and the messages that both a nonblocking send and a nonblocking receive may still change."""

    def __init__(self, choices: ChoicePoints, loop: Loop) -> None:
        self.choices, self.late, self.loop = choices, choices.mode.late, loop
        self.sends: dict[Envelope, EndOfUse] = {}  # only if data move late
        self.receives: dict[PostedReceive, tuple[EndOfUse, Any]] = {}  # with the copy of the buffer
        self.matches: dict[PostedReceive, Match] = {}  # receives that matched when they were posted, before their use began

    def let_data_move(self) -> None:
        """If data move early, let the other tasks run until none of them can."""
        if not self.late:
            self.loop.let_others_run()

    def start_send(self, envelope: Envelope, use: EndOfUse) -> None:
        """Begin a nonblocking send."""
        if type(envelope.payload) not in (ndarray, Span):
            return
        if not self.late:
            envelope.payload = snapshot(envelope.payload)
            return
        self.sends[envelope] = use

        def finish() -> None:
            self.sends.pop(envelope, None)

        use.at_end.append(finish)

    def start_receive(self, receive: PostedReceive, region: MemoryRegion, use: EndOfUse) -> None:
        """Begin a nonblocking receive whose data move late: it writes to a copy of its buffer until it ends."""
        copy = snapshot(region.payload)
        region.poison()
        if receive.envelope is None:
            receive.target = copy
            self.receives[receive] = use, copy
        elif (match := self.matches.pop(receive, None)) is not None:
            _connect(match, use, copy)

        def deliver() -> None:
            self.receives.pop(receive, None)
            copy_into(copy, region.payload, copy.nbytes)
            if receive.envelope is None:  # the request was freed
                receive.target = region.payload

        use.at_end.append(deliver)

    def matched(
        self, proceed: Callable[[Envelope, PostedReceive], None], envelope: Envelope, receive: PostedReceive
    ) -> None:
        """Match a message. If both sides are nonblocking, the data are copied again when the first of them ends."""
        use, payload = self.sends.pop(envelope, None), envelope.payload
        proceed(envelope, receive)
        if use is None or payload is None or envelope.nbytes > receive.capacity:
            return
        match = Match(use, payload, envelope.nbytes)
        late = self.receives.get(receive)
        if late is not None:
            return _connect(match, *late)
        # A settled receive has waited since its match, so its call is a blocking one.
        self.matches = {other: known for other, known in self.matches.items() if other.end is None}
        self.matches[receive] = match


def _connect(match: Match, use: EndOfUse, copy: Any) -> None:
    """Read the payload of a matched message again when its sender or its receiver ends."""
    is_open = True

    def read() -> None:
        nonlocal is_open
        if is_open:
            is_open = False
            copy_into(match.payload, copy, match.nbytes)

    match.use.at_end.insert(0, read)
    use.at_end.insert(0, read)


def detach(buffers: Sequence[Any]) -> Callable[[bool], None]:
    """Let a collective call work on copies of its buffers; return a function that ends this, and may store the copies."""
    undo: list[Callable[[bool], None]] = []
    for index, buffer in enumerate(buffers):
        if isinstance(buffer, (Flat, FlatVector)):
            if not buffer.is_phantom:
                undo.append(buffer.detach())
        elif buffer is not None and type(buffer) is not Phantom and buffer.nbytes:
            undo.append(_replaced(buffers, index))

    def attach(store: bool) -> None:
        for each in undo:
            each(store)

    return attach


def _replaced(blocks: Any, index: int) -> Callable[[bool], None]:
    """Replace an item of a list of blocks by a copy; return a function that undoes this, and may store the copy."""
    block = blocks[index]
    blocks[index] = copy = snapshot(block)

    def attach(store: bool) -> None:
        blocks[index] = block
        if store:
            copy_into(copy, block, block.nbytes)

    return attach
