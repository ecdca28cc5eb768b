"""Calls on several communicators at once: their outcomes are computed in arrays, and equal those of emulated calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi.extensions.fused import rendezvous

COST = "hockney:t_s=1e-6,t_w=3e-9"


@pytest.fixture
def in_arrays(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of ranks of the calls whose ends were booked from arrays, in order."""
    booked: list[int] = []
    original = rendezvous.FusedService._book_ends

    def book_ends(self: Any, calls: list[Any]) -> None:
        booked.extend(call.program.p for call in calls)
        original(self, calls)

    monkeypatch.setattr(rendezvous.FusedService, "_book_ends", book_ends)
    return booked


def both(main: Callable[..., Any], p: int, cost: str = COST) -> list[tuple[Any, ...]]:
    """Results, clocks, messages and the order of ranks of a fused and of an emulated run."""
    found = []
    for fused in ("auto", "never"):
        order: list[Any] = []
        run = fakempi.run(main, p, order, cost=cost, fused=fused)
        found.append((run.returns, run.clocks, run.sent, run.received, order))
    return found


def test_rows_and_columns_of_a_grid(in_arrays: list[int]) -> None:
    """The ranks of a 4 x 8 grid reduce along rows, then gather along columns, several times."""

    def main(comm: Any, order: list[Any]) -> Any:
        row, column = comm.Split(comm.rank // 8), comm.Split(comm.rank % 8)
        total, parts = np.zeros(2), np.zeros(2 * column.size)
        for _ in range(3):
            row.Allreduce(np.full(2, comm.rank / 3), total)
            order.append(comm.rank)
            column.Allgather(total, parts)
            column.Barrier()
        return parts.tolist(), fakempi.MPI.Wtime()

    fused, emulated = both(main, 32)
    assert fused == emulated
    assert in_arrays == ([8] * 4 + [4] * 8 * 2) * 3


def test_groups_of_unequal_sizes_and_other_calls(in_arrays: list[int]) -> None:
    """Groups of 8 and 4 ranks: the smaller one leaves while messages of the larger one have not started."""

    def main(comm: Any, order: list[Any]) -> Any:
        group, total = comm.Split(comm.rank < 8), np.zeros(1)
        for _ in range(12):
            group.Allreduce(np.ones(1), total)
            order.append(comm.rank)
        comm.Barrier()
        return total[0], fakempi.MPI.Wtime()

    fused, emulated = both(main, 12)
    assert fused == emulated
    assert set(in_arrays) <= {12}


def test_a_rank_that_computes_for_longer_does_not_run_before_ranks_that_leave_earlier() -> None:
    """Its group calls after the other group has left; a list that all ranks share shows the order in which they run."""

    def main(comm: Any, order: list[Any]) -> None:
        half = comm.Split(comm.rank % 2)
        fakempi.compute(2e-5 if comm.rank == 4 else 1e-6 * (comm.rank % 3))
        order.append(comm.rank)
        half.Barrier()
        order.append(comm.rank)

    fused, emulated = both(main, 8)
    assert fused == emulated


def test_a_message_between_groups_that_wait() -> None:
    """One rank sends to a rank of the other group instead of calling: all that wait go back to the first call."""

    def main(comm: Any, order: list[Any]) -> Any:
        half, total = comm.Split(comm.rank % 2), np.zeros(3)
        if comm.rank == 7:
            comm.send("late", 2)
        half.Allreduce(np.full(3, comm.rank / 7), total)
        order.append(comm.rank)
        return total.tolist(), comm.recv(source=7) if comm.rank == 2 else None

    fused, emulated = both(main, 8)
    assert fused == emulated


def test_ranks_of_overlapping_communicators_wait_for_each_other() -> None:
    """Ranks 0-4 and 4-8 share rank 4, which calls on the first communicator only, then on the second."""

    def main(comm: Any, order: list[Any]) -> Any:
        world = comm.Get_group()
        first, second = (comm.Create(world.Incl(ranks)) for ranks in ([0, 1, 2, 3, 4], [4, 5, 6, 7, 8]))
        for each in (first, second):
            if each != fakempi.MPI.COMM_NULL:
                each.Barrier()
                order.append(comm.rank)
        return fakempi.MPI.Wtime()

    fused, emulated = both(main, 9)
    assert fused == emulated
