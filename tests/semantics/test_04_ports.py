"""Rule 4: ports. A transfer holds its sender's output port and its receiver's input port; first come, first served."""

from __future__ import annotations

from typing import Any

import pytest

import fakempi
from fakempi import MPI, Hockney, LogGP, TwoLevel, compute, phantom

UNIT = Hockney(t_s=0, t_w=1)
SYNCHRONOUS = Hockney(t_s=0, t_w=1, eager_limit=0)


def arrivals(comm: Any, messages: int) -> list[tuple[int, float]]:
    """Receive n messages from any source: (source, time) of each."""
    found = []
    status = MPI.Status()
    for _ in range(messages):
        comm.Recv(phantom(1 << 40), MPI.ANY_SOURCE, status=status)
        found.append((status.Get_source(), MPI.Wtime()))
    return found


# -- one port each way --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", [UNIT, SYNCHRONOUS], ids=["eager", "synchronous"])
def test_a_transfer_takes_its_start_up_and_its_bytes(backend: Any, cost: Hockney) -> None:
    """t_s + n t_w, both sides."""
    priced = Hockney(t_s=1000, t_w=3, eager_limit=cost.eager_limit)

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Send(phantom(7), 1)
        else:
            comm.Recv(phantom(7), 0)

    assert fakempi.run(main, 2, cost=priced, backend=backend).clocks == [1021, 1021]


@pytest.mark.parametrize("cost", [UNIT, SYNCHRONOUS], ids=["eager", "synchronous"])
def test_an_out_port_sends_one_message_at_a_time_in_order(backend: Any, cost: Hockney) -> None:
    """One sender, three idle receivers."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            compute(1)
            MPI.Request.Waitall([comm.Isend(phantom(10 * dest), dest) for dest in (2, 1, 3)])
        else:
            comm.Recv(phantom(100), 0)
        return MPI.Wtime()

    assert fakempi.run(main, 4, cost=cost, backend=backend).returns == [61, 31, 21, 61]


@pytest.mark.parametrize("cost", [UNIT, SYNCHRONOUS], ids=["eager", "synchronous"])
def test_an_in_port_receives_one_message_at_a_time_in_order(backend: Any, cost: Hockney) -> None:
    """Three senders, one receiver: each send ends with its own transfer."""

    def main(comm: Any) -> Any:
        if comm.rank:
            compute(3 - comm.rank)
            comm.Send(phantom(10 * comm.rank), 0)
            return MPI.Wtime()
        return arrivals(comm, 3)

    run = fakempi.run(main, 4, cost=cost, backend=backend)
    assert run.returns == [[(3, 30), (2, 50), (1, 60)], 60, 50, 30]


def test_sending_and_receiving_overlap_in_full_duplex(backend: Any) -> None:
    """A ring takes as long as one message."""

    def main(comm: Any) -> None:
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        comm.Sendrecv(phantom(10), right, 0, phantom(10), left)

    assert fakempi.run(main, 5, cost=SYNCHRONOUS, backend=backend).clocks == [10] * 5


def test_a_message_to_the_same_rank_holds_both_ports(backend: Any) -> None:
    """Like any other."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            requests = [comm.Irecv(phantom(10), 0), comm.Isend(phantom(10), 0), comm.Isend(phantom(5), 1)]
            MPI.Request.Waitall(requests)
        else:
            comm.Recv(phantom(5), 0)
        return MPI.Wtime()

    assert fakempi.run(main, 2, cost=UNIT, backend=backend).returns == [15, 15]


def test_the_head_of_an_out_queue_holds_the_port_while_it_waits_for_a_busy_receiver(backend: Any) -> None:
    """Rank 1's message to the idle rank 3 waits behind its message to the busy rank 0."""

    def main(comm: Any) -> float:
        if comm.rank == 2:
            comm.Send(phantom(100), 0)
        elif comm.rank == 1:
            compute(1)
            MPI.Request.Waitall([comm.Isend(phantom(10), 0), comm.Isend(phantom(10), 3)])
        elif comm.rank == 0:
            arrivals(comm, 2)
        else:
            comm.Recv(phantom(10), 1)
        return MPI.Wtime()

    assert fakempi.run(main, 4, cost=UNIT, backend=backend).returns == [110, 120, 100, 120]


@pytest.mark.parametrize("duplex", [True, False])
def test_a_message_that_waits_for_its_senders_port_does_not_block_an_idle_receiver(backend: Any, duplex: bool) -> None:
    """Rank 1 sends at 0 behind a busy port, rank 2 sends at 10: the receiver gets 2, then 1.

    With one port for both directions, too: a message that cannot leave its sender must not hold the receiver.
    """

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return arrivals(comm, 2)
        if comm.rank == 1:
            MPI.Request.Waitall([comm.Isend(phantom(100), 3), comm.Isend(phantom(1), 0)])
        elif comm.rank == 2:
            compute(10)
            comm.Send(phantom(1), 0)
        else:
            comm.Recv(phantom(100), 1)
        return None

    cost = Hockney(t_s=0, t_w=1, duplex=duplex)
    assert fakempi.run(main, 4, cost=cost, backend=backend).returns[0] == [(2, 11), (1, 101)]


