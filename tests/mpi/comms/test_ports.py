"""Ports and published names: connections between independent groups, and Disconnect."""

from __future__ import annotations

import socket
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, CostModel, Hockney, LogGP, TwoLevel
from tests.helpers.breadth import examples
from tests.helpers.runs import fails, run

UNIT = Hockney(t_s=0, t_w=1, eager_limit=0)


def port_of_rank_0(comm: Any) -> str:
    """A port that rank 0 opens and sends to all."""
    name: str = comm.bcast(MPI.Open_port() if comm.rank == 0 else None)
    return name


# -- connecting ----------------------------------------------------------------------------------------------------


@given(p=st.integers(1, 4), q=st.integers(1, 4), delays=st.tuples(st.integers(0, 3), st.integers(0, 3)), data=st.data())
@settings(max_examples=examples(15))
def test_two_groups_of_a_world_connect(
    backend: Any, p: int, q: int, delays: tuple[int, int], data: st.DataObject
) -> None:
    """In any order and with any root; both continue when the later one has called."""
    root = data.draw(st.integers(0, q - 1))

    def main(comm: Any) -> Any:
        port = port_of_rank_0(comm)
        start, side = Fraction(MPI.Wtime()), int(comm.rank >= p)
        mine = comm.Split(side)
        fakempi.compute(delays[side])
        if side:
            inter = mine.Connect(port if mine.rank == root else "whatever", root=root)
        else:
            inter = mine.Accept(port if mine.rank == 0 else "whatever")
        assert (inter.size, inter.remote_size, inter.Is_inter()) == ((q, p, True) if side else (p, q, True))
        assert round(MPI.Wtime() - start) == max(delays)
        merged = inter.Merge(bool(side))
        inter.Disconnect()
        return merged.allgather(comm.rank)

    free = Hockney(t_s=0, t_w=0)
    assert run(main, p + q, backend, cost=free) == [list(range(p + q))] * (p + q)


def test_several_groups_accept_on_one_port_in_turn(backend: Any) -> None:
    """Clients are served in the order of their calls."""

    def main(comm: Any) -> Any:
        port = port_of_rank_0(comm)
        if comm.rank:
            fakempi.compute(10 - comm.rank)
            server = MPI.COMM_SELF.Connect(port)
            server.send(comm.rank, 0)
            server.Disconnect()
            return None
        fakempi.compute(20)
        served = []
        for _ in range(3):
            client = MPI.COMM_SELF.Accept(port)
            served.append(client.recv())
            client.Disconnect()
        MPI.Close_port(port)
        return served

    assert run(main, 4, backend)[0] == [3, 2, 1]


def test_parents_connect_to_children_and_children_to_each_other(backend: Any) -> None:
    """By a published name, and by a port name in a message."""

    def server(comm: Any) -> None:
        port = MPI.Open_port() if comm.rank == 0 else ""
        if comm.rank == 0:
            MPI.Publish_name("sums", port)
        comm.Get_parent().send("ready", 0)
        for _ in range(2):
            inter = comm.Accept(port)
            if comm.rank == 0:
                inter.send(inter.recv(source=0) + comm.size, 0)
            inter.Disconnect()
        if comm.rank == 0:
            MPI.Unpublish_name("sums", port)
            MPI.Close_port(port)

    def client(comm: Any) -> int:
        inter = comm.Connect(MPI.Lookup_name("sums"))
        answer = 0
        if comm.rank == 0:
            inter.send(comm.size, 0)
            answer = inter.recv(source=0)
        inter.Disconnect()
        if comm.Get_parent() != MPI.COMM_NULL and comm.rank == 0:
            comm.Get_parent().send(answer, 0)
        return answer

    def main(comm: Any) -> Any:
        servers = comm.Spawn(server, maxprocs=3)
        if comm.rank == 0:
            for _ in range(3):
                servers.recv()
        comm.Barrier()
        mine = client(comm)
        clients = comm.Spawn(client, maxprocs=4)
        return mine, clients.recv(source=0) if comm.rank == 0 else None

    assert run(main, 2, backend) == [(5, 7), (0, None)]


