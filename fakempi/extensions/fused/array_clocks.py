"""The times at which ranks complete a fused call, and the order in which they continue, computed in arrays.

In a round a rank sends at most one message and receives at most one, and continues when both have ended. It posts both
at one moment, its turn. Turns at the same time are taken in the order in which they were booked. A round maps the times and
the order of turns to those of the next round:

* An eager message starts in its sender's turn, a longer one when both ranks have had their turn. It takes t_s + n t_w.
* A rank is booked for its next turn when the last end that it waits for is known: in its own turn or in that of a partner.
  In one turn the booking order is: the sender of a message that waited for this rank, the rank that waited for a message of
  this rank, the rank itself.

`Undetermined` is raised if a message does not find its ports free, if turns at one time were booked in different rounds,
or if a rank leaves, and may send, before all messages have started. Then the call is simulated by `step_simulator`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fakempi.extensions.fused.programs import Ints, Round

Floats = npt.NDArray[np.float64]

MOST_STARTS = 1 << 24  # upper limit of messages whose start times are compared, if ranks are not in step
MOST_ORDERS = 16  # number of orders that are stored for a program before all are deleted


class Undetermined(Exception):
    """The arrays do not determine the outcome; the message gives the reason."""


class Costs(NamedTuple):
    """The cost of messages, the cost of combining one byte, and the eager limit."""

    t_s: float
    t_w: float
    rate: Any
    eager_limit: int


class Outcome(NamedTuple):
    """By rank, or one number for all: the end, the time at which ports are free, their counters; the order of ranks."""

    ends: float | Floats
    out_free: float | Floats
    into_free: float | Floats
    counts: Any  # messages sent, bytes sent, messages received, bytes received
    order: Ints


def outcome_of(
    rounds: Iterable[Round], starts: Floats, order: Ints, into_free: Floats, costs: Costs, orders: dict[bytes, Ints],
    *, returns_matter: bool = True,
) -> Outcome:  # fmt: skip
    """Return the outcome for ranks that start at these times, in this order, with these times of their input ports.

    Output ports are free. If all ranks start at one time and always do the same, the order of their starts only determines
    the order in which they continue (`orders`: of earlier calls). `returns_matter` is false if nothing follows the call.
    """
    turns = _Turns(starts, order, into_free, costs, returns_matter)
    if not turns.in_step:
        return turns.compute(rounds)
    before = order.tobytes()
    after = orders.get(before)
    all_rounds = list(rounds) if after is not None else []
    if after is None or not all(each.is_uniform for each in all_rounds):
        outcome = turns.compute(all_rounds or rounds)
        if len(orders) >= MOST_ORDERS:
            orders.clear()
        orders[before] = outcome.order
        return outcome
    at: Any = float(starts[0])
    end, nbytes = at, 0
    for each in all_rounds:
        at = end = at + (costs.t_s + each.nbytes * costs.t_w)
        for combined in each.combined if costs.rate else ():
            at = at + costs.rate * combined
        nbytes += int(each.nbytes)
    return Outcome(at, end, end, (len(all_rounds), nbytes) * 2, after)


class _Turns:
    """For each rank: the time of its next turn, the round that booked it, and its place among the turns of that round.

    Turns at the same time are ordered by their places. The order is determined only if the same round has booked them.
    """

    def __init__(self, starts: Floats, order: Ints, into_free: Floats, costs: Costs, returns_matter: bool) -> None:
        p, self.returns_matter = len(starts), returns_matter
        self.t, self.place, self.costs = starts.copy(), order.copy(), costs
        self.origin = np.zeros(p, np.int64)
        self.level = 0
        self.in_step = bool(starts.min() == starts.max() and into_free.max() <= starts[0])
        self.into_at_first = into_free
        self.out_free, self.into_free = starts.copy(), into_free.copy()
        self.counts = np.zeros((4, p), np.int64)
        self.received: list[tuple[Ints, Floats, Floats]] = []  # by round, unless in step: receivers, starts and ends
        self.latest = -np.inf  # when the last message started
        self.last_start = starts.max()

    def compute(self, rounds: Iterable[Round]) -> Outcome:
        """Return the outcome after all rounds."""
        for each in rounds:
            self.level += 1
            self._transfer(each)
            self._combine(each)
        self._check_ports()
        if self.returns_matter:
            self._check_turns(slice(None))
            if self.latest >= self.t.min() or self.t.min() < self.last_start:
                raise Undetermined("a rank leaves before all messages have started")
        return Outcome(self.t, self.out_free, self.into_free, self.counts, np.lexsort((self.place, self.origin, self.t)))

    def _transfer(self, each: Round) -> None:
        """Simulate the messages of a round; of the ranks that take part in it, some may only send or only receive."""
        ranks, self.in_step = each.active, self.in_step and each.is_uniform
        self._check_turns(ranks)
        source, dest, nbytes = each.source[ranks], each.dest[ranks], _values_of(each.nbytes, ranks)
        t, place, takes = self.t[ranks], self.place[ranks], self.costs.t_s + nbytes * self.costs.t_w
        sends, receives = dest >= 0, source >= 0
        nbytes_in = _values_of(each.nbytes, source)
        takes_in = self.costs.t_s + nbytes_in * self.costs.t_w
        in_start, source_place = self.t[source], self.place[source]
        source_last = receives & ((in_start > t) | ((in_start == t) & (source_place > place)))
        last_t, last_place = np.where(source_last, in_start, t), np.where(source_last, source_place, place)
        order = np.where(source_last, 1, 2)  # whose turn is the last before the end is known: dest 0, source 1, rank 2
        out_start = t
        waits = each.nbytes > self.costs.eager_limit
        if np.any(waits):
            in_start = np.where(_values_of(waits, source), np.maximum(t, in_start), in_start)
            dest_t, dest_place, waits = self.t[dest], self.place[dest], _values_of(waits, ranks)
            out_start = np.where(waits, np.maximum(t, dest_t), t)
            dest_last = sends & waits & ((dest_t > last_t) | ((dest_t == last_t) & (dest_place > last_place)))
            last_t, last_place = np.where(dest_last, dest_t, last_t), np.where(dest_last, dest_place, last_place)
            order = np.where(dest_last, 0, order)
        in_end, out_end = in_start + takes_in, out_start + takes
        end = np.where(receives, in_end, t)
        end = np.where(sends, np.maximum(end, out_end), end)
        later = end > t  # a receive whose message has already arrived completes immediately
        self.origin[ranks] = np.where(later, self.level, self.origin[ranks])
        self.place[ranks] = np.where(later, np.argsort(np.lexsort((order, last_place, last_t))), place)
        self.t[ranks] = np.maximum(end, t)
        self.out_free[ranks] = np.where(sends, out_end, self.out_free[ranks])
        self.into_free[ranks] = np.where(receives, np.maximum(self.into_free[ranks], in_end), self.into_free[ranks])
        for row, values in enumerate((sends, sends * nbytes, receives, receives * nbytes_in)):
            self.counts[row][ranks] += values
        if not self.in_step:
            if len(self.received) * len(self.t) > MOST_STARTS:
                raise Undetermined("there are too many messages of ranks that are not in step")
            self.received.append((np.arange(len(self.t))[ranks][receives], in_start[receives], in_end[receives]))
            self.latest = max(self.latest, in_start[receives].max())

    def _combine(self, each: Round) -> None:
        """Charge the time of combining, once or several times."""
        for combined in each.combined if self.costs.rate else ():
            self.level += 1
            if self.in_step:
                self.t += self.costs.rate * combined
                self.origin[:] = self.level
                continue
            ranks = np.flatnonzero(np.broadcast_to(combined, len(self.t)))
            self._check_turns(ranks)
            self.place[ranks] = np.argsort(np.lexsort((self.place[ranks], self.t[ranks])))
            self.t[ranks] += self.costs.rate * _values_of(combined, ranks)
            self.origin[ranks] = self.level

    def _check_turns(self, ranks: Ints | slice) -> None:
        """Check that no two of these ranks have turns at the same time that were booked in different rounds."""
        t, origin = self.t[ranks], self.origin[ranks]
        if origin.min() != origin.max():
            order = np.lexsort((origin, t))
            t, origin = t[order], origin[order]
            if ((t[1:] == t[:-1]) & (origin[1:] != origin[:-1])).any():
                raise Undetermined("ranks of different rounds continue at the same time")

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
