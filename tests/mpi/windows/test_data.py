"""The effect of one-sided operations on memory: bytes, values, and order."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.runs import run

NO_BUFFER: Any = None  # accepted where nothing is transferred, as by mpi4py, whose stubs do not mention it

OPS = {
    "SUM": MPI.SUM, "PROD": MPI.PROD, "MAX": MPI.MAX, "MIN": MPI.MIN, "LAND": MPI.LAND, "LOR": MPI.LOR, "LXOR": MPI.LXOR,
    "BAND": MPI.BAND, "BOR": MPI.BOR, "BXOR": MPI.BXOR, "REPLACE": MPI.REPLACE, "NO_OP": MPI.NO_OP,
}  # fmt: skip


def by_fence(win: Any, work: Callable[[], None], target: int) -> None:
    win.Fence()
    work()
    win.Fence()


def by_lock(win: Any, work: Callable[[], None], target: int) -> None:
    win.Lock(target)
    work()
    win.Unlock(target)


def by_lock_all(win: Any, work: Callable[[], None], target: int) -> None:
    win.Lock_all()
    work()
    win.Unlock_all()


def by_groups(win: Any, work: Callable[[], None], target: int) -> None:
    """Each rank posts to all ranks."""
    group = win.Get_group()
    win.Post(group)
    win.Start(group)
    work()
    win.Complete()
    win.Wait()


EPOCHS = [by_fence, by_lock, by_lock_all, by_groups]


@pytest.mark.parametrize("epoch", EPOCHS)
def test_a_ring_of_puts_and_gets(backend: Any, epoch: Callable[..., None]) -> None:
    """Each rank writes to its right neighbor and reads the data back."""

    def main(comm: Any) -> Any:
        right, memory, back = (comm.rank + 1) % comm.size, np.zeros(4), np.zeros(2)
        win = MPI.Win.Create(memory, 8, comm=comm)
        epoch(win, lambda: win.Put(np.array([1.0, 2.0]) * (comm.rank + 1), right, 1), right)
        epoch(win, lambda: win.Get(back, right, [1, 2, MPI.DOUBLE]), right)
        comm.Barrier()
        win.Free()
        return memory.tolist(), back.tolist()

    pairs = [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]
    assert run(main, 3, backend=backend) == [([0.0, *pairs[rank - 1], 0.0], pairs[rank]) for rank in range(3)]


@pytest.mark.parametrize("epoch", EPOCHS)
def test_accumulates_of_all_ranks_are_summed(epoch: Callable[..., None]) -> None:
    """All accumulate at one location, and each operation is atomic."""

    def main(comm: Any) -> Any:
        win = MPI.Win.Allocate(24 if comm.rank == 1 else 0, 8, comm=comm)
        epoch(win, lambda: win.Accumulate(np.arange(3) + comm.rank, 1), 1)
        comm.Barrier()
        return np.frombuffer(win.tomemory(), int).tolist()

    assert run(main, 4)[1] == [6, 10, 14]


@given(
    op=st.sampled_from(sorted(OPS)),
    kind=st.sampled_from("bBhHiIlLqQ"),
    values=st.lists(st.integers(0, 9), min_size=2, max_size=6),
)
def test_every_operation_on_every_kind_of_integer(op: str, kind: str, values: list[int]) -> None:
    """The result is that of `Op.Reduce_local`, and the old value is returned."""
    half = len(values) // 2
    old, new = np.array(values[:half], kind), np.array(values[half : 2 * half], kind)
    expected = {"REPLACE": new, "NO_OP": old}.get(op)
    if expected is None:
        expected = old.copy()
        OPS[op].Reduce_local(new, expected)

    def main(comm: Any) -> Any:
        memory, found = old.copy(), np.zeros_like(old)
        win = MPI.Win.Create(memory, memory.itemsize, comm=comm)
        win.Lock(0)
        win.Get_accumulate(new, found, 0, op=OPS[op])
        win.Unlock(0)
        win.Free()
        return memory.tolist(), found.tolist()

    assert run(main, 1) == [(expected.tolist(), old.tolist())]


@pytest.mark.parametrize(("op", "best"), [(MPI.MAXLOC, (5.0, 2)), (MPI.MINLOC, (1.0, 0))])
def test_pairs_of_a_value_and_its_location(op: Any, best: tuple[float, int]) -> None:
    """They have padding in memory, but not in messages."""

    def main(comm: Any) -> Any:
        pair = np.dtype([("value", float), ("index", "i4")], align=True)
        memory = np.array([(3.0, 7)], pair)
        win = MPI.Win.Create(memory, comm=comm)
        mine = np.array([([1.0, 4.0, 5.0][comm.rank], comm.rank)], pair)
        win.Fence()
        win.Accumulate([mine, 1, MPI.DOUBLE_INT], 0, op=op)
        win.Fence()
        return memory[0].item()

    assert run(main, 3)[0] == best


@st.composite
def layouts(draw: Any) -> tuple[int, int, int]:
    """Arguments of Create_vector: number of blocks, block length, and stride."""
    length = draw(st.integers(1, 3))
    return draw(st.integers(1, 4)), length, length + draw(st.integers(0, 3))


@given(here=layouts(), there=layouts(), call=st.sampled_from(["Put", "Get", "Accumulate"]), disp=st.integers(0, 3))
def test_derived_datatypes_on_both_sides(here: Any, there: Any, call: str, disp: int) -> None:
    """Equal numbers of elements on both sides, for any layout."""
    times = (here[0] * here[1], there[0] * there[1])

    def spots(layout: tuple[int, int, int], count: int) -> list[int]:
        blocks, length, stride = layout
        one = [block * stride + at for block in range(blocks) for at in range(length)]
        return [number * (one[-1] + 1) + spot for number in range(count) for spot in one]

    mine, theirs = spots(here, times[1]), spots(there, times[0])

    def main(comm: Any) -> Any:
        near, far = (MPI.INT.Create_vector(*layout).Commit() for layout in (here, there))
        memory, local = np.arange(100, 100 + disp + max(theirs) + 1, dtype="i"), np.arange(max(mine) + 1, dtype="i")
        win = MPI.Win.Create(memory, 4, comm=comm)
        win.Fence()
        if comm.rank == 0:
            getattr(win, call)([local, times[1], near], 1, [disp, times[0], far])
        win.Fence()
        win.Free()
        return local.tolist() if comm.rank == 0 else memory.tolist()

    local, memory = list(range(max(mine) + 1)), list(range(100, 100 + disp + max(theirs) + 1))
    for one, other in zip(mine, theirs, strict=True):
        if call == "Get":
            local[one] = memory[disp + other]
        else:
            memory[disp + other] = local[one] + (memory[disp + other] if call == "Accumulate" else 0)
    assert run(main, 2) == [local, memory]


def test_fetch_and_op_counts(backend: Any) -> None:
    """Every rank gets distinct numbers."""

    def main(comm: Any) -> Any:
        win = MPI.Win.Allocate(8 if comm.rank == 0 else 0, 8, comm=comm)
        one, got, mine = np.ones(1, int), np.zeros(1, int), []
        for _ in range(3):
            win.Lock(0, MPI.LOCK_SHARED)
            win.Fetch_and_op(one, got, 0)
            win.Unlock(0)
            mine.append(int(got[0]))
        comm.Barrier()
        return mine

    assert sorted(chain(*run(main, 4, backend=backend))) == list(range(12))


def test_one_compare_and_swap_succeeds() -> None:
    """The first rank finds 0, all others find the number of the first."""

    def main(comm: Any) -> Any:
        win = MPI.Win.Allocate(4 if comm.rank == 0 else 0, 4, comm=comm)
        mine, zero, found = (np.array([value], "i") for value in (comm.rank + 1, 0, -1))
        win.Lock_all()
        win.Compare_and_swap(mine, zero, found, 0)
        win.Unlock_all()
        return int(found[0])

    found = run(main, 5)
    (winner,) = [rank for rank, value in enumerate(found) if value == 0]
    assert [value for rank, value in enumerate(found) if rank != winner] == [winner + 1] * 4


def test_a_shared_window_is_contiguous_memory() -> None:
    """Each rank's part follows that of the previous rank, and all can load and store."""

    def main(comm: Any) -> Any:
        win = MPI.Win.Allocate_shared(8 * comm.rank, 8, comm=comm)
        part, unit = win.Shared_query(comm.size - 1)
        first, _ = win.Shared_query(MPI.PROC_NULL)
        np.frombuffer(win.tomemory(), int)[:] = comm.rank
        comm.Barrier()
        return np.frombuffer(part, int).tolist(), unit, np.frombuffer(first, int).tolist(), win.Shared_query(0)[0].nbytes

    assert run(main, 3) == [([2, 2], 8, [1], 0)] * 3


