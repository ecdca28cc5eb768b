"""Links between nodes: first come, first served, each for a message's bytes; and networks of links."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, CostModel, Dragonfly, FatTree, Hockney, Link, Torus, TwoGroups, phantom
from fakempi.core.kernel.agenda import Agenda
from fakempi.core.network.envelope import new_envelope
from fakempi.core.network.express import Express
from fakempi.core.network.models.linked import Linked
from fakempi.core.network.ports import LinkPort, Ports

Traffic = list[tuple[int, int, int]]


def exchanged(comm: Any, traffic: Traffic) -> None:
    """All messages (source, dest, bytes), posted at once."""
    requests = [comm.Irecv(phantom(n), s, tag) for tag, (s, d, n) in enumerate(traffic) if d == comm.rank]
    requests += [comm.Isend(phantom(n), d, tag) for tag, (s, d, n) in enumerate(traffic) if s == comm.rank]
    MPI.Request.Waitall(requests)


def time(cost: CostModel, ranks: int, traffic: Traffic) -> float:
    """The time of all messages."""
    return float(fakempi.run(exchanged, ranks, traffic, cost=cost).time)


# -- a link -----------------------------------------------------------------------------------------------------------


def test_messages_pass_a_link_in_the_time_of_their_bytes_and_a_gap() -> None:
    """Two at a time, the others when one has passed, in order; nothing is booked for messages that do not wait."""
    clock, log = Agenda(), list[Any]()

    def freed(port: Any) -> None:
        place = port.first()
        assert port.take(place)
        log.append((clock.now, place[2].source))

    port = LinkPort(clock, -1, freed, Link(t_w=2, width=2, gap=1))
    messages = [new_envelope(None, source, 0, nbytes, None, None, True) for source, nbytes in enumerate((5, 1, 1, 0, 4))]
    assert [port.take((0, i, message)) for i, message in enumerate(messages)] == [True, True, False, False, False]
    assert port.waiting() == messages[2:]
    while (action := clock.pop()) is not None:
        action()
    assert log == [(3, 2), (6, 3), (7, 4)]
    clock.call_at(1000, lambda: log.append((clock.now, port.take((1000, 0, messages[0])))))
    clock.pop()()
    assert log[-1] == (1000, True)


def test_messages_on_a_ring_do_not_wait_for_each_other_in_a_chain() -> None:
    """Every rank sends k steps ahead: each link has k messages, which determines the time, for any ring size."""
    for size, k in ((8, 3), (9, 2), (30, 2)):
        assert time(Torus(size, t_s=0, t_hop=0, t_w=1), size, [(i, (i + k) % size, 7) for i in range(size)]) == 7 * k


def test_a_message_holds_its_senders_port_until_it_has_left_and_links_for_its_bytes() -> None:
    """Two ranks of a node, in one direction: the second's bytes follow the first's; start-ups and hops overlap."""
    cost = Torus(4, 2, t_s=100, t_hop=10, t_w=1, gap=3)
    clocks = fakempi.run(exchanged, 8, [(0, 4, 20), (1, 5, 20)], cost=cost).clocks
    assert clocks == [120, 143, 0, 0, 140, 163, 0, 0]


def test_a_near_message_does_not_wait_for_a_far_one_that_has_not_arrived() -> None:
    """On a line to rank 0: from rank 8 at 0, over 8 links, and from rank 1 at 1, which arrives first."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            requests = [comm.Irecv(phantom(5), source) for source in (8, 1)]
            MPI.Request.Waitall(requests)
        elif comm.rank in (1, 8):
            fakempi.compute(1 if comm.rank == 1 else 0)
            comm.Send(phantom(5), 0)
        return MPI.Wtime()

    for eager_limit in (0, 65536):
        cost = Torus(17, t_s=2, t_hop=10, t_w=1, eager_limit=eager_limit)
        returns = fakempi.run(main, 17, cost=cost).returns
        assert (returns[0], returns[1], returns[8]) == (80 + 7, 1 + 7, 7)


