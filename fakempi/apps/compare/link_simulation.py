"""The makespan of a schedule of rounds on links, for millions of messages.

The rules are those of `core.network.delivery`, so the times are equal to the last bit to those of
`extensions.fused.step_simulator`. In rounds, a rank sends at most one message and receives at most one at a time. A message
is therefore known by its sender and a receive by its receiver, and their properties are entries of lists.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush
from typing import Any

from fakempi.core.network.cost import CostModel
from fakempi.core.network.models.linked import Linked
from fakempi.core.network.models.two_level import TwoLevel
from fakempi.extensions.fused.array_clocks import Undetermined
from fakempi.extensions.fused.programs import ScheduleArrays


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
        self.found: dict[tuple[int, int, int], Any] = {}

    def find(self, source: int, dest: int, nbytes: int) -> tuple[list[int], Any]:
        """Return the links of a message and the three times of its transfer; both depend on the nodes of its ranks."""
        names = self.cost.route(source, dest)
        if names is None:
            raise Undetermined("network ports are held as long as those of ranks")
        for name in names:
            if name not in self.numbers:
                t_w, width, gap = self.cost.link(name)
                if width != 1:
                    raise Undetermined("a link transfers several messages at a time")
                self.numbers[name] = len(self.numbers)
                self.gap.append(gap)
                self.t_w.append(t_w)
        found = [self.numbers[name] for name in names], self.cost.transfer(source, dest, nbytes)
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
    due = list(range(p))  # numbers below p: turns of ranks; then input ports that become free; then links
    items_at, times = {now: due}, list[Any]()  # as in `core.kernel.agenda`
    new, matched, freed = list[int](), list[int](), list[int]()  # for the end of the instant: senders; ports and links
    attempts = list[Any]()  # a heap: messages that try to take a link or a port, as in `Delivery`
    serials, serial = 0, [0] * p  # places of messages in the order of sends
    next_round, ended = [0] * p, 0
    awaited = [0] * p  # the number of messages whose ends a waiting rank does not know
    until = [now] * p  # the latest known end
    send_end: list[Any] = [None] * p
    receive_end: list[Any] = [None] * p
    expected = [-1] * p  # the source of the receive that a rank has posted, if no message has matched it
    unexpected: dict[int, deque[Any]] = {}  # by receiver and sender: ends of transfers, None: waits for the receive
    out_free = [now] * p
    port_free: list[Any] = [now] * p  # of input ports, then of links
    queue: list[list[Any]] = [[] for _ in range(p)]  # the same: heaps of messages that wait
    to, size, stage, is_matched = [0] * p, [0] * p, [0] * p, [False] * p  # of the message of each sender
    path: list[Any] = [()] * p
    price: list[Any] = [()] * p

    def book(at: Any, item: int) -> None:
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

    def depart(sender: int) -> None:
        """A message is ready: take its links, one after the other, until one is busy; then its receiver's port."""
        if out_free[sender] > now:
            raise Undetermined("a port is held after the end of a send")
        dest, nbytes = to[sender], size[sender]
        found = known.get((node[sender], node[dest], nbytes))
        if found is None:
            found = routes.find(sender, dest, nbytes)
            port_free.extend([0] * (p + len(gap) - len(port_free)))
            queue.extend([] for _ in range(p + len(gap) - len(queue)))
        path[sender], price[sender] = found
        stage[sender] = 0
        heappush(attempts, (now, serial[sender], sender))

    def make_attempts() -> None:
        """Let messages take their next links or ports, in order, until each has to wait or its transfer starts."""
        while attempts:
            since, order, sender = heappop(attempts)
            links, at = path[sender], stage[sender]
            while True:
                port = to[sender] if at == len(links) else p + links[at]
                waiting = queue[port]
                if port_free[port] > now or (waiting and waiting[0] < (since, order, sender)):
                    heappush(waiting, (since, order, sender))
                    if len(waiting) == 1:
                        wake(port)
                    break
                if at == len(links):
                    start(sender, port)
                    break
                link = links[at]
                port_free[port] = now + (gap[link] + size[sender] * t_w[link])
                if waiting:
                    wake(port)
                at = stage[sender] = at + 1
                since = now
                if attempts and attempts[0] < (now, order, sender):
                    heappush(attempts, (now, order, sender))
                    break

    def finish() -> None:
        """Give links and ports to messages, when all ranks that can run at this time have run."""
        nonlocal serials
        for port in freed:
            if queue[port] and port_free[port] <= now:
                attempts.append(heappop(queue[port]))
        freed.clear()
        heapify(attempts)
        for sender in matched:
            is_matched[sender] = True
            depart(sender)
        matched.clear()
        make_attempts()
        new.sort()
        for sender in new:
            serials = serial[sender] = serials + 1
            is_eager, dest = size[sender] <= eager_limit, to[sender]
            is_matched[sender] = not is_eager and expected[dest] == sender
            if is_matched[sender]:
                expected[dest] = -1
            if is_eager or is_matched[sender]:
                depart(sender)
                make_attempts()
            else:
                unexpected.setdefault(dest * p + sender, deque()).append(None)
        new.clear()

    def start(sender: int, dest: int) -> None:
        """Start a transfer; the ends of the send and of its receive are known."""
        hold, sent, arrived = price[sender]
        out_free[sender] = port_free[dest] = now + hold
        if queue[dest]:
            wake(dest)
        sent, arrived = now + sent, now + arrived
        if is_matched[sender]:
            end_send(sender, sent)
            end_receive(dest, arrived)
        else:  # an eager message
            if expected[dest] == sender:
                expected[dest] = -1
                end_receive(dest, arrived)
            else:
                unexpected.setdefault(dest * p + sender, deque()).append(arrived)
            end_send(sender, sent)

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
                elif (arrived := waiting.popleft()) is not None:
                    receive_end[rank] = arrived
                else:
                    matched.append(source)
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
            if item < p:
                ended += take_turn(item)
            else:
                freed.append(item - p)
        done = len(due)
        if new or matched or freed:
            finish()
        elif done == len(due):
            del items_at[now]
            if not times:
                return now if ended == p else None  # the last event is the last turn of a rank
            now = heappop(times)
            due, done = items_at[now], 0
