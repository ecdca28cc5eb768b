"""`mpi4py.util.sync`: locks, conditions, semaphores and counters of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi.isolation.mpi4py.util import sync
from tests.isolation.harness import play


def test_scripts_can_import_it(tmp_path: Path, backend: Any) -> None:
    """Under mpi4py's name, with all of its names."""
    script = """
    from mpi4py.util import sync
    assert sorted(sync.__all__) == ["Condition", "Counter", "Mutex", "Semaphore", "Sequential"]
    counter = sync.Counter(comm=comm)
    with sync.Sequential(comm):
        assert next(counter) == comm.rank
    counter.free()
    alone = sync.Counter(3, 2)
    assert [next(alone), next(alone)] == [3, 5]
    alone.free()
    """
    play(tmp_path, script, 3, backend)


def test_a_mutex_is_granted_in_the_order_of_requests(backend: Any) -> None:
    """To one rank at a time, without polling: the number of messages shows it."""

    def main(comm: Any) -> Any:
        mutex, order = sync.Mutex(comm=comm), sync.Counter(comm=comm)
        fakempi.compute(comm.size - comm.rank)
        with mutex:
            began = next(order)
            fakempi.compute(100)
            assert next(order) == began + 1
        mutex.free()
        order.free()
        return began

    done = fakempi.run(main, 4, backend=backend, cost=fakempi.Hockney(1e-3, 0))
    assert done.returns == [6, 4, 2, 0]
    assert done.findings == []
    # A lock is 3 messages and the update 2; each takes 2 counts, requests and answers; 3 follow another; and two barriers.
    assert done.messages == 4 * 4 * 5 + 3 * 2 + 2 * 8


def test_a_mutex_that_is_never_released_is_a_deadlock() -> None:
    """With the line of the request."""

    def main(comm: Any) -> None:
        mutex = sync.Mutex(comm=comm)
        mutex.acquire()
        comm.Barrier()

    with pytest.raises(fakempi.DeadlockError, match=r"acquire\(source=\d, tag=2 on communicator .* at test_sync.py:\d+"):
        fakempi.run(main, 3)


def test_a_condition_wakes_the_longest_waiting_ranks() -> None:
    """As many as notify specifies."""

    def main(comm: Any) -> Any:
        condition, order = sync.Condition(comm=comm), sync.Counter(comm=comm)
        if comm.rank:
            fakempi.compute(comm.rank)
            with condition:
                condition.wait()
                place = next(order)
        else:
            fakempi.compute(10)
            with condition:
                assert condition.notify(2) == 2
            fakempi.compute(10)
            with condition:
                assert condition.notify_all() == 2
                assert condition.notify_all() == 0
            place = -1
        condition.free()
        order.free()
        return place

    assert fakempi.run(main, 5).returns == [-1, 0, 1, 2, 3]


@pytest.mark.parametrize("value", [1, 3])
def test_a_semaphore_admits_a_number_of_ranks(value: int) -> None:
    """Seven ranks, each of which stays for a second: the last one leaves at that time."""

    def main(comm: Any) -> None:
        semaphore = sync.Semaphore(value, comm=comm)
        with semaphore:
            fakempi.compute(1)
        semaphore.free()

    assert fakempi.run(main, 7, cost=fakempi.ZeroCost()).time == -(-7 // value)


def test_invalid_arguments_are_rejected() -> None:
    """By Python's exceptions, as in mpi4py."""

    def main(comm: Any) -> None:
        mutex = sync.Mutex()
        with pytest.raises(RuntimeError, match="cannot release: this rank does not hold the mutex"):
            mutex.release()
        with mutex, pytest.raises(RuntimeError, match="this rank already holds the mutex, which is not recursive"):
            mutex.acquire()
        condition = sync.Condition(mutex)
        with pytest.raises(RuntimeError, match="cannot wait: this rank does not hold the mutex"):
            condition.wait()
        condition.free()
        mutex.free()
        for call in (mutex.acquire, mutex.locked, mutex.count):
            with pytest.raises(RuntimeError, match="the mutex has been freed"):
                call()
        with pytest.raises(ValueError, match="the initial value of a semaphore must be at least 0, not -1"):
            sync.Semaphore(-1)
        semaphore = sync.Semaphore(2)
        with pytest.raises(ValueError, match=r"release\(1\) at value 2 would exceed the initial value 2"):
            semaphore.release()
        semaphore.free()

    assert fakempi.run(main, 1).findings == []
