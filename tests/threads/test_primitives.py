"""What threads wait for: each primitive alone, between threads of a rank and between ranks, before a run and in it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI

MAKERS: dict[str, Callable[[], Any]] = {
    "Lock": threading.Lock, "RLock": threading.RLock, "Condition": threading.Condition,
    "Condition of a Lock": lambda: threading.Condition(threading.Lock()), "Semaphore": threading.Semaphore,
    "BoundedSemaphore": threading.BoundedSemaphore,
}  # fmt: skip
QUEUES: dict[str, Callable[[], Any]] = {
    "Queue": queue.Queue, "LifoQueue": queue.LifoQueue, "PriorityQueue": queue.PriorityQueue,
    "SimpleQueue": queue.SimpleQueue, "full": lambda: queue.Queue(1),
}  # fmt: skip


STEPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.booleans()), max_size=12)
"""Of which rank, how many seconds, and whether inside another lock."""


@pytest.mark.parametrize("made", ["before", "in"])
@pytest.mark.parametrize("kind", MAKERS)
def test_one_at_a_time_is_inside(carrier: str, kind: str, made: str) -> None:
    """Threads of several ranks, each of which waits for time to pass while it is inside."""
    before = MAKERS[kind]() if made == "before" else None

    def main(comm: Any) -> Any:
        guard = MAKERS[kind]() if before is None else before
        times = []

        def work() -> None:
            for _ in range(3):
                with guard:
                    start = MPI.Wtime()
                    fakempi.compute(1)
                    times.append((start, MPI.Wtime()))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return times

    run = fakempi.run(main, 2, carrier=carrier)
    for times in [[*run.returns[0], *run.returns[1]]] if made == "before" else run.returns:
        assert all(one[1] <= other[0] for one, other in zip(sorted(times), sorted(times)[1:], strict=False))
    assert run.time == (12 if made == "before" else 6)


@pytest.mark.parametrize("kind", ["Lock", "RLock", "Semaphore"])
def test_who_waits_with_a_time_out_waits_in_modelled_time(carrier: str, kind: str) -> None:
    """And gets it if it is free in time; without waiting, at once or not at all."""

    def main(comm: Any) -> Any:
        guard, found = MAKERS[kind](), []

        def hold() -> None:
            with guard:
                fakempi.compute(10)

        thread = threading.Thread(target=hold)
        thread.start()
        found.append((guard.acquire(blocking=False), MPI.Wtime()))
        found.append((guard.acquire(timeout=4), MPI.Wtime()))
        found.append((guard.acquire(timeout=20), MPI.Wtime()))
        guard.release()
        thread.join()
        return found

    assert fakempi.run(main, 2, carrier=carrier).returns == [[(False, 0), (False, 4), (True, 10)]] * 2


@pytest.mark.parametrize("made", ["before", "in"])
@pytest.mark.parametrize("kind", QUEUES)
def test_queues_hand_things_over(carrier: str, kind: str, made: str) -> None:
    """From one thread to another, in order, and to no one twice; an empty one is waited for in modelled time."""
    before = [QUEUES[kind](), QUEUES[kind]()]

    def main(comm: Any) -> Any:
        items = before[comm.rank] if made == "before" else QUEUES[kind]()
        got: list[Any] = []

        def take() -> None:
            while (item := items.get()) >= 0:
                got.append((item, MPI.Wtime()))

        thread = threading.Thread(target=take)
        thread.start()
        with pytest.raises(queue.Empty):
            QUEUES[kind]().get(timeout=2.5)
        for item in range(1, 4):
            fakempi.compute(1)
            items.put(item)
        fakempi.compute(1)
        items.put(-1)
        thread.join()
        return got

    assert fakempi.run(main, 2, carrier=carrier).returns == [[(1, 3.5), (2, 4.5), (3, 5.5)]] * 2


def test_events_barriers_and_conditions(carrier: str) -> None:
    """Made before the run, and used between ranks that share memory; with and without time-outs."""
    event, barrier, condition = threading.Event(), threading.Barrier(3), threading.Condition()
    told: list[int] = []

    def main(comm: Any) -> Any:
        fakempi.compute(comm.rank)
        found: list[Any] = [event.wait(0.25), barrier.wait() in range(3), MPI.Wtime()]
        if comm.rank == 0:
            fakempi.compute(1)
            event.set()
            with condition:
                told.append(1)
                condition.notify_all()
        found += [event.wait(), MPI.Wtime()]
        with condition:
            found += [condition.wait_for(lambda: told, timeout=5) == [1], condition.wait(timeout=2), MPI.Wtime()]
        return found

    late = [False, True, 2.25, True, 3.25, True, False, 5.25]
    assert fakempi.run(main, 3, carrier=carrier).returns == [late] * 3


def test_a_broken_barrier_says_so(carrier: str) -> None:
    """To all who wait there, when the time of the first is up."""

    def main(comm: Any) -> Any:
        barrier = threading.Barrier(3)
        found: list[Any] = []

        def meet(seconds: float) -> None:
            with suppress(threading.BrokenBarrierError):
                barrier.wait(seconds)
                found.append("met")
            found.append(MPI.Wtime())

        threads = [threading.Thread(target=meet, args=(seconds,)) for seconds in (3, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found

    assert fakempi.run(main, 1, carrier=carrier).returns == [[2, 2]]


def test_an_rlock_is_its_owners_however_often(carrier: str) -> None:
    """Ranks on greenlets share an OS thread, and still are not each other's owners."""
    lock = threading.RLock()

    def main(comm: Any) -> Any:
        with lock, lock:
            start = MPI.Wtime()
            fakempi.compute(1)
        try:
            lock.release()
        except RuntimeError as error:
            return start, str(error)

    assert fakempi.run(main, 3, carrier=carrier).returns == [(rank, "cannot release un-acquired lock") for rank in range(3)]


