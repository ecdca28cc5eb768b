"""Threads that a rank starts: they are told that they may not call MPI, and nothing has happened by then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

TOLD = (
    "this is a thread that rank {rank} has started, and only the rank itself may call MPI (MPI.THREAD_FUNNELED): "
    "let the thread hand its results to the rank, and call MPI there."
)
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "Send": lambda comm, request: comm.Send(np.zeros(1), 1 - comm.rank),
    "Recv": lambda comm, request: comm.Recv(np.zeros(1), 1 - comm.rank),
    "Sendrecv": lambda comm, request: comm.Sendrecv(np.zeros(1), 1 - comm.rank, 0, np.zeros(1), 1 - comm.rank),
    "ssend": lambda comm, request: comm.ssend("x", 1 - comm.rank),
    "isend": lambda comm, request: comm.isend("x", 1 - comm.rank),
    "Irecv": lambda comm, request: comm.Irecv(np.zeros(1), 1 - comm.rank),
    "Probe": lambda comm, request: comm.Probe(),
    "Iprobe": lambda comm, request: comm.Iprobe(),
    "Barrier": lambda comm, request: comm.Barrier(),
    "Iallreduce": lambda comm, request: comm.Iallreduce(np.zeros(1), np.zeros(1)),
    "allreduce": lambda comm, request: comm.allreduce(1),
    "Split": lambda comm, request: comm.Split(0),
    "Create_group": lambda comm, request: comm.Create_group(comm.group),
    "wait": lambda comm, request: request.wait(),
    "waitall": lambda comm, request: MPI.Request.waitall([request]),
    "waitany": lambda comm, request: MPI.Request.waitany([request]),
}


def in_a_thread(function: Callable[[], Any]) -> str:
    """What a call in a new thread says when it fails."""
    found = ["it did not fail"]

    def work() -> None:
        try:
            function()
        except MPI.Exception as error:
            found[0] = str(error) if error.Get_error_class() == MPI.ERR_OTHER else repr(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("call", CALLS)
def test_a_thread_that_calls_mpi_is_told_that_it_may_not(carrier: str, call: str) -> None:
    """And by whom it was started. The rank goes on as if the thread had not called."""

    def main(comm: Any) -> Any:
        other = 1 - comm.rank
        request = comm.irecv(source=other, tag=5)
        words = in_a_thread(lambda: CALLS[call](comm, request))
        comm.send(comm.rank, other, tag=5)
        return words, request.wait(), comm.allreduce(1), comm.Split(0).size, comm.Iprobe()

    told = [f"{call}: {TOLD.format(rank=rank)}" for rank in range(2)]
    assert fakempi.run(main, 2, carrier=carrier).returns == [(told[0], 1, 2, 2, False), (told[1], 0, 2, 2, False)]


@pytest.mark.parametrize("call", ["Wtime", "COMM_WORLD", "test"])
def test_what_needs_the_running_rank_finds_none_in_a_thread(carrier: str, call: str) -> None:
    """With the same advice."""

    def main(comm: Any) -> str:
        request = comm.irecv(source=0) if call == "test" else None
        words = in_a_thread(request.test if request else MPI.Wtime if call == "Wtime" else lambda: MPI.COMM_WORLD.Barrier())
        if request:
            comm.isend("x", 0)
            request.wait()
        return words

    assert fakempi.run(main, 1, carrier=carrier).returns == [f"no rank is running here: {TOLD.format(rank=0)}"]


def test_it_is_told_too_while_another_rank_has_the_baton(carrier: str) -> None:
    """Which rank that is does not matter; nor does it matter how deep the thread is."""
    go, words = threading.Event(), []

    def main(comm: Any) -> None:
        def work() -> None:
            go.wait(20)
            words.append(in_a_thread(lambda: comm.Send(b"", 1)))

        thread = threading.Thread(target=work)
        if comm.rank == 0:
            thread.start()
        comm.Barrier()
        if comm.rank == 1:
            go.set()
            while not words:
                pass
        comm.Barrier()
        if comm.rank == 0:
            thread.join()

    fakempi.run(main, 3, carrier=carrier)
    assert words == [f"Send: {TOLD.format(rank=0)}"]


def test_a_thread_may_ask_and_compute(carrier: str) -> None:
    """What a rank is called, how many there are, and whether it may call MPI: no more than THREAD_FUNNELED says."""

    def look(comm: Any) -> Any:
        return comm.rank, comm.Get_size(), MPI.Is_thread_main(), MPI.Query_thread()

    def main(comm: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(look, comm).result()
        return comm.allgather(found)

    seen = [(rank, 2, False, MPI.THREAD_FUNNELED) for rank in range(2)]
    assert fakempi.run(main, 2, carrier=carrier).returns == [seen, seen]


def test_when_runs_have_ended_threads_start_as_before(carrier: str) -> None:
    """Also if one was inside another, and in threads that ranks have started, which may have runs of their own."""
    start = threading.Thread.start

    def sizes(comm: Any) -> Any:
        inside: list[Any] = []
        thread = threading.Thread(target=lambda: inside.append(fakempi.run(lambda comm: comm.allreduce(1), 3).returns))
        thread.start()
        thread.join()
        return inside

    assert fakempi.run(sizes, 2, carrier=carrier).returns == [[[3, 3, 3]]] * 2
    assert threading.Thread.start is start


def test_a_communicator_of_a_run_that_is_over_is_still_told_apart(carrier: str) -> None:
    """Though that run had threads."""

    def main(comm: Any) -> Any:
        in_a_thread(lambda: None)
        return comm

    comm = fakempi.run(main, 1, carrier=carrier).returns[0]
    with pytest.raises(MPI.Exception, match=r"the communicator belongs to a run that is over\.$"):
        comm.send(1, 0)
