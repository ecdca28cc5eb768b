"""Rule 6: matching is MPI's. In order between two ranks in one context; wildcards in the order of modeled arrival."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, CostModel, Hockney, LogGP, Torus, TwoLevel, compute, phantom

UNIT = Hockney(t_s=0, t_w=1)


def sources(comm: Any, messages: int, nbytes: int = 1 << 30) -> list[int]:
    """Receive n messages from any source: their sources."""
    status, found = MPI.Status(), []
    for _ in range(messages):
        comm.Recv(phantom(nbytes), MPI.ANY_SOURCE, MPI.ANY_TAG, status)
        found.append(status.Get_source())
    return found


def test_tag_and_source_select_the_message(backend: Any) -> None:
    """In any order of sending."""

    def main(comm: Any) -> Any:
        if comm.rank:
            for tag in (1, 2, 3):
                comm.send((comm.rank, tag), 0, tag)
            return None
        compute(1)
        return [comm.recv(source=source, tag=tag) for tag in (3, 1, 2) for source in (2, 1)]

    expected = [(source, tag) for tag in (3, 1, 2) for source in (2, 1)]
    assert fakempi.run(main, 3, backend=backend).returns[0] == expected


def test_messages_with_the_same_envelope_arrive_in_the_order_of_sending(backend: Any) -> None:
    """Received by source and tag, by source, by tag, and by wildcards."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            MPI.Request.waitall([comm.isend(i, 1, 5) for i in range(8)])
            return None
        wanted = [(0, 5), (0, MPI.ANY_TAG), (MPI.ANY_SOURCE, 5), (MPI.ANY_SOURCE, MPI.ANY_TAG)]
        return [comm.recv(source=source, tag=tag) for source, tag in 2 * wanted]

    assert fakempi.run(main, 2, backend=backend).returns[1] == list(range(8))


def test_receives_are_served_in_the_order_of_posting(backend: Any) -> None:
    """A wildcard that was posted first takes a message that a later exact receive would match."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            compute(1)
            for i in range(3):
                comm.send(i, 1, tag=7)
            return None
        requests = [comm.irecv(source=0, tag=7), comm.irecv(), comm.irecv(source=0, tag=7)]
        return MPI.Request.waitall(requests)

    assert fakempi.run(main, 2, backend=backend).returns[1] == [0, 1, 2]


def test_messages_of_different_communicators_never_match(backend: Any) -> None:
    """Same ranks, same tag; the order of receiving is free."""

    def main(comm: Any) -> Any:
        duplicate = comm.Dup()
        if comm.rank == 0:
            comm.send("on the first", 1)
            duplicate.send("on the second", 1)
            return None
        return duplicate.recv(source=0), comm.recv(source=0)

    assert fakempi.run(main, 2, backend=backend).returns[1] == ("on the second", "on the first")


def test_any_source_matches_the_first_message_to_arrive(backend: Any) -> None:
    """Not the first one sent: rank 1 sends at 0 and its message arrives at 100, rank 2 sends at 10 and its message arrives
    at 11.
    """

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            compute(50)
            return sources(comm, 3)
        if comm.rank == 1:
            MPI.Request.Waitall([comm.Isend(phantom(100), 3), comm.Isend(phantom(1), 0)])
        elif comm.rank == 2:
            compute(10)
            comm.Send(phantom(1), 0)
        else:
            comm.Recv(phantom(100), 1)
            comm.Send(phantom(1), 0)
        return None

    assert fakempi.run(main, 4, cost=UNIT, backend=backend).returns[0] == [2, 1, 3]


COSTS: dict[str, CostModel] = {
    "one port": UNIT,
    "two ports": Hockney(t_s=0, t_w=1, ports=2),
    "half duplex": Hockney(t_s=0, t_w=1, duplex=False),
    "two levels": TwoLevel(2, intra=Hockney(0, 1), inter=Hockney(10, 3)),
    "two levels, with a gap": TwoLevel(2, intra=Hockney(0, 1), inter=Hockney(10, 3), network_gap=7),
    "a ring of links": Torus(8, t_s=10, t_hop=2, t_w=3),
    "a ring of links, two ports": Torus(8, t_s=10, t_hop=2, t_w=3, ports=2),
    "LogGP": LogGP(L=20, o=1, g=4, G=1),
}


@pytest.mark.quick(4)
@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 60)), min_size=2, max_size=5), st.integers(0, 90))
def test_wildcards_match_in_the_order_of_modeled_arrival(cost: CostModel, sizes: list[tuple[int, int]], when: int) -> None:
    """A wildcard receive gets the message that arrived first, although it may have started later.

    On one backend: test_backends_agree.py has random messages on both.
    """

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            compute(when)
            return sources(comm, len(sizes))
        nbytes, start = sizes[comm.rank - 1]
        compute(start)
        comm.Send(phantom(nbytes), 0)
        return None

    run = fakempi.run(main, len(sizes) + 1, cost=cost, trace=True)
    assert run.trace is not None
    arrived = {one.source: one.arrived for one in run.trace.transfers}
    order = [arrived[source] for source in run.returns[0]]
    assert order == sorted(order)


def test_a_wildcard_probe_finds_a_message_that_has_arrived(backend: Any) -> None:
    """A long message in transit does not hide a short one that has arrived."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            compute(50)
            status = MPI.Status()
            return comm.Iprobe(status=status), status.Get_source()
        if comm.rank == 1:
            comm.Send(phantom(100), 0)
        else:
            compute(1)
            comm.Send(phantom(1), 0)
        return None

    run = fakempi.run(main, 3, cost=Hockney(t_s=0, t_w=1, ports=2), backend=backend)
    assert run.returns[0] == (True, 2)


