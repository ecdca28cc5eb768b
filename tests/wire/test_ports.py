"""Ports: one transfer at a time (or several), first come, first served."""

from __future__ import annotations

from typing import Any

import pytest

from fakempi.kernel.agenda import Agenda
from fakempi.wire.cost import CostModel
from fakempi.wire.envelope import new_envelope
from fakempi.wire.models.hockney import Hockney
from fakempi.wire.models.two_level import TwoLevel
from fakempi.wire.ports import Port, Ports, WidePort


class Customers:
    """Names that want a port: each holds it for as long as it says once it gets it."""

    def __init__(self, width: int = 1) -> None:
        self.clock = Agenda()
        self.log: list[tuple[float, str]] = []
        self.port = Port(self.clock, 0, self.gets) if width == 1 else WidePort(self.clock, 0, self.gets, width)

    def comes(self, at: float, name: str, seconds: float) -> None:
        """Somebody will come."""
        self.clock.book(at, lambda: self.asks((name, seconds)))

    def asks(self, who: Any) -> None:
        """And take the port, or queue."""
        if self.port.take(who):
            self.gets(who)

    def gets(self, who: Any) -> None:
        """And hold it from now on."""
        name, seconds = who
        self.log.append((self.clock.now, name))
        self.port.hold(self.clock.now + seconds)

    def served(self) -> list[tuple[float, str]]:
        """Who got it when."""
        while (action := self.clock.take()) is not None:
            action()
        return self.log


def test_a_free_port_is_taken_at_once() -> None:
    """Also at the very moment at which it becomes free."""
    customers = Customers()
    customers.comes(0, "a", 5)
    customers.comes(5, "b", 5)
    customers.comes(12, "c", 1)
    assert customers.served() == [(0, "a"), (5, "b"), (12, "c")]


def test_a_busy_port_serves_its_queue_in_order() -> None:
    """However long they take."""
    customers = Customers()
    for at, name, seconds in [(0, "a", 10), (1, "b", 1), (2, "c", 5), (3, "d", 1)]:
        customers.comes(at, name, seconds)
    assert customers.served() == [(0, "a"), (10, "b"), (11, "c"), (16, "d")]


def test_whoever_comes_when_the_port_becomes_free_queues_behind_those_who_wait() -> None:
    """Even if it asks before the queue is served at that moment."""
    customers = Customers()
    customers.comes(0, "a", 5)
    customers.comes(5, "late", 1)
    customers.comes(1, "early", 1)
    assert customers.served() == [(0, "a"), (5, "early"), (6, "late")]


def test_a_queue_of_transfers_that_take_no_time_is_served_at_once() -> None:
    """In order, and the last one keeps its time."""
    customers = Customers()
    for name, seconds in [("a", 3), ("b", 0), ("c", 0), ("d", 2), ("e", 0)]:
        customers.comes(0, name, seconds)
    assert customers.served() == [(0, "a"), (3, "b"), (3, "c"), (3, "d"), (5, "e")]


def test_a_port_that_is_taken_but_does_not_travel_yet_keeps_its_queue() -> None:
    """The holder waits for another port; nobody is served until it is through."""
    customers = Customers()
    port, clock = customers.port, customers.clock
    assert port.take("holder")  # type: ignore[arg-type]
    customers.comes(1, "a", 1)
    customers.comes(2, "b", 1)
    clock.book(8, lambda: port.hold(10))
    assert customers.served() == [(10, "a"), (11, "b")]


def test_a_wide_port_serves_so_many_at_a_time() -> None:
    """And the next as soon as any of them is done."""
    customers = Customers(width=2)
    for name, seconds in [("a", 10), ("b", 3), ("c", 4), ("d", 9), ("e", 1)]:
        customers.comes(0, name, seconds)
    assert customers.served() == [(0, "a"), (0, "b"), (3, "c"), (7, "d"), (10, "e")]


def test_a_wide_port_that_was_idle_is_as_wide_as_before() -> None:
    """Nothing is lost between two rushes."""
    customers = Customers(width=3)
    for at in (0, 100):
        for name in "abcd":
            customers.comes(at, name, 5)
    rush = [(0, "a"), (0, "b"), (0, "c"), (5, "d")]
    assert customers.served() == [*rush, *((at + 100, name) for at, name in rush)]


def ports(cost: CostModel, processes: int = 4) -> Ports:
    """The ports of some processes."""
    made = Ports(Agenda(), cost, lambda envelope: None)
    assert [made.add_process() for _ in range(processes)] == list(range(processes))
    return made


def test_full_duplex_has_two_ports_and_half_duplex_one() -> None:
    """A process that sends to itself needs what it has, once."""
    full, half = ports(Hockney()), ports(Hockney(duplex=False))
    assert full.route(1, 2) == (full.out[1], full.into[2])
    assert len({full.out[1], full.into[1]}) == 2
    assert half.out[1] is half.into[1]
    assert half.route(1, 1) == (half.out[1],)


def test_a_shared_port_admits_claims_by_turn() -> None:
    """Whoever was ready first, whatever the order in which the claims came in."""
    port = ports(Hockney(duplex=False)).out[0]
    first, second = new_envelope(None, 0, 0, 0, None, None, True), new_envelope(None, 0, 0, 0, None, None, True)
    first.number, second.number = 1, 2
    assert port.take(second)
    assert port.take(first)
    assert not port.admits(second)  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [1, 2, 5])
def test_ports_are_as_wide_as_the_model_says(width: int) -> None:
    """Both ways."""
    made = ports(Hockney(ports=width))
    for port in (made.out[0], made.into[0]):
        assert sum(port.take("x") for _ in range(7)) == width  # type: ignore[arg-type]


@pytest.mark.parametrize("gap", [None, 0])
def test_transfers_between_nodes_also_hold_the_network_ports_of_both(gap: int | None) -> None:
    """Which all processes of a node share; those within a node do not."""
    made = ports(TwoLevel(2, network_gap=gap), 6)
    within, between, beside = made.route(0, 1), made.route(0, 2), made.route(1, 3)
    assert within == (made.out[0], made.into[1])
    assert between[0] is made.out[0]
    assert between[-1] is made.into[2]
    assert len(between) == 4
    assert between[1:3] == beside[1:3]
    assert made.route(2, 0)[1:3] != between[1:3]
    assert len({*made.route(0, 2)[1:3], *made.route(2, 0)[1:3]}) == 4


@pytest.mark.parametrize("gap", [None, 0])
def test_in_half_duplex_a_node_has_one_network_port(gap: int | None) -> None:
    """For both directions."""
    made = ports(TwoLevel(2, duplex=False, network_gap=gap))
    assert set(made.route(0, 2)) & set(made.route(3, 1)) == set(made.route(1, 3)) & set(made.route(2, 0))
    assert len(made.route(0, 2)) == 4


def test_network_ports_are_as_wide_as_the_model_says() -> None:
    """Whatever the width of the processes' ports."""
    message = new_envelope(None, 0, 0, 10, None, None, True)
    for gap in (None, 5):
        out = ports(TwoLevel(2, network_ports=3, network_gap=gap)).route(0, 2)[1]
        assert sum(out.take(message) for _ in range(7)) == 3
