"""Ports: one transfer at a time (or several); the one that has waited longest is the next."""

from __future__ import annotations

from typing import Any

import pytest

from fakempi.core.kernel.agenda import Agenda
from fakempi.core.network.cost import CostModel
from fakempi.core.network.envelope import new_envelope
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.network.models.two_level import TwoLevel
from fakempi.core.network.ports import Port, Ports, WidePort


class PortUsers:
    """Names that request a port: each holds it for a given time once it gets it."""

    def __init__(self, width: int = 1) -> None:
        self.clock = Agenda()
        self.log: list[tuple[float, str]] = []
        self.requests = 0
        self.port = Port(self.clock, 0, self.freed) if width == 1 else WidePort(self.clock, 0, self.freed, width)

    def request_at(self, at: float, name: str, seconds: float) -> None:
        """Request the port later."""
        self.clock.call_at(at, lambda: self.request((name, seconds)))

    def request(self, user: Any) -> None:
        """Take the port, or queue."""
        self.requests += 1
        if self.port.take((self.clock.now, self.requests, user)):
            self.start(user)

    def freed(self, port: Port) -> None:
        """Give the port to the first in the queue."""
        place = port.first()
        if place is not None and port.take(place):
            self.start(place[2])

    def start(self, user: Any) -> None:
        """Hold it from now on."""
        name, seconds = user
        self.log.append((self.clock.now, name))
        self.port.hold(self.clock.now + seconds)

    def served(self) -> list[tuple[float, str]]:
        """The names and times of service."""
        while (action := self.clock.pop()) is not None:
            action()
        return self.log


def test_a_free_port_is_taken_at_once() -> None:
    """Also exactly at the time at which it becomes free."""
    users = PortUsers()
    users.request_at(0, "a", 5)
    users.request_at(5, "b", 5)
    users.request_at(12, "c", 1)
    assert users.served() == [(0, "a"), (5, "b"), (12, "c")]


def test_a_busy_port_serves_its_queue_in_order() -> None:
    """For any durations."""
    users = PortUsers()
    for at, name, seconds in [(0, "a", 10), (1, "b", 1), (2, "c", 5), (3, "d", 1)]:
        users.request_at(at, name, seconds)
    assert users.served() == [(0, "a"), (10, "b"), (11, "c"), (16, "d")]


def test_a_request_at_the_time_at_which_the_port_becomes_free_queues_behind_waiting_ones() -> None:
    """Even if it is made before the port is given at that time."""
    users = PortUsers()
    users.request_at(0, "a", 5)
    users.request_at(5, "late", 1)
    users.request_at(1, "early", 1)
    assert users.served() == [(0, "a"), (5, "early"), (6, "late")]


def test_a_queue_of_transfers_without_duration_is_served_at_once() -> None:
    """In order, and the last one keeps its time."""
    users = PortUsers()
    for name, seconds in [("a", 3), ("b", 0), ("c", 0), ("d", 2), ("e", 0)]:
        users.request_at(0, name, seconds)
    assert users.served() == [(0, "a"), (3, "b"), (3, "c"), (3, "d"), (5, "e")]


def test_a_port_that_is_held_without_a_transfer_keeps_its_queue() -> None:
    """The holder waits for another port; no other is served until its transfer has ended."""
    users = PortUsers()
    port, clock = users.port, users.clock
    assert port.take((0, 0, "holder"))  # type: ignore[arg-type]
    users.request_at(1, "a", 1)
    users.request_at(2, "b", 1)
    clock.call_at(8, lambda: port.hold(10))
    assert users.served() == [(10, "a"), (11, "b")]


def test_a_wide_port_serves_several_at_a_time() -> None:
    """The next starts as soon as any of them ends."""
    users = PortUsers(width=2)
    for name, seconds in [("a", 10), ("b", 3), ("c", 4), ("d", 9), ("e", 1)]:
        users.request_at(0, name, seconds)
    assert users.served() == [(0, "a"), (0, "b"), (3, "c"), (7, "d"), (10, "e")]


def test_a_wide_port_keeps_its_width_after_idle_time() -> None:
    """Nothing is lost between two bursts."""
    users = PortUsers(width=3)
    for at in (0, 100):
        for name in "abcd":
            users.request_at(at, name, 5)
    rush = [(0, "a"), (0, "b"), (0, "c"), (5, "d")]
    assert users.served() == [*rush, *((at + 100, name) for at, name in rush)]


def ports(cost: CostModel, processes: int = 4) -> Ports:
    """The ports of some processes."""
    made = Ports(Agenda(), cost, lambda envelope: None)
    assert [made.add_process() for _ in range(processes)] == list(range(processes))
    return made


def test_full_duplex_has_two_ports_and_half_duplex_one() -> None:
    """A process that sends to itself needs its ports once."""
    full, half = ports(Hockney()), ports(Hockney(duplex=False))
    assert full.route(1, 2) == (full.out[1], full.into[2])
    assert len({full.out[1], full.into[1]}) == 2
    assert half.out[1] is half.into[1]
    assert half.route(1, 1) == (half.out[1],)


def test_a_shared_port_admits_transfers_in_order_of_readiness() -> None:
    """For any order of the requests."""
    port = ports(Hockney(duplex=False)).out[0]
    first, second = new_envelope(None, 0, 0, 0, None, None, True), new_envelope(None, 0, 0, 0, None, None, True)
    assert port.take((0, 2, second))
    assert port.take((0, 1, first))
    assert not port.admits(second)  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [1, 2, 5])
def test_ports_are_as_wide_as_the_model_says(width: int) -> None:
    """Both ways."""
    made = ports(Hockney(ports=width))
    for port in (made.out[0], made.into[0]):
        assert sum(port.take((0, i, "x")) for i in range(7)) == width  # type: ignore[arg-type]


@pytest.mark.parametrize("gap", [None, 0])
def test_transfers_between_nodes_also_hold_the_network_ports_of_both(gap: int | None) -> None:
    """All processes of a node share them; transfers within a node do not use them."""
    made = ports(TwoLevel(2, network_gap=gap), 6)
    within, between, parallel = made.route(0, 1), made.route(0, 2), made.route(1, 3)
    assert within == (made.out[0], made.into[1])
    assert between[0] is made.out[0]
    assert between[-1] is made.into[2]
    assert len(between) == 4
    assert between[1:3] == parallel[1:3]
    assert made.route(2, 0)[1:3] != between[1:3]
    assert len({*made.route(0, 2)[1:3], *made.route(2, 0)[1:3]}) == 4


@pytest.mark.parametrize("gap", [None, 0])
def test_in_half_duplex_a_node_has_one_network_port(gap: int | None) -> None:
    """For both directions."""
    made = ports(TwoLevel(2, duplex=False, network_gap=gap))
    assert set(made.route(0, 2)) & set(made.route(3, 1)) == set(made.route(1, 3)) & set(made.route(2, 0))
    assert len(made.route(0, 2)) == 4


def test_network_ports_are_as_wide_as_the_model_says() -> None:
    """For any width of the processes' ports."""
    message = new_envelope(None, 0, 0, 10, None, None, True)
    for gap in (None, 5):
        out = ports(TwoLevel(2, network_ports=3, network_gap=gap)).route(0, 2)[1]
        assert sum(out.take((0, i, message)) for i in range(7)) == 3