@pytest.mark.quick(4)
@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
@given(
    messages=st.lists(st.tuples(st.integers(1, 20), st.booleans(), st.integers(0, 1), st.integers(0, 9)), max_size=10),
    decoy=st.integers(0, 60),
    when=st.integers(0, 60),
    wild=st.booleans(),
    seed=st.one_of(st.none(), st.integers(0, 9)),
)
def test_messages_between_two_ranks_never_overtake(
    cost: CostModel,
    messages: list[tuple[int, bool, int, int]],
    decoy: int,
    when: int,
    wild: bool,
    seed: int | None,
) -> None:
    """Eager and synchronous, long and short, behind busy ports or not, probed or not: received in the order of sending.

    For any seed: ties may be broken in any way, but not against this order.
    """

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            requests = [comm.Isend(phantom(decoy), 2)]
            for number, (nbytes, synchronous, probed, pause) in enumerate(messages):
                send = comm.Issend if synchronous else comm.Isend
                requests.append(send(phantom(nbytes), 1, 2 * number + probed))
                compute(pause)
            MPI.Request.Waitall(requests)
        elif comm.rank == 2:
            comm.Send(phantom(decoy), 1)
            comm.Recv(phantom(decoy), 0)
        else:
            compute(when)
            status, found = MPI.Status(), []
            for number, (nbytes, _, probed, _) in enumerate(messages):
                tag = MPI.ANY_TAG if wild else 2 * number + probed
                if probed:
                    comm.Mprobe(0, tag, status).Recv(phantom(nbytes))
                else:
                    comm.Recv(phantom(nbytes), 0, tag, status)
                found.append(status.Get_tag() // 2)
            comm.Recv(phantom(decoy), 2)
            return found
        return None

    assert fakempi.run(main, 3, cost=cost, seed=seed).returns[1] == list(range(len(messages)))


def test_a_synchronous_message_waits_for_the_eager_one_before_it(backend: Any) -> None:
    """The eager message waits for a busy port; the posted receive takes it, not the other."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            requests = [comm.Isend(phantom(100), 2), comm.Isend(phantom(1), 1, 1), comm.Issend(phantom(1), 1, 2)]
            MPI.Request.Waitall(requests)
        elif comm.rank == 1:
            status = MPI.Status()
            comm.Recv(phantom(1), 0, MPI.ANY_TAG, status)
            return status.Get_tag(), MPI.Wtime(), comm.Recv(phantom(1), 0), MPI.Wtime()
        else:
            comm.Recv(phantom(100), 0)
        return None

    assert fakempi.run(main, 3, cost=UNIT, backend=backend).returns[1] == (1, 101, None, 102)


def test_messages_with_other_tags_can_pass_a_message_that_is_not_received(backend: Any) -> None:
    """Order holds among messages that match the same receive."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            requests = [comm.Issend(phantom(5), 1, 1), comm.Isend(phantom(5), 1, 2)]
            MPI.Request.Waitall(requests)
            return MPI.Wtime()
        comm.Recv(phantom(5), 0, 2)
        compute(100)
        comm.Recv(phantom(5), 0, 1)
        return MPI.Wtime()

    assert fakempi.run(main, 2, cost=UNIT, backend=backend).returns == [110, 110]


def test_a_probe_returns_the_message_of_the_next_receive(backend: Any) -> None:
    """Also if others arrive in between."""

    def main(comm: Any) -> Any:
        if comm.rank:
            compute(comm.rank)
            comm.Send(phantom(comm.rank), 0, comm.rank)
            return None
        status, found = MPI.Status(), []
        for _ in range(comm.size - 1):
            comm.Probe(status=status)
            source, tag, nbytes = status.Get_source(), status.Get_tag(), status.Get_count(MPI.BYTE)
            compute(3)
            comm.Recv(phantom(nbytes), source, tag)
            found.append((source, tag, nbytes))
        return found

    assert fakempi.run(main, 5, cost=UNIT, backend=backend).returns[0] == [(rank, rank, rank) for rank in range(1, 5)]


def test_a_matched_probe_takes_the_message_away_from_receives(backend: Any) -> None:
    """Only the returned message object can receive it, whatever is received in between."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            for i in range(2):
                comm.send(i, 1)
            return None
        message = comm.mprobe()
        second = comm.recv()
        return message.recv(), second

    assert fakempi.run(main, 2, backend=backend).returns[1] == (0, 1)


def test_a_cancelled_receive_takes_no_message(backend: Any) -> None:
    """The message goes to the next receive."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            compute(1)
            comm.send("x", 1)
            return None
        cancelled, kept = comm.irecv(), comm.irecv()
        cancelled.Cancel()
        status = MPI.Status()
        cancelled.Wait(status)
        return status.Is_cancelled(), kept.wait()

    assert fakempi.run(main, 2, backend=backend).returns[1] == (True, "x")