def test_queues_are_served_in_modeled_time_and_not_in_rank_order(backend: Any) -> None:
    """Higher ranks send earlier; one long message keeps the receiver busy first."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return [source for source, _ in arrivals(comm, comm.size - 1)]
        if comm.rank > 1:
            compute(comm.size - comm.rank)
        comm.Send(phantom(100 if comm.rank == 1 else 1), 0)
        return None

    assert fakempi.run(main, 7, cost=UNIT, backend=backend).returns[0] == [1, 6, 5, 4, 3, 2]


def test_the_trace_has_the_times_at_which_a_message_was_posted_started_and_ended(backend: Any) -> None:
    """Two messages through one port, in the order in which they started."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            compute(1)
            MPI.Request.Waitall([comm.Isend(phantom(10), 1, tag=3), comm.Isend(phantom(5), 2, tag=4)])
        else:
            comm.Recv(phantom(10), 0)

    trace = fakempi.run(main, 3, cost=LogGP(L=100, o=2, g=3, G=1), backend=backend, trace=True).trace
    assert trace is not None
    ways = [(one.source, one.dest, one.tag, one.nbytes, one.context) for one in trace.transfers]
    times = [(one.posted, one.start, one.sent, one.arrived) for one in trace.transfers]
    assert ways == [(0, 1, 3, 10, 1), (0, 2, 4, 5, 1)]
    assert times == [(1, 1, 12, 114), (1, 13, 19, 121)]
    assert (len(trace), repr(trace)) == (2, "<Trace: 3 ranks, 2 transfers>")


def test_messages_that_take_no_time_hold_no_port(backend: Any) -> None:
    """Thousands of them at one time."""

    def main(comm: Any) -> float:
        if comm.rank:
            MPI.Request.waitall([comm.isend(i, 0) for i in range(300)])
        else:
            assert sorted(comm.recv() for _ in range(900)) == sorted(3 * list(range(300)))
        return MPI.Wtime()

    assert fakempi.run(main, 4, cost=fakempi.ZeroCost(), backend=backend).returns == [0] * 4


# -- half duplex --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eager_limit", [0, 1000], ids=["synchronous", "eager"])
@pytest.mark.parametrize(("nprocs", "messages"), [(2, 2), (4, 2), (3, 3)])
def test_in_half_duplex_an_exchange_takes_longer_and_does_not_hang(
    backend: Any, eager_limit: int, nprocs: int, messages: int
) -> None:
    """Two ranks, or a ring: no rank is in two transfers at once; an odd ring needs a third round."""
    cost = Hockney(t_s=0, t_w=1, eager_limit=eager_limit, duplex=False)

    def main(comm: Any) -> None:
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        comm.Sendrecv(phantom(10), right, 0, phantom(10), left)

    assert fakempi.run(main, nprocs, cost=cost, backend=backend).time == 10 * messages


def test_in_half_duplex_a_message_to_the_same_rank_does_not_wait_for_itself(backend: Any) -> None:
    """It needs the one port once."""

    def main(comm: Any) -> None:
        comm.Sendrecv(phantom(10), 0, 0, phantom(10), 0)

    assert fakempi.run(main, 1, cost=Hockney(0, 1, duplex=False), backend=backend).time == 10


def test_in_half_duplex_a_wide_port_keeps_serving_after_its_first_transfer(backend: Any) -> None:
    """Both transfers at node X wait for the first of them, which waits for node Y; both start together afterwards."""
    unit = Hockney(t_s=0, t_w=1)
    cost = TwoLevel(placement="XXYYZZWW", intra=unit, inter=unit, duplex=False, ports=4, network_ports=2)
    messages = {6: (0, 50, 3), 7: (0, 100, 3), 0: (1, 10, 2), 1: (2, 10, 4)}

    def main(comm: Any) -> float:
        if comm.rank in messages:
            start, nbytes, dest = messages[comm.rank]
            compute(start)
            comm.Send(phantom(nbytes), dest)
        return MPI.Wtime()

    assert fakempi.run(main, 8, cost=cost, backend=backend).returns == [60, 60, 0, 0, 0, 0, 50, 100]