def test_memory_is_not_shared_between_nodes() -> None:
    """According to the placement of the cost model."""

    def main(comm: Any) -> None:
        MPI.Win.Allocate_shared(8, comm=comm)

    words = "Allocate_shared on rank 0: the communicator's ranks are on 2 nodes: only ranks of one node share memory."
    with pytest.raises(fakempi.RankError, match=words):
        run(main, 4, cost=fakempi.TwoLevel(2))


def test_a_dynamic_window_is_accessed_by_addresses() -> None:
    """In any attached memory."""

    def main(comm: Any) -> Any:
        win = MPI.Win.Create_dynamic(comm=comm)
        memory = np.arange(4.0)
        win.Attach(memory)
        address = comm.bcast(MPI.Get_address(memory), 1)
        got = np.zeros(1)
        win.Fence()
        if comm.rank == 0:
            win.Get(got, 1, MPI.Aint_add(address, 16))
        win.Fence()
        win.Detach(memory)
        win.Free()
        return float(got[0])

    assert run(main, 2) == [2.0, 0.0]


def test_phantoms_are_transferred_in_modeled_time() -> None:
    """No memory is copied: from a phantom to a window on a phantom, and back."""

    def main(comm: Any) -> float:
        win = MPI.Win.Create(fakempi.phantom(10**9), comm=comm)
        win.Fence()
        if comm.rank == 0:
            win.Put(fakempi.phantom(10**9), 1)
            win.Fence()
            win.Get(fakempi.phantom(10**9), 1)
            win.Fence()
            win.Accumulate(fakempi.phantom(10**9), 1)
            win.Fence()
            win.Get_accumulate(fakempi.phantom(10**9), fakempi.phantom(10**9), 1)
        else:
            win.Fence()
            win.Fence()
            win.Fence()
        win.Fence()
        win.Free()
        return MPI.Wtime()

    done = fakempi.run(main, 2, cost=fakempi.Hockney(t_s=0, t_w=1))
    assert done.returns == [5 * 10**9] * 2
    assert done.bytes == 5 * 10**9


