"""A table of small programs: the wait states of each, computed by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import fakempi
from fakempi import MPI, FileServer, Hockney, LogGP, Torus, compute, phantom
from fakempi.trace.waits import ENDED_EARLY

UNIT = Hockney(t_s=0, t_w=1)
"""A byte takes a second, so phantom(3) takes three."""
SYNCHRONOUS = Hockney(t_s=0, t_w=1, eager_limit=0)
FREE = Hockney(t_s=0, t_w=0)


class Program(NamedTuple):
    """A program, the number of its ranks, and the seconds of its wait states without those of ranks that have ended."""

    main: Callable[[Any], Any]
    ranks: int
    states: Mapping[str, float]
    options: Mapping[str, Any]


PROGRAMS: dict[str, Program] = {}


def program(ranks: int, states: Mapping[str, float], **options: Any) -> Callable[[Callable[[Any], Any]], None]:
    """Add a program to the table, under the name of its function."""

    def add(main: Callable[[Any], Any]) -> None:
        PROGRAMS[main.__name__] = Program(main, ranks, states, {"cost": UNIT, **options})

    return add


# -- one message after the other ------------------------------------------------------------------------------------------


@program(3, {"late sender": 49})
def receives_in_order(comm: Any) -> None:
    """Rank 2's message arrives from 40 to 41, before its receive. Rank 1's is late by the other 49 seconds until 50."""
    if comm.rank == 0:
        comm.Recv(phantom(1), 1)
        comm.Recv(phantom(1), 2)
    else:
        compute(60 - 10 * comm.rank)
        comm.Send(phantom(1), 0)


@program(2, {"late sender": 5})
def late_sender(comm: Any) -> None:
    """From the receive at 2 to the send at 7."""
    compute(2 if comm.rank else 7)
    comm.Recv(phantom(3), 0) if comm.rank else comm.Send(phantom(3), 1)


@program(2, {"late receiver": 5}, cost=SYNCHRONOUS)
def late_receiver(comm: Any) -> None:
    """From the send at 2 to the receive at 7."""
    compute(7 if comm.rank else 2)
    comm.Recv(phantom(3), 0) if comm.rank else comm.Send(phantom(3), 1)


@program(2, {"late receiver": 5})
def late_receiver_of_a_synchronous_send(comm: Any) -> None:
    """Ssend waits for the receive whatever the eager limit is."""
    compute(7 if comm.rank else 2)
    comm.Recv(phantom(3), 0) if comm.rank else comm.Ssend(phantom(3), 1)


@program(2, {}, cost=SYNCHRONOUS)
def a_buffered_send_waits_for_nothing(comm: Any) -> None:
    """Bsend ends at once, and its transfer does not wait for the receive either."""
    if comm.rank == 0:
        MPI.Attach_buffer(bytearray(1000))
        comm.Bsend(bytes(3), 1)
        compute(7)
        MPI.Detach_buffer()
    else:
        compute(3)
        comm.Recv(bytearray(3), 0)


@program(2, {"late sender": 6})
def computing_hides_part_of_the_wait(comm: Any) -> None:
    """The receive is posted at 0. Rank 1 computes until 4 and waits until the send at 10."""
    if comm.rank:
        request = comm.Irecv(phantom(3), 0)
        compute(4)
        request.Wait()
    else:
        compute(10)
        comm.Send(phantom(3), 1)


@program(3, {"late sender": 48 + 48, "port contention": 1})
def a_slow_rank_in_a_ring(comm: Any) -> None:
    """Irecv, Isend, Waitall: the others send and receive until 2, and wait for rank 0 until 50.

    Rank 0 then sends to rank 2 until 51, and after that to rank 1.
    """
    compute(50 if comm.rank == 0 else 0)
    requests = [comm.Irecv(phantom(1), side) for side in ((comm.rank - 1) % 3, (comm.rank + 1) % 3)]
    requests += [comm.Isend(phantom(1), side) for side in ((comm.rank - 1) % 3, (comm.rank + 1) % 3)]
    MPI.Request.Waitall(requests)


@program(3, {"late receiver": 18, "late sender": 7}, cost=SYNCHRONOUS)
def the_last_operation_of_a_waitall_counts(comm: Any) -> None:
    """Rank 0 sends 2 bytes to 1, who receives at 20, and receives 2 from 2, who sends at 10: it waits for rank 1.

    From 0 to 10 and from 12 to 20. Rank 2 computes; rank 1 receives at 20, then another message that rank 2 sends at 29.
    """
    if comm.rank == 0:
        MPI.Request.Waitall([comm.Isend(phantom(2), 1), comm.Irecv(phantom(2), 2)])
    elif comm.rank == 1:
        compute(20)
        comm.Recv(phantom(2), 0)
        comm.Recv(phantom(1), 2)
    else:
        compute(10)
        comm.Send(phantom(2), 0)
        compute(17)
        comm.Send(phantom(1), 1)


def completes_two_requests(comm: Any, complete: Callable[[list[MPI.Request]], object]) -> None:
    """Rank 0 completes a send to rank 1, who receives at 20, and a receive from rank 2, who sends at 10."""
    if comm.rank == 0:
        complete([comm.Isend(phantom(2), 1), comm.Irecv(phantom(2), 2)])
    elif comm.rank == 1:
        compute(20)
        comm.Recv(phantom(2), 0)
    else:
        compute(10)
        comm.Send(phantom(2), 0)


@program(3, {"late sender": 10, "late receiver": 8}, cost=SYNCHRONOUS)
def the_first_operation_of_a_waitany_counts(comm: Any) -> None:
    """The same with Waitany: the rank waits for rank 2 first, until 10, and from 12 to 20 for rank 1."""
    completes_two_requests(comm, lambda requests: [MPI.Request.Waitany(requests) for _ in requests])


@program(3, {"late sender": 10, "late receiver": 8}, cost=SYNCHRONOUS)
def so_does_that_of_a_waitsome(comm: Any) -> None:
    """The same."""
    completes_two_requests(comm, lambda requests: list(iter(lambda: MPI.Request.Waitsome(requests), None)))


@program(2, {"late sender": 7})
def persistent_requests(comm: Any) -> None:
    """Started at 0; sent at 5, and in the second round at 5 + 3 + 2: the receive is started at 8."""
    if comm.rank:
        request = comm.Recv_init(phantom(3), 0)
    else:
        request = comm.Send_init(phantom(3), 1)
    for seconds in 5, 2:
        compute(0 if comm.rank else seconds)
        request.Start()
        request.Wait()


@program(2, {"late sender": 5})
def partitioned_requests(comm: Any) -> None:
    """The only partition is ready at 5."""
    if comm.rank:
        request = comm.Precv_init(bytearray(3), 1, 0, 0)
        request.Start()
    else:
        request = comm.Psend_init(bytearray(3), 1, 1, 0)
        request.Start()
        compute(5)
        request.Pready(0)
    request.Wait()


@program(2, {"late sender": 4 + 4})
def sendrecv(comm: Any) -> None:
    """Each rank is 5 seconds late once; the other one sends during the first."""
    for late in 0, 1:
        compute(5 if comm.rank == late else 0)
        comm.Sendrecv(phantom(1), 1 - comm.rank, 0, phantom(1), 1 - comm.rank, 0)


def receives_at_5(comm: Any, receive: Callable[[], object]) -> None:
    """Rank 0 sends 3 bytes at 5; rank 1 receives them in its own way."""
    if comm.rank:
        receive()
    else:
        compute(5)
        comm.Send(phantom(3), 1)


@program(2, {"late sender": 5})
def a_probe(comm: Any) -> None:
    """Probe waits for the message; its receive does not."""
    receives_at_5(comm, lambda: (comm.Probe(0), comm.Recv(phantom(3), 0)))


@program(2, {"late sender": 5}, cost=SYNCHRONOUS)
def a_matched_probe_of_a_synchronous_message(comm: Any) -> None:
    """Mprobe returns when the message has been sent."""
    receives_at_5(comm, lambda: comm.Mprobe(0).Recv(phantom(3)))


@program(3, {"late sender": 5, "port contention": 2})
def a_probe_of_a_message_behind_another(comm: Any) -> None:
    """Rank 1's port is busy from 5 to 7 with a message for rank 2, so that rank 0's probe waits for it."""
    if comm.rank == 0:
        comm.Probe(1)
        comm.Recv(phantom(3), 1)
    elif comm.rank == 1:
        compute(5)
        requests = [comm.Isend(phantom(2), 2), comm.Isend(phantom(3), 0)]
        MPI.Request.Waitall(requests)
    else:
        compute(7)
        comm.Recv(phantom(2), 1)


@program(2, {"polling": 5})
def polling_for_a_message(comm: Any) -> None:
    """Iprobe until 5; then the message is in transfer."""

    def polls() -> None:
        while not comm.Iprobe(0):
            pass
        comm.Recv(phantom(3), 0)

    receives_at_5(comm, polls)


@program(2, {"late sender": 5})
def testing_a_receive(comm: Any) -> None:
    """A rank that tests a posted receive waits for its sender."""

    def tests() -> None:
        request = comm.Irecv(phantom(3), 0)
        while not request.Test():
            pass

    receives_at_5(comm, tests)


# -- ports and links --------------------------------------------------------------------------------------------------


def two_senders(comm: Any, receive: Callable[[], object]) -> None:
    """Ranks 1 and 2 send 10 bytes to rank 0 at once."""
    comm.Send(phantom(10), 0) if comm.rank else receive()


@program(3, {"port contention": 10})
def two_messages_to_one_rank(comm: Any) -> None:
    """The second sender waits for the port of rank 0."""
    two_senders(comm, lambda: MPI.Request.Waitall([comm.Irecv(phantom(10), source) for source in (1, 2)]))


@program(3, {"port contention": 10})
def messages_that_are_received_in_turn(comm: Any) -> None:
    """The same. The second receive is posted when the port is free, but an eager message does not wait for it."""
    two_senders(comm, lambda: [comm.Recv(phantom(10), source) for source in (1, 2)])


@program(3, {"late receiver": 10}, cost=SYNCHRONOUS)
def synchronous_messages_that_are_received_in_turn(comm: Any) -> None:
    """The second sender waits for its receive."""
    two_senders(comm, lambda: [comm.Recv(phantom(10), source) for source in (1, 2)])


@program(2, {"port contention": 3}, cost=LogGP(L=0, o=1, g=4, G=0))
def a_gap(comm: Any) -> None:
    """A message takes o = 1 to send, and the port is free after g = 4; the receiver is busy from the start of each."""
    if comm.rank == 0:
        comm.Send(phantom(1), 1)
        comm.Send(phantom(1), 1)
    else:
        compute(10)
        comm.Recv(phantom(1), 0)
        comm.Recv(phantom(1), 0)


@program(3, {"port contention": 5}, cost=Hockney(t_s=0, t_w=1, duplex=False))
def half_duplex(comm: Any) -> None:
    """Rank 0 sends to 2 until 5; rank 1's message to rank 0 waits for that."""
    if comm.rank == 0:
        MPI.Request.Waitall([comm.Irecv(phantom(10), 1), comm.Isend(phantom(5), 2)])
    elif comm.rank == 1:
        comm.Send(phantom(10), 0)
    else:
        comm.Recv(phantom(5), 0)


