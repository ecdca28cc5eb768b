"""Threads of a rank call MPI like the rank, in modeled time, and in the same order each time."""

from __future__ import annotations

import _thread
import concurrent.futures
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.packages import needs

CALLS: dict[str, Callable[[Any, int], Any]] = {
    "send and recv": lambda comm, other: (comm.send(comm.rank, other), comm.recv(source=other))[1],
    "ssend and recv": lambda comm, other: (comm.isend(comm.rank, other).wait(), comm.recv(source=other))[1],
    "sendrecv": lambda comm, other: comm.sendrecv(comm.rank, other, source=other),
    "irecv": lambda comm, other: [r := comm.irecv(source=other), comm.send(comm.rank, other), r.wait()][-1],
    "probe": lambda comm, other: (comm.send(comm.rank, other), comm.Probe(source=other), comm.recv())[2],
    "iprobe": lambda comm, other: [comm.isend(comm.rank, other), *iter(lambda: comm.Iprobe(), True), comm.recv()][-1],
    "allreduce": lambda comm, other: comm.allreduce(comm.rank) - comm.rank,
    "iallgather": lambda comm, other: int(allgathered(comm)[other]),
    "split": lambda comm, other: comm.Split(0).bcast(comm.rank if comm.rank == 0 else None) + other - 0 * comm.rank,
}


def allgathered(comm: Any) -> Any:
    """The ranks of all, by a request."""
    found = np.zeros(comm.size, "i")
    comm.Iallgather(np.array([comm.rank], "i"), found).Wait()
    return found


@pytest.mark.parametrize("call", CALLS)
def test_a_thread_may_make_every_call_of_its_rank(backend: Any, call: str) -> None:
    """While the rank itself waits for it, and when it calls at the same time on another communicator."""

    def main(comm: Any) -> Any:
        mine, other = comm.Dup(), 1 - comm.rank
        with ThreadPoolExecutor(1) as pool:
            alone = pool.submit(CALLS[call], comm, other).result()
            concurrent = pool.submit(CALLS[call], comm, other)
            return alone, CALLS[call](mine, other), concurrent.result()

    assert fakempi.run(main, 2, backend=backend).returns == [(1, 1, 1), (0, 0, 0)]


def test_a_thread_is_its_rank_but_not_the_ranks_main_thread(backend: Any) -> None:
    """It has the rank's world, its clock, and the highest thread level."""

    def look() -> Any:
        return MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size, MPI.Is_thread_main(), MPI.Query_thread(), MPI.Wtime()

    def main(comm: Any) -> Any:
        fakempi.compute(comm.rank)
        with ThreadPoolExecutor(1) as pool:
            return look(), pool.submit(look).result()

    top = MPI.THREAD_MULTIPLE
    seen = [((rank, 2, True, top, rank), (rank, 2, False, top, rank)) for rank in range(2)]
    assert fakempi.run(main, 2, backend=backend).returns == seen


def test_threads_compute_concurrently(backend: Any) -> None:
    """As if each had a core: modeled time is that of the longest, on every rank separately."""

    def main(comm: Any) -> Any:
        threads = [threading.Thread(target=fakempi.compute, args=(seconds + comm.rank,)) for seconds in (3, 1, 2)]
        for thread in threads:
            thread.start()
        before = MPI.Wtime()
        for thread in threads:
            thread.join()
        return before, MPI.Wtime()

    run = fakempi.run(main, 3, backend=backend)
    assert run.returns == [(0, 3), (0, 4), (0, 5)]
    assert run.clocks == [3, 4, 5]


def test_a_thread_started_without_threading_is_one_too(backend: Any) -> None:
    """By `_thread.start_new_thread`: it cannot be joined, but it sends."""

    def main(comm: Any) -> Any:
        _thread.start_new_thread(comm.send, ("x", 1 - comm.rank), {"tag": 3})
        return comm.recv(tag=3)

    assert fakempi.run(main, 2, backend=backend).returns == ["x", "x"]


def test_a_timer_expires_in_modeled_time(backend: Any) -> None:
    """Unless it is cancelled before."""

    def main(comm: Any) -> Any:
        heard: list[float] = []
        threading.Timer(7.5, lambda: heard.append(MPI.Wtime())).start()
        cancelled = threading.Timer(1, lambda: heard.append(-1))
        cancelled.start()
        cancelled.cancel()
        fakempi.compute(10)
        return heard

    assert fakempi.run(main, 2, backend=backend).returns == [[7.5], [7.5]]


