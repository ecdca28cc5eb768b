"""When each rank is done with an algorithm, and who goes on first: the laws of time for all ranks at once, in arrays.

In a round a rank sends at most one message and receives at most one, and goes on when both are over. It has its receive
posted and its message sent at one moment, its act; acts at the same time have an order, that in which they were booked. So a
round takes the times and the order of acts to those of the next round:

* A message that is buffered starts when its sender acts, another one when both have acted. It takes t_s + n t_w.
* A rank is booked for its next act when the last thing is known that it waits for: at its own act, or at that of a partner.
  In one act, the rank whose message was waiting here is booked first, then the one that waited for a message, then itself.

That holds where every message finds its ports free. Where one would have to queue, where an order cannot be told because
ranks come from different rounds to the same moment, or where a rank goes on, and may send, before all messages have started,
it is `Unclear`, and `events` may know.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST = 1 << 24
"""Messages of skewed ranks that are compared with each other."""


KNOWN = 16
"""Orders of going on that are remembered for an algorithm; then it starts anew."""


class Unclear(Exception):
    """The paper does not say what happens."""


class Round(NamedTuple):
    """Whom each rank sends to and receives from, or -1; how many bytes; and whether it combines what it has received."""

    dest: Ints
    source: Ints
    nbytes: int | Ints  # of everybody, or of each
    combines: bool = False
    whole: bool = True  # whether all do both

    @property
    def even(self) -> bool:
        """Whether all do the same, so that who is in step stays in step."""
        return self.whole and not isinstance(self.nbytes, np.ndarray)


class Costs(NamedTuple):
    """What messages cost, and combining; and up to how many bytes they are buffered."""

    t_s: float
    t_w: float
    rate: Any
    eager_limit: int


class Outcome(NamedTuple):
    """By rank: when it is done, when its ports are free, what went through them; and all ranks in the order of going on."""

    ends: Floats
    out_free: Floats
    into_free: Floats
    sent: Ints
    bytes_sent: Ints
    received: Ints
    bytes_received: Ints
    order: Ints


def carried_out(
    rounds: Iterable[Round], starts: Floats, order: Ints, into_free: Floats, costs: Costs, known: dict[bytes, Ints]
) -> Outcome:
    """What becomes of ranks that come at these times, and in this order, if out-ports are free and in-ports from then on.

    Where all come at one time and always do the same, only the order of going on hangs on who came when: it is `known` from
    the last time, for programs do the same again and again.
    """
    course = _Course(starts, order, into_free, costs)
    if not course.in_step:
        return course.over(rounds)
    before = order.tobytes()
    after = known.get(before)
    all_rounds = list(rounds) if after is not None else []
    if after is None or not all(each.even for each in all_rounds):
        outcome = course.over(all_rounds or rounds)
        if len(known) >= KNOWN:
            known.clear()
        known[before] = outcome.order
        return outcome
    at, end, nbytes = starts[0], starts[0], 0
    for each in all_rounds:
        end = at + (costs.t_s + each.nbytes * costs.t_w)
        at = end + costs.rate * each.nbytes if each.combines and costs.rate else end
        nbytes += int(each.nbytes)
    p, count = len(starts), len(all_rounds)
    ends, free, counts, amounts = (np.full(p, value) for value in (at, end, count, nbytes))
    return Outcome(ends, free, free, counts, amounts, counts, amounts, after)


class _Course:
    """Where all ranks are: the time of each one's next act, its place among all, and the round that it comes from."""

    def __init__(self, starts: Floats, order: Ints, into_free: Floats, costs: Costs) -> None:
        p = len(starts)
        self.t, self.place, self.costs = starts, order, costs
        self.origin = np.zeros(p, np.int64)
        self.level, self.mixed = 0, False
        self.in_step = bool(starts.min() == starts.max() and into_free.max() <= starts[0])
        self.into_at_first = into_free
        self.out_free, self.into_free = starts, into_free
        self.counts = np.zeros((4, p), np.int64)
        self.even_rounds = self.even_bytes = 0
        self.begun: list[Floats] = []  # when what each receives started, round by round, unless all are in step
        self.took: list[float | Floats] = []
        self.latest = -np.inf  # when the last message started

    def over(self, rounds: Iterable[Round]) -> Outcome:
        """Go through all rounds."""
        for each in rounds:
            self.level += 2
            (self._whole if each.whole and not self.mixed else self._partial)(each)
        if self.mixed:
            self._tell_apart(np.arange(len(self.t)))
        self._check_ports()
        if self.latest >= self.t.min():
            raise Unclear("a rank goes on before all messages have started")
        sent, nbytes, received, nbytes_in = self.counts
        sent += self.even_rounds
        received += self.even_rounds
        nbytes += self.even_bytes
        nbytes_in += self.even_bytes
        return Outcome(self.t, self.out_free, self.into_free, sent, nbytes, received, nbytes_in, np.argsort(self.place))

    def _whole(self, each: Round) -> None:
        """A round in which everybody sends and receives."""
        t, place, takes = self.t, self.place, self.costs.t_s + each.nbytes * self.costs.t_w
        takes_in, nbytes_in = _of(takes, each.source), _of(each.nbytes, each.source)
        theirs, begun, mine = place[each.source], t[each.source], t
        latest = np.maximum(place, theirs)
        waits = each.nbytes > self.costs.eager_limit  # for its receiver
        if np.any(waits):
            mine = np.where(waits, np.maximum(t, t[each.dest]), t)
            begun = np.where(_of(waits, each.source), np.maximum(t, begun), begun)
            latest = np.where(waits, np.maximum(latest, place[each.dest]), latest)
        key = 3 * latest + np.where(latest == place, 2, np.where(latest == theirs, 1, 0))
        self.out_free, ends = mine + takes, begun + takes_in
        self.t = np.maximum(self.out_free, ends)
        if each.even:
            self.even_rounds += 1
            self.even_bytes += int(each.nbytes)
        else:
            self.in_step = False
            self.counts += np.stack([np.ones_like(place), each.nbytes, np.ones_like(place), nbytes_in])
        self._arrive(begun, takes_in, ends)
        self.place = _ranked(key) if self.in_step else _placed(np.lexsort((key, self.t)))
        if each.combines and self.costs.rate:
            self.t = self.t + self.costs.rate * nbytes_in
            if not each.even:
                self.place = _placed(np.lexsort((self.place, self.t)))

    def _partial(self, each: Round) -> None:
        """A round in which some only send, or only receive, or do nothing; or that is the first for some."""
        t, place, takes = self.t, self.place, self.costs.t_s + each.nbytes * self.costs.t_w
        sends, receives, self.in_step = each.dest >= 0, each.source >= 0, False
        self._tell_apart(np.flatnonzero(sends | receives))
        source, dest = np.maximum(each.source, 0), np.maximum(each.dest, 0)
        takes_in, nbytes_in = _of(takes, source), _of(each.nbytes, source)
        theirs = np.where(receives, place[source], -1)
        latest = np.maximum(place, theirs)
        begun, mine = t[source], t
        waits = each.nbytes > self.costs.eager_limit
        if np.any(waits):
            begun = np.where(_of(waits, source), np.maximum(t, begun), begun)
            mine = np.where(waits, np.maximum(t, t[dest]), t)
            latest = np.where(sends & waits, np.maximum(latest, place[dest]), latest)
        until = np.where(receives, begun + takes_in, t)
        until = np.where(sends, np.maximum(until, mine + takes), until)
        later = until > t  # who receives what has long been there goes on in the same breath
        key = np.where(later, 3 * latest + np.where(latest == place, 2, np.where(latest == theirs, 1, 0)), 3 * place)
        self.origin = np.where(later, self.level, self.origin)
        self.out_free = np.where(sends, mine + takes, self.out_free)
        self._arrive(np.where(receives, begun, np.inf), takes_in, np.where(receives, begun + takes_in, -np.inf))
        self.counts += np.stack([sends, sends * each.nbytes, receives, receives * nbytes_in])
        self.t, self.place = np.maximum(until, t), _placed(np.lexsort((key, self.origin, np.maximum(until, t))))
        if each.combines and self.costs.rate:
            self._tell_apart(np.flatnonzero(receives))
            self.t = np.where(receives, self.t + self.costs.rate * nbytes_in, self.t)
            self.origin = np.where(receives, self.level + 1, self.origin)
            self.place = _placed(np.lexsort((self.place, self.origin, self.t)))
        self.mixed = bool(self.origin.min() != self.origin.max())

    def _arrive(self, begun: Floats, takes: float | Floats, ends: Floats) -> None:
        """Messages have come in, which began and ended then."""
        self.into_free = np.maximum(self.into_free, ends)
        if not self.in_step:
            if len(self.begun) * len(begun) > MOST:
                raise Unclear("too many messages of ranks that are not in step")
            self.begun.append(begun)
            self.took.append(takes)
            self.latest = max(self.latest, np.where(np.isinf(begun), -np.inf, begun).max())

    def _tell_apart(self, ranks: Ints) -> None:
        """Of ranks that act at the same time and come from different rounds it is not known who is first."""
        if self.mixed:
            order = ranks[np.lexsort((self.origin[ranks], self.t[ranks]))]
            t, origin = self.t[order], self.origin[order]
            if ((t[1:] == t[:-1]) & (origin[1:] != origin[:-1])).any():
                raise Unclear("ranks of different rounds meet at the same time")

    def _check_ports(self) -> None:
        """Each message must have found its receiver's port free."""
        if not self.begun:
            return
        begun = np.array(self.begun)
        by_time = np.argsort(begun, axis=0, kind="stable")
        took = np.stack([np.broadcast_to(takes, len(self.t)) for takes in self.took])
        ends = np.take_along_axis(begun + took, by_time, 0)
        begun = np.take_along_axis(begun, by_time, 0)
        none = np.isinf(begun)
        if ((begun[1:] < ends[:-1]) & ~none[1:]).any() or ((begun[0] < self.into_at_first) & ~none[0]).any():
            raise Unclear("a message would have to queue for its port")


def _of(values: Any, ranks: Ints) -> Any:
    """What these ranks have, of what each has or all have."""
    return values[ranks] if isinstance(values, np.ndarray) else values


def _ranked(keys: Ints) -> Ints:
    """The place of each of some different small numbers among all."""
    there = np.zeros(3 * len(keys), np.int64)
    there[keys] = 1
    places: Ints = (np.cumsum(there) - 1)[keys]
    return places


def _placed(order: Ints) -> Ints:
    """The place of each in an order."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places
