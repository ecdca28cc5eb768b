"""The program of a rank: its events, call by call, with buffers that have a size and no contents.

Rows become tuples in chunks, so that the memory of a replay is that of the recording and a bounded part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from fakempi.apps.replay.callers import Caller
from fakempi.apps.replay.calls import RecordedCall, collective_call, create
from fakempi.apps.replay.sites import SiteTime, SiteTimes
from fakempi.MPI import ANY_SOURCE, ANY_TAG, BUFFER_AUTOMATIC, Attach_buffer, Detach_buffer, Request
from fakempi.MPI import PROC_NULL as NO_RANK
from fakempi.mpi.base.environment import Wtime, compute
from fakempi.mpi.buffers.phantom import Phantom, phantom
from fakempi.recordings.events import (
    ANY,
    BSEND,
    COLLECTIVE,
    COLUMNS,
    END,
    NO_REQUEST,
    NOT_COMMUTATIVE,
    OPERATIONS,
    PROC_NULL,
    RECEIVE,
    SEND,
    SENDRECV,
    SSEND,
    WAIT,
)
from fakempi.recordings.recording import Recording

ROWS_IN_MEMORY = 1 << 16
"""Rows of all ranks together that are tuples at the same time; a tuple takes ten times the memory of a row."""

TAGS = 1 << 15
"""Tags that creating communicators uses: those that every MPI library has."""

LONGEST = phantom(1 << 50)
"""The buffer of all receives: a message determines its own size."""

SPECIAL_RANKS = {PROC_NULL: NO_RANK, ANY: ANY_SOURCE}


class SharedReplay(NamedTuple):
    """Objects that the ranks of a replay share. `advance` receives the numbers of events that are executed next."""

    recording: Recording
    times: SiteTimes
    callers: Sequence[Caller]
    scale: float
    advance: Callable[[int], None]
    memberships: Sequence[Sequence[int]]


class RankReplay:
    """Makes the calls of one rank.

    `position` is the index of the event in progress, and `computed` the computing time so far.
    """

    def __init__(self, shared: SharedReplay, rank: int) -> None:
        self.recording, self.times, self.callers, self.scale, self.advance, of_ranks = shared
        self.rank, self.indices = rank, of_ranks[rank]
        self.position = 0
        self.computed = 0.0
        self._requests: dict[int, tuple[Any, SiteTime | None]] = {}
        self._has_buffer = False  # for buffered sends

    def run(self, comm: Any) -> None:
        """Make all calls; `comm` is the world."""
        comms = communicators(comm, self.recording, self.indices)
        kinds: dict[int, Callable[..., None]] = {SENDRECV: self._sendrecv, WAIT: self._wait, COLLECTIVE: self._collective}
        for row in self._rows():
            seconds, kind = row[0], row[11]
            if seconds:
                self.computed += seconds / self.scale
                compute(seconds / self.scale)
            if kind <= RECEIVE:
                self._message(comms[row[8]], row)
            elif kind != END:
                kinds[kind](comms[row[8]], row)
            self.position += 1
        if self._has_buffer:
            Detach_buffer()  # waits until the messages have been sent

    def _rows(self) -> Iterator[Any]:
        rows = self.recording.events[self.rank]
        step = max(16, ROWS_IN_MEMORY // self.recording.ranks)
        for start in range(0, len(rows), step):
            chunk = rows[start : start + step]
            self.advance(len(chunk))
            yield from chunk.tolist()

    def _message(self, comm: Any, row: tuple[Any, ...]) -> None:
        nbytes, number, peer, tag, caller, kind = row[2], row[3], row[6], row[7], self.callers[row[9]], row[11]
        if peer < 0:
            peer = SPECIAL_RANKS[peer]
        if kind == RECEIVE:
            arguments = LONGEST, peer, ANY_TAG if tag == ANY else tag
        else:
            arguments = Phantom(nbytes), peer, tag
        if kind == BSEND and not self._has_buffer:
            Attach_buffer(BUFFER_AUTOMATIC)
            self._has_buffer = True
        blocking, nonblocking = _METHODS[kind]
        if number == NO_REQUEST:
            caller(getattr(comm, blocking), *arguments)
        else:
            self._requests[number] = caller(getattr(comm, nonblocking), *arguments), None

    def _sendrecv(self, comm: Any, row: tuple[Any, ...]) -> None:
        source, tag, _ = self._numbers(row)
        dest = row[6] if row[6] >= 0 else SPECIAL_RANKS[row[6]]
        source = source if source >= 0 else SPECIAL_RANKS[source]
        tag = ANY_TAG if tag == ANY else tag
        self.callers[row[9]](comm.Sendrecv, Phantom(row[2]), dest, row[7], LONGEST, source, tag)

    def _wait(self, comm: Any, row: tuple[Any, ...]) -> None:
        waited = [self._requests.pop(number) for number in self._numbers(row)]
        collective = next((entry for _, entry in waited if entry is not None), None)
        start, caller = Wtime(), self.callers[row[9]]
        if len(waited) == 1:
            caller(waited[0][0].Wait)
        else:
            caller(Request.Waitall, [request for request, _ in waited])
        if collective is not None:
            collective.seconds += Wtime() - start

    def _collective(self, comm: Any, row: tuple[Any, ...]) -> None:
        operation, start, caller = OPERATIONS[row[12]], Wtime(), self.callers[row[9]]
        if operation == "create":
            create(comm, caller)
            return
        counts = self._numbers(row)
        call = RecordedCall(row[2], row[6], counts, row[10], not row[13] & NOT_COMMUTATIVE)
        entry = self.times.at(row[9], operation, comm.size, call)
        request = collective_call(operation, comm, call, caller, nonblocking=row[3] != NO_REQUEST)
        if row[3] != NO_REQUEST:
            self._requests[row[3]] = request, entry
        entry.seconds += Wtime() - start

    def _numbers(self, row: tuple[Any, ...]) -> list[int]:
        first, count = row[4], row[5]
        numbers: list[int] = self.recording.numbers[self.rank][first : first + count].tolist() if count else []
        return numbers


_METHODS = {SEND: ("Send", "Isend"), SSEND: ("Ssend", "Issend"), BSEND: ("Bsend", "Ibsend"), RECEIVE: ("Recv", "Irecv")}
"""The methods of a communicator for a message, the blocking and the nonblocking one."""

assert list(COLUMNS).index("kind") == 11  # the indices above


def communicators(world: Any, recording: Recording, indices: Sequence[int]) -> dict[int, Any]:
    """Create the recorded communicators of this rank, all at time 0: creating them takes no modeled time.

    All ranks create them in the order of their indices, so no rank waits for one that creates another one first.
    """
    rank, group, comms = world.Get_rank(), world.Get_group(), {0: world}
    for index in indices:
        own, other = recording.communicators[index].members, recording.communicators[index].remote
        if (other == rank).any():
            own, other = other, own
        members = group.Incl(own.tolist())
        comms[index] = world.Create_group(members, index % TAGS)
        members.Free()
        if len(other):
            comms[index] = comms[index].Create_intercomm(0, world, int(other[0]), index % TAGS)
    group.Free()
    return comms


def memberships(recording: Recording) -> list[list[int]]:
    """Return for each rank the indices of its communicators, except the world."""
    found: list[list[int]] = [[] for _ in range(recording.ranks)]
    for index, recorded in enumerate(recording.communicators[1:], start=1):
        for rank in (*recorded.members.tolist(), *recorded.remote.tolist()):
            found[rank].append(index)
    return found
