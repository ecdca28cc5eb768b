"""The makespan of a schedule of rounds on links, for millions of messages.

The rules are those of `core.network.delivery`, so the times are equal to the last bit to those of
`extensions.fused.step_simulator`. In rounds, a rank sends at most one message and receives at most one at a time. A receive
is therefore known by its receiver, and its properties are entries of lists, which is why this simulator is separate: the
other one, with its objects for steps and mailboxes, takes 2.5 times as long (allgather on 4,096 ranks, 12 rounds). A message
may still be on its way when its sender sends the next one.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any

from fakempi.apps.compare.instants import LARGEST_TABLE
from fakempi.apps.compare.link_routes import Message, Routes
from fakempi.core.network.cost import CostModel
from fakempi.extensions.fused.array_clocks import Undetermined
from fakempi.extensions.fused.programs import ScheduleArrays


def makespan_on_links(schedule: ScheduleArrays, cost: CostModel) -> Any:
    """Return the time at which the last rank has finished, or None if ranks wait forever; all start at time 0.

    Raises `Undetermined` if the schedule does not consist of rounds, or if the network does not consist of such links.
    """
    if not schedule.has_rounds_only or cost.compute_per_byte:
        raise Undetermined("ranks post several messages at a time, or combining takes time")
    return LinkSimulation(schedule, cost).makespan()


class LinkSimulation:
    """The ranks, the ports and the links of one schedule. Ports and links have numbers: ports of ranks come first.

    An instant has three steps, until nothing is left to do at its time: ranks take their turns (`_take_turn`), the messages
    that they have posted become ready (`_finish`), and messages take links and ports in order (`_make_attempts`).
    """

    def __init__(self, schedule: ScheduleArrays, cost: CostModel) -> None:
        p = self.p = schedule.p
        self.routes = Routes(cost, p)
        self.eager_limit = cost.eager_limit or -1  # with a limit of 0 not even an empty message is eager
        self.rounds: list[tuple[list[int], list[int], list[int]]] = []  # by rank: source, destination, bytes
        for phase in schedule.phases():
            sources, dests, sizes, *_ = phase.round
            each = [sizes] * p if isinstance(sizes, int) else sizes.tolist()
            self.rounds.append((sources.tolist(), dests.tolist(), each))
            if len(self.rounds) * p > LARGEST_TABLE:
                raise Undetermined("the lists would be too long")
        self.has_both = len({nbytes <= self.eager_limit for *_, sizes in self.rounds for nbytes in sizes}) > 1

        # Times, as in `core.kernel.agenda`. Numbers below p are turns of ranks, larger ones free ports and links.
        self.now: Any = 0
        self.items_at: dict[Any, list[Any]] = {0: list(range(p))}
        self.times: list[Any] = []  # a heap

        # Ranks.
        self.next_round, self.ended = [0] * p, 0
        self.awaited = [0] * p  # the number of messages whose ends a waiting rank does not know
        self.until: list[Any] = [0] * p  # the latest known end

        # Messages.
        self.serials = 0  # places of messages in the order of sends
        self.new: list[int] = []  # senders of this instant
        self.matched: list[Message] = []  # messages whose receives were posted at this instant
        self.to, self.size = [0] * p, [0] * p  # of the message that a rank sends now
        self.expected = [-1] * p  # the source of the receive that a rank has posted, if no message has matched it
        self.unexpected: dict[int, deque[Any]] = {}  # by receiver and sender: ends, or messages that wait for the receive
        self.last_eager: dict[int, Message] = {}  # by receiver and sender, if there are messages of both kinds

        # Ports and links.
        self.out_free: list[Any] = [0] * p  # output ports
        self.port_free: list[Any] = [0] * p  # input ports, then links
        self.queue: list[list[Any]] = [[] for _ in range(p)]  # the same: heaps of messages that wait
        self.freed: list[int] = []  # at this instant
        self.attempts: list[Any] = []  # a heap: messages that try to take a link or a port, as in `Delivery`

    # -- time -----------------------------------------------------------------------------------------------------

    def makespan(self) -> Any:
        """Return the time at which the last rank has finished, or None if ranks wait forever."""
        p, attempts, freed, items_at = self.p, self.attempts, self.freed, self.items_at
        due, done = items_at[0], 0  # the items of this time, and how many of them were taken
        while True:
            for item in due[done:]:
                if item.__class__ is Message:
                    attempts.append((self.now, (0 if item.stage < len(item.route.links) else inf, item.serial), item))
                elif item < p:
                    self._take_turn(item)
                else:
                    freed.append(item - p)
            done = len(due)
            if self.new or self.matched or freed or attempts:
                self._finish()
            elif done == len(due):
                del items_at[self.now]
                if not self.times:
                    return self.now if self.ended == p else None  # the last event is the last turn of a rank
                self.now = heappop(self.times)
                due, done = items_at[self.now], 0

    def _add_item(self, at: Any, item: Any) -> None:
        items = self.items_at.get(at)
        if items is None:
            self.items_at[at] = [item]
            heappush(self.times, at)
        else:
            items.append(item)

    # -- ranks ----------------------------------------------------------------------------------------------------

    def _take_turn(self, rank: int) -> None:
        """Post the messages of the next rounds until the rank has to wait or has completed all rounds."""
        now, rounds = self.now, self.rounds
        while self.next_round[rank] < len(rounds):
            sources, dests, sizes = rounds[self.next_round[rank]]
            self.next_round[rank] += 1
            source, dest = sources[rank], dests[rank]
            if source < 0 and dest < 0:
                continue
            received = self._receive(rank, source) if source >= 0 else now
            if dest >= 0:
                self.to[rank], self.size[rank] = dest, sizes[rank]
                self.new.append(rank)
            self.until[rank] = latest = now if received is None else max(now, received)
            self.awaited[rank] = count = (received is None) + (dest >= 0)
            if count:
                return
            if latest > now:
                self._add_item(latest, rank)
                return
        self.ended += 1

    def _receive(self, rank: int, source: int) -> Any:
        """Post a receive; return its end, or None if that is not known."""
        waiting = self.unexpected.get(rank * self.p + source)
        if not waiting:
            self.expected[rank] = source
        elif (found := waiting.popleft()).__class__ is Message:
            self.matched.append(found)
        else:
            return found
        return None

    def _settle(self, rank: int, end: Any) -> None:
        """The end of a message of a waiting rank is known; after the last one, book the next turn of the rank."""
        if end > self.until[rank]:
            self.until[rank] = end
        self.awaited[rank] -= 1
        if not self.awaited[rank]:
            self._add_item(self.until[rank], rank)

    # -- messages -------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Give links and ports to messages, when all ranks that can run at this time have run."""
        for port in self.freed:
            if self.queue[port] and self.port_free[port] <= self.now:
                self.attempts.append(heappop(self.queue[port]))
        self.freed.clear()
        heapify(self.attempts)
        for message in self.matched:
            message.is_matched = True
            self._depart(message)
        self.matched.clear()
        self.new.sort()
        for sender in self.new:
            self._send(sender)
        self.new.clear()
        self._make_attempts()

    def _send(self, sender: int) -> None:
        """Post a message, which is ready if it is eager or its receive is posted."""
        self.serials += 1
        dest = self.to[sender]
        message, pair = Message(sender, dest, self.size[sender], self.serials), dest * self.p + sender
        if message.nbytes <= self.eager_limit:
            if self.has_both:
                self.last_eager[pair] = message
            self._depart(message)
            return
        if self.has_both and not getattr(self.last_eager.get(pair), "has_started", True):
            raise Undetermined("a message that waits for its receive follows one that is on its way")
        if self.expected[dest] == sender:
            message.is_matched, self.expected[dest] = True, -1
            self._depart(message)
        else:
            self.unexpected.setdefault(pair, deque()).append(message)

    def _depart(self, message: Message) -> None:
        """A message is ready: take its links, one after the other, until one is busy; then its receiver's port."""
        sender, routes = message.sender, self.routes
        if self.out_free[sender] > self.now:
            raise Undetermined("a port is held after the end of a send")
        found = routes.found.get((routes.node[sender], routes.node[message.dest], message.nbytes))
        if found is None:
            found = routes.find(sender, message.dest, message.nbytes)
            added = self.p + len(routes.gap) - len(self.queue)
            self.port_free.extend([0] * added)
            self.queue.extend([] for _ in range(added))
        message.route, message.start = found, self.now
        if not self._flies(message):
            heappush(self.attempts, (self.now, (0 if found.links else inf, message.serial), message))

    def _flies(self, message: Message) -> bool:
        """Let the first byte of a message move on to its next link or port; return whether that takes time."""
        route = message.route
        if route.heads is None:
            return False
        head = route.heads[message.stage]
        if head >= route.sent and not message.has_left:
            self._leave(message)
        due = message.start + head
        if due > self.now:
            self._add_item(due, message)
            return True
        return False

    def _leave(self, message: Message) -> None:
        """The end of a send is known."""
        message.has_left = True
        self.out_free[message.sender] = message.start + message.route.hold
        self._settle(message.sender, message.start + message.route.sent)

    # -- ports and links ------------------------------------------------------------------------------------------

    def _make_attempts(self) -> None:
        """Let messages take their next links or ports, in order, until each has to wait or its transfer starts."""
        attempts, now, p = self.attempts, self.now, self.p
        port_free, queue, gap, t_w = self.port_free, self.queue, self.routes.gap, self.routes.t_w
        while attempts:
            since, order, message = heappop(attempts)
            links, heads = message.route.links, message.route.heads
            while True:
                at = message.stage
                port = message.dest if at == len(links) else p + links[at]
                waiting = queue[port]
                if port_free[port] > now or (waiting and waiting[0] < (since, order, message)):
                    heappush(waiting, (since, order, message))
                    if len(waiting) == 1:
                        self._wake(port)
                    break
                if heads is not None and now > message.start + heads[at]:
                    message.start = now - heads[at]  # it has waited
                if at == len(links):
                    self._start(message)
                    break
                link = links[at]
                port_free[port] = now + (gap[link] + message.nbytes * t_w[link])
                if waiting:
                    self._wake(port)
                message.stage = at + 1
                # As in `Transfers`, messages move one link at a time.
                order = (inf if at + 1 == len(links) else order[0] + 1 if since == now else 1), message.serial
                since = now
                if self._flies(message):
                    break
                if attempts and attempts[0] < (now, order, message):
                    heappush(attempts, (now, order, message))
                    break

    def _wake(self, port: int) -> None:
        """Let the first message that waits for a port or a link try again when that is free."""
        if self.port_free[port] > self.now:
            self._add_item(self.port_free[port], self.p + port)
        else:
            heappush(self.attempts, heappop(self.queue[port]))

    def _start(self, message: Message) -> None:
        """Give the receiver's port to a message; the ends of the send and of its receive are known."""
        sender, dest, route = message.sender, message.dest, message.route
        message.has_started = True
        if route.heads is None:
            message.start = self.now
        self.port_free[dest] = self.now + route.hold
        if self.queue[dest]:
            self._wake(dest)
        arrived = max(self.now, message.start + route.arrived)
        if message.is_matched or self.expected[dest] == sender:
            if not message.is_matched:
                self.expected[dest] = -1
            self._settle(dest, arrived)
        else:  # an eager message
            self.unexpected.setdefault(dest * self.p + sender, deque()).append(arrived)
        if not message.has_left:
            self._leave(message)
