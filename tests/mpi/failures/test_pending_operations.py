"""Every operation of a survivor with a failed rank ends, with an error when the failure is detected, and never hangs."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each

FAILED, PENDING = MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING


def again(call: Callable[[], Any]) -> None:
    """Wait until the call reports it."""
    while not call():
        pass


def seen(comm: Any, source: int) -> Any:
    again(lambda: comm.Iprobe(source, 3))
    return comm.recv(source=source, tag=3)


def element() -> Any:
    return np.ones(1)


def lock(win: Any, rank: int) -> None:
    win.Lock(rank)
    win.Put(element(), rank)
    win.Unlock(rank)


def lock_all(win: Any, rank: int) -> None:
    win.Lock_all()
    try:
        win.Get(element(), rank)
        win.Flush(rank)
    finally:
        win.Unlock_all()


def start(win: Any, rank: int) -> None:
    win.Start(win.group.Incl([rank]))
    win.Put(element(), rank)
    win.Complete()


def post(win: Any, rank: int, end: str = "Wait") -> None:
    win.Post(win.group.Incl([rank]))
    again(getattr(win, end))


def fence(win: Any, rank: int) -> None:
    win.Fence()
    win.Put(element(), rank)
    win.Fence()


def started(request: Any) -> Any:
    request.Start()
    return request


def partitioned(request: Any) -> None:
    started(request)
    for partition in range(2):
        request.Pready(partition)
    request.Wait()


LARGE = 100_000
CALLS: dict[str, tuple[Callable[..., Any], int]] = {
    # Messages.
    "Probe": (lambda comm, kit: comm.Probe(1), FAILED),
    "Probe of any": (lambda comm, kit: comm.Probe(), PENDING),
    "Mprobe": (lambda comm, kit: comm.Mprobe(1), FAILED),
    "Iprobe": (lambda comm, kit: again(lambda: comm.Iprobe(1)), FAILED),
    "Improbe of any": (lambda comm, kit: again(lambda: comm.Improbe()), PENDING),
    "Waitany": (lambda comm, kit: MPI.Request.Waitany([comm.Irecv(element(), 1)]), FAILED),
    "Sendrecv": (lambda comm, kit: comm.Sendrecv(element(), 1, 0, element(), 1), FAILED),
    "Psend_init": (lambda comm, kit: partitioned(comm.Psend_init(np.zeros(LARGE), 2, 1)), FAILED),
    "Precv_init": (lambda comm, kit: started(comm.Precv_init(element(), 1, 1, 0)).Wait(), FAILED),
    "Parrived": (lambda comm, kit: again(partial(started(comm.Precv_init(element(), 1, 1, 0)).Parrived, 0)), FAILED),
    # Collective calls.
    "Neighbor_alltoall": (lambda comm, kit: kit.ring.Neighbor_alltoall(np.zeros(2), np.zeros(2)), FAILED),
    "Barrier_init": (lambda comm, kit: started(comm.Barrier_init()).Wait(), FAILED),
    "Create_group": (lambda comm, kit: comm.Create_group(comm.group), FAILED),
    "Create_from_group": (lambda comm, kit: MPI.Intracomm.Create_from_group(comm.group, "x"), FAILED),
    "Spawn": (lambda comm, kit: comm.Spawn("nothing.py"), FAILED),
    "Barrier of two groups": (lambda comm, kit: kit.inter.Barrier(), FAILED),
    "Merge": (lambda comm, kit: kit.inter.Merge(), FAILED),
    # Windows.
    "Win.Allocate": (lambda comm, kit: MPI.Win.Allocate(8, comm=comm), FAILED),
    "Fence": (lambda comm, kit: fence(kit.win, 1), FAILED),
    "Start": (lambda comm, kit: start(kit.win, 1), FAILED),
    "Post": (lambda comm, kit: post(kit.win, 1), FAILED),
    "Post and Test": (lambda comm, kit: post(kit.win, 1, "Test"), FAILED),
    "Free": (lambda comm, kit: kit.win.Free(), FAILED),
    # Files.
    "File.Open": (lambda comm, kit: MPI.File.Open(comm, kit.path), FAILED),
    "Write_at_all": (lambda comm, kit: kit.file.Write_at_all(0, element()), FAILED),
    "Iread_at_all": (lambda comm, kit: kit.file.Iread_at_all(0, element()).Wait(), FAILED),
    "Write_ordered": (lambda comm, kit: kit.file.Write_ordered(element()), FAILED),
    "Write_all_end": (lambda comm, kit: (kit.file.Write_all_begin(element()), kit.file.Write_all_end(element())), FAILED),
    "Close": (lambda comm, kit: kit.file.Close(), FAILED),
}  # fmt: skip


class PreparedObjects:
    """Objects that the calls need, created while all ranks were alive."""

    def __init__(self, comm: Any, path: str) -> None:
        self.path = path
        self.win = MPI.Win.Allocate(64, 8, comm=comm)
        self.file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
        self.ring = comm.Create_cart([comm.size], [True])
        self.inter = comm.Split(comm.rank % 2).Create_intercomm(0, comm, 1 - comm.rank % 2)


@for_each("name", CALLS)
def test_a_call_that_needs_a_dead_rank_ends_when_the_failure_is_detected(name: str, backend: Any, tmp_path: Path) -> None:
    """Later operations fail at once."""
    call, code = CALLS[name]

    def main(comm: Any) -> Any:
        kit = PreparedObjects(comm, str(tmp_path / "file"))
        if comm.rank == 1:
            fakempi.compute(9)
        if comm.rank == 2:
            fakempi.compute(6)
        with pytest.raises(MPI.Exception, match=r" on rank \d: rank 1 has died\.") as caught:
            call(comm, kit)
        return caught.value.Get_error_class(), MPI.Wtime()

    done = fakempi.run(main, 3, kill={1: 1}, detection_delay=2, cost=fakempi.ZeroCost(), backend=backend)
    assert done.returns == [(code, 3.0), None, (code, 6.0)]


@pytest.mark.parametrize("call", [lock, lock_all])
def test_a_lock_at_a_dead_rank(call: Callable[..., Any], backend: Any) -> None:
    """Operations on a dead rank get no answer; when the failure is detected, they are rejected."""

    def main(comm: Any) -> Any:
        win = MPI.Win.Allocate(64, 8, comm=comm)
        fakempi.compute((2, 9, 6)[comm.rank])
        with pytest.raises(MPI.Exception, match=r" on rank \d: rank 1 has died\."):
            call(win, 1)
        return MPI.Wtime()

    done = fakempi.run(main, 3, kill={1: 1}, detection_delay=2, cost=fakempi.Hockney(1 / 8, 0), backend=backend)
    assert done.returns == [3.0, None, 6.0]


def test_a_lock_that_a_dead_rank_holds() -> None:
    """Waiting ranks get an error, because the update may be incomplete; afterwards others may get the lock."""

    def main(comm: Any) -> Any:
        win = MPI.Win.Allocate(8, comm=comm)
        if comm.rank == 1:
            win.Lock(2)
            win.Flush(2)
            fakempi.compute(9)
        fakempi.compute(0.5)
        if comm.rank == 0:
            win.Lock(2)
            request = win.Rget(element(), 2)
            with pytest.raises(MPI.Exception, match=r"^Wait on rank 0: rank 1 has died\.$"):
                request.Wait()
            with pytest.raises(MPI.Exception, match=r"^Put on rank 0: rank 1 has died\.$"):
                win.Put(element(), 2)
            with pytest.raises(MPI.Exception, match=r"^Unlock on rank 0: rank 1 has died\.$"):
                win.Unlock(2)
        else:
            with pytest.raises(MPI.Exception, match=r"^Lock on rank 2: rank 1 has died\.$"):
                win.Lock(2)
        lock(win, 2)
        return MPI.Wtime()

    free = 3 + 1 / 4  # a lock, a Put and an Unlock of 1/16 each, for both one after the other, and one message at a time
    done = fakempi.run(main, 3, kill={1: 1}, detection_delay=2, cost=fakempi.Hockney(1 / 16, 0))
    assert done.returns[0] >= free
    assert done.returns[2] >= free


def test_unaffected_ranks_continue() -> None:
    """Epochs of survivors are unaffected by the dead rank's lock and Post."""

    def main(comm: Any) -> Any:
        win = MPI.Win.Allocate(64, 8, comm=comm)
        if comm.rank == 1:
            fakempi.die()
        fakempi.compute(1)
        assert comm.Get_failed().Get_size() == 1
        lock(win, 2 - comm.rank)
        if comm.rank == 0:
            start(win, 2)
        else:
            post(win, 0)
        with pytest.raises(MPI.Exception):
            win.Free()
        assert not win
        return np.ones(1).tolist()

    done = fakempi.run(main, 3)
    assert done.returns == [[1], None, [1]]
    assert done.findings == []


