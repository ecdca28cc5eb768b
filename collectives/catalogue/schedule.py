"""An algorithm on paper: who sends how much to whom, round by round, and what that costs.

A schedule is derived from the algorithm's idea, never by running its code; running the code on the emulator must
then give the same messages at the same times. In one round a process sends at most once and receives at most once,
both at the same time, and it begins its next round when both are over; a process that takes no part in a round
does not wait for it. What a process combines with its own data, in a reduction, it combines after the round's
transfers and before its next round. Under these rules the single-port model has an exact recurrence, `clocks`: a
transfer begins when both its ends have arrived at the round, since both ports are free then. Where sends and receives
run apart, each in an order of its own, `Streams` takes the place of a round; where who is ready first is served first,
`Served` does.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

Seconds: TypeAlias = float | Fraction


class Transfer(NamedTuple):
    """One message: `nbytes` bytes from `source` to `dest`, which then combines `combined` bytes (in a reduction)."""

    source: int
    dest: int
    nbytes: int
    combined: int = 0


class Streams(list[Transfer]):
    """A phase in place of a round: everybody sends in one order and receives in another, and neither waits for the other.

    The list has every process's sends in its order; `received` says, as (source, dest), every process's receives in its
    order, with at most one message from each to each. A process begins its next round when both orders are done.
    """

    def __init__(self, sends: Iterable[Transfer], received: Iterable[tuple[int, int]]) -> None:
        super().__init__(sends)
        self.received = list(received)

    def ends(self, clock: Sequence[Seconds], t_s: Seconds, t_w: Seconds) -> dict[int, Seconds]:
        """When each process that takes part is done; a transfer begins when it is next at both its ends.

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
                _, dest, nbytes, _ = queue.popleft()
                to_receive[dest].popleft()
                out[source] = into[dest] = max(out[source], into[dest]) + t_s + nbytes * t_w
                if to_receive[dest] and to_receive[dest][0] != source:
                    ready.append(to_receive[dest][0])
        if any(to_send.values()):
            raise ValueError("the orders of sending and receiving wait for each other")
        low = clock[0] * 0
        return {r: max(out.get(r, low), into.get(r, low)) for r in sorted({*out, *into})}


class Served(list[Transfer]):
    """A phase in place of a round: senders begin all their sends at once, and serve first who is ready first.

    A process receives at most once. When a sender is done with all does not depend on how it serves those that are
    ready together.
    """

    def ends(self, clock: Sequence[Seconds], t_s: Seconds, t_w: Seconds) -> dict[int, Seconds]:
        """When each process that takes part is done; a transfer begins when both ends are there and its turn has come.

        >>> Served([Transfer(0, 1, 5), Transfer(0, 2, 5), Transfer(1, 0, 1)]).ends([0, 7, 0], 0, 1)
        {0: 12, 1: 12, 2: 5}
        """
        out = {t.source: clock[t.source] for t in self}
        into: dict[int, Seconds] = {}
        for source, dest, nbytes, _ in sorted(self, key=lambda t: max(clock[t.source], clock[t.dest])):
            out[source] = into[dest] = max(out[source], clock[dest]) + t_s + nbytes * t_w
        low = clock[0] * 0
        return {r: max(out.get(r, low), into.get(r, low)) for r in sorted({*out, *into})}


Round: TypeAlias = Sequence[Transfer]
Schedule: TypeAlias = Iterable[Round]


def message(nbytes: int, t_s: Seconds, t_w: Seconds) -> Seconds:
    """What one message costs; an empty block is not sent and costs nothing."""
    return t_s + nbytes * t_w if nbytes else 0


def clocks(schedule: Schedule, p: int, t_s: Seconds, t_w: Seconds, c: Seconds = 0) -> list[Seconds]:
    """When each of p processes is done, all starting at 0; exact for integers and Fractions.

    >>> clocks([[Transfer(0, 2, 5)], [Transfer(0, 1, 5), Transfer(2, 3, 5)]], 4, 10, 1)
    [30, 30, 30, 30]
    >>> clocks([[Transfer(1, 0, 5, combined=5)], [Transfer(2, 0, 5, combined=5)]], 3, 10, 1, c=2)
    [50, 15, 40]
    """
    clock: list[Seconds] = [0] * p
    for transfers in schedule:
        if isinstance(transfers, (Streams, Served)):
            for rank, done in transfers.ends(clock, t_s, t_w).items():
                clock[rank] = done
            continue
        ends = [
            (max(clock[source], clock[dest]) + t_s + nbytes * t_w, source, dest, combined)
            for source, dest, nbytes, combined in transfers
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


def elapsed(schedule: Schedule, p: int, t_s: Seconds, t_w: Seconds, c: Seconds = 0) -> Seconds:
    """When the last process is done."""
    return max(clocks(schedule, p, t_s, t_w, c))


def longest_chain(schedule: Schedule, p: int) -> int:
    """Rounds as the model sees them: the modelled time if a message cost 1, whatever its size."""
    return int(elapsed(schedule, p, 1, 0))


def sent_by(schedule: Schedule, rank: int) -> int:
    """Bytes that `rank` sends."""
    return sum(t.nbytes for transfers in schedule for t in transfers if t.source == rank)


def without_empty(transfers: Iterable[Transfer]) -> list[Transfer]:
    """The transfers that take place: an empty block is never sent."""
    return [transfer for transfer in transfers if transfer.nbytes]