def test_futures_complete_in_order(backend: Any) -> None:
    """In the order of modeled time."""

    def work(seconds: int) -> int:
        fakempi.compute(seconds)
        return seconds

    def main(comm: Any) -> Any:
        with ThreadPoolExecutor(4) as pool:
            futures = [pool.submit(work, seconds) for seconds in (3, 1, 4, 2)]
            with pytest.raises(concurrent.futures.TimeoutError, match="unfinished"):
                list(as_completed(futures, timeout=0.5))
            return [future.result() for future in as_completed(futures)], MPI.Wtime()

    assert fakempi.run(main, 2, backend=backend).returns == [([1, 2, 3, 4], 4)] * 2


def test_the_same_program_gives_the_same_trace_on_both_backends() -> None:
    """Each time: threads, locks and messages in one order."""
    needs("greenlet")

    def main(comm: Any) -> Any:
        lock, log = threading.Lock(), []

        def work(number: int) -> None:
            for step in range(4):
                with lock:
                    got = comm.sendrecv(number, (comm.rank + 1) % comm.size, sendtag=number, recvtag=number)
                    log.append((number, step, got))
                fakempi.compute(number * 1e-6)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return log

    runs = [fakempi.run(main, 4, backend=backend, trace=True) for backend in ("greenlets", "threads", "greenlets")]
    first = runs[0]
    for other in runs[1:]:
        assert (other.returns, other.clocks, other.messages) == (first.returns, first.clocks, first.messages)
        assert other.trace is not None
        assert first.trace is not None
        assert list(other.trace.transfers) == list(first.trace.transfers)


@pytest.mark.parametrize("level", ["THREAD_SINGLE", "THREAD_FUNNELED"])
def test_a_rank_that_requested_a_lower_thread_level_is_held_to_it(backend: Any, level: str) -> None:
    """Its threads get an error at their first call, which has no other effect."""

    def main(comm: Any) -> Any:
        process = comm._process
        process.thread_level = getattr(MPI, level)
        with ThreadPoolExecutor(1) as pool:
            error = pool.submit(comm.send, 1, 0).exception()
        return str(error), comm.Iprobe()

    message = (
        "send on rank 0: this is a thread that rank 0 has started, and that rank has requested "
        f"MPI.{level}: only the rank itself may call MPI."
    )
    assert fakempi.run(main, 1, backend=backend).returns == [(message, False)]


def test_serialized_means_one_at_a_time(backend: Any) -> None:
    """A second call while another thread waits in one is rejected; sequential calls are accepted."""

    def main(comm: Any) -> Any:
        comm._process.thread_level = MPI.THREAD_SERIALIZED
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(comm.recv)
            fakempi.compute(1)
            try:
                comm.send("x", 0)
            except MPI.Exception as error:
                words = str(error)
            comm._process.thread_level = None
            comm.send("y", 0)
            return words, first.result()

    message = (
        "send on rank 0: another thread of rank 0 is in an MPI call, and that rank has requested "
        "MPI.THREAD_SERIALIZED: one at a time may call MPI."
    )
    assert fakempi.run(main, 1, backend=backend).returns == [(message, "y")]


def test_a_thread_that_no_rank_has_started_is_rejected(backend: Any) -> None:
    """It existed before the run, and calls with a rank's communicator, or without a rank."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()

        def main(comm: Any) -> Any:
            words = [str(pool.submit(call).exception()) for call in (lambda: comm.send(1, 0), MPI.Wtime)]
            return [*words, comm.Iprobe()]

        (found,) = fakempi.run(main, 1, backend=backend).returns
    foreign = "a run is in progress, and none of its ranks started this thread: call MPI from a rank or from its threads."
    assert found == [f"send: {foreign}", f"no rank is running here: {foreign}", False]


def test_state_is_restored_when_runs_have_ended(backend: Any) -> None:
    """Also if one was nested in another, in a thread of a rank."""
    before = threading.Thread.start, threading.Lock().acquire.__qualname__, threading.Condition.wait

    def sizes(comm: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: fakempi.run(lambda comm: comm.allreduce(1), 3).returns).result()

    assert fakempi.run(sizes, 2, backend=backend).returns == [[3, 3, 3]] * 2
    assert (threading.Thread.start, threading.Lock().acquire.__qualname__, threading.Condition.wait) == before


@pytest.mark.usefixtures("patient")
@pytest.mark.sample
@pytest.mark.slow
def test_runs_in_several_threads_at_once_do_not_interfere() -> None:
    """They start and end in any order, on either backend, and import modules at the same time."""
    needs("greenlet")
    program = """
from concurrent.futures import ThreadPoolExecutor
import fakempi
def one(number):
    return fakempi.run(lambda comm: comm.allreduce(comm.rank), 5, backend=["greenlets", "threads"][number % 2]).returns
with ThreadPoolExecutor(4) as pool:
    assert list(pool.map(one, range(100))) == [[10] * 5] * 100
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=270, check=False)
    assert (done.returncode, done.stderr) == (0, "")
