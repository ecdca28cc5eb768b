"""Rule 9, second part: after a run, however it ended, nothing of it is left."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

import fakempi


class HeldObject:
    """An object that a rank holds."""


def ends(comm: Any, held: list[weakref.ref[HeldObject]], how: str) -> Any:
    """A program that holds an object, and ends in one of several ways."""
    mine = HeldObject()
    held.append(weakref.ref(mine))
    request = comm.irecv(source=(comm.rank + 1) % comm.size, tag=1)
    comm.send(mine.__class__, (comm.rank + 1) % comm.size)
    duplicate = comm.Dup()
    if how == "fails" and comm.rank == 1:
        raise ValueError
    if how != "returns":
        duplicate.recv(source=0)
    return request


@pytest.mark.parametrize("how", ["returns", "fails", "hangs"])
def test_objects_of_ranks_are_freed_after_the_run(backend: Any, how: str) -> None:
    """Stacks, requests, communicators: as soon as the caller drops the result or the error."""
    held: list[weakref.ref[HeldObject]] = []
    with suppress(fakempi.RunError):
        fakempi.run(ends, 4, held, how, backend=backend)
    gc.collect()
    assert len(held) == 4
    assert [one() for one in held] == [None] * 4


@pytest.mark.quick(1)
@pytest.mark.parametrize("how", ["returns", "fails", "hangs"])
def test_dozens_of_runs_leave_no_memory_behind(backend: Any, how: str) -> None:
    """The number of objects after the last run is that after the first few."""

    def one_run() -> None:
        with suppress(fakempi.RunError):
            fakempi.run(ends, 3, [], how, backend=backend)

    def objects() -> int:
        gc.collect()
        return len(gc.get_objects())

    for _ in range(5):
        one_run()
    before = objects()
    for _ in range(40):
        one_run()
    assert objects() - before < 20


@pytest.fixture
def threshold() -> Iterator[tuple[int, int, int]]:
    """Fix the thresholds of the garbage collector, the same on every Python."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield gc.get_threshold()
    gc.set_threshold(*before)


def test_the_garbage_collector_is_restored(backend: Any, threshold: tuple[int, int, int]) -> None:
    """Whether a run fails or not."""
    fakempi.run(lambda comm: None, 100, backend=backend)
    with suppress(fakempi.RankError):
        fakempi.run(lambda comm: 1 // 0, 100, backend=backend)
    assert gc.get_threshold() == threshold


def test_objects_of_imported_modules_count_as_old() -> None:
    """While a command imports its modules, nothing is collected; a program that has disabled the collector keeps it so.

    In a separate process, since tests may have frozen objects.
    """
    code = """
import gc
from fakempi.core.gc_tuning import no_collections
with no_collections():
    assert not gc.isenabled()
    found = [[number] for number in range(1000)]
old = {id(each) for each in gc.get_objects(2)}
assert gc.isenabled() and gc.get_freeze_count() == 0 and all(id(each) in old for each in found)
gc.disable()
with no_collections():
    pass
assert not gc.isenabled()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=270)


@pytest.mark.usefixtures("patient")
def test_two_overlapping_runs_restore_the_garbage_collector(
    backend: Any, threshold: tuple[int, int, int]
) -> None:
    """The first to start is the first to end, while the other continues."""
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
        fakempi.run(first, 100, backend=backend)
        first_ended.set()

    def run_second() -> None:
        assert first_runs.wait(300)
        fakempi.run(second, 100, backend=backend)

    threads = [threading.Thread(target=work) for work in (run_first, run_second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.get_threshold() == threshold
    assert min(meanwhile) > threshold[0]