def test_names_of_ports_are_unique_and_the_same_on_every_run() -> None:
    """However many."""

    def main(comm: Any) -> list[str]:
        return [MPI.Open_port() for _ in range(3)]

    first = run(main, 3)
    assert first == run(main, 3) == run(main, 3, "threads")
    assert len({name for names in first for name in names}) == 9
    assert max(len(name) for names in first for name in names) <= MPI.MAX_PORT_NAME


# -- errors --------------------------------------------------------------------------------------------------------


def test_an_unknown_port_is_rejected() -> None:
    """All ranks of the group get the root's error."""

    def main(comm: Any) -> None:
        words = "there is no port 'nowhere': it was never opened, or was closed."
        for call in ("Accept", "Connect"):
            with fails(f"{call} on rank 1: {words}", MPI.ERR_PORT):
                getattr(comm, call)("nowhere", root=1)
        with fails(f"Close_port on rank {comm.rank}: {words}", MPI.ERR_PORT):
            MPI.Close_port("nowhere")
        port = port_of_rank_0(comm)
        if comm.rank == 0:
            MPI.Close_port(port)
        comm.Barrier()
        with fails(f"Connect on rank 0: there is no port {port!r}: it was never opened, or was closed.", MPI.ERR_PORT):
            comm.Connect(port)

    run(main, 2)


def test_accept_is_valid_on_the_process_that_opened_the_port() -> None:
    """On no other."""

    def main(comm: Any) -> None:
        port = port_of_rank_0(comm)
        words = f"Accept on rank 1: port {port!r} was opened by rank 0; only that rank can accept."
        with fails(words, MPI.ERR_PORT):
            comm.Accept(port, root=1)

    run(main, 2)


def test_closing_a_port_ends_all_waits(backend: Any) -> None:
    """Groups that connect to it get an error."""

    def main(comm: Any) -> None:
        port = port_of_rank_0(comm)
        if comm.rank == 0:
            fakempi.compute(5)
            MPI.Close_port(port)
        else:
            with fails(f"Connect on rank {comm.rank}: port {port!r} was closed.", MPI.ERR_PORT):
                MPI.COMM_SELF.Connect(port)

    run(main, 3, backend)


def test_unpublished_and_repeated_names_are_rejected() -> None:
    """Names belong to the universe, not to the process."""

    def main(comm: Any) -> None:
        if comm.rank:
            comm.Barrier()
            assert MPI.Lookup_name("a") == "port 1"
            return
        with fails("Lookup_name on rank 0: service 'a' is not published.", MPI.ERR_NAME):
            MPI.Lookup_name("a")
        with fails("Unpublish_name on rank 0: service 'a' is not published.", MPI.ERR_SERVICE):
            MPI.Unpublish_name("a", "port 1")
        MPI.Publish_name("a", "port 1", MPI.INFO_NULL)
        with fails("Publish_name on rank 0: service 'a' is published already, for port 'port 1'.", MPI.ERR_SERVICE):
            MPI.Publish_name("a", "port 2")
        words = "Unpublish_name on rank 0: service 'a' is published for port 'port 1', not for 'port 2'."
        with fails(words, MPI.ERR_SERVICE):
            MPI.Unpublish_name("a", "port 2")
        MPI.Unpublish_name("a", "port 1")
        MPI.Publish_name("a", "port 1")
        comm.Barrier()

    run(main, 2)


def test_names_are_strings_and_info_is_an_info() -> None:
    """Other types are rejected."""

    def main(comm: Any) -> None:
        with fails("Publish_name on rank 0: service_name is 5, not a string.", MPI.ERR_ARG, TypeError):
            MPI.Publish_name(5, "p")  # type: ignore[arg-type]
        with fails("Connect on rank 0: port_name is None, not a string.", MPI.ERR_ARG, TypeError):
            comm.Connect(None)
        with fails("Open_port on rank 0: info is 'soft', not an Info.", MPI.ERR_INFO, TypeError):
            MPI.Open_port("soft")  # type: ignore[arg-type]
        assert MPI.Open_port(MPI.Info.Create({"ip_port": "1"}))

    run(main, 1)


def test_published_names_end_with_the_run() -> None:
    """The next run has none."""

    def main(comm: Any) -> None:
        with pytest.raises(MPI.Exception):
            MPI.Lookup_name("leftover")
        MPI.Publish_name("leftover", MPI.Open_port())

    run(main, 1)
    run(main, 1)


