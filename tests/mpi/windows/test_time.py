"""The exact cost of one-sided communication in modeled time, as stated in fakempi/mpi/windows/__init__.py."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI

T_S: Any = Fraction(7)
T_W: Any = Fraction(1, 3)
QUARTER: Any = Fraction(1, 4)
COST = fakempi.Hockney(T_S, T_W)


def clocks(main: Callable[..., Any], nprocs: int, **options: Any) -> list[Any]:
    """The end time of each rank."""
    return fakempi.run(main, nprocs, **{"cost": COST, **options}).clocks


def transfer(nbytes: int) -> Any:
    return T_S + nbytes * T_W


def window(comm: Any, nbytes: int = 4096) -> Any:
    return MPI.Win.Create(fakempi.phantom(nbytes), comm=comm)


@given(nbytes=st.integers(0, 4096), late=st.integers(0, 50))
def test_a_fence_ends_when_all_ranks_have_called_and_the_ranks_data_has_arrived(nbytes: int, late: int) -> None:
    """A Put is one transfer, which starts at once; a rank without operations leaves when the last rank has called."""

    def main(comm: Any) -> None:
        win = window(comm)
        win.Fence()
        if comm.rank == 0:
            win.Put(fakempi.phantom(nbytes), 1)
        if comm.rank == 2:
            fakempi.compute(late)
        win.Fence()

    busy = max(transfer(nbytes), late)
    assert clocks(main, 3) == [busy, busy, late]


@given(nbytes=st.integers(0, 4096))
def test_a_get_is_a_request_and_an_answer(nbytes: int) -> None:
    """The request is empty."""

    def main(comm: Any) -> None:
        win = window(comm)
        win.Fence()
        if comm.rank == 0:
            win.Get(fakempi.phantom(nbytes), 1)
        win.Fence()

    assert clocks(main, 2) == [transfer(0) + transfer(nbytes)] * 2


@given(nbytes=st.integers(0, 512).map(lambda count: 8 * count))
def test_operations_that_fetch_send_data_and_receive_data(nbytes: int) -> None:
    """With NO_OP the request is empty; a compare and swap sends two elements and receives one."""

    def main(comm: Any, call: Callable[[Any], None]) -> None:
        win = window(comm)
        win.Fence()
        if comm.rank == 0:
            call(win)
        win.Fence()

    def get_accumulate(win: Any, op: Any = MPI.SUM) -> None:
        win.Get_accumulate([fakempi.phantom(nbytes), MPI.DOUBLE], [fakempi.phantom(nbytes), MPI.DOUBLE], 1, op=op)

    def swap(win: Any) -> None:
        win.Compare_and_swap(np.zeros(1, int), np.zeros(1, int), np.zeros(1, int), 1)

    cases = [
        (get_accumulate, 2 * transfer(nbytes)),
        (lambda win: get_accumulate(win, MPI.NO_OP), transfer(0) + transfer(nbytes)),
        (swap, transfer(16) + transfer(8)),
    ]
    for call, seconds in cases:
        assert fakempi.run(main, 2, call, cost=COST).clocks == [seconds] * 2


@given(nbytes=st.integers(0, 4096))
def test_a_lock_is_a_round_trip_and_an_unlock_is_one_message(nbytes: int) -> None:
    """The Put starts when the lock is granted; the target computes without interruption."""

    def main(comm: Any) -> None:
        win = window(comm)
        if comm.rank == 0:
            win.Lock(1)
            assert MPI.Wtime() == 0
            win.Put(fakempi.phantom(nbytes), 1)
            assert MPI.Wtime() == 0
            win.Flush(1)
            assert MPI.Wtime() == float(2 * transfer(0) + transfer(nbytes))
            win.Unlock(1)
        else:
            fakempi.compute(5)

    assert clocks(main, 2) == [3 * transfer(0) + transfer(nbytes), 5]


def test_a_rank_waits_for_its_own_lock() -> None:
    """Before its loads and stores."""

    def main(comm: Any) -> None:
        win = window(comm)
        win.Lock(comm.rank)
        assert MPI.Wtime() == 2 * T_S
        win.Unlock(comm.rank)

    assert clocks(main, 1) == [3 * T_S]


def test_locks_are_granted_in_the_order_of_requests(backend: Any) -> None:
    """Exclusive locks are granted one after the other: the next one when the Unlock of the last one has arrived."""

    def main(comm: Any) -> None:
        win = window(comm)
        if comm.rank:
            fakempi.compute(comm.rank)
            win.Lock(0)
            win.Unlock(0)

    # Requested at 1 (arrives at 8), at 2 (behind it at the input port, arrives at 15), at 3 (arrives at 22).
    first = 1 + 2 * T_S  # granted; its release arrives at a port that is busy until 22
    released = 22 + T_S
    assert first == 15
    second = released + 2 * T_S  # granted, and released
    third = second + 2 * T_S
    assert clocks(main, 4, backend=backend) == [0, released, second, third]


def test_shared_locks_do_not_wait_for_each_other() -> None:
    """An exclusive one waits for both."""

    def main(comm: Any) -> None:
        win = window(comm)
        if comm.rank == 0:
            return
        fakempi.compute((10, 20, 45)[comm.rank - 1])
        win.Lock(0, MPI.LOCK_EXCLUSIVE if comm.rank == 3 else MPI.LOCK_SHARED)
        win.Flush(0)
        if comm.rank == 1:
            fakempi.compute(50)
        win.Unlock(0)

    one = 10 + 2 * T_S + 50 + T_S
    assert clocks(main, 4) == [0, one, 20 + 3 * T_S, one + 2 * T_S]


def test_with_nocheck_a_lock_is_free() -> None:
    """MODE_NOCHECK: no other rank requests the lock."""

    def main(comm: Any) -> None:
        win = window(comm)
        if comm.rank == 0:
            win.Lock(1, MPI.LOCK_SHARED, MPI.MODE_NOCHECK)
            win.Put(fakempi.phantom(30), 1)
            win.Unlock(1)
            win.Lock_all(MPI.MODE_NOCHECK)
            win.Put(fakempi.phantom(30), 1)
            win.Unlock_all()

    assert clocks(main, 2) == [2 * transfer(30), 0]


def test_lock_all_sends_requests_only_to_targets_in_use() -> None:
    """Targets without operations cost nothing."""

    def main(comm: Any) -> None:
        win = window(comm)
        if comm.rank == 0:
            win.Lock_all()
            win.Unlock_all()
            assert MPI.Wtime() == 0
            win.Lock_all()
            win.Put(fakempi.phantom(30), 2)
            win.Unlock_all()

    done = fakempi.run(main, 4, cost=COST)
    assert done.clocks == [3 * T_S + transfer(30), 0, 0, 0]
    assert done.messages == 4


@given(nbytes=st.integers(0, 4096), late=st.integers(0, 60))
def test_start_waits_for_post_and_wait_for_complete(nbytes: int, late: int) -> None:
    """A Put starts when the Post has arrived, and Wait returns when the Complete after the Put has arrived."""

    def main(comm: Any) -> None:
        win, other = window(comm), [1 - comm.rank]
        group = win.Get_group().Incl(other)
        if comm.rank == 0:
            win.Start(group)
            win.Put(fakempi.phantom(nbytes), 1)
            assert MPI.Wtime() == 0
            win.Complete()
        else:
            fakempi.compute(late)
            win.Post(group)
            win.Wait()

    end = late + 2 * T_S + transfer(nbytes)
    assert clocks(main, 2) == [end, end]


def test_a_put_holds_both_ports() -> None:
    """A message to the target waits for it, and so does the next message of the origin."""

    def main(comm: Any) -> None:
        win = window(comm)
        win.Lock_all(MPI.MODE_NOCHECK)
        if comm.rank == 0:
            win.Put(fakempi.phantom(30), 1)
            comm.Send(fakempi.phantom(3), 2)
        elif comm.rank == 1:
            comm.Recv(fakempi.phantom(6), 2)
        else:
            fakempi.compute(1)
            comm.Send(fakempi.phantom(6), 1)
            comm.Recv(fakempi.phantom(3), 0)

    put = transfer(30)
    assert clocks(main, 3) == [put + transfer(3), put + transfer(6), put + transfer(6)]


@pytest.mark.parametrize(
    "cost",
    [
        fakempi.LogGP(L=3, o=1, g=2, G=QUARTER),
        fakempi.Hockney(T_S, T_W, ports=2),
        fakempi.Hockney(T_S, T_W, duplex=False),
        fakempi.ZeroCost(),
    ],
)
def test_other_models_agree_on_contents_and_order(cost: Any) -> None:
    """Accumulates of one rank take effect in the order of their calls."""

    def main(comm: Any) -> Any:
        win = MPI.Win.Allocate(8 if comm.rank == 0 else 0, 8, comm=comm)
        win.Lock_all()
        if comm.rank == 1:
            for value in range(6):
                win.Accumulate(np.array([value]), 0, op=MPI.REPLACE)
        win.Unlock_all()
        comm.Barrier()
        return np.frombuffer(win.tomemory(), int).tolist()

    assert fakempi.run(main, 3, cost=cost).returns[0] == [5]


def test_sync_lets_time_advance_in_polling_loops() -> None:
    """A flag in local memory, set by another rank, is seen when it arrives."""

    def main(comm: Any) -> None:
        win = MPI.Win.Allocate(8, comm=comm)
        flag = np.frombuffer(win.tomemory(), int)
        win.Lock_all(MPI.MODE_NOCHECK)
        if comm.rank == 0:
            fakempi.compute(100)
            win.Put(np.ones(1, int), 1)
            win.Flush(1)
        else:
            while not flag[0]:
                win.Sync()

    assert clocks(main, 2) == [100 + transfer(8)] * 2


def test_both_backends_give_the_same_result_every_time() -> None:
    """Clocks, values and traces."""

    def main(comm: Any) -> Any:
        win = MPI.Win.Allocate(64, 8, comm=comm)
        mine, got = np.array([comm.rank + 1]), np.zeros(1, int)
        for target in range(comm.size):
            win.Lock(target, MPI.LOCK_SHARED if comm.rank % 2 else MPI.LOCK_EXCLUSIVE)
            win.Fetch_and_op(mine, got, target, comm.rank)
            win.Accumulate(got, target, 7)
            win.Unlock(target)
        win.Fence()
        win.Get(got, (comm.rank + 1) % comm.size, 7)
        win.Fence()
        win.Free()
        return got.tolist()

    runs = [fakempi.run(main, 5, backend=backend, trace=True) for backend in ("greenlets", "threads", "greenlets")]
    assert len({str(one.returns) + str(one.clocks) for one in runs}) == 1
    assert all(one.trace == runs[0].trace for one in runs)
