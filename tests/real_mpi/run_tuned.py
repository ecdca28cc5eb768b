"""Collective calls of a real MPI that reads a file of rules: `mpiexec -n P python tests/real_mpi/run_tuned.py SIZE ...`.

Every call of SIZE bytes is compared with the definition of the operation; rank 0 prints, as JSON, the bits of floating-point
sums, which depend on the order of an algorithm's additions.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mpi4py import MPI

from tests.real_mpi.processes import finish


def check(comm: MPI.Intracomm, count: int) -> None:
    """Integer data on a communicator: results are exact."""
    p, rank = comm.Get_size(), comm.Get_rank()
    every = np.arange(p * count, dtype=np.int64).reshape(p, count)
    root = p - 1
    message = every[0].copy() if rank == root else np.zeros(count, np.int64)
    comm.Bcast(message, root)
    np.testing.assert_array_equal(message, every[0])
    total = np.zeros(count, np.int64)
    comm.Allreduce(every[rank], total)
    np.testing.assert_array_equal(total, every.sum(0))
    in_place = every[rank].copy()
    comm.Allreduce(MPI.IN_PLACE, in_place, MPI.MAX)
    np.testing.assert_array_equal(in_place, every.max(0))
    total[:] = 0
    comm.Reduce(every[rank], total, root=root)
    if rank == root:
        np.testing.assert_array_equal(total, every.sum(0))
    gathered = np.zeros((p, count), np.int64)
    comm.Allgather(every[rank], gathered)
    np.testing.assert_array_equal(gathered, every)
    block = np.zeros(count, np.int64)
    comm.Reduce_scatter_block(every.copy(), block)
    np.testing.assert_array_equal(block, every[rank] * p)
    comm.Reduce_scatter(every.copy(), block, [count] * p)
    np.testing.assert_array_equal(block, every[rank] * p)
    blocks = np.zeros((p, count), np.int64)
    comm.Alltoall(every + 1000 * rank, blocks)
    np.testing.assert_array_equal(blocks, every[rank] + 1000 * np.arange(p)[:, None])
    comm.Alltoall(MPI.IN_PLACE, blocks)
    comm.Scan(every[rank], total)
    np.testing.assert_array_equal(total, every[: rank + 1].sum(0))
    comm.Exscan(every[rank], total)
    if rank:
        np.testing.assert_array_equal(total, every[:rank].sum(0))
    comm.Barrier()


def matrix_product(a: Any, b: Any, _: Any) -> None:
    """A noncommutative op: products of 2 x 2 matrices."""
    left, right = (np.frombuffer(each, np.int64).reshape(-1, 2, 2) for each in (a, b))
    right[:] = left @ right


def others(comm: MPI.Intracomm, *, any_op: bool) -> None:
    """Calls that are not tuned: nonblocking, between groups, on neighbors; if the rules allow it, a noncommutative op."""
    p, rank = comm.Get_size(), comm.Get_rank()
    value = np.array([rank])
    comm.Iallreduce(MPI.IN_PLACE, value).Wait()
    assert value[0] == p * (p - 1) // 2
    comm.Ibarrier().Wait()
    assert comm.gather(rank) == (list(range(p)) if rank == 0 else None)
    assert comm.scatter(list(range(p)) if rank == 0 else None) == rank
    ring = comm.Create_cart([p], periods=[True])
    assert len(ring.neighbor_allgather(rank)) == 2
    if p > 1:
        half = MPI.Intracomm(comm.Split(rank % 2))
        inter = half.Create_intercomm(0, comm, 1 - rank % 2)
        assert sorted(inter.allgather(rank)) == [r for r in range(p) if r % 2 != rank % 2]
        inter.Free()
    if any_op:
        op = MPI.Op.Create(matrix_product, commute=False)
        matrix = MPI.INT64_T.Create_contiguous(4).Commit()
        mine = np.tile(np.array([[1, rank + 1], [0, 1 + rank % 2]]), (64, 1, 1))
        expected = np.eye(2, dtype=np.int64)
        for each in range(p):
            expected = expected @ np.array([[1, each + 1], [0, 1 + each % 2]])
        for reduction in (comm.Allreduce, comm.Reduce):
            product = np.zeros_like(mine)
            reduction([mine, 64, matrix], [product, 64, matrix], op)
            if rank == 0:
                np.testing.assert_array_equal(product, np.tile(expected, (64, 1, 1)))


def bits(comm: MPI.Intracomm) -> dict[str, str]:
    """Sums of 1,024 numbers that cancel."""
    mine = np.random.default_rng(comm.Get_rank()).standard_normal(1024) * 10.0 ** (comm.Get_rank() % 5)
    total, at_root = np.zeros_like(mine), np.zeros_like(mine)
    comm.Allreduce(mine, total)
    comm.Reduce(mine, at_root)
    return {"allreduce": total.tobytes().hex(), "reduce": at_root.tobytes().hex()}


def main() -> int:
    world = MPI.COMM_WORLD
    sizes = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    for size in sizes:
        for p in range(1, world.Get_size() + 1):
            part = MPI.Intracomm(world.Split(0 if world.Get_rank() < p else MPI.UNDEFINED))
            if part != MPI.COMM_NULL:
                check(part, size // 8)
                part.Free()
    others(world, any_op="any-op" in sys.argv)
    found = bits(world)
    if world.Get_rank() == 0:
        print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    finish(main)
