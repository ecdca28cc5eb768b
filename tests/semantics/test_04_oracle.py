"""Rule 4 compared with an oracle: any messages, posted at any times, travel as in an independent simulator of the model.

The simulator has sixty lines: messages with a route (names of ports and links), a time at which they are ready, a place in
the order of sends, a duration, and the times that their first bytes need to each port. At each time, everything that
happens then happens first. Then each free output port is taken by the message that was sent first. Then, as long as a free
port is wanted, the message that has waited longest takes its next port; among equals, at links, the one that has passed
fewer links at that time; then the one whose sender had most messages left when it took its output port; then the one that
was sent first. A message holds its output port for its duration, and for the time for which it waits until then; its input
port for its duration from when it gets it; and each link has its own time for a message. Half of the drawn programs have
many simultaneous events.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, count
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, CostModel, Hockney, Link, LogGP, Torus, TwoLevel, compute, phantom


class Drawn(NamedTuple):
    """A message as drawn: coarse times and sizes."""

    source: int
    dest: int
    size: int
    sent: int
    awaited: int


class Planned(NamedTuple):
    """The same with times and sizes whose sums are all different."""

    source: int
    dest: int
    nbytes: int
    sent: int
    awaited: int


RANKS = 4
DRAWN = st.lists(
    st.builds(
        Drawn, st.integers(0, RANKS - 1), st.integers(0, RANKS - 1), st.integers(0, 3), st.integers(0, 4),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=9,
)  # fmt: skip


def coarse(drawn: list[Drawn]) -> int:
    """Larger than the added bits that distinguish messages."""
    return 1 << (5 * len(drawn))


def plan(drawn: list[Drawn]) -> list[Planned]:
    """Give every number a distinct low-order bit, and sizes three bits, because several slow links may add them."""
    unit = coarse(drawn)
    return [
        Planned(
            one.source, one.dest, one.size * unit + (1 << 5 * i), one.sent * unit + (8 << 5 * i),
            one.awaited * unit + (16 << 5 * i),
        )
        for i, one in enumerate(drawn)
    ]  # fmt: skip


def simulated(
    ready: list[int],
    order: list[Any],
    durations: list[int],
    routes: list[tuple[Any, ...]],
    width: dict[Any, int],
    passage: Callable[[int, Any], int | None],
    heads: Callable[[int], list[int]],
) -> list[tuple[int, int, int]]:
    """(start, sent, arrived) of each message; `passage` is the time for which it holds a link, and None for a port.

    `heads` are the times that the first byte of a message needs to each port of its route.
    """
    free = {port: width.get(port, 1) for route in routes for port in route}
    waits: dict[int, tuple[Any, int]] = {}  # message -> the port that it wants, and since when
    stage, spans = [0] * len(ready), [(-1, -1, -1)] * len(ready)
    agenda: list[tuple[int, int, Any, int]] = [(time, i, None, i) for i, time in enumerate(ready)]
    serial = count(len(ready))
    heapify(agenda)

    def release(now: int, seconds: int, ports: tuple[Any, ...], message: int) -> None:
        if seconds:
            heappush(agenda, (now + seconds, next(serial), ports, message))
        else:
            free.update({port: free[port] + 1 for port in ports})

    passed = [0] * len(ready)  # how many ports after the output port each message has taken at the time since which it waits
    left = [0] * len(ready)  # how many messages were left at the sender of each message when it took the output port

    def rank_at_port(message: int) -> Any:
        if stage[message] == 0:
            return 0, 0, 0, order[message]
        links = passed[message] if stage[message] < len(routes[message]) - 1 else 100
        return waits[message][1], links, -left[message], order[message]

    def may_take(message: int) -> bool:
        port = waits[message][0]
        rivals = [other for other in waits if waits[other][0] == port]
        return free[port] > 0 and message == min(rivals, key=rank_at_port)

    def count_the_rest(departing: list[int]) -> None:
        for message in departing:
            left[message] = sum(not stage[other] and waits[other][0] == routes[message][0] for other in waits)

    while agenda:
        now = agenda[0][0]
        while agenda and agenda[0][0] == now:
            _, _, released, message = heappop(agenda)
            if released is None:
                waits[message] = routes[message][stage[message]], now
            for port in released or ():
                free[port] += 1
        departing: list[int] = []
        while able := [message for message in waits if may_take(message)]:
            message = min(able, key=lambda each: (stage[each] > 0, *rank_at_port(each)))
            if stage[message] and departing:
                count_the_rest(departing)
                departing = []
                continue
            if not stage[message]:
                departing.append(message)
            port, since = waits.pop(message)
            if stage[message]:
                passed[message] = passed[message] + 1 if since == now else 1
            free[port] -= 1
            seconds = passage(message, port)
            if seconds is not None:
                release(now, seconds, (port,), message)
            way, route = heads(message), routes[message]
            start = now - way[stage[message]]  # if it had not waited
            stage[message] += 1
            is_last = stage[message] == len(route)
            kept = [port for port in route if passage(message, port) is None]
            at = dict(zip(route, way, strict=True))
            has_left = way[-1] > 0 and not is_last and way[stage[message]] >= durations[message]
            if spans[message][0] < 0 and (is_last or has_left):
                spans[message] = start, start + durations[message], -1
                release(now, start + durations[message] - now, tuple(port for port in kept if not at[port]), message)
            if is_last:
                spans[message] = *spans[message][:2], now + durations[message]
                release(now, durations[message], tuple(port for port in kept if at[port]), message)
            elif start + way[stage[message]] > now:
                passed[message] = 0
                heappush(agenda, (start + way[stage[message]], next(serial), None, message))
            else:
                waits[message] = route[stage[message]], now
        count_the_rest(departing)
    return spans


def posted(comm: Any, plans: list[Planned]) -> None:
    """Post the sends and receives of this rank at their times, and wait for all of them."""
    todo = sorted(
        [(one.sent, "send", tag) for tag, one in enumerate(plans) if one.source == comm.rank]
        + [(one.awaited, "receive", tag) for tag, one in enumerate(plans) if one.dest == comm.rank]
    )
    requests, now = [], 0
    for at, what, tag in todo:
        compute(at - now)
        now = at
        one = plans[tag]
        if what == "send":
            requests.append(comm.Isend(phantom(one.nbytes), one.dest, tag))
        else:
            requests.append(comm.Irecv(phantom(one.nbytes), one.source, tag))
    MPI.Request.Waitall(requests)


def check_against_the_oracle(
    drawn: list[Drawn],
    backend: Any,
    cost: CostModel,
    routes: Any,
    width: dict[Any, int],
    passage: Callable[[int, Any], int | None] = lambda nbytes, port: None,
    heads: Callable[[Planned], list[int]] | None = None,
    *,
    ties: bool = False,
) -> None:
    """Starts and ends of all transfers, and the clocks at the end, traced and untraced, in any order of the ranks."""
    plans = [Planned(*one) for one in drawn] if ties else plan(drawn)
    eager = cost.eager_limit > 0
    ready = [one.sent if eager else max(one.sent, one.awaited) for one in plans]
    seconds = [int(cost.transfer(one.source, one.dest, one.nbytes)[0]) for one in plans]
    order = [(one.sent, one.source, tag) for tag, one in enumerate(plans)]
    spans = simulated(
        ready,
        order,
        seconds,
        [routes(one) for one in plans],
        width,
        lambda message, port: passage(plans[message].nbytes, port),
        lambda message: heads(plans[message]) if heads is not None else [0] * len(routes(plans[message])),
    )
    ends: dict[int, list[int]] = {rank: [0] for rank in range(RANKS)}
    latest: dict[tuple[int, int], int] = {}
    for number in sorted(range(len(plans)), key=lambda number: spans[number]):
        one, (_, sent, end) = plans[number], spans[number]
        arrived = latest[one.source, one.dest] = max(end, latest.get((one.source, one.dest), 0))
        ends[one.source] += [one.sent, sent]
        ends[one.dest] += [one.awaited, arrived]
    clocks = [max(ends[rank]) for rank in range(RANKS)]

    run = fakempi.run(posted, RANKS, plans, cost=cost, backend=backend, trace=True)
    assert run.trace is not None
    assert {one.tag: (one.start, one.sent) for one in run.trace.transfers} == {i: span[:2] for i, span in enumerate(spans)}
    assert run.clocks == clocks
    for seed in (None, 1, 2):
        assert fakempi.run(posted, RANKS, plans, cost=cost, backend=backend, seed=seed).clocks == clocks


@given(DRAWN, st.booleans(), st.sampled_from([0, 1 << 60]), st.sampled_from([1, 2, 3]))
def test_transfers_equal_those_of_a_simulator_of_the_model(
    backend: Any, drawn: list[Drawn], ties: bool, eager_limit: int, ports: int
) -> None:
    """Any messages, posted at any times, eager or synchronous, one port or several."""
    width = {(way, rank): ports for way in ("out", "in") for rank in range(RANKS)}
    check_against_the_oracle(
        drawn,
        backend,
        Hockney(t_s=0, t_w=1, eager_limit=eager_limit, ports=ports),
        lambda one: (("out", one.source), ("in", one.dest)),
        width,
        ties=ties,
    )


@given(DRAWN, st.booleans(), st.sampled_from([0, 1 << 60]), st.sampled_from([1, 2]))
def test_transfers_between_nodes_equal_those_of_the_simulator(
    backend: Any, drawn: list[Drawn], ties: bool, eager_limit: int, network_ports: int
) -> None:
    """Two ranks a node, all messages between nodes: out-port, network out, network in, in-port."""
    between = [one._replace(dest=(one.dest % 2 + 2) % 4 if one.source < 2 else one.dest % 2) for one in drawn]
    unit = Hockney(t_s=0, t_w=1)
    check_against_the_oracle(
        between,
        backend,
        TwoLevel(2, intra=unit, inter=unit, eager_limit=eager_limit, network_ports=network_ports, network_gap=None),
        lambda one: (("out", one.source), ("off", one.source // 2), ("onto", one.dest // 2), ("in", one.dest)),
        {(way, node): network_ports for way in ("off", "onto") for node in range(2)},
        ties=ties,
    )


@given(DRAWN, st.booleans(), st.sampled_from([0, 1 << 60]), st.sampled_from([1, 2]), st.integers(0, 3), st.integers(0, 3))
def test_a_network_port_is_held_for_bytes_and_a_gap_while_the_transfer_takes_longer(
    backend: Any, drawn: list[Drawn], ties: bool, eager_limit: int, network_ports: int, gap: int, start_up: int
) -> None:
    """Of n t_w + gap, from when it was taken; the processes' ports until t_s + n t_w after the last was."""
    unit = 1 if ties else coarse(drawn)

    def route(one: Planned) -> tuple[Any, ...]:
        here, there = one.source // 2, one.dest // 2
        between = () if here == there else (("off", here), ("onto", there))
        return ("out", one.source), *between, ("in", one.dest)

    check_against_the_oracle(
        drawn,
        backend,
        TwoLevel(
            2, intra=Hockney(0, 1), inter=Hockney(start_up * unit, 1), eager_limit=eager_limit, network_ports=network_ports,
            network_gap=gap * unit,
        ),
        route,
        {(way, node): network_ports for way in ("off", "onto") for node in range(2)},
        lambda nbytes, port: gap * unit + nbytes if port[0] in ("off", "onto") else None,
        ties=ties,
    )  # fmt: skip


