"""Synchronization primitives: each one between threads of a rank and between ranks, created before a run and in it."""

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
"""The rank, the seconds, and whether inside another lock."""


@pytest.mark.parametrize("made", ["before", "in"])
@pytest.mark.parametrize("kind", MAKERS)
def test_one_thread_at_a_time_holds_a_lock(backend: Any, kind: str, made: str) -> None:
    """Threads of several ranks, each of which lets time pass while it holds it."""
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

    run = fakempi.run(main, 2, backend=backend)
    for times in [[*run.returns[0], *run.returns[1]]] if made == "before" else run.returns:
        assert all(one[1] <= other[0] for one, other in zip(sorted(times), sorted(times)[1:], strict=False))
    assert run.time == (12 if made == "before" else 6)


@pytest.mark.parametrize("kind", ["Lock", "RLock", "Semaphore"])
def test_time_outs_are_in_modeled_time(backend: Any, kind: str) -> None:
    """The lock is acquired if it is released in time; without waiting, at once or not at all."""

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

    assert fakempi.run(main, 2, backend=backend).returns == [[(False, 0), (False, 4), (True, 10)]] * 2


@pytest.mark.parametrize("made", ["before", "in"])
@pytest.mark.parametrize("kind", QUEUES)
def test_queues_transfer_items(backend: Any, kind: str, made: str) -> None:
    """From one thread to another, in order, each once; waiting for an empty one takes modeled time."""
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

    assert fakempi.run(main, 2, backend=backend).returns == [[(1, 3.5), (2, 4.5), (3, 5.5)]] * 2


def test_events_barriers_and_conditions(backend: Any) -> None:
    """Created before the run, and used between ranks that share memory; with and without time-outs."""
    event, barrier, condition = threading.Event(), threading.Barrier(3), threading.Condition()
    notified: list[int] = []

    def main(comm: Any) -> Any:
        fakempi.compute(comm.rank)
        found: list[Any] = [event.wait(0.25), barrier.wait() in range(3), MPI.Wtime()]
        if comm.rank == 0:
            fakempi.compute(1)
            event.set()
            with condition:
                notified.append(1)
                condition.notify_all()
        found += [event.wait(), MPI.Wtime()]
        with condition:
            found += [condition.wait_for(lambda: notified, timeout=5) == [1], condition.wait(timeout=2), MPI.Wtime()]
        return found

    late = [False, True, 2.25, True, 3.25, True, False, 5.25]
    assert fakempi.run(main, 3, backend=backend).returns == [late] * 3


def test_a_broken_barrier_raises(backend: Any) -> None:
    """For all threads that wait there, when the time-out of the first expires."""

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

    assert fakempi.run(main, 1, backend=backend).returns == [[2, 2]]


def test_an_rlock_is_reentrant_for_its_owner_only(backend: Any) -> None:
    """Ranks on greenlets share an OS thread, but are different owners."""
    lock = threading.RLock()

    def main(comm: Any) -> Any:
        with lock, lock:
            start = MPI.Wtime()
            fakempi.compute(1)
        try:
            lock.release()
        except RuntimeError as error:
            return start, str(error)

    assert fakempi.run(main, 3, backend=backend).returns == [(rank, "cannot release un-acquired lock") for rank in range(3)]


def test_joining_takes_as_long_as_the_thread(backend: Any) -> None:
    """Or the time-out; a thread is alive until then."""

    def main(comm: Any) -> Any:
        thread = threading.Thread(target=fakempi.compute, args=(5,))
        thread.start()
        thread.join(2)
        found = [(thread.is_alive(), MPI.Wtime())]
        thread.join()
        return [*found, (thread.is_alive(), MPI.Wtime())]

    assert fakempi.run(main, 2, backend=backend).returns == [[(True, 2), (False, 5)]] * 2


def test_polling_a_lock_lets_others_run(backend: Any) -> None:
    """Without waiting for it."""

    def main(comm: Any) -> Any:
        lock = threading.Lock()
        lock.acquire()
        threading.Timer(1, lock.release).start()
        while not lock.acquire(blocking=False):
            pass
        return MPI.Wtime()

    assert fakempi.run(main, 2, backend=backend).returns == [1, 1]


@pytest.mark.usefixtures("patient")
def test_a_thread_outside_the_run_may_release_a_lock_that_a_rank_waits_for(backend: Any) -> None:
    """It existed before: a pool that is kept."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        returns = fakempi.run(lambda comm: pool.submit(pow, 2, 10).result() + comm.rank, 3, backend=backend).returns
    assert returns == [1024, 1025, 1026]


@given(STEPS, st.sampled_from(["Lock", "RLock"]))
def test_locks_lose_no_update_in_any_order(backend: Any, steps: list[tuple[int, int, bool]], kind: str) -> None:
    """Threads of several ranks use two nested locks: the final count is complete."""
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

    run = fakempi.run(main, 4, backend=backend)
    assert count == [len(steps)]
    assert max(run.time, 1e-3) >= sum(seconds + nested for _, seconds, nested in steps)


def test_a_loop_that_acquires_a_lock_until_a_thread_is_ready_gives_it_turns_soon(backend: Any) -> None:
    """Once the loop has acquired it 10,000 times without waiting, 100 acquisitions per turn suffice."""

    def main(comm: Any) -> int:
        lock, count, ended = threading.Lock(), 0, False

        def work() -> None:
            nonlocal ended
            for _ in range(20):
                comm.sendrecv(None, 1 - comm.rank)
            ended = True

        thread = threading.Thread(target=work)
        thread.start()
        while not ended:
            with lock:
                count += 1
        return count

    counts = fakempi.run(main, 2, backend=backend).returns
    assert 10_000 <= max(counts) < 40_000