def test_a_message_that_has_left_its_sender_waits_in_the_network_and_a_longer_one_holds_the_port() -> None:
    """Two messages meet at rank 0 at the same time: of the second one, 4 units have left when it has to stop."""

    def main(comm: Any, nbytes: int) -> None:
        if comm.rank == 0:
            MPI.Request.Waitall([comm.Irecv(phantom(nbytes), source) for source in (1, 3)])
        elif comm.rank in (1, 3):
            comm.Send(phantom(nbytes), 0)

    cost = Torus(4, t_s=0, t_hop=4, t_w=1, eager_limit=0)
    for nbytes in range(1, 9):
        stopped = nbytes if nbytes > 4 else 0
        clocks = fakempi.run(main, 4, nbytes, cost=cost).clocks
        assert clocks == [4 + 2 * nbytes, nbytes, 0, nbytes + stopped]


def test_links_are_created_when_a_message_uses_them() -> None:
    """65,536 processes could have 393,216 links; a message creates those that it needs."""
    ports = Ports(Agenda(), Torus((32, 32, 64)), lambda envelope: None)
    for _ in range(65536):
        ports.add_process()
    assert ports.links == {}
    assert len(ports.route(0, 65535)) == 2 + 3 == 2 + len(ports.links)
    assert ports.route(0, 65535) == ports.route(0, 65535)


def test_models_with_links_do_not_use_the_express_path() -> None:
    """Even if its costs are linear."""

    class Bridge(CostModel):
        linear = (0, 1)

        def route(self, source: int, dest: int) -> tuple[str, ...]:
            return ("bridge",)

        def link(self, name: Any) -> Link:
            return Link(t_w=1)

        def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
            return nbytes, nbytes, nbytes

    assert Express.serves(Hockney())
    assert not Express.serves(Bridge())
    assert time(Bridge(), 6, [(0, 1, 5), (2, 3, 5), (4, 5, 5)]) == 15


TRAFFIC = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 5)), min_size=1, max_size=30)


@given(TRAFFIC, st.sampled_from([0, 65536]))
def test_links_that_are_wide_enough_make_no_difference(backend: Any, traffic: Traffic, eager_limit: int) -> None:
    """The general path with links for all, and the express path without any."""
    plain = Hockney(3, 2, eager_limit=eager_limit)
    wide = Torus((3, 2, 2), t_s=3, t_hop=0, t_w=2, links=1000, intra=plain, eager_limit=eager_limit)
    both = [fakempi.run(exchanged, 12, traffic, cost=cost, backend=backend).clocks for cost in (plain, wide)]
    assert both[0] == both[1]


NETWORKS = st.sampled_from(["torus", "fat tree", "dragonfly", "two groups"])


def network(name: str, **options: Any) -> Linked:
    """A network for twelve ranks, with too few links."""
    costs: Any = {"t_s": 4, "t_hop": 1, "t_w": 2, "gap": 1, **options}
    within = Hockney(1, 1)
    made: dict[str, Callable[[], Linked]] = {
        "torus": lambda: Torus((3, 2, 2), intra=within, **costs),
        "fat tree": lambda: FatTree((3, 4), links=(1, 2), intra=within, **costs),
        "dragonfly": lambda: Dragonfly(3, 2, 2, global_t_w=5, intra=within, **costs),
        "two groups": lambda: TwoGroups(5, (2, 7), **costs),
    }
    return made[name]()


@given(TRAFFIC, NETWORKS, st.sampled_from([0, 65536]), st.integers(1, 2))
def test_any_traffic_ends_and_no_link_exceeds_its_speed(
    backend: Any, traffic: Traffic, name: str, eager_limit: int, ports: int
) -> None:
    """Every message arrives, not before its own time and not before the total of the busiest link."""
    cost = network(name, eager_limit=eager_limit, ports=ports)
    run = fakempi.run(exchanged, 12, traffic, cost=cost, backend=backend, trace=True)
    assert run.trace is not None
    assert sorted(one.tag for one in run.trace.transfers) == list(range(len(traffic)))
    assert all(one.sent - one.start == cost.transfer(one.source, one.dest, one.nbytes)[0] for one in run.trace.transfers)
    load: dict[Any, float] = {}
    for source, dest, nbytes in traffic:
        for link in cost.route(source, dest):
            seconds = (cost.gap + nbytes * cost.link(link).t_w) / cost.link(link).width
            load[link] = load.get(link, 0) + seconds
    assert run.time >= max(load.values(), default=0)


