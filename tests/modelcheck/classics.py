"""Classic programs with races, each with its bug and fixed; `late` is a rank that computes before it sends, or None."""

from __future__ import annotations

from typing import Any

import fakempi
from fakempi import MPI

ANY = MPI.ANY_SOURCE
Program = Any


def begin(comm: Any, late: int | None) -> None:
    """One rank is later than all others, or all are equal."""
    if comm.rank == late:
        fakempi.compute(1.0)


def wildcard_order(comm: Any, late: int | None, repaired: bool) -> Any:
    """Assumes that the first message is rank 1's."""
    begin(comm, late)
    if comm.rank:
        return comm.send(comm.rank, 0)
    if repaired:
        return {comm.recv(source=ANY) for _ in range(2)}
    first, second = comm.recv(source=ANY), comm.recv(source=ANY)
    assert (first, second) == (1, 2)
    return None


def hidden_deadlock(comm: Any, late: int | None, repaired: bool) -> None:
    """A wildcard may take the message that the next receive expects by name."""
    begin(comm, late)
    if comm.rank != 1:
        comm.send(comm.rank, 1, tag=comm.rank)
    elif repaired:
        comm.recv(source=ANY, tag=0)
        comm.recv(source=2)
    else:
        comm.recv(source=ANY)
        comm.recv(source=2)


def receive_across_a_barrier(comm: Any, late: int | None, repaired: bool) -> None:
    """A message that is sent after a barrier matches a receive that was posted before it."""
    begin(comm, late)
    if comm.rank == 0:
        request = comm.isend("before", 1)
        comm.barrier()
        request.wait()
    elif comm.rank == 1:
        request = comm.irecv(source=0 if repaired else ANY)
        comm.barrier()
        assert request.wait() == "before"
        comm.recv(source=ANY)
    else:
        comm.barrier()
        comm.send("behind", 1)


def order_of_waitany(comm: Any, late: int | None, repaired: bool) -> Any:
    """Assumes that the first request completes first."""
    begin(comm, late)
    if comm.rank:
        return comm.send(comm.rank, 0)
    requests = [comm.irecv(source=1), comm.irecv(source=2)]
    got = [MPI.Request.waitany(requests)[repaired] for _ in requests]
    assert sorted(got) == [1, 2] if repaired else got == [0, 1]
    return None


def order_of_testsome(comm: Any, late: int | None, repaired: bool) -> Any:
    """Assumes that the first answer of testsome contains all requests."""
    begin(comm, late)
    if comm.rank:
        return comm.send(comm.rank, 0)
    requests = [comm.irecv(source=1), comm.irecv(source=2)]
    indices, _ = MPI.Request.testsome(requests)
    if repaired:
        MPI.Request.waitall(requests)
    elif indices:
        assert indices == [0, 1]
    else:
        MPI.Request.waitall(requests)
    return None


def queue_with_a_last_worker(comm: Any, late: int | None, repaired: bool) -> Any:
    """When the last worker has been stopped, the master ends, too, and leaves others waiting."""
    begin(comm, late)
    if comm.rank:
        comm.send(None, 0)
        while (task := comm.recv(source=0)) is not None:
            comm.send(task * task, 0)
        return None
    status, tasks, results = MPI.Status(), [2, 3], []
    left = comm.size - 1
    while left:
        result = comm.recv(source=ANY, status=status)
        results += [result] * (result is not None)
        if tasks:
            comm.send(tasks.pop(), status.source)
        else:
            comm.send(None, status.source)
            left = left - 1 if repaired or status.source < comm.size - 1 else 0
    return sorted(results)


def iprobe_that_gives_up(comm: Any, late: int | None, repaired: bool) -> Any:
    """If no message has arrived, the program assumes that none will."""
    begin(comm, late)
    if comm.rank:
        return comm.send(comm.rank, 0)
    got = []
    for source in (1, 2):
        if repaired or comm.iprobe(source=source):
            got.append(comm.recv(source=source))
    assert len(got) == 2
    return got


CLASSICS = [
    wildcard_order, hidden_deadlock, receive_across_a_barrier, order_of_waitany, order_of_testsome, queue_with_a_last_worker,
    iprobe_that_gives_up,
]  # fmt: skip
