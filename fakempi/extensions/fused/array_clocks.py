"""The times at which ranks complete a fused call, computed in arrays.

In a round a rank sends at most one message and receives at most one, and continues when both have ended. A round maps the
times at which ranks continue to those of the next round: an eager message starts when its sender continues, a longer one
when both ranks have; it takes t_s + n t_w. The order in which ranks run at one time does not matter.

`Undetermined` is raised if a message does not find its ports free. Then the call is simulated by `step_simulator`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fakempi.extensions.fused.programs import Ints, Round

Floats = npt.NDArray[np.float64]

MOST_STARTS = 1 << 24  # upper limit of messages whose start times are compared, if ranks are not in step


class Undetermined(Exception):
    """The arrays do not determine the outcome; the message gives the reason."""


class Costs(NamedTuple):
    """The cost of messages, the cost of combining one byte, and the eager limit."""

    t_s: float
    t_w: float
    rate: Any
    eager_limit: int


class Outcome(NamedTuple):
    """By rank, or one number for all: the end, when that became known, the times at which ports are free, their counters.

    `last_start` is the time at which the last message starts.
    """

    ends: float | Floats
    booked: float | Floats
    out_free: float | Floats
    into_free: float | Floats
    counts: Any  # messages sent, bytes sent, messages received, bytes received
    last_start: float

    def first_end(self) -> float:
        """The time at which the first rank leaves the call."""
        return float(np.min(self.ends))


def outcome_of(rounds: Iterable[Round], starts: Sequence[float], into_free: Sequence[float], costs: Costs) -> Outcome:
    """Return the outcome for ranks that start at these times, with these times of their input ports.

    Output ports are free.
    """
    in_step = starts.count(starts[0]) == len(starts) and max(into_free) <= starts[0]
    all_rounds = list(rounds) if in_step else []
    if not in_step or not all(each.is_uniform for each in all_rounds):
        return _Clocks(np.array(starts, float), np.array(into_free, float), costs).compute(all_rounds or rounds)
    at: Any = float(starts[0])  # all ranks start at one time and always do the same
    end, booked, last_start, nbytes = at, at, at, 0
    for each in all_rounds:
        booked = last_start = at
        at = end = at + (costs.t_s + each.nbytes * costs.t_w)
        for combined in each.combined if costs.rate else ():
            booked = at
            at = at + costs.rate * combined
        nbytes += int(each.nbytes)
    return Outcome(at, booked, end, end, (len(all_rounds), nbytes) * 2, last_start)


class _Clocks:
    """The time at which each rank continues, the times at which its ports are free, and their counters."""

    def __init__(self, starts: Floats, into_free: Floats, costs: Costs) -> None:
        self.t, self.costs = starts.copy(), costs
        self.booked = starts.copy()  # when the time at which each rank continues became known
        self.in_step = bool(starts.min() == starts.max() and into_free.max() <= starts[0])
        self.into_at_first = into_free
        self.out_free, self.into_free = starts.copy(), into_free.copy()
        self.counts = np.zeros((4, len(starts)), np.int64)
        self.received: list[tuple[Ints, Floats, Floats]] = []  # by round, unless in step: receivers, starts and ends
        self.last_start = -np.inf  # of a message

    def compute(self, rounds: Iterable[Round]) -> Outcome:
        """Return the outcome after all rounds."""
        for each in rounds:
            self._transfer(each)
            for combined in each.combined if self.costs.rate else ():
                self.booked = np.where(combined, self.t, self.booked)
                self.t += self.costs.rate * combined
        self._check_ports()
        return Outcome(self.t, self.booked, self.out_free, self.into_free, self.counts, self.last_start)

    def _transfer(self, each: Round) -> None:
        """Simulate the messages of a round; of the ranks that take part in it, some may only send or only receive."""
        self.in_step = self.in_step and each.is_uniform
        t, senders, receivers, nbytes = self.t, each.senders, each.receivers, _values_of(each.nbytes, each.senders)
        start, receiver_at = t[senders], t[receivers]
        if np.any(waits := nbytes > self.costs.eager_limit):
            start = np.where(waits, np.maximum(start, receiver_at), start)
        end = start + (self.costs.t_s + nbytes * self.costs.t_w)
        ends, known = t.copy(), t.copy()
        ends[senders], known[senders] = end, start
        ends[receivers] = np.maximum(ends[receivers], end)  # a message may have arrived before its receive
        known[receivers] = np.maximum(known[receivers], start)
        self.booked = np.where(ends > t, known, self.booked)
        self.t, self.out_free[senders] = ends, end
        self.into_free[receivers] = np.maximum(self.into_free[receivers], end)
        for row, values in zip(self.counts, (1, nbytes), strict=False):
            row[senders] += values
        for row, values in zip(self.counts[2:], (1, nbytes), strict=True):
            row[receivers] += values
        if not self.in_step:
            if len(self.received) * len(t) > MOST_STARTS:
                raise Undetermined("there are too many messages of ranks that are not in step")
            self.received.append((receivers, start, end))
        self.last_start = max(self.last_start, start.max())

    def _check_ports(self) -> None:
        """Check that each message found its receiver's port free."""
        if self.received:
            ranks, starts, ends = (np.concatenate(column) for column in zip(*self.received, strict=True))
            order = np.lexsort((starts, ranks))
            ranks, starts, ends = ranks[order], starts[order], ends[order]
            if ((starts[1:] < ends[:-1]) & (ranks[1:] == ranks[:-1])).any() or (starts < self.into_at_first[ranks]).any():
                raise Undetermined("a message would have to wait for its port")


def _values_of(values: Any, ranks: Any) -> Any:
    """Values of these ranks; a single value applies to all."""
    return values[ranks] if isinstance(values, np.ndarray) else values
