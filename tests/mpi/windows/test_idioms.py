"""Correct window programs of common kinds: none has a finding, for any schedule.

They are ordered by fences, groups, locks, messages, barriers, and atomic operations on flags. Each of these must count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI


def element(value: int) -> Any:
    """An item."""
    return np.full(1, value, "i8")


def window(comm: Any, count: int = 4) -> tuple[Any, Any]:
    """A window of items, with its memory."""
    memory = np.zeros(count, "i8")
    return MPI.Win.Create(memory, 8, comm=comm), memory


def spin_lock(comm: Any) -> None:
    """A lock of the program, by Compare_and_swap under shared locks."""
    win, _ = window(comm)
    found, value = element(0), element(0)
    comm.Barrier()
    for _ in range(3):
        while True:
            win.Lock(0, MPI.LOCK_SHARED)
            win.Compare_and_swap(element(1), element(0), found, 0, 0)
            win.Unlock(0)
            if found[0] == 0:
                break
        win.Lock(0, MPI.LOCK_SHARED)
        win.Get(value, 0, 1)
        win.Flush(0)
        win.Put(value + 1, 0, 1)
        win.Unlock(0)
        win.Lock(0, MPI.LOCK_SHARED)
        win.Accumulate(element(0), 0, 0, op=MPI.REPLACE)
        win.Unlock(0)
    comm.Barrier()
    win.Free()


def flags(comm: Any) -> None:
    """Data, a flush, then a flag on which the target polls with Sync."""
    win, memory = window(comm)
    win.Lock_all()
    win.Sync()
    comm.Barrier()
    after = (comm.rank + 1) % comm.size
    for step in range(1, 4):
        for turn in range(2):
            if (comm.rank == 0) is (turn == 0):
                win.Put(element(step), after, 0)
                win.Flush(after)
                win.Accumulate(element(step), after, 1, op=MPI.REPLACE)
                win.Flush(after)
            if turn == 0:
                while memory[1] < step:
                    win.Sync()
    comm.Barrier()
    win.Unlock_all()
    win.Free()


def messages(comm: Any) -> None:
    """A Put, a message, a store by the target, a message back."""
    win, memory = window(comm)
    for step in range(4):
        if comm.rank == 0:
            win.Lock(1)
            win.Put(element(step), 1)
            win.Unlock(1)
            comm.send(None, 1)
            comm.recv(source=1)
        elif comm.rank == 1:
            comm.recv(source=0)
            memory[0] += 5
            comm.send(None, 0)
    comm.Barrier()
    win.Free()


def synchronous_send(comm: Any) -> None:
    """The end of an Ssend shows that the receiver has called Recv, and so that its earlier stores are complete."""
    win, memory = window(comm)
    if comm.rank == 0:
        comm.Ssend(element(0), 1)
        win.Lock(1)
        win.Put(element(1), 1)
        win.Unlock(1)
    elif comm.rank == 1:
        memory[0] = 7
        comm.Recv(element(0), 0)
    comm.Barrier()
    win.Free()


def probed(comm: Any) -> None:
    """So does a message that is only probed."""
    win, memory = window(comm)
    large = np.zeros(100_000)
    if comm.rank == 1:
        memory[0] = 7
        comm.Send(large, 0)
    elif comm.rank == 0:
        comm.Probe(1)
        win.Lock(1)
        win.Put(element(1), 1)
        win.Unlock(1)
        comm.Recv(large, 1)
    comm.Barrier()
    win.Free()


def own_locks(comm: Any) -> None:
    """Stores of the owner under its own lock."""
    win, memory = window(comm)
    after, value = (comm.rank + 1) % comm.size, element(0)
    for _ in range(3):
        win.Lock(comm.rank)
        memory[0] += 1
        win.Unlock(comm.rank)
        win.Lock(after)
        win.Get(value, after)
        win.Flush(after)
        win.Put(value + 1, after)
        win.Unlock(after)
    comm.Barrier()
    win.Free()


def halo_by_fences(comm: Any) -> None:
    """Buffers of Put and Get that lie in the window itself."""
    win, memory = window(comm, 10)
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    for step in range(3):
        memory[1:-1] = step + comm.rank
        win.Fence()
        win.Put(memory[1:2], left, 9)
        win.Put(memory[8:9], right, 0)
        win.Fence()
        memory[1:-1] += memory[:-2] + memory[2:]
    win.Fence()
    win.Get(memory[0:1], left, 8)
    win.Get(memory[9:], right, 1)
    win.Fence()
    win.Free()


def halo_by_groups(comm: Any) -> None:
    """The same among neighbors."""
    win, memory = window(comm, 10)
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    group = comm.Get_group()
    neighbors = group.Incl(sorted({left, right}))
    for step in range(3):
        memory[1:-1] = step + comm.rank
        win.Post(neighbors)
        win.Start(neighbors)
        win.Put(memory[1:2], left, 9)
        win.Put(memory[8:9], right, 0)
        win.Complete()
        win.Wait()
    neighbors.Free()
    group.Free()
    win.Free()


def messages_into_the_window(comm: Any) -> None:
    """Window memory as a buffer of messages and collective calls, and barriers."""
    win, memory = window(comm)
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    for step in range(3):
        comm.Sendrecv(element(step), right, 0, memory[:1], left, 0)
        comm.Barrier()
        win.Lock(right, MPI.LOCK_SHARED)
        win.Get(np.zeros(4, "i8"), right)
        win.Unlock(right)
        comm.Barrier()
        comm.Bcast(memory)
        comm.Barrier()
    win.Free()


def sent_and_put_back(comm: Any) -> None:
    """A Put to memory from which a message was sent, after it was received."""
    win, memory = window(comm)
    win.Lock_all()
    for _ in range(3):
        if comm.rank == 0:
            comm.Send(memory, 1)
            comm.recv(source=1)
            win.Sync()
            memory[0] += 1
        elif comm.rank == 1:
            data = np.zeros(4, "i8")
            comm.Recv(data, 0)
            win.Put(data + 1, 0)
            win.Flush(0)
            comm.send(None, 0)
    win.Unlock_all()
    comm.Barrier()
    win.Free()


def unchecked_locks(comm: Any) -> None:
    """Barriers instead of locks."""
    win, memory = window(comm)
    for turn in range(comm.size):
        after = (turn + 1) % comm.size
        comm.Barrier()
        if comm.rank == turn:
            win.Lock(after, MPI.LOCK_EXCLUSIVE, MPI.MODE_NOCHECK)
            win.Put(np.ones(4, "i8"), after)
            win.Unlock(after)
        comm.Barrier()
        memory[:] = turn
    comm.Barrier()
    win.Free()


def communicators(comm: Any) -> None:
    """Creating a communicator is a collective call, too."""
    win, memory = window(comm)
    after = (comm.rank + 1) % comm.size
    memory[:] = comm.rank
    other = comm.Dup()
    win.Lock(after)
    win.Get(np.zeros(4, "i8"), after)
    win.Unlock(after)
    other.Free()
    comm.Barrier()
    win.Free()


def counter(comm: Any) -> None:
    """Fetch_and_op under shared locks, then the owner under its lock."""
    win, memory = window(comm)
    for _ in range(3):
        win.Lock(0, MPI.LOCK_SHARED)
        win.Fetch_and_op(element(1), element(0), 0)
        win.Unlock(0)
    comm.Barrier()
    if comm.rank == 0:
        win.Lock(0)
        memory[0] = 0
        win.Unlock(0)
    comm.Barrier()
    win.Free()


PROGRAMS: list[Callable[[Any], None]] = [
    spin_lock, flags, messages, synchronous_send, probed, own_locks, halo_by_fences, halo_by_groups,
    messages_into_the_window, sent_and_put_back, unchecked_locks, communicators, counter,
]  # fmt: skip

OPTIONS: list[dict[str, Any]] = [
    {}, {"strict": True}, {"backend": "threads"}, {"cost": fakempi.Hockney(1e-6, 1e-9)},
    *({"seed": seed} for seed in range(4)),
]  # fmt: skip


@pytest.mark.quick(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_a_correct_program_has_no_finding(program: Callable[[Any], None]) -> None:
    """On two and on three ranks."""
    for nprocs in (2, 3):
        for options in OPTIONS:
            findings = fakempi.run(program, nprocs, **{"check_buffers": True, **options}).findings
            assert [str(one) for one in findings if not one.note] == [], (nprocs, options)