@given(DRAWN, st.booleans(), st.sampled_from([0, 1 << 60]), st.integers(1, 2), st.integers(1, 2), st.integers(1, 2))
def test_messages_on_a_ring_of_links_equal_those_of_the_simulator(
    backend: Any, drawn: list[Drawn], ties: bool, eager_limit: int, links: int, gap: int, ports: int
) -> None:
    """Four nodes, up or down the shorter way, one or two links between neighbors, each held for gap + n t_w."""
    unit = 1 if ties else coarse(drawn)

    def route(one: Planned) -> tuple[Any, ...]:
        up = (one.dest - one.source) % RANKS
        way, steps = (1, up) if up <= RANKS - up else (-1, RANKS - up)
        between = [("link", (one.source + way * step) % RANKS, way) for step in range(steps)]
        return ("out", one.source), *between, ("in", one.dest)

    check_against_the_oracle(
        drawn,
        backend,
        Torus(
            RANKS, t_s=unit, t_hop=2 * unit, t_w=1, gap=gap * unit, links=links, intra=Hockney(0, 1), ports=ports,
            eager_limit=eager_limit,
        ),
        route,
        {("link", node, way): links for node in range(RANKS) for way in (1, -1)}
        | {(way, rank): ports for way in ("out", "in") for rank in range(RANKS)},
        lambda nbytes, port: gap * unit + nbytes if port[0] == "link" else None,
        lambda one: [0, *(2 * unit * step for step in range(len(route(one)) - 1))],
        ties=ties,
    )  # fmt: skip


