"""The makespan of a schedule of rounds on a machine of two levels, with all messages of an instant in numpy arrays.

If all nodes do the same, thousands of messages move at the same time: a million messages of 65,536 ranks move at about a
thousand points in time. The rules and the times are those of `link_simulation`, which moves one message after the other.
Three properties of this case allow arrays:

- In rounds, a receive of round k matches the message that is sent to its rank in round k. A rank sends its next message
  after the previous one, so a message is known by its sender.
- A message takes the port of its sender's node, then that of its receiver's node, then that of its receiver. In an instant
  each port serves at most one message, because each message holds it for some time.
- Messages that wait for a port are served in the order in which they reached it, those of one instant in the order of
  sends. New messages are therefore added to the end of a queue.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from fakempi.core.network.cost import CostModel
from fakempi.core.network.models.two_level import TwoLevel
from fakempi.extensions.fused.array_clocks import Floats, Undetermined
from fakempi.extensions.fused.programs import Ints, ScheduleArrays

FEWEST_MESSAGES = 512
"""On average in a round; with fewer, `link_simulation` is as fast."""

LARGEST_TABLE = 1 << 25
"""Upper limit of the entries of a table that has an entry for each rank and round."""

ALLOWED, SHARE_STARTED, SHARE_ALL = 256, 16, 128
"""After ALLOWED instants, another one for SHARE_STARTED messages that have started, and for SHARE_ALL messages of all. A
schedule with more is left to `link_simulation`: an instant takes as long as 16 of its messages."""

UNKNOWN = np.inf


def makespan_by_instants(schedule: ScheduleArrays, cost: CostModel, fewest: float = FEWEST_MESSAGES) -> Any:
    """Return the time at which the last rank has finished, or None if ranks wait forever; all start at time 0.

    Raises `Undetermined` if this needs other rules than those of two levels, or if few messages move at a time.
    """
    if not schedule.has_rounds_only or schedule.messages_per_phase < fewest:
        raise Undetermined("ranks post several messages at a time, or there are few messages in a round")
    return _Instants(_Messages(schedule, cost)).makespan()


class _Messages:
    """The messages of a schedule: tables with a row for each round and a column for each sender, or receiver."""

    def __init__(self, schedule: ScheduleArrays, cost: CostModel) -> None:
        p = self.p = schedule.p
        gap = cost.network_gap if type(cost) is TwoLevel and cost.in_order and cost.ports == 1 else None
        if gap is None or not isinstance(cost, TwoLevel) or cost.network_ports != 1 or cost.compute_per_byte:
            raise Undetermined("the network has other links than one of each node")
        if not cost.duplex or type(cost.inter.t_w) is not float or type(gap) not in (int, float):
            raise Undetermined("a cost is not a float, or ports serve both directions")
        rounds = []
        for phase in schedule.phases():
            rounds.append(phase.round)
            if len(rounds) * p > LARGEST_TABLE:
                raise Undetermined("there are too many rounds")
        self.source, self.dest = (np.array([each[field] for each in rounds]) for field in (0, 1))  # -1: there is none
        nbytes = np.array([np.broadcast_to(each.nbytes, p) for each in rounds])
        numbers: dict[Any, int] = {}
        self.node = np.array([numbers.setdefault(cost.node(rank), len(numbers)) for rank in range(p)])
        self.nodes = len(numbers)
        is_sent = self.dest >= 0
        self.count = int(is_sent.sum())
        self.leaves_node = is_sent & (self.node[self.dest] != self.node)
        self.is_eager = nbytes <= (cost.eager_limit or -1)  # with a limit of 0 not even an empty message is eager
        self.on_link = float(gap) + nbytes * cost.inter.t_w
        holds = self.on_link[self.leaves_node]
        if not holds.any():  # ports of nodes are always free
            self.leaves_node[:] = False
        elif not holds.all():
            raise Undetermined("some messages hold the ports of nodes for no time")
        self.lasts = self._durations(cost, nbytes)

    def _durations(self, cost: TwoLevel, nbytes: Ints) -> Floats:
        """The time of each transfer, which depends on its size and on whether it leaves the node."""
        lasts = np.zeros(nbytes.shape)
        between = self.node[self.dest] != self.node
        for level in (False, True):
            places = (self.dest >= 0) & (between == level)
            _, examples, which = np.unique(nbytes[places], return_index=True, return_inverse=True)
            found = []
            for row, rank in np.argwhere(places)[examples].tolist():
                size = int(nbytes[row, rank])
                hold, sent, arrived = cost.transfer(rank, int(self.dest[row, rank]), size)
                if not (type(hold) is float and hold == sent == arrived):
                    raise Undetermined("ports are held for other times than those of a transfer")
                found.append(hold)
            lasts[places] = np.array(found)[which] if found else 0
        return lasts


class _Instants:
    """The ranks and the ports, with numbers: output and input ports of nodes, then input ports of ranks."""

    def __init__(self, messages: _Messages) -> None:
        self.messages = messages
        p, rounds = messages.p, len(messages.source)
        self.first_input, self.first_of_ranks = messages.nodes, 2 * messages.nodes
        self.now = 0.0
        self.times: list[float] = []  # a heap
        self.items_at: dict[float, tuple[list[Ints], list[Ints]]] = {}  # ranks that take a turn, and ports that are free
        self.next_round = np.zeros(p, np.int64)
        self.ended = self.started = self.instants = 0
        self.awaited = np.zeros(p, np.int64)  # the number of messages whose ends a waiting rank does not know
        self.until = np.zeros(p)  # the latest known end
        self.arrival = np.full((rounds, p), UNKNOWN)  # by receiver: the end of an eager message that came first
        self.offered = np.zeros((rounds, p), bool)  # by receiver: a message waits for the receive
        self.round_sent = np.zeros(p, np.int64)  # by sender: the round of its message on the way
        self.serial = np.zeros(p, np.int64)  # and its place in the order of sends
        self.serials = 0
        ports = self.first_of_ranks + p
        self.free_at = np.zeros(ports)
        self.head, self.tail = np.full(ports, -1), np.full(ports, -1)  # of queues: senders
        self.behind = np.full(p, -1)  # the next one in the queue

    def makespan(self) -> Any:
        """Return the time at which the last rank has finished, or None if ranks wait forever."""
        self._book(np.zeros(self.messages.p), np.arange(self.messages.p), 0)
        last = 0.0
        while self.times:
            self.now = heappop(self.times)
            ranks, ports = (np.concatenate(each) if each else _NONE for each in self.items_at.pop(self.now))
            ended = self.ended
            departing = self._take_turns(ranks) if len(ranks) else _NONE
            if self.ended > ended:
                last = self.now
            self._move(departing, np.sort(ports))
            self.instants += 1
            if self.instants > ALLOWED + self.started / SHARE_STARTED + self.messages.count / SHARE_ALL:
                raise Undetermined("few messages move at a time")
        return last if self.ended == self.messages.p else None

    def _book(self, times: Floats, items: Ints, kind: int) -> None:
        """Remember ranks (0) or ports (1) for later times."""
        order = np.argsort(times, kind="stable")
        times, items = times[order], items[order]
        bounds = [0, *(np.flatnonzero(times[1:] != times[:-1]) + 1).tolist(), len(times)]
        for first, end in pairwise(bounds) if len(times) else ():
            at = float(times[first])
            found = self.items_at.get(at)
            if found is None:
                found = self.items_at[at] = ([], [])
                heappush(self.times, at)
            found[kind].append(items[first:end])

    # -- ranks ----------------------------------------------------------------------------------------------------

    def _take_turns(self, ranks: Ints) -> Ints:
        """Let ranks begin their next rounds; return the senders of the messages that are ready."""
        messages, now = self.messages, self.now
        new, matched = [], []
        while len(ranks):
            k = self.next_round[ranks]
            goes_on = k < len(messages.source)
            ranks, k = ranks[goes_on], k[goes_on]
            self.ended += len(goes_on) - len(ranks)
            self.next_round[ranks] = k + 1
            source, sends, arrival = messages.source[k, ranks], messages.dest[k, ranks] >= 0, self.arrival[k, ranks]
            waits = (source >= 0) & (arrival == UNKNOWN)
            matched.append(source[waits & self.offered[k, ranks]])
            self.until[ranks] = latest = np.where((source >= 0) & ~waits, np.maximum(arrival, now), now)
            self.awaited[ranks] = count = waits.astype(np.int64) + sends
            senders = ranks[sends]
            self.round_sent[senders] = k[sends]
            new.append(senders)
            later = (count == 0) & (latest > now)
            self._book(latest[later], ranks[later], 0)
            ranks = ranks[(count == 0) & ~later]
        return np.concatenate([*matched, self._send(np.sort(np.concatenate(new)))])

    def _send(self, senders: Ints) -> Ints:
        """Number the messages that are sent now; return the senders of those that are ready."""
        self.serial[senders] = self.serials + np.arange(len(senders))
        self.serials += len(senders)
        k = self.round_sent[senders]
        dest = self.messages.dest[k, senders]
        is_ready = self.messages.is_eager[k, senders] | (self.next_round[dest] > k)
        self.offered[k[~is_ready], dest[~is_ready]] = True
        ready: Ints = senders[is_ready]
        return ready

    def _settle(self, ranks: Ints, ends: Floats) -> None:
        """The end of a message of each rank is known; after the last one, book the next turn of the rank."""
        self.until[ranks] = np.maximum(self.until[ranks], ends)
        self.awaited[ranks] -= 1
        done = ranks[self.awaited[ranks] == 0]
        self._book(self.until[done], done, 0)

    # -- ports ----------------------------------------------------------------------------------------------------

    def _move(self, departing: Ints, ports: Ints) -> None:
        """Let messages take their ports, in order, until each has to wait or its transfer starts."""
        messages, on_link = self.messages, self.messages.on_link
        leaves = messages.leaves_node[self.round_sent[departing], departing]
        places = np.searchsorted(ports, (self.first_input, self.first_of_ranks))
        out_ports, in_ports, rank_ports = np.split(ports, places)
        moving = departing[leaves]
        moving = self._take(messages.node[moving], moving, out_ports, on_link)
        moving = self._take(self.first_input + messages.node[self._dest(moving)], moving, in_ports, on_link)
        moving = np.concatenate((moving, departing[~leaves]))
        moving = self._take(self.first_of_ranks + self._dest(moving), moving, rank_ports, messages.lasts)
        if len(moving):
            self._start(moving)

    def _dest(self, senders: Ints) -> Ints:
        found: Ints = self.messages.dest[self.round_sent[senders], senders]
        return found

    def _take(self, ports: Ints, senders: Ints, woken: Ints, holds: Floats) -> Ints:
        """Give ports to messages that wait for the woken ones, or to the first message that arrives; queue the others."""
        first_waiting = self.head[woken]
        self.head[woken] = self.behind[first_waiting]
        self._hold(woken, first_waiting, holds)
        still = woken[self.head[woken] >= 0]
        self._book(self.free_at[still], still, 1)
        if not len(senders):
            return first_waiting
        order = np.lexsort((self.serial[senders], ports))
        ports, senders = ports[order], senders[order]
        wins = self.free_at[ports] <= self.now
        wins[1:] &= ports[1:] != ports[:-1]
        self._hold(ports[wins], senders[wins], holds)
        self._queue(ports[~wins], senders[~wins])
        return np.concatenate((first_waiting, senders[wins]))

    def _hold(self, ports: Ints, senders: Ints, holds: Floats) -> None:
        self.free_at[ports] = ends = self.now + holds[self.round_sent[senders], senders]
        if not (ends > self.now).all():
            raise Undetermined("a message holds a port for no time")

    def _queue(self, ports: Ints, senders: Ints) -> None:
        """Add messages to the ends of queues, in this order; equal ports are next to each other."""
        if not len(ports):
            return
        changes = ports[1:] != ports[:-1]
        firsts, lasts = np.append(True, changes), np.append(changes, True)
        self.behind[senders[:-1]] = senders[1:]
        self.behind[senders[lasts]] = -1
        ports, first = ports[firsts], senders[firsts]
        is_empty = self.head[ports] < 0
        self.head[ports[is_empty]] = first[is_empty]
        self.behind[self.tail[ports[~is_empty]]] = first[~is_empty]
        self.tail[ports] = senders[lasts]
        waking = ports[is_empty]
        self._book(self.free_at[waking], waking, 1)

    def _start(self, senders: Ints) -> None:
        """Transfers start; the ends of the sends and of the receives are known."""
        self.started += len(senders)
        k = self.round_sent[senders]
        dest = self.messages.dest[k, senders]
        ends = self.now + self.messages.lasts[k, senders]
        is_posted = self.next_round[dest] > k
        self.arrival[k[~is_posted], dest[~is_posted]] = ends[~is_posted]
        self._settle(dest[is_posted], ends[is_posted])
        self._settle(senders, ends)


_NONE: npt.NDArray[np.int64] = np.zeros(0, np.int64)