@given(TRAFFIC, NETWORKS)
def test_messages_between_two_ranks_stay_in_order(backend: Any, traffic: Traffic, name: str) -> None:
    """With two ports a short message could arrive first; it is received after earlier ones."""

    def main(comm: Any) -> list[tuple[int, int]]:
        requests = [comm.isend(tag, d, n) for tag, (s, d, n) in enumerate(traffic) if s == comm.rank]
        status = MPI.Status()
        got = []
        for _ in range(sum(d == comm.rank for _, d, _ in traffic)):
            tag = comm.recv(status=status)
            got.append((status.Get_source(), tag))
        MPI.Request.waitall(requests)
        return got

    for got in fakempi.run(main, 12, cost=network(name, ports=2), backend=backend).returns:
        assert all(first < second for (a, first), (b, second) in pairwise(sorted(got, key=lambda one: one[0])) if a == b)


# -- networks ---------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.data())
def test_on_a_torus_each_link_leads_to_the_next_node_of_a_shortest_path(shape: list[int], data: Any) -> None:
    """Dimension by dimension, from neighbor to neighbor."""
    torus = Torus(shape)
    here, there = (data.draw(st.integers(0, torus.nodes - 1)) for _ in range(2))

    def coordinates(node: int) -> list[int]:
        found = []
        for extent in reversed(shape):
            found.append(node % extent)
            node //= extent
        return found[::-1]

    at = coordinates(here)
    path: Any = torus.path(here, there)
    for node, dimension, way in path:
        assert coordinates(node) == at
        at[dimension] = (at[dimension] + way) % shape[dimension]
    assert at == coordinates(there)
    least = sum(min((a - b) % n, (b - a) % n) for a, b, n in zip(coordinates(here), at, shape, strict=True))
    assert len(path) == torus.hops(here, there) == least
    assert [dimension for _, dimension, _ in path] == sorted(dimension for _, dimension, _ in path)


def test_a_torus_numbers_and_names_its_nodes() -> None:
    """Four ranks per node fill it in order."""
    torus = Torus((2, 2), 4)
    assert (torus.places, torus.node(15), torus.node_name(4)) == (16, 3, "node1")
    words = r"^Torus: the network has 16 places, 4 on each of 4 nodes, and none for rank 16\.$"
    with pytest.raises(ValueError, match=words):
        fakempi.run(lambda comm: None, 17, cost=torus)
    assert fakempi.run(lambda comm: comm.Split_type(MPI.COMM_TYPE_SHARED).size, 16, cost=torus).returns == [4] * 16


def test_a_full_fat_tree_has_no_contention_and_a_thin_one_has() -> None:
    """Eight nodes exchange with the other eight: at once, over two links by four at a time, or over one."""
    halves = [(i, (i + 8) % 16, 10) for i in range(16)]
    for links, factor in (((1, 4, 8), 1), ((1, 2, 4), 2), ((1, 1, 1), 8)):
        assert time(FatTree((4, 2, 2), links=links, t_s=0, t_hop=0, t_w=1), 16, halves) == 10 * factor
    assert FatTree((4, 2, 2)).links == (1, 4, 8)


def test_with_fixed_tables_messages_may_share_a_link_although_others_are_free() -> None:
    """Four nodes send to four whose numbers are equal modulo the number of links: one uplink has all of them."""
    traffic = [(i, 4 + 4 * i, 10) for i in range(4)]
    by_need, fixed = (FatTree((4, 5), static=static, t_s=0, t_hop=0, t_w=1) for static in (False, True))
    assert (time(by_need, 20, traffic), time(fixed, 20, traffic)) == (10, 40)