def test_a_buffer_may_be_used_again_after_a_local_flush() -> None:
    """Although its data is still in transit."""

    def main(comm: Any) -> Any:
        memory, mine = np.zeros(2), np.ones(1)
        win = MPI.Win.Create(memory, 8, comm=comm)
        if comm.rank == 0:
            win.Lock(1)
            win.Put(mine, 1)
            win.Flush_local(1)
            mine[:] = 2
            request = win.Rput(mine, 1, 1)
            request.Wait()
            mine[:] = 3
            win.Unlock(1)
        comm.Barrier()
        win.Free()
        return memory.tolist()

    assert run(main, 2, cost=fakempi.LogGP(L=1, o=1, g=0, G=0))[1] == [1.0, 2.0]


def test_requests_complete_when_their_data_has_arrived() -> None:
    """For Rget and Rget_accumulate; for Raccumulate, when its buffer can be reused."""

    def main(comm: Any) -> Any:
        memory = np.array([1, 2])
        win = MPI.Win.Create(memory, 8, comm=comm)
        got, before = np.zeros(1, int), np.zeros(1, int)
        if comm.rank == 0:
            win.Lock(1)
            win.Raccumulate(np.array([10]), 1).Wait()
            requests = [win.Rget(got, 1, 1), win.Rget_accumulate(np.array([5]), before, 1)]
            nothing = win.Rput(NO_BUFFER, MPI.PROC_NULL)
            MPI.Request.Waitall([*requests, nothing])
            seen = [int(got[0]), int(before[0])]
            win.Unlock(1)
        comm.Barrier()
        return seen if comm.rank == 0 else memory.tolist()

    assert run(main, 2) == [[2, 11], [16, 2]]


def test_operations_on_proc_null_have_no_effect() -> None:
    """With any buffer, and outside epochs."""

    def main(comm: Any) -> float:
        win = MPI.Win.Create(None, comm=comm)
        win.Put(NO_BUFFER, MPI.PROC_NULL)
        win.Get(NO_BUFFER, MPI.PROC_NULL)
        win.Accumulate(NO_BUFFER, MPI.PROC_NULL)
        win.Get_accumulate(NO_BUFFER, NO_BUFFER, MPI.PROC_NULL)
        win.Fetch_and_op(NO_BUFFER, NO_BUFFER, MPI.PROC_NULL)
        win.Compare_and_swap(NO_BUFFER, NO_BUFFER, NO_BUFFER, MPI.PROC_NULL)
        win.Lock(MPI.PROC_NULL)
        win.Flush(MPI.PROC_NULL)
        win.Unlock(MPI.PROC_NULL)
        win.Free()
        return MPI.Wtime()

    assert run(main, 2, cost=fakempi.Hockney(1, 1)) == [0, 0]


def test_windows_of_a_singleton() -> None:
    """Outside a run."""
    memory, got = np.zeros(2), np.zeros(2)
    win = MPI.Win.Create(memory, 8)
    win.Fence()
    win.Put(np.array([1.0, 2.0]), 0)
    win.Fence()
    win.Get(got, 0)
    win.Fence()
    win.Lock(0)
    win.Accumulate(np.ones(2), 0)
    win.Unlock(0)
    win.Free()
    assert (memory.tolist(), got.tolist(), bool(win)) == ([2.0, 3.0], [1.0, 2.0], False)
