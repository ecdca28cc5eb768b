"""Ctrl-C during `fakempi.run`: it raises KeyboardInterrupt, even if ranks catch it, and restores locks and handlers."""

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
import fakempi.tuning  # here, so that no rank is interrupted while it imports this module
from fakempi.extensions.monitoring.limits import RunLimits
from tests.helpers.packages import needs


@pytest.fixture(autouse=True)
def _default_handler(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the default handler, which a background job does not have, and give ranks less time to end."""
    monkeypatch.setattr("fakempi.extensions.monitoring.interruption.GRACE", 0.05)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    """Press Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def swallow(step: Callable[[], Any]) -> None:
    """Repeat a step, and ignore its exceptions."""
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


@pytest.mark.quick(3)
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_ctrl_c_is_not_swallowed(step: Callable[[Any], Any], backend: Any) -> None:
    """By ranks that catch every exception and continue; the next run is not affected."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            press()
        swallow(lambda: step(comm))

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 2, backend=backend)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert fakempi.run(lambda comm: comm.allreduce(1), 2, backend=backend).returns == [2, 2]


def test_ctrl_c_is_raised_in_the_running_rank() -> None:
    """On greenlets: it may save its data."""
    needs("greenlet")
    saved = []

    def main(comm: Any) -> None:
        try:
            press()
            for _ in range(10**9):
                pass
        except KeyboardInterrupt:
            saved.append(comm.rank)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 1, backend="greenlets")
    assert saved == [0]


@pytest.mark.slow
def test_ctrl_c_is_raised_even_if_the_run_ends_for_another_reason(backend: Any) -> None:
    """A rank has failed before, and another rank does not end."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            raise ValueError("before")
        try:
            comm.recv(source=1)
        except BaseException:
            press()
            swallow(lambda: None)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 2, backend=backend)


def test_ctrl_c_ends_a_nested_run(backend: Any) -> None:
    """And the outer one."""

    def inner(comm: Any) -> None:
        press()
        swallow(comm.Barrier)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(lambda comm: fakempi.run(inner, 2, backend=backend), 2, backend=backend)


@pytest.mark.sample
@pytest.mark.slow
def test_ctrl_c_ends_a_run_with_time_limits_of_its_parts(backend: Any) -> None:
    """Such limits replace the monitor of the run."""
    limits: list[RunLimits] = []

    def main(comm: Any) -> None:
        limits.append(RunLimits(comm._process.universe))
        limits[0].__enter__()
        press()
        swallow(lambda: sum(range(1000)))

    try:
        with pytest.raises(KeyboardInterrupt):
            fakempi.run(main, 1, backend=backend)
    finally:
        limits[0].__exit__(None, None, None)


def test_a_handler_of_the_program_is_not_replaced(backend: Any) -> None:
    """It decides what Ctrl-C does."""
    pressed = []

    def handler(number: int, frame: FrameType | None) -> None:
        pressed.append(number)

    signal.signal(signal.SIGINT, handler)

    def main(comm: Any) -> Any:
        assert signal.getsignal(signal.SIGINT) is handler
        press()
        return comm.allreduce(1)

    assert fakempi.run(main, 2, backend=backend).returns == [2, 2]
    assert pressed


@pytest.mark.sample
@pytest.mark.slow
def test_locks_of_an_abandoned_rank_are_released(backend: Any) -> None:
    """Python acquires some of them at exit."""
    mine, again = threading.Lock(), threading.RLock()
    pools: Any = concurrent.futures.thread._global_shutdown_lock

    def main(comm: Any) -> None:
        with mine, again, again, pools:
            press()
            swallow(comm.Barrier)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 1, backend=backend)
    for lock in (mine, again, pools):
        assert lock.acquire(timeout=60)
        lock.release()


def test_an_abandoned_thread_counts_as_ended(backend: Any) -> None:
    """Python waits for threads at exit."""
    threads: list[threading.Thread] = []

    def main(comm: Any) -> None:
        threads.append(threading.Thread(target=swallow, args=(comm.Iprobe,)))
        threads[0].start()
        press()
        swallow(comm.Iprobe)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 1, backend=backend)
    threads[0].join(60)
    assert not threads[0].is_alive()


def test_no_thread_starts_while_the_run_ends(backend: Any) -> None:
    """It would never be resumed."""
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
        fakempi.run(main, 2, backend=backend)
    assert not started[0].is_alive()
    assert started[0] not in threading.enumerate()