class Far(CostModel):
    """Another latency for each pair, and no links."""

    def __init__(self, distances: Sequence[int], eager_limit: int, ports: int) -> None:
        self.distances, self.eager_limit, self.ports = distances, eager_limit, ports

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
        """Ports are held for n."""
        return nbytes, nbytes, nbytes + self.distances[source * RANKS + dest]


@given(
    DRAWN, st.booleans(), st.sampled_from([0, 1 << 60]), st.lists(st.integers(0, 4), min_size=16, max_size=16),
    st.integers(1, 2),
)  # fmt: skip
def test_a_near_message_does_not_wait_for_a_far_one_that_has_not_arrived(
    backend: Any, drawn: list[Drawn], ties: bool, eager_limit: int, distances: list[int], ports: int
) -> None:
    """The receiver's port is taken when the first byte arrives, and the sender's is held until the last one has left."""
    unit = 1 if ties else coarse(drawn)
    far = [distance * unit for distance in distances]
    check_against_the_oracle(
        drawn,
        backend,
        Far(far, eager_limit, ports),
        lambda one: (("out", one.source), ("in", one.dest)),
        {(way, rank): ports for way in ("out", "in") for rank in range(RANKS)},
        heads=lambda one: [0, far[one.source * RANKS + one.dest]],
        ties=ties,
    )