# -- random programs ---------------------------------------------------------------------------------------------------


def pair(comm: Any, one_side: int, other: int, first: Callable[[], Any], second: Callable[[], Any]) -> None:
    """Two ranks communicate."""
    if comm.rank == one_side:
        first()
    elif comm.rank == other:
        second()


STEPS: dict[str, Callable[..., Any]] = {
    "message": lambda comm, kit, a, b: pair(comm, a, b, lambda: comm.send(0, b), lambda: comm.recv(source=a)),
    "large message": lambda comm, kit, a, b: pair(
        comm, a, b, lambda: comm.Send(np.zeros(LARGE), b, 1), lambda: comm.Recv(np.zeros(LARGE), a, 1)),
    "probe": lambda comm, kit, a, b: pair(comm, a, b, lambda: comm.send(0, b, 2), lambda: comm.Mprobe(a, 2).recv()),
    "look": lambda comm, kit, a, b: pair(
        comm, a, b, lambda: comm.send(0, b, 3), lambda: seen(comm, a)),
    "partitions": lambda comm, kit, a, b: pair(
        comm, a, b, lambda: partitioned(comm.Psend_init(np.zeros(2), 2, b, 4)),
        lambda: started(comm.Precv_init(np.zeros(2), 1, a, 4)).Wait()),
    "barrier": lambda comm, kit, a, b: comm.Barrier(),
    "allreduce": lambda comm, kit, a, b: comm.allreduce(1),
    "in the background": lambda comm, kit, a, b: comm.Ibcast(element(), a).Wait(),
    "neighbors": lambda comm, kit, a, b: kit.ring.neighbor_alltoall([1, 2]),
    "dup": lambda comm, kit, a, b: comm.Dup(),
    "group": lambda comm, kit, a, b: comm.rank in (a, b) and comm.Create_group(comm.group.Incl([a, b])),
    "two groups": lambda comm, kit, a, b: kit.inter.allgather(0),
    "fence": lambda comm, kit, a, b: fence(kit.win, b),
    "lock": lambda comm, kit, a, b: lock(kit.win, b),
    "lock all": lambda comm, kit, a, b: lock_all(kit.win, b),
    "post": lambda comm, kit, a, b: pair(comm, a, b, lambda: start(kit.win, b), lambda: post(kit.win, a)),
    "post and test": lambda comm, kit, a, b: pair(
        comm, a, b, lambda: start(kit.win, b), lambda: post(kit.win, a, "Test")),
    "file": lambda comm, kit, a, b: kit.file.Write_at_all(8 * comm.rank, element()),
    "agree": lambda comm, kit, a, b: comm.Agree(1),
    "shrink": lambda comm, kit, a, b: comm.Shrink().Barrier(),
}  # fmt: skip
SIZE = 4
pairs = st.permutations(range(SIZE)).map(lambda ranks: tuple(ranks[:2]))
steps = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), pairs), min_size=1, max_size=8)
deaths = st.dictionaries(st.integers(0, SIZE - 1), st.integers(1, 60).map(lambda at: at / 4), min_size=1, max_size=2)


