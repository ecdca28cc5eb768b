"""Steps of random programs that are less common: overlapping calls, unusual operands, and ranks that fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import fakempi
from fakempi import MPI


def overlapping(comm: Any, n: int, number: int) -> Any:
    """Three nonblocking calls at a time, completed in an order that depends on the rank."""
    out, big = np.zeros(n), np.zeros(n * comm.size)
    mine = np.arange(n) / (comm.rank + 3)
    requests = [
        comm.Iallgather(mine, big), comm.Iallreduce(mine, out), comm.Ibarrier(),
    ]  # fmt: skip
    fakempi.compute(1e-6 * (number % 4))
    for request in requests[:: 1 if (number + comm.rank) % 2 else -1]:
        request.Wait()
    return out.tolist(), big.tolist()


def tested(comm: Any, n: int, number: int) -> Any:
    """A nonblocking call that the rank tests until it is complete."""
    request = comm.Ibcast(data := np.full(n, float(comm.rank)), number % comm.size)
    tests = 0
    while not request.Test():
        fakempi.compute(3e-7)
        tests += 1
    return tests, data.tolist()


def persistent(comm: Any, n: int, number: int) -> Any:
    """A persistent call, started twice."""
    request = comm.Allreduce_init(mine := np.full(n, 1 / (comm.rank + 1)), out := np.zeros(n))
    for _ in range(2):
        request.Start()
        request.Wait()
        mine += out
    request.Free()
    return out.tolist()


def between_groups(comm: Any, n: int, number: int) -> Any:
    """Calls on an intercommunicator of the two halves."""
    if comm.size < 2:
        return None
    half, side = comm.size // 2, int(comm.rank >= comm.size // 2)
    inter = comm.Split(side, comm.rank).Create_intercomm(0, comm, 0 if side else half)
    out = np.zeros(n)
    inter.Allreduce(np.full(n, 1 / (comm.rank + 1)), out)
    inter.Barrier()
    return out.tobytes()


def extremes(comm: Any, n: int, number: int) -> Any:
    """Operands with NaNs, infinities and zeros of both signs."""
    values = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.0])
    mine = values[(np.arange(n) * 3 + comm.rank * (number % 5 + 1)) % (7 if number % 2 else 2)]
    op = (MPI.MAX, MPI.MIN, MPI.SUM, MPI.PROD)[number // 7 % 4]
    outs = [np.zeros(n) for _ in range(3)]
    comm.Allreduce(mine, outs[0], op)
    comm.Reduce(mine, outs[1], op, number % comm.size)
    comm.Scan(mine, outs[2], op)
    return [out.tobytes() for out in outs]


def integers(comm: Any, n: int, number: int) -> Any:
    """Logical and bitwise operations, and integers that overflow."""
    mine, out = (np.arange(n) * (comm.rank + number % 100)).astype(np.int8), np.zeros(n, np.int8)
    op = (MPI.LAND, MPI.BXOR, MPI.SUM, MPI.LOR, MPI.PROD, MPI.MAX)[number % 6]
    comm.Allreduce(mine, out, op)
    comm.Exscan(mine, mine.copy(), op)
    return out.tolist()


def user_defined(comm: Any, n: int, number: int) -> Any:
    """A user-defined operation, which is not commutative."""

    def last(one: Any, two: Any, datatype: Any) -> None:
        np.frombuffer(two)[...] = np.frombuffer(two) * 2 + np.frombuffer(one)

    op = MPI.Op.Create(last, commute=bool(number % 2))
    comm.Allreduce(np.full(n, float(comm.rank)), out := np.zeros(n), op)
    op.Free()
    return out.tolist()


def located(comm: Any, n: int, number: int) -> Any:
    """Pairs of a value and its rank."""
    dtype = np.dtype([("value", "f8"), ("rank", "i4")], align=True)
    mine = np.array([((comm.rank * number + i) % 3, comm.rank) for i in range(n)], dtype)
    comm.Allreduce([mine, n, MPI.DOUBLE_INT], [out := np.zeros(n, dtype), n, MPI.DOUBLE_INT], MPI.MAXLOC)
    return out.tolist()


def in_place(comm: Any, n: int, number: int) -> Any:
    """Calls in place: at the root, and on all ranks."""
    p, root, r = comm.size, number % comm.size, comm.rank
    block, whole = np.full(n, r / 3), np.arange(float(n * p)) * (r + 1)
    if r == root:
        comm.Gather(MPI.IN_PLACE, whole, root)
        comm.Reduce(MPI.IN_PLACE, block, MPI.SUM, root)
        comm.Scatter(whole, MPI.IN_PLACE, root)
    else:
        comm.Gather(block, None, root)
        comm.Reduce(block, None, MPI.SUM, root)
        comm.Scatter(None, block, root)
    comm.Allgather(MPI.IN_PLACE, whole)
    comm.Alltoall(MPI.IN_PLACE, whole)
    comm.Scan(MPI.IN_PLACE, block)
    comm.Reduce_scatter_block(MPI.IN_PLACE, whole)
    return block.tolist(), whole.tolist()


def datatypes(comm: Any, n: int, number: int) -> Any:
    """A derived datatype, and phantoms."""
    column = MPI.DOUBLE.Create_vector(n, 1, 2).Commit()
    comm.Bcast([data := np.arange(2.0 * n + 1) * comm.rank, 1, column], number % comm.size)
    column.Free()
    comm.Allreduce(fakempi.phantom(8 * n), fakempi.phantom(8 * n))
    comm.Gather(fakempi.phantom(n), fakempi.phantom(n * comm.size), number % comm.size)
    return data.tolist()


def objects(comm: Any, n: int, number: int) -> Any:
    """Objects of different sizes."""
    p, root, r = comm.size, number % comm.size, comm.rank
    found = comm.scatter(["y" * (i * n) for i in range(p)] if r == root else None, root), comm.alltoall([r * "z"] * p)
    return *found, comm.reduce([r], MPI.SUM, root), comm.scan("a" * r), comm.exscan(r), comm.allgather(None)


def two_at_once(comm: Any, n: int, number: int) -> Any:
    """Two groups make different calls at the same time, and one rank of each sends to the other."""
    part = comm.Split(comm.rank % 2, comm.rank)
    request = comm.Isend(np.ones(n), comm.rank ^ 1, 9) if comm.rank ^ 1 < comm.size else None
    fakempi.compute(1e-7 * (comm.rank % 3))
    out = np.zeros(n)
    if comm.rank % 2:
        part.Allreduce(np.full(n, 0.1 * comm.rank), out)
    else:
        part.Bcast(out, 0)
        part.Barrier()
    if request is not None:
        comm.Recv(out[:0] if not n else np.zeros(n), comm.rank ^ 1, 9)
        request.Wait()
    part.Free()
    return out.tolist(), MPI.Wtime()


def repeated(comm: Any, n: int, number: int) -> Any:
    """The same lines several times, with ranks that become late."""
    found = []
    whole, out = np.zeros(n * comm.size), np.zeros(n)
    for i in range(4):
        fakempi.compute(4e-7 * ((comm.rank * i + number) % 3))
        comm.Allreduce(np.full(n, i / (comm.rank + 1)), out)
        comm.Gather(out, whole if comm.rank == i % comm.size else None, i % comm.size)
        comm.Bcast(out, number % comm.size)
        comm.Allgatherv(out, [whole, [n] * comm.size])
        found.append((out.tolist(), MPI.Wtime()))
    return found, whole.tolist()


def crossed(comm: Any, n: int, number: int) -> Any:
    """Broadcasts on two communicators, in an order that depends on the rank; this is erroneous, and may deadlock."""
    both = comm.Dup(), comm.Dup()
    data = np.full(n, float(comm.rank))
    for each in both[:: -1 if comm.rank == number % comm.size else 1]:
        fakempi.compute(2e-7 * (number // 3 % 2))
        each.Bcast(data, number // 5 % comm.size)
    return data.tolist(), MPI.Wtime()


def wildcard(comm: Any, n: int, number: int) -> Any:
    """Rank 0 receives from any rank while the others call."""
    order = []
    if comm.rank == 0:
        for _ in range(comm.size - 1):
            status = MPI.Status()
            comm.Recv(np.zeros(n), MPI.ANY_SOURCE, 8, status)
            order.append((status.source, MPI.Wtime()))
        comm.Barrier()
    else:
        fakempi.compute(3e-7 * (comm.rank * number % 4))
        request = comm.Isend(np.zeros(n), 0, 8)
        comm.Barrier()
        request.Wait()
    return order


def absent(comm: Any, n: int, number: int) -> None:
    """One rank does not call."""
    if comm.rank != number % comm.size:
        comm.Reduce(np.ones(n), np.zeros(n), MPI.SUM, number // 7 % comm.size)


def raising(comm: Any, n: int, number: int) -> None:
    """One rank raises an error while others may wait."""
    if comm.rank == number % comm.size:
        fakempi.compute(1e-6 * (number // 5 % 3))
        raise ValueError("an error of the program")
    comm.Allreduce(np.ones(n), np.zeros(n))


def dying(comm: Any, n: int, number: int) -> Any:
    """One rank dies; the others continue without it."""
    found = []
    try:
        if comm.rank == number % comm.size:
            fakempi.compute(1e-6 * (number // 5 % 3))
            fakempi.die()
        comm.Barrier()
        comm.Bcast(np.ones(n), number // 3 % comm.size)
    except MPI.Exception as error:
        found.append(str(error))
    smaller = comm.Shrink()
    smaller.Allreduce(np.full(n, 1.5), out := np.zeros(n))
    return found, out.tolist(), MPI.Wtime()


def disagreeing(comm: Any, n: int, number: int) -> None:
    """One rank passes another size or another root."""
    odd = comm.rank == number % comm.size
    if number // 5 % 2:
        comm.Allgather(np.ones(n + odd), np.zeros((n + odd) * comm.size))
    else:
        comm.Bcast(np.ones(n), int(odd))


Rare = Callable[[Any, int, int], Any]
RARE: dict[str, Rare] = {
    each.__name__: each
    for each in (
        overlapping, tested, persistent, between_groups, extremes, integers, user_defined, located, in_place, datatypes,
        objects, two_at_once, repeated, wildcard, crossed,
    )
}  # fmt: skip
FAILING: dict[str, Rare] = {each.__name__: each for each in (absent, raising, dying, disagreeing)}
