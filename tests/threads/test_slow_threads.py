"""The order of a run does not depend on how fast the operating system starts and ends threads.

Each test delays one step of the threads of a run, at which the system may suspend a thread on a busy machine.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi.core.kernel import threads
from fakempi.extensions.threads import rank_threads
from fakempi.extensions.threads.raw import start_new_thread as real_start

SECONDS = 0.002


class SlowToEnd(dict[int, threading.Thread]):
    """The table of active threads: a thread that ends is suspended while it holds the lock of the table."""

    def __delitem__(self, ident: int) -> None:
        time.sleep(SECONDS)
        super().__delitem__(ident)


def slow_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "_active", SlowToEnd(threading._active))  # type: ignore[attr-defined]  # private in threading


def slow_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of ranks are suspended after their last switch."""

    class SlowToJoin(threads.TaskThread):
        def run(self) -> None:
            super().run()
            time.sleep(SECONDS)

    monkeypatch.setattr(threads, "TaskThread", SlowToJoin)


def slow_starters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new thread runs until it waits for its turn, before its starter continues."""

    def start_new_thread(*args: Any) -> Any:
        ident = real_start(*args)
        time.sleep(SECONDS)
        return ident

    monkeypatch.setattr(rank_threads, "start_new_thread", start_new_thread)


def slow_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new thread runs long after its starter has continued."""

    def start_new_thread(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        def begin() -> None:
            time.sleep(SECONDS)
            function(*args)

        return real_start(begin, ())

    monkeypatch.setattr(rank_threads, "start_new_thread", start_new_thread)


def many_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter changes threads whenever it can."""
    sys.setswitchinterval(1e-6)


DELAYS = [slow_ends, slow_joins, slow_starters, slow_starts, many_switches]


@pytest.fixture(autouse=True)
def _same_interval_as_before() -> Iterator[None]:
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def joins(comm: Any, log: list[Any]) -> None:
    """A rank ends while others start and join threads."""
    if comm.rank == 0:
        return
    thread = threading.Thread(target=log.append, args=((comm.rank, "thread"),))
    log.append((comm.rank, "starts"))
    thread.start()
    thread.join()
    log.append((comm.rank, "joined"))


def hands_over(comm: Any, log: list[Any]) -> None:
    """Threads of all ranks exchange messages, items of queues and one shared lock; ranks end at different times."""
    lock, items = shared, queue.Queue[int]()

    def work(number: int) -> None:
        for round_ in range(comm.rank + 1):
            items.put(comm.sendrecv(number, comm.rank, number, source=comm.rank, recvtag=number))
            with lock:
                log.append((comm.rank, number, round_))
                fakempi.compute(1e-6)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    taken = [items.get() for _ in range(3 * (comm.rank + 1))]
    for worker in workers:
        worker.join()
    log.append((comm.rank, taken))


shared = threading.Lock()


def nonblocking(comm: Any, log: list[Any]) -> None:
    """Collective calls end in tasks of their own while threads come and go."""
    requests = [comm.Iallreduce(np.ones(1), np.zeros(1)) for _ in range(3)]
    threading.Thread(target=lambda: log.append((comm.rank, comm.size))).start()
    for number, request in enumerate(requests):
        request.Wait()
        log.append((comm.rank, number))


def heartbeat(comm: Any, log: list[Any]) -> None:
    """Only a daemon runs, which ends the run after a number of its turns."""

    def beat() -> None:
        while True:
            threading.Event().wait(10)

    threading.Thread(target=beat, daemon=True).start()
    comm.recv(source=0)


PROGRAMS = [joins, hands_over, nonblocking, heartbeat]


def history(program: Callable[..., None], backend: Any) -> list[Any]:
    """The log of a run, and its clocks or the first line of its error, which has the time."""
    log: list[Any] = []
    try:
        run = fakempi.run(program, 4, log, backend=backend, fused="never")
    except fakempi.RunError as error:
        return [*log, type(error), str(error).splitlines()[0]]
    return [*log, run.clocks, run.messages]


@pytest.mark.quick(8)
@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_slow_threads_do_not_change_the_order(
    monkeypatch: pytest.MonkeyPatch, program: Callable[..., None], delay: Callable[[pytest.MonkeyPatch], None]
) -> None:
    """The same events in the same order as without delays, and as on greenlets."""
    expected = history(program, "threads")
    assert len(expected) > 1
    delay(monkeypatch)
    assert history(program, "threads") == expected
    assert history(program, "auto") == expected


def test_names_of_threads_are_the_same_in_every_run(backend: Any) -> None:
    """Each rank numbers its threads from 1, as a process does, also in reports."""

    def main(comm: Any) -> list[str]:
        found = [threading.Thread(target=comm.Barrier).name, threading.Timer(1, comm.Barrier).name]
        threading.Thread(target=comm.recv, args=(None, comm.rank)).start()
        if comm.size == 3:
            comm.send(None, comm.rank)
        return found

    texts = set()
    for _ in range(3):
        assert fakempi.run(main, 3, backend=backend).returns == [["Thread-1 (Barrier)", "Thread-2"]] * 3
        with pytest.raises(fakempi.DeadlockError, match=r"thread 'Thread-3 \(recv\)'") as caught:
            fakempi.run(main, 2, backend=backend)
        texts.add(str(caught.value))
    assert len(texts) == 1