def test_joining_takes_as_long_as_the_thread(carrier: str) -> None:
    """Or as its time-out says; a thread is alive until then."""

    def main(comm: Any) -> Any:
        thread = threading.Thread(target=fakempi.compute, args=(5,))
        thread.start()
        thread.join(2)
        found = [(thread.is_alive(), MPI.Wtime())]
        thread.join()
        return [*found, (thread.is_alive(), MPI.Wtime())]

    assert fakempi.run(main, 2, carrier=carrier).returns == [[(True, 2), (False, 5)]] * 2


def test_looking_at_a_lock_again_and_again_lets_others_run(carrier: str) -> None:
    """Without ever waiting for it."""

    def main(comm: Any) -> Any:
        lock = threading.Lock()
        lock.acquire()
        threading.Timer(1, lock.release).start()
        while not lock.acquire(blocking=False):
            pass
        return MPI.Wtime()

    assert fakempi.run(main, 2, carrier=carrier).returns == [1, 1]


def test_a_thread_outside_the_run_may_release_what_a_rank_waits_for(carrier: str) -> None:
    """It was there before: a pool that is kept."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        returns = fakempi.run(lambda comm: pool.submit(pow, 2, 10).result() + comm.rank, 3, carrier=carrier).returns
    assert returns == [1024, 1025, 1026]


@given(STEPS, st.sampled_from(["Lock", "RLock"]))
def test_locks_are_fair_in_no_order_but_lose_nothing(carrier: str, steps: list[tuple[int, int, bool]], kind: str) -> None:
    """Whatever threads of whichever ranks do with two locks, one inside the other: all that is counted is there."""
    outer, inner = MAKERS[kind](), MAKERS[kind]()
    count = [0]

    def work(seconds: int, nested: bool) -> None:
        with outer:
            before = count[0]
            fakempi.compute(seconds)
            if nested:
                with inner:
                    fakempi.compute(1)
            count[0] = before + 1

    def main(comm: Any) -> None:
        threads = [threading.Thread(target=work, args=step) for rank, *step in steps if rank == comm.rank]
        for thread in threads:
            thread.start()
        comm.Barrier()
        for thread in threads:
            thread.join()

    run = fakempi.run(main, 4, carrier=carrier)
    assert count == [len(steps)]
    assert max(run.time, 1e-3) >= sum(seconds + nested for _, seconds, nested in steps)
