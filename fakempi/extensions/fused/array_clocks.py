"""The times at which ranks complete a fused call, computed in arrays.

In a round a rank sends at most one message and receives at most one, and continues when both have ended. A round maps the
times at which ranks continue to those of the next round: an eager message starts when its sender continues, a longer one
when both ranks have; it takes t_s + n t_w. The order in which ranks run at one time does not matter.

`Undetermined` is raised if a message does not find its ports free. Then the call is simulated by `step_simulator`.
"""

from __future__ import annotations

from collections.abc import Iterable
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


def outcome_of(rounds: Iterable[Round], starts: Floats, into_free: Floats, costs: Costs) -> Outcome:
    """Return the outcome for ranks that start at these times, with these times of their input ports.

    Output ports are free.
    """
    if starts.min() < starts.max() or into_free.max() > starts[0]:
        return _Clocks(starts, into_free, costs).compute(rounds)
    all_rounds = list(rounds)
    if not all(each.is_uniform for each in all_rounds):
        return _Clocks(starts, into_free, costs).compute(all_rounds)
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
        ranks, self.in_step = each.active, self.in_step and each.is_uniform
        source, dest, nbytes = each.source[ranks], each.dest[ranks], _values_of(each.nbytes, ranks)
        t, takes = self.t[ranks], self.costs.t_s + nbytes * self.costs.t_w
        sends, receives = dest >= 0, source >= 0
        nbytes_in = _values_of(each.nbytes, source)
        takes_in = self.costs.t_s + nbytes_in * self.costs.t_w
        in_start, out_start = self.t[source], t
        waits = each.nbytes > self.costs.eager_limit
        if np.any(waits):
            in_start = np.where(_values_of(waits, source), np.maximum(t, in_start), in_start)
            out_start = np.where(_values_of(waits, ranks), np.maximum(t, self.t[dest]), t)
        in_end, out_end = in_start + takes_in, out_start + takes
        end = np.where(receives, in_end, t)
        end = np.where(sends, np.maximum(end, out_end), end)
        known = np.maximum(np.where(receives, np.maximum(in_start, t), t), np.where(sends, out_start, t))
        later = end > t  # a receive whose message has already arrived completes immediately
        self.booked[ranks] = np.where(later, known, self.booked[ranks])
        self.t[ranks] = np.where(later, end, t)
        self.out_free[ranks] = np.where(sends, out_end, self.out_free[ranks])
        self.into_free[ranks] = np.where(receives, np.maximum(self.into_free[ranks], in_end), self.into_free[ranks])
        for row, values in enumerate((sends, sends * nbytes, receives, receives * nbytes_in)):
            self.counts[row][ranks] += values
        if not self.in_step:
            if len(self.received) * len(self.t) > MOST_STARTS:
                raise Undetermined("there are too many messages of ranks that are not in step")
            self.received.append((np.arange(len(self.t))[ranks][receives], in_start[receives], in_end[receives]))
        self.last_start = max(self.last_start, in_start[receives].max())

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
