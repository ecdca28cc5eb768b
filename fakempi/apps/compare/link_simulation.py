"""The makespan of a schedule of rounds on links, for millions of messages.

The rules are those of `core.network.delivery`, so the times are equal to the last bit to those of
`extensions.fused.step_simulator`. In rounds, a rank sends at most one message and receives at most one at a time. A receive
is therefore known by its receiver, and its properties are entries of lists. A message may still be on its way when its
sender sends the next one.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

from fakempi.core.network.cost import CostModel
from fakempi.core.network.models.linked import Linked
from fakempi.core.network.models.two_level import TwoLevel
from fakempi.extensions.fused.array_clocks import Undetermined
from fakempi.extensions.fused.programs import ScheduleArrays


class _Route(NamedTuple):
    """The way of a message between two nodes."""

    links: list[int]  # their numbers
    heads: list[Any] | None  # when the first byte reaches each of them, and the receiver's port; None: there is no latency
    hold: Any
    sent: Any
    arrived: Any


class _Message:
    """A message on its way; the times of its route are relative to `start`."""

    route: _Route  # set when it is ready

    __slots__ = ("dest", "has_left", "has_started", "is_matched", "nbytes", "route", "sender", "serial", "stage", "start")

    def __init__(self, sender: int, dest: int, nbytes: int, serial: int) -> None:
        self.sender, self.dest, self.nbytes, self.serial = sender, dest, nbytes, serial
        self.is_matched = self.has_left = self.has_started = False
        self.stage = 0  # the number of links that it has taken
        self.start: Any = 0


class _Routes:
    """Links, numbered in the order of their first use, and the routes between nodes."""

    def __init__(self, cost: CostModel, p: int) -> None:
        if not isinstance(cost, (TwoLevel, Linked)) or not (cost.duplex and cost.ports == 1 and cost.in_order):
            raise Undetermined("times depend on more than the links between two nodes")
        self.cost = cost
        numbers: dict[Any, int] = {}
        self.node = [numbers.setdefault(cost.node(rank), len(numbers)) for rank in range(p)]
        self.numbers: dict[Any, int] = {}  # of links, by name
        self.gap: list[Any] = []  # by link
        self.t_w: list[Any] = []
        self.latency: list[Any] = []
        self.found: dict[tuple[int, int, int], _Route] = {}

    def find(self, source: int, dest: int, nbytes: int) -> _Route:
        """Return the way of a message, which depends on the nodes of its ranks."""
        names = self.cost.route(source, dest)
        if names is None:
            raise Undetermined("network ports are held as long as those of ranks")
        for name in names:
            if name not in self.numbers:
                link = self.cost.link(name)
                if link.width != 1:
                    raise Undetermined("a link transfers several messages at a time")
                self.numbers[name] = len(self.numbers)
                self.gap.append(link.gap)
                self.t_w.append(link.t_w)
                self.latency.append(link.latency)
        links = [self.numbers[name] for name in names]
        latency = self.cost.latency(source, dest, nbytes)
        heads = [min(at, latency) for at in accumulate((self.latency[link] for link in links[:-1]), initial=0)]
        times = self.cost.transfer(source, dest, nbytes)
        found = _Route(links, [*heads[: len(links)], latency] if latency > 0 else None, *times)
        self.found[self.node[source], self.node[dest], nbytes] = found
        return found


def makespan_on_links(schedule: ScheduleArrays, cost: CostModel) -> Any:
    """Return the time at which the last rank has finished, or None if ranks wait forever; all start at time 0.

    Raises `Undetermined` if the schedule does not consist of rounds, or if the network does not consist of such links.
    """
    if not schedule.has_rounds_only or cost.compute_per_byte:
        raise Undetermined("ranks post several messages at a time, or combining takes time")
    p, eager_limit = schedule.p, cost.eager_limit or -1  # with a limit of 0 not even an empty message is eager
    routes = _Routes(cost, p)
    node, known, gap, t_w = routes.node, routes.found, routes.gap, routes.t_w
    rounds: list[tuple[list[int], list[int], list[int]]] = []  # by rank: source, destination, bytes
    for phase in schedule.phases():
        sources, dests, sizes, *_ = phase.round
        rounds.append((sources.tolist(), dests.tolist(), [sizes] * p if isinstance(sizes, int) else sizes.tolist()))

    now: Any = 0
    due: list[Any] = list(range(p))  # numbers below p: turns of ranks; larger ones: ports and links that are free; messages
    items_at, times = {now: due}, list[Any]()  # as in `core.kernel.agenda`
    new, matched, freed = list[int](), list[_Message](), list[int]()  # for the end of the instant: senders; ports and links
    attempts = list[Any]()  # a heap: messages that try to take a link or a port, as in `Delivery`
    serials = 0  # places of messages in the order of sends
    next_round, ended = [0] * p, 0
    awaited = [0] * p  # the number of messages whose ends a waiting rank does not know
    until = [now] * p  # the latest known end
    send_end: list[Any] = [None] * p
    receive_end: list[Any] = [None] * p
    expected = [-1] * p  # the source of the receive that a rank has posted, if no message has matched it
    unexpected: dict[int, deque[Any]] = {}  # by receiver and sender: ends, or messages that wait for the receive
    out_free = [now] * p
    port_free: list[Any] = [now] * p  # of input ports, then of links
    queue: list[list[Any]] = [[] for _ in range(p)]  # the same: heaps of messages that wait
    to, size = [0] * p, [0] * p  # of the message that a rank sends now
    has_both = len({nbytes <= eager_limit for *_, sizes in rounds for nbytes in sizes}) > 1
    last_eager: dict[int, _Message] = {}  # by receiver and sender, if there are messages of both kinds

    def book(at: Any, item: Any) -> None:
        if at in items_at:
            items_at[at].append(item)
        else:
            items_at[at] = [item]
            heappush(times, at)

    def wake(port: int) -> None:
        """Let the first message that waits for a port or a link try again when that is free."""
        if port_free[port] > now:
            book(port_free[port], p + port)
        else:
            heappush(attempts, heappop(queue[port]))

    def depart(message: _Message) -> None:
        """A message is ready: take its links, one after the other, until one is busy; then its receiver's port."""
        sender, dest, nbytes = message.sender, message.dest, message.nbytes
        if out_free[sender] > now:
            raise Undetermined("a port is held after the end of a send")
        found = known.get((node[sender], node[dest], nbytes))
        if found is None:
            found = routes.find(sender, dest, nbytes)
            port_free.extend([0] * (p + len(gap) - len(port_free)))
            queue.extend([] for _ in range(p + len(gap) - len(queue)))
        message.route, message.start = found, now
        if not flies(message):
            heappush(attempts, (now, (0 if found.links else inf, message.serial), message))

    def flies(message: _Message) -> bool:
        """Let the first byte of a message move on to its next link or port; return whether that takes time."""
        route = message.route
        if route.heads is None:
            return False
        head = route.heads[message.stage]
        if head >= route.sent and not message.has_left:
            leave(message)
        due = message.start + head
        if due > now:
            book(due, message)
        return bool(due > now)

    def leave(message: _Message) -> None:
        """The end of a send is known."""
        message.has_left = True
        out_free[message.sender] = message.start + message.route.hold
        end_send(message.sender, message.start + message.route.sent)

    def make_attempts() -> None:
        """Let messages take their next links or ports, in order, until each has to wait or its transfer starts."""
        while attempts:
            since, order, message = heappop(attempts)
            links = message.route.links
            while True:
                at = message.stage
                port = message.dest if at == len(links) else p + links[at]
                waiting = queue[port]
                if port_free[port] > now or (waiting and waiting[0] < (since, order, message)):
                    heappush(waiting, (since, order, message))
                    if len(waiting) == 1:
                        wake(port)
                    break
                if message.route.heads is not None and now > message.start + message.route.heads[at]:
                    message.start = now - message.route.heads[at]  # it has waited
                if at == len(links):
                    start(message)
                    break
                link = links[at]
                port_free[port] = now + (gap[link] + message.nbytes * t_w[link])
                if waiting:
                    wake(port)
                message.stage = at + 1
                # As in `Transfers`, messages move one link at a time.
                order = (inf if at + 1 == len(links) else order[0] + 1 if since == now else 1), message.serial
                since = now
                if flies(message):
                    break
                if attempts and attempts[0] < (now, order, message):
                    heappush(attempts, (now, order, message))
                    break

    def finish() -> None:
        """Give links and ports to messages, when all ranks that can run at this time have run."""
        nonlocal serials
        for port in freed:
            if queue[port] and port_free[port] <= now:
                attempts.append(heappop(queue[port]))
        freed.clear()
        heapify(attempts)
        for message in matched:
            message.is_matched = True
            depart(message)
        matched.clear()
        new.sort()
        for sender in new:
            serials += 1
            dest = to[sender]
            message = _Message(sender, dest, size[sender], serials)
            is_eager = message.nbytes <= eager_limit
            if has_both and not is_eager and not getattr(last_eager.get(dest * p + sender), "has_started", True):
                raise Undetermined("a message that waits for its receive follows one that is on its way")
            if not is_eager and expected[dest] == sender:
                message.is_matched, expected[dest] = True, -1
            if is_eager or message.is_matched:
                if is_eager and has_both:
                    last_eager[dest * p + sender] = message
                depart(message)
            else:
                unexpected.setdefault(dest * p + sender, deque()).append(message)
        new.clear()
        make_attempts()

    def start(message: _Message) -> None:
        """Give the receiver's port to a message; the ends of the send and of its receive are known."""
        sender, dest, route = message.sender, message.dest, message.route
        message.has_started = True
        if route.heads is None:
            message.start = now
        port_free[dest] = now + route.hold
        if queue[dest]:
            wake(dest)
        arrived = max(now, message.start + route.arrived)
        if message.is_matched or expected[dest] == sender:
            if not message.is_matched:
                expected[dest] = -1
            end_receive(dest, arrived)
        else:  # an eager message
            unexpected.setdefault(dest * p + sender, deque()).append(arrived)
        if not message.has_left:
            leave(message)

    def end_send(rank: int, end: Any) -> None:
        send_end[rank] = end
        if awaited[rank]:
            settle(rank, end)

    def end_receive(rank: int, end: Any) -> None:
        receive_end[rank] = end
        if awaited[rank]:
            settle(rank, end)

    def settle(rank: int, end: Any) -> None:
        """The end of a message of a waiting rank is known; after the last one, book the next turn of the rank."""
        if end > until[rank]:
            until[rank] = end
        awaited[rank] -= 1
        if not awaited[rank]:
            book(until[rank], rank)

    def take_turn(rank: int) -> bool:
        """Post the messages of the next rounds until the rank has to wait; return whether it has completed all rounds."""
        while next_round[rank] < len(rounds):
            sources, dests, sizes = rounds[next_round[rank]]
            next_round[rank] += 1
            source, dest = sources[rank], dests[rank]
            if source < 0 and dest < 0:
                continue
            receive_end[rank] = send_end[rank] = now
            if source >= 0:
                receive_end[rank] = None
                waiting = unexpected.get(rank * p + source)
                if not waiting:
                    expected[rank] = source
                elif (found := waiting.popleft()).__class__ is _Message:
                    matched.append(found)
                else:
                    receive_end[rank] = found
            if dest >= 0:
                send_end[rank], to[rank], size[rank] = None, dest, sizes[rank]
                new.append(rank)
            latest, count = now, 0
            for end in (send_end[rank], receive_end[rank]):
                if end is None:
                    count += 1
                elif end > latest:
                    latest = end
            until[rank], awaited[rank] = latest, count
            if count:
                return False
            if latest > now:
                book(latest, rank)
                return False
        return True

    done = 0  # number of items of `due` that were taken
    while True:
        for item in due[done:]:
            if item.__class__ is _Message:
                attempts.append((now, (0 if item.stage < len(item.route.links) else inf, item.serial), item))
            elif item < p:
                ended += take_turn(item)
            else:
                freed.append(item - p)
        done = len(due)
        if new or matched or freed or attempts:
            finish()
        elif done == len(due):
            del items_at[now]
            if not times:
                return now if ended == p else None  # the last event is the last turn of a rank
            now = heappop(times)
            due, done = items_at[now], 0
