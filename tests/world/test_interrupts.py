"""Ctrl-C during `fakempi.run`: it raises KeyboardInterrupt, whatever ranks catch, and leaves no lock or handler behind."""

from __future__ import annotations

import concurrent.futures.thread
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest

import fakempi
import fakempi.tuning  # not while a rank is told to end


@pytest.fixture(autouse=True)
def _default_handler(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Python's own handler, which a background job does not have; and ranks have less time to end."""
    monkeypatch.setattr("fakempi.watch.ending.GRACE", 0.05)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    """Press Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def swallow(step: Callable[[], Any]) -> None:
    """Repeat something, whatever it raises."""
    while True:
        with suppress(BaseException):
            step()


STEPS: dict[str, Callable[[Any], Any]] = {
    "barrier": lambda comm: comm.Barrier(),
    "exchange": lambda comm: comm.sendrecv(1, 1 - comm.rank, source=1 - comm.rank),
    "poll": lambda comm: comm.Iprobe(),
    "compute": lambda comm: sum(range(1000)),
    "thread": lambda comm: threading.Thread(target=comm.Iprobe).start(),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_ctrl_c_is_not_swallowed(step: Callable[[Any], Any], carrier: str) -> None:
    """By ranks that catch everything and go on; the next run is as ever."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            press()
        swallow(lambda: step(comm))

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 2, carrier=carrier)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert fakempi.run(lambda comm: comm.allreduce(1), 2, carrier=carrier).returns == [2, 2]


def test_a_rank_hears_of_ctrl_c_where_it_is() -> None:
    """On greenlets: it may save what it has."""
    pytest.importorskip("greenlet")
    saved = []

    def main(comm: Any) -> None:
        try:
            press()
            for _ in range(10**9):
                pass
        except KeyboardInterrupt:
            saved.append(comm.rank)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 1, carrier="greenlets")
    assert saved == [0]


def test_ctrl_c_comes_through_though_the_run_ends_for_another_reason(carrier: str) -> None:
    """A rank has failed before, and another does not end because of that."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            raise ValueError("before")
        try:
            comm.recv(source=1)
        except BaseException:
            press()
            swallow(lambda: None)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 2, carrier=carrier)


def test_ctrl_c_ends_a_run_within_a_run(carrier: str) -> None:
    """And the one around it."""

    def inner(comm: Any) -> None:
        press()
        swallow(comm.Barrier)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(lambda comm: fakempi.run(inner, 2, carrier=carrier), 2, carrier=carrier)


def test_a_handler_of_the_program_stays(carrier: str) -> None:
    """It decides what Ctrl-C means."""
    pressed = []

    def handler(number: int, frame: FrameType | None) -> None:
        pressed.append(number)

    signal.signal(signal.SIGINT, handler)

    def main(comm: Any) -> Any:
        assert signal.getsignal(signal.SIGINT) is handler
        press()
        return comm.allreduce(1)

    assert fakempi.run(main, 2, carrier=carrier).returns == [2, 2]
    assert pressed


def test_locks_of_a_rank_that_is_left_behind_are_free(carrier: str) -> None:
    """Python takes some of them when it ends."""
    mine, again = threading.Lock(), threading.RLock()
    pools: Any = concurrent.futures.thread._global_shutdown_lock

    def main(comm: Any) -> None:
        with mine, again, again, pools:
            press()
            swallow(comm.Barrier)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 1, carrier=carrier)
    for lock in (mine, again, pools):
        assert lock.acquire(timeout=60)
        lock.release()


def test_a_thread_that_is_left_behind_counts_as_ended(carrier: str) -> None:
    """Python waits for threads when it ends."""
    threads: list[threading.Thread] = []

    def main(comm: Any) -> None:
        threads.append(threading.Thread(target=swallow, args=(comm.Iprobe,)))
        threads[0].start()
        press()
        swallow(comm.Iprobe)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 1, carrier=carrier)
    threads[0].join(60)
    assert not threads[0].is_alive()


def test_no_thread_starts_when_the_run_ends(carrier: str) -> None:
    """Nobody would ever resume it."""
    started: list[threading.Thread] = []

    def main(comm: Any) -> None:
        if comm.rank == 1:
            raise ValueError("the end")
        try:
            comm.recv(source=1)
        finally:
            started.append(threading.Thread(target=comm.Iprobe))
            started[0].start()

    with pytest.raises(fakempi.RankError):
        fakempi.run(main, 2, carrier=carrier)
    assert not started[0].is_alive()
    assert started[0] not in threading.enumerate()
