"""Conflicts of a rank's stores to its own window with accesses of other ranks: only certain conflicts are reported."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI


def races(main: Callable[..., Any], nprocs: int = 2, **options: Any) -> list[str]:
    """Return the findings, with comments of the program in place of line numbers."""
    lines, start = inspect.getsourcelines(main)
    found = [str(one) for one in fakempi.run(main, nprocs, check_buffers=True, **options).findings]
    for number, text in enumerate(lines, start):
        found = [one.replace(f"test_stores.py:{number}", text.partition("# ")[2].strip()) for one in found]
    return found


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("way", ["Put", "Get", "Accumulate"])
def test_a_store_concurrent_with_an_access_in_a_fence_epoch_is_reported(backend: Any, way: str, late: bool) -> None:
    """The store is before or after the access: nothing orders the two. The finding has the common bytes."""

    def main(comm: Any) -> None:
        memory = np.zeros(4)
        win = MPI.Win.Create(memory, 8, comm=comm)
        win.Fence()  # begin
        if comm.rank == 0:
            fakempi.compute(2 * late)
            memory[2:] = 7
        else:
            fakempi.compute(1)
            getattr(win, way)(np.ones(3), 0)  # access
        win.Fence()  # end
        win.Free()

    until = " and before Fence at end" if late else ""
    assert races(main, backend=backend) == [
        f"window-race: rank 1: {way} at access: conflicts with a store of rank 0 after Fence at begin{until}, to bytes 22 "
        "to 24 of its own window: both are in one epoch, and nothing orders them."
    ]


def test_a_store_between_post_and_wait_is_reported() -> None:
    """It conflicts with operations of the origins of Post."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        memory = np.frombuffer(win.tomemory(), "u1")
        if comm.rank == 0:
            memory[3] = 1
            win.Post(win.group.Incl([1]))  # begin
            fakempi.compute(1)
            memory[4:6] = 7
            win.Wait()  # end
            memory[:] = 5
        else:
            win.Start(win.group.Incl([0]))
            win.Put(np.ones(1), 0)  # access
            win.Complete()
        win.Free()

    assert races(main) == [
        "window-race: rank 1: Put at access: conflicts with a store of rank 0 after Post at begin and before Wait at end, "
        "to bytes 4 to 6 of its own window: both are in one epoch, and nothing orders them."
    ]


def test_a_strict_run_ends_at_the_conflict() -> None:
    """Before wrong data is used."""

    def main(comm: Any) -> None:
        memory = np.zeros(1)
        win = MPI.Win.Create(memory, comm=comm)
        win.Fence()
        memory[0] = 3
        win.Put(np.ones(1), 1 - comm.rank)
        win.Fence()
        win.Free()

    with pytest.raises(fakempi.FindingsError, match="conflicts with a store of rank 0 after Fence"):
        fakempi.run(main, 2, strict=True)
    assert fakempi.run(main, 2).findings == []  # the check is off by default


def ordered_by_a_message(comm: Any, win: Any, memory: Any) -> None:
    """The rank writes, and sends a message."""
    if comm.rank == 0:
        memory[:] = 4
        comm.send(None, 1)
    else:
        comm.recv()
        win.Put(np.ones(1), 0)


def ordered_by_a_barrier(comm: Any, win: Any, memory: Any) -> None:
    """All ranks write."""
    memory[:] = 4
    comm.Barrier()
    win.Put(np.ones(1), 1 - comm.rank)


def ordered_by_another_window(comm: Any, win: Any, memory: Any) -> None:
    """A fence is a collective call, too."""
    other = MPI.Win.Allocate(8, comm=comm)
    other.Fence()
    memory[:] = 4
    other.Fence()
    win.Put(np.ones(1), 1 - comm.rank)
    win.Fence()
    other.Free()


def synced(comm: Any, win: Any, memory: Any) -> None:
    """The order that the standard defines."""
    memory[:] = 4
    win.Sync()
    win.Put(np.ones(1), comm.rank)


def elsewhere(comm: Any, win: Any, memory: Any) -> None:
    """Other bytes of the same window."""
    memory[1:] = 4
    win.Put(np.ones(1), 1 - comm.rank)
    memory[2:] = 5