def test_an_accept_without_a_connect_is_a_deadlock(backend: Any) -> None:
    """So is a Connect without an Accept."""

    def main(comm: Any) -> None:
        port = port_of_rank_0(comm)
        if comm.rank < 2:
            comm.Split(0).Accept(port)
        else:
            other = comm.Split(1).bcast(MPI.Open_port())
            MPI.COMM_SELF.Connect(other)

    with pytest.raises(fakempi.DeadlockError) as caught:
        run(main, 3, backend, cost=Hockney(t_s=0, t_w=0))
    lines = [line.partition(" at test_ports.py")[0] for line in str(caught.value).splitlines()[1:]]
    assert lines == [
        "  rank 0: Accept(waits for a Connect to port 'fakempi-port-1')",
        "  rank 1: Accept(waits for rank 0)",
        "  rank 2: Connect(waits for an Accept on port 'fakempi-port-2')",
    ]


def test_different_roots_are_rejected() -> None:
    """The check precedes the wait at the port."""

    def main(comm: Any) -> None:
        port = MPI.Open_port()
        with fails("Accept: root is 0 on rank 0 but 1 on rank 1.", MPI.ERR_NOT_SAME):
            comm.Accept(port, root=comm.rank)

    run(main, 2)


# -- disconnecting -------------------------------------------------------------------------------------------------


def test_all_ranks_leave_disconnect_together(backend: Any) -> None:
    """Disconnect is collective; Free is not."""

    def main(comm: Any) -> Any:
        copy, other = comm.Dup(), comm.Dup()
        fakempi.compute(comm.rank)
        other.Free()
        before = MPI.Wtime()
        copy.Disconnect()
        assert copy == other == MPI.COMM_NULL
        return before, MPI.Wtime()

    assert run(main, 3, backend) == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("cost", "end"),
    [
        (UNIT, 108),
        (Hockney(t_s=0, t_w=1, eager_limit=0, duplex=False), 108),
        (Hockney(t_s=0, t_w=1, ports=3), 100),
        (LogGP(L=50, o=0, g=0, G=1, eager_limit=0), (100 - 1) + (8 - 1) + 50),
        (TwoLevel(1, intra=UNIT, inter=UNIT, eager_limit=0), 108),
    ],
)
def test_disconnect_waits_for_pending_messages(backend: Any, cost: CostModel, end: float) -> None:
    """No rank leaves before all messages have arrived, even queued ones."""

    def main(comm: Any) -> Any:
        copy = comm.Dup()
        data = np.zeros(100, np.uint8)
        if comm.rank == 0:
            requests = [copy.Isend(data, 1), copy.Isend(data[:8], 1)]
        else:
            requests = [copy.Irecv(data, 0), copy.Irecv(data[:8].copy(), 0)]
        copy.Disconnect()
        left = MPI.Wtime()
        assert MPI.Request.Testall(requests)
        return left

    assert run(main, 2, backend, cost=cost) == [end, end]


def test_disconnect_waits_for_a_nonblocking_collective(backend: Any) -> None:
    """It is communication, too."""

    def main(comm: Any) -> Any:
        copy = comm.Dup()
        total = np.zeros(8)
        request = copy.Iallreduce(np.ones(8), total)
        copy.Disconnect()
        assert request.Test()
        return total.tolist()

    assert run(main, 4, backend, cost=UNIT) == [[4.0] * 8] * 4


def test_disconnect_with_a_missing_message_is_a_deadlock(backend: Any) -> None:
    """The report names the message."""

    def main(comm: Any) -> None:
        copy = comm.Dup()
        if comm.rank == 0:
            copy.Irecv(np.zeros(1), 1, 7)
        copy.Disconnect()

    words = r"\n  rank 0: Disconnect\(source=1, tag=7 on communicator 2 \(2 ranks\)\) at test_ports.py:.*; rank 1 has ended$"
    with pytest.raises(fakempi.DeadlockError, match=words):
        run(main, 2, backend)


