"""The times at which ranks complete a fused call, computed in arrays.

In a round a rank sends at most one message and receives at most one, and continues when both have ended. A round maps the
times at which ranks continue to those of the next round: an eager message starts when its sender continues, a longer one
when both ranks have; it takes t_s + n t_w. The order in which ranks run at one time does not matter.

`Undetermined` is raised if a message does not find its ports free. Then the call is simulated by `step_simulator`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fakempi.extensions.fused.programs import Ints, Round

Floats = npt.NDArray[np.float64]

Messages = tuple[Sequence[int], list[int], list[int]]
"""The ranks that have messages, and for each of them the number of messages and of bytes."""

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
    """By rank, or one number for all: the end, when that became known, the times at which ports are free.

    `last_start` is the time at which the last message starts. The times of ports that have had no message have no meaning.
    """

    ends: float | Floats
    booked: float | Floats
    out_free: float | Floats
    into_free: float | Floats
    sent: Messages
    received: Messages
    last_start: float

    def first_end(self) -> float:
        """The time at which the first rank leaves the call."""
        return float(self.ends.min() if isinstance(self.ends, np.ndarray) else self.ends)


class TimedRound(NamedTuple):
    """The part of a `Round` that depends on costs, but not on the times at which ranks call.

    If every rank sends, `waits` and `duration` are by rank; otherwise they are by message.
    """

    round: Round
    waits: Any  # whether a message waits for its receiver, because it is not eager; None if no message does
    duration: float | Floats
    charges: tuple[tuple[Any, Any], ...]  # of each combination: bytes and seconds, by rank
    is_uniform: bool  # whether all ranks do the same


class TimedRounds:
    """The rounds of a schedule with the costs of a run, and the messages of each port.

    Rounds that are not stored are made one after the other while an outcome is computed, which is possible once.
    """

    def __init__(self, p: int, rounds: Iterable[Round], costs: Costs, *, stored: bool = False) -> None:
        self.p = p
        # by rank, or one number for all: messages sent, bytes sent, messages received, bytes received
        self._counts: list[Any] = [0, 0, 0, 0]
        timed = self._timed(rounds, costs)
        self._rounds: Iterable[TimedRound] = list(timed) if stored else timed

    def outcome(self, starts: Sequence[float], into_free: Sequence[float]) -> Outcome:
        """Return the outcome for ranks that start at these times, with these times of their input ports.

        Output ports are free.
        """
        return self._compute(_Clocks(np.array(starts, float), np.array(into_free, float)), self._rounds)

    def outcome_in_step(self, at: float) -> Outcome:
        """Return the outcome for ranks that start at one time with free ports."""
        rounds, end, booked, last_start = iter(self._rounds), at, at, at
        for each in rounds:
            if not each.is_uniform:
                clocks = _Clocks(np.full(self.p, at), np.full(self.p, end))
                clocks.booked[:], clocks.last_start = booked, last_start
                return self._compute(clocks, chain([each], rounds))
            booked = last_start = at
            at = end = at + float(each.duration)
            for _, seconds in each.charges:
                booked = at
                at = at + seconds
        return Outcome(at, booked, end, end, *self._messages, last_start)

    def _compute(self, clocks: _Clocks, rounds: Iterable[TimedRound]) -> Outcome:
        for each in rounds:
            clocks.add(each)
        clocks.check_ports()
        return Outcome(clocks.t, clocks.booked, clocks.out_free, clocks.into_free, *self._messages, clocks.last_start)

    def _timed(self, rounds: Iterable[Round], costs: Costs) -> Iterator[TimedRound]:
        """Compute the times of each round, and count its messages."""
        for each in rounds:
            sizes = each.message_bytes()
            self._count(each, sizes)
            nbytes: Any = each.nbytes if len(each.senders) == self.p else sizes
            waits: Any = nbytes > costs.eager_limit
            if not np.any(waits):
                waits = None
            charges = tuple((combined, costs.rate * combined) for combined in each.combined) if costs.rate else ()
            is_uniform = type(nbytes) is int and all(type(combined) is int for combined, _ in charges)
            yield TimedRound(each, waits, costs.t_s + nbytes * costs.t_w, charges, is_uniform)

    def _count(self, each: Round, sizes: int | Ints) -> None:
        ports = each.senders, each.senders, each.receivers, each.receivers
        for i, (ranks, values) in enumerate(zip(ports, (1, sizes) * 2, strict=True)):
            if type(sizes) is int:  # all ranks send and receive as much
                self._counts[i] += values
                continue
            if type(self._counts[i]) is int:
                self._counts[i] = np.full(self.p, self._counts[i])
            self._counts[i][ranks] += values

    @cached_property
    def _messages(self) -> tuple[Messages, Messages]:
        """The messages that each rank sends and receives, once the rounds have been made."""
        sent, bytes_sent, received, bytes_received = self._counts
        if type(sent) is int:
            every: Messages = range(self.p), [sent] * self.p, [bytes_sent] * self.p
            return every, every
        return _messages(sent, bytes_sent), _messages(received, bytes_received)


class _Clocks:
    """The time at which each rank continues, and the times at which its ports are free."""

    def __init__(self, starts: Floats, into_free: Floats) -> None:
        self.t = starts.copy()
        self.booked = starts.copy()  # when the time at which each rank continues became known
        self.in_step = bool(starts.min() == starts.max() and into_free.max() <= starts[0])
        self.into_at_first = into_free
        self.out_free, self.into_free = starts.copy(), into_free.copy()
        self.found_busy = False
        self.messages: list[tuple[Ints, Floats, Floats]] = []  # by round, unless in step: receivers, starts and ends
        self.last_start = -np.inf  # of a message

    def add(self, each: TimedRound) -> None:
        """Simulate a round."""
        if len(each.round.senders) == len(self.t):
            self._transfer_by_all(each)
        else:
            self._transfer(each)
        for nbytes, seconds in each.charges:
            self.booked = np.where(nbytes, self.t, self.booked)
            self.t += seconds

    def _transfer_by_all(self, each: TimedRound) -> None:
        """Simulate the messages of a round in which every rank sends and receives."""
        t, dest, source = self.t, each.round.dest, each.round.source
        start = t if each.waits is None else np.where(each.waits, np.maximum(t, t[dest]), t)
        end = start + each.duration
        began, ends = start[source], end[source]
        self.t = np.maximum(end, ends)  # a message may have arrived before its receive
        self.booked = np.where(self.t > t, np.maximum(start, began), self.booked)
        self.out_free = end
        self._receive(each, np.arange(len(t)), began, ends)

    def _transfer(self, each: TimedRound) -> None:
        """Simulate the messages of a round; of the ranks that take part in it, some may only send or only receive."""
        t, senders, receivers = self.t, each.round.senders, each.round.receivers
        start = t[senders]
        if each.waits is not None:
            start = np.where(each.waits, np.maximum(start, t[receivers]), start)
        end = start + each.duration
        ends, known = t.copy(), t.copy()
        ends[senders], known[senders] = end, start
        ends[receivers] = np.maximum(ends[receivers], end)
        known[receivers] = np.maximum(known[receivers], start)
        self.t, self.booked = ends, np.where(ends > t, known, self.booked)
        self.out_free[senders] = end
        self._receive(each, receivers, start, end)

    def _receive(self, each: TimedRound, receivers: Ints, start: Floats, end: Floats) -> None:
        """Record messages at the input ports of their receivers."""
        free_at = self.into_free[receivers]
        self.into_free[receivers] = np.maximum(free_at, end)
        self.in_step = self.in_step and each.is_uniform
        if not self.in_step:
            if len(self.messages) * len(self.t) > MOST_STARTS:
                raise Undetermined("there are too many messages of ranks that are not in step")
            self.messages.append((receivers, start, end))
            self.found_busy = self.found_busy or bool((start < free_at).any())
        self.last_start = max(self.last_start, start.max())

    def check_ports(self) -> None:
        """Check that each message found its receiver's port free, if messages of later rounds may have arrived first."""
        if self.found_busy:
            ranks, starts, ends = (np.concatenate(column) for column in zip(*self.messages, strict=True))
            order = np.lexsort((starts, ranks))
            ranks, starts, ends = ranks[order], starts[order], ends[order]
            if ((starts[1:] < ends[:-1]) & (ranks[1:] == ranks[:-1])).any() or (starts < self.into_at_first[ranks]).any():
                raise Undetermined("a message would have to wait for its port")


def _messages(counts: Ints, nbytes: Ints) -> Messages:
    ranks = counts.nonzero()[0]
    return ranks.tolist(), counts[ranks].tolist(), nbytes[ranks].tolist()