def between_epochs(comm: Any, win: Any, memory: Any) -> None:
    """Stores in one epoch, operations in the next, in turns; fast ranks do not affect slow ones."""
    for step in range(4):
        memory[:] = step
        fakempi.compute(comm.rank)
        win.Fence()
        win.Put(np.ones(2), 1 - comm.rank)
        win.Get(np.ones(1), 1 - comm.rank, 3)
        win.Fence()


def under_locks(comm: Any, win: Any, memory: Any) -> None:
    """The window cannot know the order of these."""
    win.Fence(MPI.MODE_NOSUCCEED)
    for turn in range(2):
        if comm.rank == turn:
            win.Lock(comm.rank)
            memory[:] = 4
            win.Unlock(comm.rank)
        comm.Barrier()
        win.Lock(turn, MPI.LOCK_SHARED)
        win.Get(np.ones(1), turn)
        win.Unlock(turn)
        comm.Barrier()
    win.Lock_all()
    memory[:] = 7
    win.Sync()
    comm.Barrier()
    win.Put(np.ones(1), 1 - comm.rank)
    win.Flush_all()
    comm.Barrier()
    win.Sync()
    memory[:] = 9
    win.Unlock_all()


def by_groups(comm: Any, win: Any, memory: Any) -> None:
    """Before Post and after Wait, and after a successful Test."""
    win.Fence(MPI.MODE_NOSUCCEED)
    group = win.Get_group()
    other = group.Incl([1 - comm.rank])
    for end in ("Wait", "Test"):
        memory[:] = 4
        win.Post(other)
        win.Start(other)
        win.Accumulate(np.ones(4), 1 - comm.rank)
        win.Complete()
        while not getattr(win, end)():
            pass
        memory[:] = 5
    group.Free()
    other.Free()


ORDERED = [
    ordered_by_a_message, ordered_by_a_barrier, ordered_by_another_window, synced, elsewhere, between_epochs,
    under_locks, by_groups,
]  # fmt: skip


@pytest.mark.parametrize("program", ORDERED, ids=lambda one: one.__name__)
def test_ordered_stores_are_not_reported(program: Callable[..., Any], backend: Any) -> None:
    """Also in a strict run."""

    def main(comm: Any) -> None:
        memory = np.zeros(4)
        win = MPI.Win.Create(memory, 8, comm=comm)
        memory[:] = 3
        win.Fence()
        program(comm, win, memory)
        win.Fence()
        win.Free()
        memory[:] = 6

    assert fakempi.run(main, 2, strict=True, backend=backend).findings == []


@given(st.lists(st.tuples(st.sampled_from(["Put", "Get", "Accumulate", "store"]), *[st.integers(0, 2)] * 3), max_size=12))
def test_a_program_that_writes_to_unshared_bytes_is_clean(steps: list[Any]) -> None:
    """In any epochs; each rank's last four bytes are used by that rank only."""

    def main(comm: Any) -> None:
        memory = np.zeros(8, "u1")
        win = MPI.Win.Create(memory, comm=comm)
        win.Fence()
        for number, (what, rank, target, at) in enumerate(steps):
            if comm.rank == rank and what == "store":
                memory[4 + at] = number + 1
            elif comm.rank == rank:
                getattr(win, what)(np.full(1, number, "u1"), target, at)
            if at == 2:
                win.Fence()
        win.Fence()
        win.Free()

    found = [one for one in fakempi.run(main, 3, check_buffers=True).findings if "itself" in one.sentence]
    assert found == []


def test_memory_of_two_windows_is_not_checked() -> None:
    """The change may have been made through the other window."""

    def main(comm: Any) -> None:
        memory = np.zeros(1)
        one, other = (MPI.Win.Create(memory, comm=comm) for _ in range(2))
        one.Fence()
        other.Lock(1 - comm.rank)
        other.Put(np.ones(1), 1 - comm.rank)
        other.Unlock(1 - comm.rank)
        one.Put(np.zeros(1), comm.rank)
        one.Fence()
        one.Free()
        other.Free()

    assert fakempi.run(main, 2, check_buffers=True).findings == []
