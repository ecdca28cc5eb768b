"""When each rank is done where `clocks` cannot tell: the same laws, event by event, without tasks, envelopes or mailboxes.

Messages queue for their receiver's port here, first come, first served, and ranks of different rounds may meet at the same
time: events are taken in the order in which they are booked, as the loop and the wire do it. What is left unclear: a message
that starts after a rank has gone on, who may send something itself; and whether a rank that has computed meanwhile and comes
at the very moment of an event comes before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush

import numpy as np

from fakempi.paper.clocks import Costs, Floats, Ints, Outcome, Round, Unclear

NEVER = float("inf")


def played_out(
    rounds: Iterable[Round], starts: Floats, order: Ints, into_free: Floats, costs: Costs, booked_since: set[float]
) -> Outcome:
    """What becomes of ranks that come at these times, and in this order, if out-ports are free and in-ports from then on.

    `booked_since` are times for which ranks that come then have booked themselves since the first one came; all others
    were on the agenda before, and so come before any event of theirs.
    """
    return _Play(rounds, starts, order, into_free, costs, booked_since).outcome()


class _Play:
    """All ranks, what each waits for, and who waits for its in-port.

    A rank's turn, and that of its in-port to serve the next in its queue, are booked by number: r, and ~r.
    """

    def __init__(
        self, rounds: Iterable[Round], starts: Floats, order: Ints, into_free: Floats, costs: Costs, uncertain: set[float]
    ) -> None:
        p, came = len(starts), starts.tolist()
        self.p, self.costs, self.now, self.rounds = p, costs, 0.0, list(rounds)
        self.dest = [each.dest.tolist() for each in self.rounds]
        self.source = [each.source.tolist() for each in self.rounds]
        self.sizes = [np.broadcast_to(each.nbytes, p).tolist() for each in self.rounds]
        self.out_free, self.into_free = list(came), into_free.tolist()
        self.lists: dict[float, list[int]] = {}
        for rank in np.argsort(order).tolist():
            self.lists.setdefault(came[rank], []).append(rank)
        self.times, self.uncertain = sorted(self.lists), uncertain
        self.step, self.waits = [0] * p, [False] * p
        self.awaited, self.until = [0] * p, [0.0] * p  # as of a task
        self.expects = [-1] * p  # from whom
        self.boxes: dict[int, deque[float]] = {}  # by sender and receiver: ends of messages that nobody has asked for
        self.queues: dict[int, deque[tuple[int, int, bool]]] = {}  # by receiver: sender, bytes, and whether it is buffered
        self.ends = [0.0] * p
        self.gone: list[int] = []

    def outcome(self) -> Outcome:
        """Take all events in their order."""
        times, lists = self.times, self.lists
        while times:
            self.now = heappop(times)
            for item in lists[self.now]:  # which may grow meanwhile
                if item >= 0:
                    self._turn(item)
                else:
                    self._serve(~item)
            del lists[self.now]
        counts = np.zeros((4, self.p), np.int64)
        for dest, source, nbytes, *_ in self.rounds:
            sizes = np.broadcast_to(nbytes, self.p)
            sends, receives = dest >= 0, source >= 0
            counts += np.stack([sends, sends * sizes, receives, receives * sizes[source]])
        ends, out_free, into_free = map(np.array, (self.ends, self.out_free, self.into_free))
        sent, bytes_sent, received, bytes_received = counts
        order = np.array(self.gone)
        return Outcome(ends, out_free, into_free, sent, bytes_sent, received, bytes_received, order)

    def _book(self, at: float, item: int) -> None:
        items = self.lists.get(at)
        if items is None:
            self.lists[at] = [item]
            heappush(self.times, at)
        elif at in self.uncertain:
            raise Unclear("a rank comes at the very moment of an event")
        else:
            items.append(item)

    def _turn(self, rank: int) -> None:
        """A rank goes on: what it waited for is over, or it has just come."""
        k = self.step[rank]
        while True:
            if self.waits[rank]:
                self.waits[rank] = False
                k += 1
                self.step[rank] = k
                source = self.source[k - 1][rank]
                if self.rounds[k - 1].combines and self.costs.rate and source >= 0:
                    return self._book(self.now + self.costs.rate * self.sizes[k - 1][source], rank)
            if k == len(self.rounds):
                self.ends[rank] = self.now
                return self.gone.append(rank)
            self.waits[rank] = True
            if not self._act(rank, k):
                return None

    def _act(self, rank: int, k: int) -> bool:
        """A rank posts its receive and sends; True if both are over."""
        dest, source, now = self.dest[k][rank], self.source[k][rank], self.now
        unknown, until = 0, now
        if source >= 0:
            end = self._receive(rank, source)
            if end is None:
                unknown += 1
            elif end > until:
                until = end
        if dest >= 0:
            end = self._send(rank, dest, self.sizes[k][rank])
            if end is None:
                unknown += 1
            elif end > until:
                until = end
        self.awaited[rank], self.until[rank] = unknown, until
        if unknown:
            return False
        if until > now:
            self._book(until, rank)
            return False
        return True

    def _receive(self, rank: int, source: int) -> float | None:
        """Post a receive: the end of the message, if that is known."""
        box = self.boxes.get(source * self.p + rank)
        if not box:
            self.expects[rank] = source
            return None
        end = box.popleft()
        if end >= 0:
            return end
        found = self._depart(source, rank, int(-1 - end), False)  # it has waited to be asked for
        if found is not None:
            self._settle(source, found)
        return found

    def _send(self, rank: int, dest: int, nbytes: int) -> float | None:
        """Send: the end of the message, if that is known."""
        expected, buffered = self.expects[dest] == rank, nbytes <= self.costs.eager_limit
        if not buffered:
            if not expected:
                self.boxes.setdefault(rank * self.p + dest, deque()).append(-1.0 - nbytes)
                return None
            self.expects[dest] = -1
        end = self._depart(rank, dest, nbytes, buffered)
        if end is not None:
            self._arrive(rank, dest, end, buffered)
        return end

    def _arrive(self, rank: int, dest: int, end: float, buffered: bool) -> None:
        """A message travels: its receiver knows, or it lies in the mailbox."""
        if not buffered:
            self._settle(dest, end)
        elif self.expects[dest] == rank:
            self.expects[dest] = -1
            self._settle(dest, end)
        else:
            self.boxes.setdefault(rank * self.p + dest, deque()).append(end)

    def _depart(self, rank: int, dest: int, nbytes: int, buffered: bool) -> float | None:
        """Take the ports, of which the sender's is free; the end, or None if it has to queue for the receiver's."""
        queue, free_at = self.queues.get(dest), self.into_free[dest]
        if queue or free_at > self.now:
            if not queue and free_at < NEVER:
                self._book(free_at, ~dest)
            self.queues.setdefault(dest, deque()).append((rank, nbytes, buffered))
            return None
        return self._start(rank, dest, nbytes)

    def _start(self, rank: int, dest: int, nbytes: int) -> float:
        if self.gone:
            raise Unclear("a rank goes on before all messages have started")
        end = self.now + (self.costs.t_s + nbytes * self.costs.t_w)
        self.out_free[rank] = self.into_free[dest] = end
        return end

    def _serve(self, dest: int) -> None:
        """An in-port is free, and somebody waits for it."""
        queue = self.queues[dest]
        rank, nbytes, buffered = queue.popleft()
        end = self._start(rank, dest, nbytes)
        if queue:
            self._book(end, ~dest)
        if buffered:
            self._arrive(rank, dest, end, True)
            self._settle(rank, end)
        else:
            self._settle(rank, end)
            self._settle(dest, end)

    def _settle(self, rank: int, end: float) -> None:
        """One of the things that a rank waits for will be over then."""
        if end > self.until[rank]:
            self.until[rank] = end
        self.awaited[rank] -= 1
        if not self.awaited[rank]:
            self._book(self.until[rank], rank)
