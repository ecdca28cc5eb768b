"""What one-sided communication costs in modelled time, exactly: the law is in ARCHITECTURE.md."""

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
    """When each rank ended."""
    return fakempi.run(main, nprocs, **{"cost": COST, **options}).clocks


def transfer(nbytes: int) -> Any:
    return T_S + nbytes * T_W


def window(comm: Any, nbytes: int = 4096) -> Any:
    return MPI.Win.Create(fakempi.phantom(nbytes), comm=comm)


@given(nbytes=st.integers(0, 4096), late=st.integers(0, 50))
def test_a_fence_ends_when_all_have_come_and_what_concerns_the_rank_is_there(nbytes: int, late: int) -> None:
    """A Put is one transfer, which begins at once; who has no part in it leaves with the last to come."""

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
    """The first is empty."""

    def main(comm: Any) -> None:
        win = window(comm)
        win.Fence()
        if comm.rank == 0:
            win.Get(fakempi.phantom(nbytes), 1)
        win.Fence()

    assert clocks(main, 2) == [transfer(0) + transfer(nbytes)] * 2


@given(nbytes=st.integers(0, 512).map(lambda count: 8 * count))
def test_what_takes_and_changes_goes_with_data_and_comes_with_data(nbytes: int) -> None:
    """But with NO_OP it goes empty, and a compare and swap goes with two elements and comes with one."""

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
def test_a_lock_is_a_round_trip_and_an_unlock_one_way(nbytes: int) -> None:
    """The Put begins when the lock is there; the target computes on, and is not disturbed."""

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
    """Its loads and stores come next."""

    def main(comm: Any) -> None:
        win = window(comm)
        win.Lock(comm.rank)
        assert MPI.Wtime() == 2 * T_S
        win.Unlock(comm.rank)

    assert clocks(main, 1) == [3 * T_S]


def test_locks_are_given_in_the_order_in_which_they_are_asked_for(carrier: str) -> None:
    """Exclusive ones one after the other: the next is told when the last one's Unlock has come."""

    def main(comm: Any) -> None:
        win = window(comm)
        if comm.rank:
            fakempi.compute(comm.rank)
            win.Lock(0)
            win.Unlock(0)

    # Asked for at 1 (there at 8), at 2 (behind it at the in-port, there at 15), at 3 (there at 22).
    first = 1 + 2 * T_S  # told; its release comes to a port that is busy until 22
    released = 22 + T_S
    assert first == 15
    second = released + 2 * T_S  # told, and released
    third = second + 2 * T_S
    assert clocks(main, 4, carrier=carrier) == [0, released, second, third]


def test_shared_locks_do_not_wait_for_each_other() -> None:
    """And an exclusive one waits for both."""

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


def test_without_a_check_a_lock_is_free() -> None:
    """The program says that nobody else wants it."""

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


def test_lock_all_asks_where_something_goes() -> None:
    """And of those that it never reaches, nobody."""

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
    """A Put goes when the Post has come, and Wait ends when what was sent after the Put is there."""

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
    """So a message to the target waits for it, and so does the next message of the origin."""

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
        fakempi.Free(),
    ],
)
def test_other_models_agree_on_what_is_there_and_in_which_order(cost: Any) -> None:
    """Accumulates of one rank take effect in the order in which they were begun."""

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


def test_sync_lets_time_pass_for_who_looks_again_and_again() -> None:
    """A flag in one's own memory, set by another, is seen when it arrives."""

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


def test_the_same_on_both_carriers_and_every_time() -> None:
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

    runs = [fakempi.run(main, 5, carrier=carrier, trace=True) for carrier in ("greenlets", "threads", "greenlets")]
    assert len({str(one.returns) + str(one.clocks) for one in runs}) == 1
    assert all(one.trace == runs[0].trace for one in runs)