@given(
    steps=steps, kill=deaths, detection_delay=st.sampled_from([0, 1, 5]),
    backend=st.sampled_from(["greenlets", "threads"]),
)
def test_every_call_of_a_survivor_ends(steps: Any, kill: Any, detection_delay: Any, backend: Any) -> None:
    """It succeeds, or fails with ERR_PROC_FAILED, or with ERR_PROC_FAILED_PENDING for wildcards."""

    def main(comm: Any) -> Any:
        kit = PreparedObjects(comm, os.devnull)
        outcomes = []
        for name, (a, b) in steps:
            fakempi.compute(0.5)
            try:
                STEPS[name](comm, kit, a, b)
                outcomes.append(0)
            except MPI.Exception as error:
                outcomes.append(error.Get_error_class())
        comm.Get_failed()
        return outcomes

    cost = fakempi.Hockney(0.25, 0)
    done = fakempi.run(main, SIZE, kill=kill, detection_delay=detection_delay, backend=backend, cost=cost)
    for rank, outcomes in enumerate(done.returns):
        assert outcomes is not None or rank in kill
        assert set(outcomes or ()) <= {0, FAILED, PENDING}


@pytest.mark.parametrize("dead", [0, 1])
@pytest.mark.parametrize("late", [0, 10])
def test_both_groups_of_a_join_get_the_error(dead: int, late: int) -> None:
    """Also the group without a failure, whether a leader or another rank has died."""

    def main(comm: Any) -> Any:
        group = comm.Split(comm.rank // 2)
        fakempi.compute(20 if comm.rank == dead else late if comm.rank > 1 else 0)
        with pytest.raises(MPI.Exception, match=rf"^Create_intercomm.*: rank {dead} has died\.$") as caught:
            group.Create_intercomm(0, comm, 2 - 2 * (comm.rank // 2))
        assert caught.value.Get_error_class() == FAILED
        return MPI.Wtime()

    done = fakempi.run(main, 4, kill={dead: 1}, detection_delay=2, cost=fakempi.ZeroCost())
    assert [done.returns[1 - dead], *done.returns[2:]] == [3.0, max(3.0, late), max(3.0, late)]
