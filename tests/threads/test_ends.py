"""The end of threads: with their rank, before it, with the run; and reports of blocked threads."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic, thread_time
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from fakempi.extensions.monitoring import monitor
from tests.helpers.leftovers import new_threads
from tests.helpers.packages import needs


def line_of(function: Any, step: int) -> str:
    """The place of a line of a function."""
    return f"test_ends.py:{function.__code__.co_firstlineno + step}"


def test_a_rank_joins_its_threads_at_its_end(backend: Any) -> None:
    """As Python does. Until then they may call MPI, and the rank's clock includes their time."""
    log: list[Any] = []

    def work(comm: Any) -> None:
        fakempi.compute(3)
        log.append(comm.allreduce(1))

    def main(comm: Any) -> str:
        threading.Thread(target=work, args=(comm,)).start()
        return "done"

    run = fakempi.run(main, 2, backend=backend)
    assert (run.returns, log) == (["done"] * 2, [2, 2])
    assert min(run.clocks) >= 3


def test_a_daemon_thread_ends_with_its_rank(backend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever it is: it polls endlessly, or waits for a later message, or for a lock."""
    lock, log = threading.Lock(), []

    def poll(comm: Any) -> None:
        while True:
            comm.Iprobe(tag=99)
            fakempi.compute(1)

    def receive(comm: Any) -> None:
        log.append(comm.recv(tag=5))

    def hold(comm: Any) -> None:
        with lock:
            fakempi.compute(1e9)

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            for target in (poll, receive, hold, hold):
                name = "receiver" if target is receive else None
                threading.Thread(target=target, args=(comm,), name=name, daemon=True).start()
            fakempi.compute(2.5)
        else:
            fakempi.compute(10)
            comm.isend("late", 0, tag=5)
        return MPI.Wtime()

    run = fakempi.run(main, 2, backend=backend)
    assert (run.returns, run.time, log) == ([2.5, 10], 10, [])
    assert not lock.locked()
    assert capsys.readouterr().err.splitlines() == [
        "fakempi: a daemon thread ends with its rank, in the middle of a call.",
        f"  rank 0, thread 'receiver': recv(source=ANY, tag=5) at {line_of(receive, 1)}, since t = 0",
    ]


def test_a_pool_without_shutdown_ends_with_its_rank(backend: Any) -> None:
    """After its submitted tasks."""
    done: list[int] = []
    kept: list[Any] = []

    def work(number: int) -> None:
        fakempi.compute(1)
        done.append(number)

    def main(comm: Any) -> Any:
        pool = ThreadPoolExecutor(2)
        kept.append(pool)
        for number in range(5):
            pool.submit(work, number)

    assert fakempi.run(main, 1, backend=backend).time == 3
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_a_failing_thread_is_reported_with_its_rank(backend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """By threading's hook, and the run continues."""
    exceptions: list[Any] = []

    def main(comm: Any) -> int:
        thread = threading.Thread(target=lambda: 1 // 0)
        thread.start()
        thread.join()
        return int(comm.allreduce(1))

    before = threading.excepthook
    threading.excepthook = exceptions.append
    try:
        assert fakempi.run(main, 2, backend=backend).returns == [2, 2]
    finally:
        threading.excepthook = before
    assert [type(one.exc_value) for one in exceptions] == [ZeroDivisionError] * 2


def test_a_rank_that_fails_ends_its_threads_and_those_of_others(backend: Any) -> None:
    """Their `finally` blocks run; no thread is left."""
    log, before = [], threading.enumerate()

    def work(comm: Any) -> None:
        try:
            comm.recv()
        finally:
            log.append(comm.rank)

    def main(comm: Any) -> None:
        threading.Thread(target=work, args=(comm,)).start()
        fakempi.compute(1)
        if comm.rank == 1:
            raise ValueError("no")
        comm.Barrier()

    with pytest.raises(fakempi.RankError, match=r"rank 1 failed with ValueError: no"):
        fakempi.run(main, 3, backend=backend)
    assert sorted(log) == [0, 1, 2]
    assert new_threads(before) == []


def test_computing_of_threads_can_be_charged(backend: Any) -> None:
    """With `cpu_scale`, CPU time of threads advances the rank's clock."""

    def work(comm: Any) -> None:
        start = thread_time()
        while thread_time() - start < 0.02:
            pass
        comm.send(None, 0)

    def main(comm: Any) -> float:
        thread = threading.Thread(target=work, args=(comm,))
        thread.start()
        comm.recv()
        thread.join()
        return MPI.Wtime()

    assert all(0.02 <= time < 30 for time in fakempi.run(main, 1, backend=backend, cpu_scale=1.0).returns)


@pytest.mark.slow
@pytest.mark.parametrize("backend_name", ["greenlets", "threads"])
def test_ctrl_c_ends_threads_that_compute(backend_name: str) -> None:
    """Also if ranks catch it and start more threads. Another run works. Only ranks that catch everything leave a thread."""
    needs("greenlet")
    program = """
import os, signal, sys, threading, fakempi
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore SIGINT
pressed = []
def spin(comm):
    while not pressed:
        pressed.append(os.kill(os.getpid(), signal.SIGINT))
        while True:
            pass
    comm.Iprobe()
def once(comm):
    thread = threading.Thread(target=spin, args=(comm,))
    thread.start()
    thread.join()
def forever(comm):
    while True:
        try:
            once(comm)
        except BaseException:
            pass
for main in once, forever:
    pressed.clear()
    try:
        fakempi.run(main, 3, backend=sys.argv[1])
    except KeyboardInterrupt:
        print("interrupted", threading.active_count(), fakempi.run(lambda comm: comm.allreduce(1), 3).returns)
"""
    command = [sys.executable, "-c", program, backend_name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=270, check=False)
    suspended = 3 if backend_name == "threads" else 0
    assert (done.stdout, done.stderr) == (f"interrupted 1 [3, 3, 3]\ninterrupted {1 + suspended} [3, 3, 3]\n", "")


def test_a_time_limit_applies_to_ranks_and_threads(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread computes endlessly. The report has the line of every rank and thread."""
    begun: list[int] = []
    monkeypatch.setattr(monitor, "monotonic", lambda: 1000 + monotonic() if begun else 0.0)

    def spin() -> None:
        begun.append(1)
        while True:
            pass

    def main(comm: Any) -> None:
        if comm.rank == 0:
            thread = threading.Thread(target=spin, name="spinner")
            thread.start()
        comm.recv()

    with pytest.raises(fakempi.RunTimeoutError) as caught:
        fakempi.run(main, 3, backend=backend, timeout=0.5)
    lines = str(caught.value).splitlines()
    assert lines[1] in [f"  rank 0, thread 'spinner': runs at {line_of(spin, step)}" for step in (1, 2, 3)]
    assert f"  ranks 1-2: recv(source=ANY, tag=ANY) at {line_of(main, 4)}, since t = 0" in lines


def test_a_lock_and_a_message_make_a_deadlock(backend: Any) -> None:
    """The report has the holder and its line, the waiting ranks and their places, and the cycle."""
    lock = threading.Lock()

    def main(comm: Any) -> None:
        if comm.rank == 0:
            with lock:
                comm.recv(source=1)
        else:
            fakempi.compute(1)
            with lock:
                comm.send(None, 0)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 2, backend=backend)
    assert str(caught.value).splitlines() == [
        "deadlock at t = 1 s: 2 of 2 ranks are blocked, and nothing can wake them.",
        f"  rank 0: recv(source=1, tag=ANY) at {line_of(main, 3)}, since t = 0",
        f"  rank 1: acquire(a lock that rank 0 acquired at {line_of(main, 2)}) at {line_of(main, 6)}, since t = 1",
        "  cycle: 0 → 1 → 0",
    ]
    assert not lock.locked()


def test_threads_of_a_rank_that_wait_for_each_other_make_a_deadlock(backend: Any) -> None:
    """Two locks in opposite order, and a rank that waits for the thread."""
    first, second = threading.Lock(), threading.RLock()

    def work(comm: Any) -> None:
        with second:
            fakempi.compute(1)
            with first:
                comm.Barrier()

    def main(comm: Any) -> None:
        thread = threading.Thread(target=work, args=(comm,), name="worker")
        thread.start()
        with first:
            fakempi.compute(2)
            with second:
                thread.join()

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 1, backend=backend)
    assert str(caught.value).splitlines() == [
        "deadlock at t = 2 s: the only rank is blocked, and nothing can wake it.",
        f"  rank 0: acquire(a lock that thread 'worker' of this rank acquired at {line_of(work, 1)}) "
        f"at {line_of(main, 5)}, since t = 2",
        f"  rank 0, thread 'worker': acquire(a lock that this rank acquired at {line_of(main, 3)}) "
        f"at {line_of(work, 3)}, since t = 1",
    ]


@pytest.mark.quick(1)
@pytest.mark.parametrize("how", ["sleeps", "waits", "polls"])
def test_an_endless_daemon_thread_hides_no_deadlock(backend: Any, how: str) -> None:
    """A monitor that polls, while its rank waits for a message that no rank sends."""
    stop = threading.Event()

    def monitor(comm: Any) -> None:
        while True:
            if how == "polls":
                comm.Iprobe(tag=9)
            if how == "waits":
                stop.wait(10)
            else:
                fakempi.compute(10)

    def main(comm: Any) -> None:
        threading.Thread(target=monitor, args=(comm,), name="monitor", daemon=True).start()
        comm.Barrier()
        fakempi.compute(1e5)  # longer than the limit for polling daemons
        comm.recv(source=0)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 2, backend=backend)
    assert f"ranks 0-1: recv(source=0, tag=ANY) at {line_of(main, 4)}, since t = 100000" in str(caught.value)
    assert "rank 1, thread 'monitor'" in str(caught.value).replace("ranks 0-1", "rank 1")


CALLS: dict[str, Callable[[], Any]] = {
    "Queue.get()": lambda: queue.Queue().get(),
    "Event.wait()": lambda: threading.Event().wait(),
    "Barrier.wait()": lambda: threading.Barrier(2).wait(),
    "Semaphore.acquire()": lambda: threading.Semaphore(0).acquire(),
    "Future.result()": lambda: Future().result(),
    "SimpleQueue.get()": lambda: queue.SimpleQueue().get(),
}


@pytest.mark.parametrize("call", CALLS)
def test_waiting_for_an_event_that_never_happens_is_a_deadlock(backend: Any, call: str) -> None:
    """The report names the method that the program called."""

    def main(comm: Any) -> None:
        CALLS[call]()

    with pytest.raises(fakempi.DeadlockError, match=r"the only rank is blocked") as caught:
        fakempi.run(main, 1, backend=backend)
    assert f"  rank 0: {call} at test_ends.py:" in str(caught.value)