@given(DRAWN, st.booleans(), st.sampled_from([0, 1 << 60]), st.integers(0, 4))
def test_one_latency_for_all_is_booked_when_a_message_starts(
    backend: Any, drawn: list[Drawn], ties: bool, eager_limit: int, latency: int
) -> None:
    """`LogGP`, whose messages need no event on arrival."""
    unit = 1 if ties else coarse(drawn)
    cost = LogGP(L=latency * unit, o=0, g=0, G=1, eager_limit=eager_limit)
    check_against_the_oracle(
        [one._replace(size=one.size + 1) for one in drawn],
        backend,
        cost,
        lambda one: (("out", one.source), ("in", one.dest)),
        {},
        heads=lambda one: [0, latency * unit],
        ties=ties,
    )


class Ways(CostModel):
    """Any route for any pair, over links of different widths and speeds, as in a custom model."""

    def __init__(self, routes: dict[tuple[int, int], tuple[int, ...]], eager_limit: int) -> None:
        self.routes, self.eager_limit = routes, eager_limit

    def route(self, source: int, dest: int) -> Sequence[Hashable]:
        """As drawn."""
        return self.routes[source, dest]

    def link(self, name: Any) -> Link:
        """Each with a different speed, so that no message leaves two of them at once; every second one has width 2."""
        return Link(t_w=1 + name, width=1 + name % 2)

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
        """Slower than any link, for the same reason."""
        return 5 * nbytes, 5 * nbytes, 5 * nbytes