# -- several ports ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ports", "clock"), [(1, 60), (2, 30), (3, 20), (4, 20), (6, 10), (9, 10)])
def test_a_rank_with_k_ports_sends_k_messages_at_a_time(backend: Any, ports: int, clock: int) -> None:
    """Six messages to six ranks."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            MPI.Request.Waitall([comm.Isend(phantom(10), dest) for dest in range(1, 7)])
        else:
            comm.Recv(phantom(10), 0)

    run = fakempi.run(main, 7, cost=Hockney(0, 1, eager_limit=0, ports=ports), backend=backend)
    assert run.clocks[0] == clock
    assert run.clocks[1:] == [10 * (1 + number // ports) for number in range(6)]


@pytest.mark.parametrize(("ports", "clock"), [(1, 60), (2, 30), (4, 20)])
def test_a_rank_with_k_ports_receives_k_messages_at_a_time(backend: Any, ports: int, clock: int) -> None:
    """Six messages from six ranks."""

    def main(comm: Any) -> None:
        if comm.rank:
            comm.Send(phantom(10), 0)
        else:
            MPI.Request.Waitall([comm.Irecv(phantom(10), source) for source in range(1, 7)])

    assert fakempi.run(main, 7, cost=Hockney(0, 1, eager_limit=0, ports=ports), backend=backend).time == clock


# -- nodes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("network_ports", "rounds"), [(1, 32), (4, 8), (32, 1)])
def test_the_ranks_of_a_node_queue_for_its_network_ports(backend: Any, network_ports: int, rounds: int) -> None:
    """32 ranks of a node, each sends to its partner on the other: one after the other, in rank order."""
    cost = TwoLevel(32, intra=Hockney(0, 1), inter=Hockney(0, 10), network_ports=network_ports, eager_limit=0)

    def main(comm: Any) -> None:
        if comm.rank < 32:
            comm.Send(phantom(1), comm.rank + 32)
        else:
            comm.Recv(phantom(1), comm.rank - 32)

    run = fakempi.run(main, 64, cost=cost, backend=backend)
    assert run.clocks == 2 * [10 * (1 + rank // network_ports) for rank in range(32)]
    assert run.time == 10 * rounds


def to_partners(comm: Any, nbytes: int) -> None:
    """Each rank of the first half sends to its partner in the second."""
    half = comm.size // 2
    if comm.rank < half:
        comm.Send(phantom(nbytes), comm.rank + half)
    else:
        comm.Recv(phantom(nbytes), comm.rank - half)


@pytest.mark.parametrize("eager_limit", [0, 1000])
def test_a_network_port_is_held_for_bytes_and_a_gap_or_for_the_start_up_too(backend: Any, eager_limit: int) -> None:
    """Five messages of 10 bytes: each takes t_s + n t_w, and they follow each other by the gap and the bytes, or by
    everything.
    """
    for gap, step in ((0, 20), (3, 23), (150, 170), (None, 120)):
        cost = TwoLevel(5, intra=Hockney(0, 1), inter=Hockney(100, 2), network_gap=gap, eager_limit=eager_limit)
        clocks = fakempi.run(to_partners, 10, 10, cost=cost, backend=backend).clocks
        assert clocks == 2 * [120 + rank * step for rank in range(5)]


def test_in_half_duplex_too_a_network_port_is_held_for_bytes_and_a_gap(backend: Any) -> None:
    """One port for both directions: two ranks of each of two nodes send to each other, one after the other."""

    def main(comm: Any) -> None:
        if comm.rank % 2:
            comm.Send(phantom(10), comm.rank ^ 3)
        else:
            comm.Recv(phantom(10), comm.rank ^ 3)

    for gap, clock in ((0, 180), (3, 183), (None, 280)):
        cost = TwoLevel(2, intra=Hockney(0, 1), inter=Hockney(100, 4), network_gap=gap, duplex=False, eager_limit=0)
        assert fakempi.run(main, 4, cost=cost, backend=backend).time == clock


def test_transfers_within_a_node_do_not_queue_for_the_network(backend: Any) -> None:
    """Half of the ranks exchange with neighbors while the others wait for the network."""
    cost = TwoLevel(4, intra=Hockney(0, 1), inter=Hockney(0, 100), eager_limit=0)

    def main(comm: Any) -> None:
        if comm.rank in (0, 1):
            comm.Send(phantom(1), comm.rank + 4)
        elif comm.rank in (4, 5):
            comm.Recv(phantom(1), comm.rank - 4)
        else:
            partner = comm.rank ^ 1
            comm.Sendrecv(phantom(1), partner, 0, phantom(1), partner)

    assert fakempi.run(main, 8, cost=cost, backend=backend).clocks == [100, 200, 1, 1, 100, 200, 1, 1]


def test_the_network_port_is_full_duplex_as_well(backend: Any) -> None:
    """Two nodes that exchange take as long as one message; in half duplex, twice that."""

    def main(comm: Any) -> None:
        comm.Sendrecv(phantom(1), 1 - comm.rank, 0, phantom(1), 1 - comm.rank)

    for duplex, time in ((True, 10), (False, 20)):
        cost = TwoLevel(1, inter=Hockney(0, 10), duplex=duplex, eager_limit=0)
        assert fakempi.run(main, 2, cost=cost, backend=backend).time == time


def test_different_nodes_do_not_share_a_network_port(backend: Any) -> None:
    """Four nodes, two pairs, at the same time."""
    cost = TwoLevel(1, inter=Hockney(0, 10), eager_limit=0)

    def main(comm: Any) -> None:
        comm.Sendrecv(phantom(1), comm.rank ^ 1, 0, phantom(1), comm.rank ^ 1)

    assert fakempi.run(main, 4, cost=cost, backend=backend).clocks == [10] * 4
