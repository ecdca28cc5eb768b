"""The makespan of a schedule of rounds on links, for millions of messages.

The events are those of `extensions.fused.step_simulator` on a `core.network.delivery.Delivery`, in the same order, so the
times are equal to the last bit. In rounds, a rank sends at most one message and receives at most one at a time. A message
is therefore known by its sender and a receive by its receiver, and their properties are entries of lists.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
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
    next_round, ended = [0] * p, 0
    awaited = [0] * p  # the number of messages whose ends a waiting rank does not know
    until = [now] * p  # the latest known end
    send_end: list[Any] = [None] * p
    receive_end: list[Any] = [None] * p
    expected = [-1] * p  # the source of the receive that a rank has posted, if no message has matched it
    unexpected: dict[int, deque[Any]] = {}  # by receiver and sender: ends of transfers, None: waits for the receive
    out_free, into_free, into_queue = [now] * p, [now] * p, [()] * p  # type: list[Any], list[Any], list[Any]
    link_free: list[Any] = []
    link_queue: list[deque[int]] = []
    to, size, stage, is_matched = [0] * p, [0] * p, [0] * p, [False] * p  # of the message of each sender
    path: list[Any] = [()] * p
    price: list[Any] = [()] * p

    def book(at: Any, item: int) -> None:
        if at in items_at:
            items_at[at].append(item)
        else:
            items_at[at] = [item]
            heappush(times, at)

    def depart(sender: int) -> None:
        """A message is ready: take its links, one after the other, until one is busy; then its receiver's port."""
        if out_free[sender] > now:
            raise Undetermined("a port is held after the end of a send")
        dest, nbytes = to[sender], size[sender]
        found = known.get((node[sender], node[dest], nbytes))
        if found is None:
            found = routes.find(sender, dest, nbytes)
            link_free.extend([0] * (len(gap) - len(link_free)))
            link_queue.extend(deque() for _ in gap[len(link_queue) :])
        path[sender], price[sender] = found
        stage[sender] = 0
        proceed(sender)

    def proceed(sender: int) -> None:
        """Take the remaining links of a message, and its receiver's port."""
        links, nbytes = path[sender], size[sender]
        for at in range(stage[sender], len(links)):
            link = links[at]
            if link_queue[link] or link_free[link] > now:
                if not link_queue[link]:
                    book(link_free[link], p + p + link)
                link_queue[link].append(sender)
                stage[sender] = at
                return
            link_free[link] = now + (gap[link] + nbytes * t_w[link])
        dest = to[sender]
        if into_queue[dest] or into_free[dest] > now:
            if not into_queue[dest]:
                into_queue[dest] = deque()
                book(into_free[dest], p + dest)
            into_queue[dest].append(sender)
        else:
            start(sender, dest)

    def start(sender: int, dest: int) -> None:
        """Start a transfer; the ends of the send and of its receive are known."""
        hold, sent, arrived = price[sender]
        out_free[sender] = into_free[dest] = now + hold
        if into_queue[dest]:
            book(now + hold, p + dest)
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
                    is_matched[source] = True
                    depart(source)
            if dest >= 0:
                send_end[rank], to[rank], size[rank] = None, dest, sizes[rank]
                if is_eager := sizes[rank] <= eager_limit:
                    is_matched[rank] = False
                else:
                    is_matched[rank] = expected[dest] == rank
                    expected[dest] = -1 if is_matched[rank] else expected[dest]
                if is_eager or is_matched[rank]:
                    depart(rank)
                else:
                    unexpected.setdefault(dest * p + rank, deque()).append(None)
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

    while True:
        for item in due:  # also items that are added in the meantime
            if item < p:
                ended += take_turn(item)
            elif item < p + p:
                start(into_queue[item - p].popleft(), item - p)
            else:
                link = item - p - p
                sender = link_queue[link].popleft()
                link_free[link] = now + (gap[link] + size[sender] * t_w[link])
                if link_queue[link]:
                    book(link_free[link], item)
                stage[sender] += 1
                proceed(sender)
        del items_at[now]
        if not times:
            return now if ended == p else None  # the last event is the last turn of a rank
        now = heappop(times)
        due = items_at[now]
