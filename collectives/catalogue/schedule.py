"""Schedules: the transfers of an algorithm round by round, and their cost.

The schedule of an algorithm is written independently of its code; tests require a run of the code on the emulator to send
the same messages at the same times. In one round a process sends at most once and receives at most once, both at the same
time, and it begins its next round when both are complete. A process without transfers in a round does not wait for it. In a
reduction a process combines received data after the round's transfers and before its next round. Under these rules the times
in the single-port model follow from an exact recurrence, `clocks`: a transfer begins when both its processes have reached
the round, since both ports are free then. `Streams` replaces a round if sends and receives proceed independently, each in
its own order. `LinearPhase` replaces a round if processes post several messages at once. `Combining` is a phase without
messages.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

Seconds: TypeAlias = float | Fraction
OTHER_DATA = -1


class Transfer(NamedTuple):
    """One message: `nbytes` bytes from `source` to `dest`, which then combines `combined` bytes (in a reduction).

    Data that are combined begin at byte `start` of the operand; after its last byte they continue at its first. `start` is
    `OTHER_DATA` if the message has no data of an operand, such as one with block sizes. `combined` is a multiple of `nbytes`
    if the destination combines the data several times. If it combines them in two parts, one after the other, `first_part`
    is the number of bytes of the first part, otherwise 0.
    """

    source: int
    dest: int
    nbytes: int
    combined: int = 0
    start: int = 0
    first_part: int = 0


class Streams(list[Transfer]):
    """A phase instead of a round: each process sends in one order and receives in another, independently.

    The list has the sends of each process in order. `received` has, as (source, dest), the receives of each process in
    order, with at most one message per pair. A process begins its next round when both orders are complete.
    """

    synchronous = True  # no send is buffered: a transfer begins when it is next on both processes

    def __init__(self, sends: Iterable[Transfer], received: Iterable[tuple[int, int]]) -> None:
        super().__init__(sends)
        self.received = list(received)

    def ends(self, clock: Sequence[Seconds], t_s: Seconds, t_w: Seconds) -> dict[int, Seconds]:
        """The time at which each participating process is done; a transfer begins when it is next on both processes.

        >>> phase = Streams([Transfer(0, 2, 5), Transfer(0, 1, 5), Transfer(3, 1, 2)], [(0, 2), (3, 1), (0, 1)])
        >>> phase.ends([0, 0, 0, 0], 0, 1)
        {0: 10, 1: 10, 2: 5, 3: 2}
        """
        to_send: dict[int, deque[Transfer]] = defaultdict(deque)
        to_receive: dict[int, deque[int]] = defaultdict(deque)
        for transfer in self:
            to_send[transfer.source].append(transfer)
        for source, dest in self.received:
            to_receive[dest].append(source)
        out = {rank: clock[rank] for rank in to_send}
        into = {rank: clock[rank] for rank in to_receive}
        ready = list(to_send)
        while ready:
            source = ready.pop()
            queue = to_send[source]
            while queue and to_receive[queue[0].dest][0] == source:
                _, dest, nbytes, *_ = queue.popleft()
                to_receive[dest].popleft()
                out[source] = into[dest] = max(out[source], into[dest]) + t_s + nbytes * t_w
                if to_receive[dest] and to_receive[dest][0] != source:
                    ready.append(to_receive[dest][0])
        if any(to_send.values()):
            raise ValueError("the orders of sends and receives form a cycle of waiting processes")
        low = clock[0] * 0
        return {r: max(out.get(r, low), into.get(r, low)) for r in sorted({*out, *into})}


class PrepostedRound(list[Transfer]):
    """A round whose receives are posted in an earlier round. Times are those of any round; a trace shows the difference."""


class NonblockingRound(list[Transfer]):
    """A round in which processes post their messages and wait for all of them. Times are those of any round."""

    synchronous = False  # whether no send is buffered


class LinearPhase(list[Transfer]):
    """A phase instead of a round: each process posts all its receives, then all its sends, in order, and waits for all.

    A process with several sends serves first the receivers that are ready first, and a process with several receives the
    senders that are ready first. One of the two processes of each transfer has no other transfer in that direction. The
    time at which a process has finished does not depend on the order of partners that become ready at the same time.
    """

    def ends(self, clock: Sequence[Seconds], t_s: Seconds, t_w: Seconds) -> dict[int, Seconds]:
        """The time at which each process is done; a transfer begins when both processes are ready and the port is free.

        >>> LinearPhase([Transfer(0, 1, 5), Transfer(0, 2, 5), Transfer(1, 0, 1)]).ends([0, 7, 0], 0, 1)
        {0: 12, 1: 12, 2: 5}
        >>> LinearPhase([Transfer(1, 0, 5), Transfer(2, 0, 5)]).ends([0, 7, 0], 0, 1)
        {0: 12, 1: 12, 2: 5}
        """
        out = {t.source: clock[t.source] for t in self}
        into = {t.dest: clock[t.dest] for t in self}
        for source, dest, nbytes, *_ in sorted(self, key=lambda t: max(clock[t.source], clock[t.dest])):
            out[source] = into[dest] = max(out[source], into[dest]) + t_s + nbytes * t_w
        low = clock[0] * 0
        return {r: max(out.get(r, low), into.get(r, low)) for r in sorted({*out, *into})}


class Combining(list[Transfer]):
    """A phase without messages: each process combines `combined[process]` bytes that it has received in earlier rounds."""

    def __init__(self, combined: Mapping[int, int]) -> None:
        super().__init__()
        self.combined = dict(combined)


Round: TypeAlias = Sequence[Transfer]
Rounds: TypeAlias = Iterable[Round]


def message(nbytes: int, t_s: Seconds, t_w: Seconds) -> Seconds:
    """Cost of one message; an empty block is not sent and costs nothing."""
    return t_s + nbytes * t_w if nbytes else 0


def clocks(schedule: Rounds, p: int, t_s: Seconds, t_w: Seconds, c: Seconds = 0) -> list[Seconds]:
    """The time at which each of p processes is done, if all start at 0; exact for integers and Fractions.

    >>> clocks([[Transfer(0, 2, 5)], [Transfer(0, 1, 5), Transfer(2, 3, 5)]], 4, 10, 1)
    [30, 30, 30, 30]
    >>> clocks([[Transfer(1, 0, 5, combined=5)], [Transfer(2, 0, 5, combined=5)]], 3, 10, 1, c=2)
    [50, 15, 40]
    """
    clock: list[Seconds] = [0] * p
    for transfers in schedule:
        if isinstance(transfers, (Streams, LinearPhase)):
            for rank, done in transfers.ends(clock, t_s, t_w).items():
                clock[rank] = done
            continue
        if isinstance(transfers, Combining):
            for rank, nbytes in transfers.combined.items():
                clock[rank] += nbytes * c
            continue
        ends = [
            (max(clock[source], clock[dest]) + t_s + nbytes * t_w, source, dest, combined)
            for source, dest, nbytes, combined, *_ in transfers
        ]
        for end, source, dest, _ in ends:
            if end > clock[source]:
                clock[source] = end
            if end > clock[dest]:
                clock[dest] = end
        if c:
            for _, _, dest, combined in ends:
                clock[dest] += combined * c
    return clock


def elapsed(schedule: Rounds, p: int, t_s: Seconds, t_w: Seconds, c: Seconds = 0) -> Seconds:
    """The time at which the last process is done."""
    return max(clocks(schedule, p, t_s, t_w, c))


def longest_chain(schedule: Rounds, p: int) -> int:
    """Rounds in the model: the modeled time if every message costs 1, regardless of its size."""
    return int(elapsed(schedule, p, 1, 0))


def sent_by(schedule: Rounds, rank: int) -> int:
    """Bytes that `rank` sends."""
    return sum(t.nbytes for transfers in schedule for t in transfers if t.source == rank)


def renumbered(transfers: Round, ranks: Sequence[int]) -> Round:
    """A round or phase of a group with other numbers: rank i of the group is ranks[i].

    >>> renumbered([Transfer(0, 1, 5)], [7, 4])
    [Transfer(source=7, dest=4, nbytes=5, combined=0, start=0, first_part=0)]
    """
    renamed = [t._replace(source=ranks[t.source], dest=ranks[t.dest]) for t in transfers]
    if isinstance(transfers, Streams):
        return Streams(renamed, [(ranks[source], ranks[dest]) for source, dest in transfers.received])
    if isinstance(transfers, Combining):
        return Combining({ranks[rank]: nbytes for rank, nbytes in transfers.combined.items()})
    return type(transfers)(renamed) if isinstance(transfers, (LinearPhase, PrepostedRound, NonblockingRound)) else renamed


def without_empty(transfers: Iterable[Transfer]) -> list[Transfer]:
    """The transfers with data: an empty block is never sent."""
    return [transfer for transfer in transfers if transfer.nbytes]
