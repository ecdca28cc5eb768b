"""An algorithm on paper: who sends how much to whom, round by round, and what that costs.

A schedule is derived from the algorithm's idea, never by running its code; running the code on the emulator must
then give the same messages at the same times. In one round a process sends at most once and receives at most once,
both at the same time, and it begins its next round when both are over; a process that takes no part in a round
does not wait for it. What a process combines with its own data, in a reduction, it combines after the round's
transfers and before its next round. Under these rules the single-port model has an exact recurrence, `clocks`: a
transfer begins when both its ends have arrived at the round, since both ports are free then.
"""

from __future__ import annotations

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