@program(6, {"port contention": 10 + 10}, cost=Torus((6,), t_s=0, t_hop=0, t_w=1))
def a_link(comm: Any) -> None:
    """The messages from 0 to 2 and from 1 to 3 use the link from 1 to 2: rank 1 sends, and rank 3 receives, 10 later."""
    if comm.rank in (0, 1):
        comm.Send(phantom(10), comm.rank + 2)
    elif comm.rank in (2, 3):
        comm.Recv(phantom(10), comm.rank - 2)


# -- collective calls: messages take no time --------------------------------------------------------------------------


def staggered(
    name: str, call: Callable[[Any], Any], states: Mapping[str, float], delays: tuple[float, ...] = (0, 10, 20),
    algorithms: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Add a program in which the ranks make a call after delays."""

    def main(comm: Any) -> None:
        compute(delays[comm.rank])
        call(comm)

    PROGRAMS[name] = Program(main, len(delays), states, {"cost": FREE, "algorithms": algorithms})


def add_collectives() -> None:
    """Add a program for each kind of collective call. The last rank calls 20 and 10 seconds after the others."""
    one, three = np.ones(1), np.ones(3)
    for_all = {"wait at N x N": 20 + 10}
    staggered("barrier", lambda comm: comm.Barrier(), {"wait at barrier": 20 + 10})
    staggered("bcast", lambda comm: comm.Bcast(np.ones(1), 2), {"late broadcast": 20 + 10})
    staggered("scatter", lambda comm: comm.Scatter(three, np.ones(1), 2), {"late broadcast": 20 + 10})
    staggered("bcast of an object", lambda comm: comm.bcast(1, 2), {"late broadcast": 20 + 10})
    linear = {"reduce": "linear", "gather": "linear"}
    to_root = {"early reduce": 10, "late sender": 10}  # the root waits for the first of the others, then for the second
    staggered("reduce", lambda comm: comm.Reduce(one, np.ones(1), root=0), to_root, algorithms=linear)
    staggered("gather", lambda comm: comm.Gather(one, np.ones(3), 0), to_root, algorithms=linear)
    staggered("allreduce", lambda comm: comm.Allreduce(one, np.ones(1)), for_all)
    staggered("allgather", lambda comm: comm.Allgather(one, np.ones(3)), for_all)
    staggered("alltoall", lambda comm: comm.Alltoall(three, np.ones(3)), for_all)
    staggered("reduce_scatter", lambda comm: comm.Reduce_scatter(three, np.ones(1), [1, 1, 1]), for_all)
    backwards = (20, 10, 0)
    staggered("scan", lambda comm: comm.Scan(one, np.ones(1)), {"early scan": 10 + 20}, backwards)
    staggered("exscan", lambda comm: comm.Exscan(one, np.ones(1)), {"early scan": 10 + 20}, backwards)
    staggered("scan in order", lambda comm: comm.Scan(one, np.ones(1)), {}, algorithms={"scan": "linear"})
    staggered("ibarrier", lambda comm: comm.Ibarrier().Wait(), {"late sender": 20 + 10})
    staggered("dup", lambda comm: comm.Dup(), {"wait at create": 20 + 10})
    staggered("split", lambda comm: comm.Split(0), {"wait at create": 20 + 10})
    staggered("create_cart", lambda comm: comm.Create_cart([3]), {"wait at create": 20 + 10})
    first_two = lambda comm: comm.Create_group(comm.group.Incl([0, 1])) if comm.rank < 2 else None  # noqa: E731  # used once
    staggered("create_group", first_two, {"wait at create": 10})
    staggered("window", lambda comm: MPI.Win.Allocate(8, comm=comm), {"wait at create": 20 + 10})
    staggered("disconnect", lambda comm: comm.Dup().Disconnect(), {"wait at create": 20 + 10})
    staggered("idup", lambda comm: comm.Idup()[1].Wait(), {"wait at create": 20 + 10})
    staggered("ishrink", lambda comm: comm.Ishrink()[1].Wait(), {"wait at create": 20 + 10})
    staggered("iagree", lambda comm: comm.Iagree(bytearray(4)).Wait(), {"wait at N x N": 20 + 10})
    staggered("agree", lambda comm: comm.Agree(1), {"wait at N x N": 20 + 10})
    staggered("shrink", lambda comm: comm.Shrink(), {"wait at create": 20 + 10})


add_collectives()


@program(3, {"late sender": 10 + 10}, cost=FREE)
def neighbors_in_a_line(comm: Any) -> None:
    """Rank 0 waits for rank 1, and rank 1 for rank 2."""
    line = comm.Create_cart([3])
    compute(10 * comm.rank)
    line.neighbor_alltoall([0] * 2 if comm.rank == 1 else [0, 0])


@program(3, {"wait at free": 20 + 10}, cost=FREE)
def a_communicator_is_disconnected(comm: Any) -> None:
    """Disconnect waits for all ranks."""
    other = comm.Dup()
    compute(10 * comm.rank)
    other.Disconnect()


@program(3, {"wait at create": 10 + 5, "not spawned yet": 10}, cost=FREE)
def spawned_ranks(comm: Any) -> None:
    """The last parent calls at 10, the others at 0, 5 and 10: the child exists from 10 on."""
    compute(5 * comm.rank)
    comm.Spawn(lambda child: None, maxprocs=1)


@program(2, {"wait at create": 5 + 7}, cost=FREE)
def accept_and_connect(comm: Any) -> None:
    """Rank 0 waits for the name of the port until 5 (a message), and in Accept until 12."""
    if comm.rank == 0:
        port = MPI.Open_port()
        comm.send(port, 1)
        MPI.COMM_SELF.Accept(port)
    else:
        port = comm.recv(source=0)
        compute(12)
        MPI.COMM_SELF.Connect(port)


# -- windows and files ------------------------------------------------------------------------------------------------


@program(3, {"wait at fence": 20 + 10, "wait at free": 20 + 10}, cost=FREE)
def fences(comm: Any) -> None:
    """Fence, and after that Free."""
    window = MPI.Win.Allocate(8, comm=comm)
    compute(10 * comm.rank)
    window.Fence()
    compute(10 * comm.rank)
    window.Free()


@program(3, {"lock contention": 10, "wait at free": 10}, cost=FREE)
def a_lock(comm: Any) -> None:
    """Rank 0 holds the lock until 10; rank 1 waits for it, rank 2 for both."""
    window = MPI.Win.Allocate(8, comm=comm)
    if comm.rank < 2:
        window.Lock(2)
        compute(10 if comm.rank == 0 else 0)
        window.Unlock(2)
    window.Free()


@program(3, {"lock contention": 10, "wait at free": 10 + 3})
def a_shared_lock(comm: Any) -> None:
    """The same with Lock_all of rank 1, which puts 3 bytes from 10 to 13; rank 2 is free from 0 to 10."""
    window = MPI.Win.Allocate(8, comm=comm)
    if comm.rank == 0:
        window.Lock(2)
        compute(10)
        window.Unlock(2)
    elif comm.rank == 1:
        window.Lock_all()
        window.Put(bytes(3), 2)
        window.Unlock_all()
    window.Free()


def post_and_start(comm: Any, late: int) -> None:
    """Rank 0 puts into the window of rank 1, which posts; the rank `late` begins at 5, the other one at 0."""
    window = MPI.Win.Allocate(8, comm=comm)
    other = comm.group.Incl([1 - comm.rank])
    compute(5 if comm.rank == late else 0)
    if comm.rank == 0:
        window.Start(other)
        window.Put(bytes(3), 1)
        window.Complete()
    else:
        window.Post(other)
        window.Wait()
    window.Free()


@program(2, {"late post": 5})
def a_late_post(comm: Any) -> None:
    """The target posts at 5."""
    post_and_start(comm, late=1)


@program(2, {"early wait": 5})
def an_early_wait(comm: Any) -> None:
    """The origin starts at 5."""
    post_and_start(comm, late=0)


@program(2, {"lock contention": 5, "access in transit": 5 + 5, "wait at free": 5 + 5}, cost=LogGP(L=5, o=0, g=0, G=0))
def accesses_with_latency(comm: Any) -> None:
    """The request of the lock, that of Get and the release take 5 each; the grant and the data, from 5 and 15, do too."""
    window = MPI.Win.Allocate(8, comm=comm)
    if comm.rank == 0:
        window.Lock(1)
        window.Get(bytearray(3), 1)
        window.Unlock(1)
    window.Free()


@program(2, {"access in transit": 5, "wait at free": 5}, cost=LogGP(L=5, o=0, g=0, G=0))
def a_request_of_an_access(comm: Any) -> None:
    """Wait of Rget: the request takes until 5, the data until 10. With MODE_NOCHECK, nothing else is sent."""
    window = MPI.Win.Allocate(8, comm=comm)
    if comm.rank == 0:
        window.Lock(1, assertion=MPI.MODE_NOCHECK)
        window.Rget(bytearray(3), 1).Wait()
        window.Unlock(1)
    window.Free()


FILES = Hockney(t_s=0, t_w=0, files=FileServer(t_s=0, t_w=1))


def opened(comm: Any) -> Any:
    """A file for all ranks, opened at 0."""
    return MPI.File.Open(comm, "data", MPI.MODE_CREATE | MPI.MODE_RDWR)


@program(2, {"file access": 3 + 6, "wait at free": 3}, cost=FILES)
def a_file_server(comm: Any) -> None:
    """It serves rank 0 until 3, and rank 1 until 6."""
    file = opened(comm)
    file.Write_at(3 * comm.rank, bytes(3))
    file.Close()


@program(2, {"file access": 1 + 4, "wait at free": 3}, cost=FILES)
def nonblocking_accesses(comm: Any) -> None:
    """The same, with 2 seconds of computing meanwhile."""
    file = opened(comm)
    request = file.Iwrite_at(3 * comm.rank, bytes(3))
    compute(2)
    request.Wait()
    file.Close()


@program(2, {"wait at N x N": 10, "file access": 3 + 6, "wait at free": 3}, cost=FILES)
def a_collective_read(comm: Any) -> None:
    """Rank 1 calls at 10. The 6 bytes are not in the file yet, but are written first, at no cost for the others."""
    file = opened(comm)
    file.Preallocate(6)
    compute(10 * comm.rank)
    file.Read_at_all(3 * comm.rank, bytearray(3))
    file.Close()


@program(2, {"file access": 3 + 3, "wait at N x N": 7, "wait at free": 3}, cost=FILES)
def a_nonblocking_collective_write(comm: Any) -> None:
    """Rank 0's access takes until 3. Its request waits for rank 1, which calls at 10 and takes until 13."""
    file = opened(comm)
    compute(10 * comm.rank)
    file.Iwrite_at_all(3 * comm.rank, bytes(3)).Wait()
    file.Close()


@program(3, {"wait at create": 20 + 10, "wait at free": 20 + 10, "wait at N x N": 20 + 10}, cost=FILES)
def a_file_is_opened_synchronized_and_closed(comm: Any) -> None:
    """Each call waits for the last rank."""
    compute(10 * comm.rank)
    file = opened(comm)
    compute(10 * comm.rank)
    file.Sync()
    compute(10 * comm.rank)
    file.Close()


# -- threads ----------------------------------------------------------------------------------------------------------


@program(1, {"wait for thread": 5}, cost=FREE)
def an_event_with_a_timeout(comm: Any) -> None:
    """The event is never set."""
    threading.Event().wait(5)


@program(2, {"late sender": 5}, cost=FREE)
def a_thread_that_receives(comm: Any) -> None:
    """The main thread waits for the thread, and that for the message."""
    if comm.rank == 0:
        compute(5)
        comm.send(None, 1)
    else:
        thread = threading.Thread(target=lambda: comm.recv(source=0))
        thread.start()
        thread.join()


def states_of(case: Program, **options: Any) -> dict[str, float]:
    """The seconds of the wait states of a run, without those of ranks that have ended."""
    trace = fakempi.run(case.main, case.ranks, trace=True, **{**case.options, **options}).trace
    assert trace is not None
    measured = trace.measure().waits
    return {state: seconds for state, (seconds, _) in measured.items() if seconds and state != ENDED_EARLY}


@pytest.mark.parametrize("name", PROGRAMS)
def test_wait_states(backend: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal to those computed by hand, on both backends and with fused and emulated collective calls."""
    monkeypatch.chdir(tmp_path)
    for fused in "auto", "never":
        assert states_of(PROGRAMS[name], backend=backend, fused=fused) == PROGRAMS[name].states, fused