@pytest.mark.parametrize("tree", [FatTree((2, 3, 2)), FatTree((2, 3, 2), static=True), FatTree(5)])
def test_a_fat_tree_goes_up_and_down_as_far_as_necessary(tree: FatTree) -> None:
    """With equal numbers of links up and down, at the same levels."""
    for here, there in product(range(tree.nodes), repeat=2):
        path: Any = tree.path(here, there)
        assert len(path) == tree.hops(here, there)
        assert [name[0] for name in path] == [name[0] for name in path][::-1]
        assert [name[2] for name in path] == ["up"] * (len(path) // 2) + ["down"] * (len(path) // 2)


def test_a_dragonfly_has_few_links_between_groups() -> None:
    """All nodes of a group to those of another: one after the other over the global link, or over several, or a slow one."""
    traffic = [(i, i + 8, 10) for i in range(8)]
    for options, clock in (({}, 80), ({"global_links": 4}, 30), ({"global_t_w": 3}, 240), ({"global_links": 8}, 20)):
        # with more global links, two nodes queue for the local ones to and from the router
        cost = Dragonfly(3, 4, 2, t_s=0, t_hop=0, t_w=1, **options)  # type: ignore[arg-type]
        assert time(cost, 24, traffic) == clock


def test_a_dragonfly_takes_at_most_one_global_and_two_local_links() -> None:
    """Within a router it takes none."""
    cost = Dragonfly(5, 3, 2)
    for here, there in product(range(cost.nodes), repeat=2):
        kinds = Counter(name[0] for name in cost.path(here, there))  # type: ignore[index]
        assert kinds["up"] == kinds["down"] == 1
        assert kinds["global"] == (here // 6 != there // 6)
        assert kinds["local"] <= 1 + kinds["global"]


def test_two_groups_share_links() -> None:
    """Six pairs over k links, and unequal ones: each at its own speed."""
    traffic = [(i, i + 6, 10) for i in range(6)]
    for links, clock in (((1,), 60), ((1, 1), 30), ((1,) * 6, 10), ((1, 4), 120), ((0.5,), 35)):
        assert time(TwoGroups(6, links, t_s=0, t_w=1), 12, traffic) == clock
    assert time(TwoGroups(6, (100,), t_s=0, t_w=1), 12, [(i, i ^ 1, 10) for i in range(12)]) == 10


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Torus((4, 0)), r"^Torus: shape=\(4, 0\): extent=0 is less than 1\.$"),
        (lambda: Torus((4, 2.5)), r"^Torus: shape=\(4, 2\.5\) has 2\.5, which is not an integer\.$"),  # type: ignore[arg-type]
        (lambda: Torus(links=0), r"^Torus: width=0 is less than 1\.$"),
        (lambda: Torus(t_hop=-1), r"^Torus: t_hop=-1 is negative\.$"),
        (lambda: FatTree((2, 2), links=(1,)), r"^FatTree: links=\(1,\) and children=\(2, 2\) must .* not 1 and 2\.$"),
        (lambda: FatTree((2, 0)), r"^FatTree, level 1: children=0 is less than 1\.$"),
        (lambda: Dragonfly(global_links=0), r"^Dragonfly: global_links=0 is less than 1\.$"),
        (lambda: Dragonfly(gap=-1), r"^Dragonfly: gap=-1 is negative\.$"),
        (lambda: TwoGroups(0), r"^TwoGroups: first=0 is less than 1\.$"),
        (lambda: TwoGroups(2, ()), r"^TwoGroups, number of links: k=0 is less than 1\.$"),
        (lambda: TwoGroups(2, (1, -1)), r"^TwoGroups, link 1: t_w=-1 is negative\.$"),
        (lambda: fakempi.TwoLevel(network_gap=-1), r"^TwoLevel: network_gap=-1 is negative\.$"),
    ],
)
def test_invalid_networks_are_rejected(make: Callable[[], Any], words: str) -> None:
    """By the names of parameters, when the model is created."""
    with pytest.raises(MPI.Exception, match=words):
        make()


def test_an_invalid_link_is_rejected_when_a_message_uses_it() -> None:
    """By the model and the link's name; a model with links must define them."""

    class Odd(CostModel):
        def route(self, source: int, dest: int) -> tuple[str, ...]:
            return ("a",)

        def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
            return 1, 1, 1

    class Narrow(Odd):
        def link(self, name: Any) -> Link:
            return Link(t_w=0, width=0)

    with pytest.raises(fakempi.RunError, match=r"^cost model Odd: link\('a'\) raised .*Odd does not define its links"):
        time(Odd(), 2, [(0, 1, 1)])
    with pytest.raises(fakempi.RunError, match=r"^cost model Narrow: .* link 'a': width=0 is less than 1\.$"):
        time(Narrow(), 2, [(0, 1, 1)])
    with pytest.raises(NotImplementedError, match=r"^Torus does not define the links between two nodes: override path\(\)$"):
        Linked.path(Torus(), 0, 1)


@pytest.mark.parametrize("name", ["torus", "fat tree", "dragonfly", "two groups"])
def test_networks_show_their_numbers_and_can_be_pickled(name: str) -> None:
    """For worker processes."""
    model = network(name)
    assert repr(model).startswith(f"{type(model).__name__}(")
    assert repr(pickle.loads(pickle.dumps(model))) == repr(model)
