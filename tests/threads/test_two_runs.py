"""Two runs at a time, in two OS threads, whose ranks wait for the same events and locks."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import fakempi


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    """Let Python switch between OS threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("patient")
def test_ranks_of_two_runs_wait_for_the_same_objects(frequent_switches: None) -> None:
    """With one table of waiting tasks for all runs, one in a hundred of these pairs lost a wake-up."""
    for _ in range(50):
        _run_pair(30)


def _run_pair(p: int) -> None:
    first_runs, second_runs, first_ended = (threading.Event() for _ in range(3))
    lock, entered = threading.Lock(), [0]

    def first(comm: Any) -> None:
        first_runs.set()
        assert second_runs.wait()
        with lock:
            entered[0] += 1

    def second(comm: Any) -> None:
        second_runs.set()
        assert first_ended.wait()
        with lock:
            entered[0] += 1

    def run_first() -> None:
        fakempi.run(first, p, backend="greenlets")
        first_ended.set()

    def run_second() -> None:
        assert first_runs.wait(300)
        fakempi.run(second, p, backend="greenlets")

    threads = [threading.Thread(target=work) for work in (run_first, run_second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert entered == [2 * p]
