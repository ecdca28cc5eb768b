"""Law 9, the second half: when a run is over, however it ended, nothing of it is left."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

import fakempi


class Held:
    """Something that a rank holds."""


def ends(comm: Any, held: list[weakref.ref[Held]], how: str) -> Any:
    """A program that holds something, and ends in one way or another."""
    mine = Held()
    held.append(weakref.ref(mine))
    request = comm.irecv(source=(comm.rank + 1) % comm.size, tag=1)
    comm.send(mine.__class__, (comm.rank + 1) % comm.size)
    twin = comm.Dup()
    if how == "fails" and comm.rank == 1:
        raise ValueError
    if how != "returns":
        twin.recv(source=0)
    return request


@pytest.mark.parametrize("how", ["returns", "fails", "hangs"])
def test_what_ranks_held_is_gone_after_the_run(carrier: str, how: str) -> None:
    """Stacks, requests, communicators: once the caller lets go of the result, or of the error."""
    held: list[weakref.ref[Held]] = []
    with suppress(fakempi.RunError):
        fakempi.run(ends, 4, held, how, carrier=carrier)
    gc.collect()
    assert len(held) == 4
    assert [one() for one in held] == [None] * 4


@pytest.mark.parametrize("how", ["returns", "fails", "hangs"])
def test_hundreds_of_runs_leave_no_memory_behind(carrier: str, how: str) -> None:
    """As many objects after the last as after the first few."""

    def one_run() -> None:
        with suppress(fakempi.RunError):
            fakempi.run(ends, 3, [], how, carrier=carrier)

    def objects() -> int:
        gc.collect()
        return len(gc.get_objects())

    for _ in range(5):
        one_run()
    before = objects()
    for _ in range(100):
        one_run()
    assert objects() - before < 50


@pytest.fixture
def threshold() -> Iterator[tuple[int, int, int]]:
    """How often the garbage collector looks, the same for these tests on every Python."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield gc.get_threshold()
    gc.set_threshold(*before)


def test_the_garbage_collector_is_left_as_it_was(carrier: str, threshold: tuple[int, int, int]) -> None:
    """Whether a run ends well or not."""
    fakempi.run(lambda comm: None, 100, carrier=carrier)
    with suppress(fakempi.RankError):
        fakempi.run(lambda comm: 1 // 0, 100, carrier=carrier)
    assert gc.get_threshold() == threshold


def test_two_runs_that_overlap_leave_the_garbage_collector_as_it_was(
    carrier: str, threshold: tuple[int, int, int]
) -> None:
    """The first to start is the first to end, while the other goes on."""
    first_runs, second_runs, first_ended = (threading.Event() for _ in range(3))
    meanwhile: set[int] = set()

    def first(comm: Any) -> None:
        first_runs.set()
        assert second_runs.wait()

    def second(comm: Any) -> None:
        second_runs.set()
        assert first_ended.wait()
        meanwhile.add(gc.get_threshold()[0])

    def run_first() -> None:
        fakempi.run(first, 100, carrier=carrier)
        first_ended.set()

    def run_second() -> None:
        assert first_runs.wait(300)
        fakempi.run(second, 100, carrier=carrier)

    threads = [threading.Thread(target=work) for work in (run_first, run_second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.get_threshold() == threshold
    assert min(meanwhile) > threshold[0]