def test_a_process_that_has_ended_is_disconnected(backend: Any) -> None:
    """Before the others disconnect or after, as in MPI libraries."""

    def child(comm: Any) -> None:
        fakempi.compute(10 * comm.rank)

    def main(comm: Any) -> float:
        children = comm.Spawn(child, maxprocs=3)
        fakempi.compute(5)
        children.Disconnect()
        return MPI.Wtime()

    assert run(main, 2, backend) == [20, 20]

    def late(comm: Any) -> float:
        children = comm.Spawn(child, maxprocs=3)
        fakempi.compute(50 + comm.rank)
        children.Disconnect()
        return MPI.Wtime()

    assert run(late, 2, backend) == [51, 51]


def test_disconnect_waits_for_a_process_that_continues(backend: Any) -> None:
    """The report names it."""

    def child(comm: Any) -> None:
        if comm.rank:
            comm.recv(source=0)

    def main(comm: Any) -> None:
        comm.Spawn(child, maxprocs=2).Disconnect()

    words = r"\n  rank 0: Disconnect\(waits for rank 1 of the group spawned at test_ports.py:\d+\) at test_ports.py:"
    with pytest.raises(fakempi.DeadlockError, match=words):
        run(main, 1, backend)


def test_predefined_communicators_cannot_be_disconnected() -> None:
    """A freed communicator cannot be either."""

    def main(comm: Any) -> None:
        with fails("Disconnect on rank 0: COMM_WORLD cannot be freed.", MPI.ERR_COMM):
            comm.Disconnect()
        copy = comm.Dup()
        copy.Free()
        with pytest.raises(MPI.Exception, match="^Disconnect on rank 0: the communicator is null"):
            copy.Disconnect()

    run(main, 1)


# -- sockets -------------------------------------------------------------------------------------------------------


def line_between(comm: Any) -> socket.socket | None:
    """A socket from rank 0 to rank 1, connected by both; the operating system blocks no rank."""
    if comm.rank == 0:
        with socket.create_server(("127.0.0.1", 0)) as server:
            comm.ssend(server.getsockname(), 1)
            comm.recv(source=1)
            return server.accept()[0]
    if comm.rank == 1:
        line = socket.create_connection(comm.recv(source=0))
        comm.send(None, 0)
        return line
    return None


def test_processes_at_the_ends_of_a_socket_join(backend: Any) -> None:
    """In any order of calls, for any number of ranks."""

    def main(comm: Any) -> Any:
        line = line_between(comm)
        if line is None:
            return None
        with line:
            fakempi.compute(comm.rank)
            inter = MPI.Comm.Join(line.fileno())
            assert (inter.size, inter.rank, inter.remote_size) == (1, 0, 1)
            return inter.sendrecv(comm.rank, 0, source=0)

    assert run(main, 3, backend) == [1, 0, None]


def test_a_single_rank_at_a_socket_is_reported() -> None:
    """As for a port."""

    def main(comm: Any) -> Any:
        line = line_between(comm)
        assert line is not None
        with line:
            if comm.rank == 0:
                MPI.Comm.Join(line.fileno())

    with pytest.raises(fakempi.DeadlockError, match=r"waits for a Connect to port \"socket \[\('127\.0\.0\.1', \d+\)"):
        run(main, 2)


def test_a_socket_with_an_unknown_peer_is_rejected() -> None:
    """In one sentence, at once: here the peer is closed, elsewhere it may belong to another program."""

    def main(comm: Any) -> None:
        line = line_between(comm)
        assert line is not None
        comm.Barrier()
        if comm.rank == 1:
            line.close()
        comm.Barrier()
        if comm.rank == 0:
            with line, pytest.raises(MPI.Exception, match=REFUSED):
                MPI.Comm.Join(line.fileno())

    run(main, 2)


REFUSED = r"^Join on rank 0: the other end of socket \d+, \('127\.0\.0\.1', \d+\), is not a rank of this run; Join connects"


def test_only_sockets_with_two_addresses_are_accepted() -> None:
    """Other sockets do not identify their peer."""

    def main(comm: Any) -> None:
        with pytest.raises(MPI.Exception, match=r"^Join on rank 0: file descriptor 1 is not a connected socket: .*\.$"):
            MPI.Comm.Join(1)
        with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(MPI.Exception, match="is listening"):
            MPI.Comm.Join(server.fileno())
        here, there = socket.socketpair()
        with here, there, pytest.raises(MPI.Exception, match=r"have no addresses that distinguish them\.$"):
            MPI.Comm.Join(here.fileno())

    run(main, 1)
