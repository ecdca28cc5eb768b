"""Messages that threads of a rank send at one time: MPI's order, and times that do not depend on `seed`."""

from __future__ import annotations

import threading
from itertools import product
from random import Random
from typing import Any

import numpy as np

import fakempi
from fakempi import MPI, Dragonfly, FatTree, Hockney
from fakempi.extensions.threads.waiting import CALLS_PER_POLL


def test_threads_that_wait_for_each_other_send_in_this_order(backend: Any) -> None:
    """A thread that was started later, or the rank after a thread has ended, sends at the same modeled time."""

    def main(comm: Any, is_joined: bool, calls: str) -> list[int]:
        if "nonblocking" in calls:
            comm.Ibarrier().Wait()
        requests, received = [], np.zeros(2, "i")

        def send(number: int) -> None:
            requests.append(comm.Isend(np.array([number], "i"), 1))

        if comm.rank == 0 and is_joined:
            thread = threading.Thread(target=send, args=(1,))
            thread.start()
            thread.join()
            send(2)
        elif comm.rank == 0:
            sent = threading.Event()

            def send_later() -> None:
                sent.wait()
                send(2)

            def send_first() -> None:
                send(1)
                sent.set()

            threads = [threading.Thread(target=send_later), threading.Thread(target=send_first)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            comm.Recv(received[:1], 0)
            comm.Recv(received[1:], 0)
        MPI.Request.Waitall(requests)
        return received.tolist()

    for is_joined, calls, limit in product((True, False), ("", "nonblocking"), (0, 100)):
        run = fakempi.run(main, 2, is_joined, calls, cost=Hockney(1, 1, eager_limit=limit), backend=backend)
        assert run.returns[1] == [1, 2], (is_joined, calls, limit)


def exchanges(comm: Any, number: int) -> list[float]:
    """Two rounds, in each of which a few threads of a rank exchange messages, each on a separate communicator."""
    random, p, ended = Random(number), comm.size, []
    for _ in range(2):
        comms = [comm.Dup() for _ in range(random.randint(2, 3))]
        skews = [[random.choice((0, 0, 1)) for _ in range(p)] for _ in comms]
        distances = [[random.randrange(1, p) for _ in range(3)] for _ in comms]

        def exchange(comm: Any, delay: int, distances: list[int]) -> None:
            fakempi.compute(delay)
            for distance in distances:
                received = comm.Irecv(np.zeros(8, "b"), (comm.rank - distance) % comm.size)
                MPI.Request.Waitall([received, comm.Isend(np.zeros(8, "b"), (comm.rank + distance) % comm.size)])

        threads = [
            threading.Thread(target=exchange, args=(each, skew[comm.rank], steps))
            for each, skew, steps in zip(comms, skews, distances, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ended.append(MPI.Wtime())
        for each in comms:
            each.Free()
    return ended


def test_times_of_threads_do_not_depend_on_the_seed() -> None:
    """Messages of the threads of one rank compete for its port."""
    costs = [Hockney(0, 0.125, eager_limit=0), Hockney(1, 1, eager_limit=8), FatTree((4, 4), t_s=1, t_w=0.125)]
    costs.append(Dragonfly(2, 2, 4, t_s=0, t_w=0.125))
    for number, cost in product(range(3), costs):
        expected = fakempi.run(exchanges, 7, number, cost=cost)
        for seed in (1, 2):
            run = fakempi.run(exchanges, 7, number, cost=cost, seed=seed)
            assert (run.returns, run.clocks) == (expected.returns, expected.clocks), (number, cost, seed)


def test_unsuccessful_tests_of_a_lock_by_other_ranks_do_not_count_as_a_polling_loop() -> None:
    """Otherwise the rank that happens to make the hundredth test is delayed until the others have sent."""

    def main(comm: Any) -> list[int]:
        lock, order = threading.Lock(), []
        if comm.rank == 0:
            for _ in range(1, comm.size):
                comm.Recv(np.zeros(1, "b"), status=(status := MPI.Status()))
                order.append(status.source)
        else:
            with lock:
                for _ in range(CALLS_PER_POLL // 4):
                    assert not lock.acquire(blocking=False)
            comm.Send(np.zeros(1, "b"), 0)
        return order

    assert fakempi.run(main, 9).returns[0] == [*range(1, 9)]