PAIRS = [(source, dest) for source in range(RANKS) for dest in range(RANKS)]
ROUTES = st.tuples(*[st.lists(st.integers(0, 3), unique=True).map(tuple) for _ in PAIRS])


@given(DRAWN, st.booleans(), st.sampled_from([0, 1 << 60]), ROUTES)
def test_messages_on_any_links_in_any_order_equal_those_of_the_simulator(
    backend: Any, drawn: list[Drawn], ties: bool, eager_limit: int, routes: tuple[tuple[int, ...], ...]
) -> None:
    """Links cross in all ways, including cycles, and every run ends."""
    cost = Ways(dict(zip(PAIRS, routes, strict=True)), eager_limit)
    check_against_the_oracle(
        drawn,
        backend,
        cost,
        lambda one: (("out", one.source), *(("link", n) for n in cost.routes[one.source, one.dest]), ("in", one.dest)),
        {("link", name): cost.link(name).width for name in range(4)},
        lambda nbytes, port: int(nbytes * cost.link(port[1]).t_w) if port[0] == "link" else None,
        ties=ties,
    )


def most_at_once(transfers: Any) -> int:
    """The largest number of simultaneous transfers; transfers that take no time do not count."""
    moments = [moment for one in transfers if one.nbytes for moment in ((one.sent, -1), (one.start, 1))]
    return max(accumulate(change for _, change in sorted(moments)), default=0)


@given(DRAWN, st.booleans(), st.sampled_from([0, 1 << 60]), st.integers(1, 2), st.integers(1, 2))
def test_in_half_duplex_no_port_exceeds_its_capacity_and_no_message_is_lost(
    backend: Any, drawn: list[Drawn], ties: bool, eager_limit: int, ports: int, network_ports: int
) -> None:
    """Ranks on two nodes, with ties and without: sending and receiving count together, for ranks and for nodes."""
    plans = [Planned(*one) for one in drawn] if ties else plan(drawn)
    unit = Hockney(t_s=0, t_w=1)
    cost = TwoLevel(
        2, intra=unit, inter=unit, eager_limit=eager_limit, duplex=False, ports=ports, network_ports=network_ports
    )
    run = fakempi.run(posted, RANKS, plans, cost=cost, backend=backend, trace=True)
    assert run.trace is not None
    transfers = run.trace.transfers
    assert sorted(one.tag for one in transfers) == list(range(len(plans)))
    for rank in range(RANKS):
        assert most_at_once(one for one in transfers if rank in (one.source, one.dest)) <= ports
    assert most_at_once(one for one in transfers if one.source // 2 != one.dest // 2) <= network_ports


@given(DRAWN, st.sampled_from([0, 1 << 60]))
def test_with_ties_a_port_still_serves_one_at_a_time_and_is_never_idle_without_reason(
    backend: Any, drawn: list[Drawn], eager_limit: int
) -> None:
    """A message starts when it is ready, or exactly at the end of another one at its sender or its receiver."""
    plans = [Planned(*one) for one in drawn]
    cost = Hockney(t_s=0, t_w=1, eager_limit=eager_limit)
    run = fakempi.run(posted, RANKS, plans, cost=cost, backend=backend, trace=True)
    assert run.trace is not None
    moved = {one.tag: one for one in run.trace.transfers}
    assert len(moved) == len(plans)
    for tag, one in moved.items():
        ready = plans[tag].sent if eager_limit else max(plans[tag].sent, plans[tag].awaited)
        others = [two for two in moved.values() if two is not one]
        rivals = [two for two in others if two.source == one.source or two.dest == one.dest]
        assert one.start == ready or any(two.sent == one.start for two in rivals)
        assert one.start >= ready
        assert all(two.sent <= one.start or one.sent <= two.start for two in rivals if one.nbytes and two.nbytes)
