"""Steps of random programs: persistent and nonblocking calls of all operations, and calls between two groups."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import fakempi
from fakempi import MPI

OPERATIONS = (
    "Barrier", "Bcast", "Gather", "Scatter", "Allgather", "Alltoall", "Reduce", "Allreduce", "Reduce_scatter_block",
    "Reduce_scatter", "Allgatherv", "Alltoallv", "Gatherv", "Scatterv",
)  # fmt: skip
BETWEEN = (*OPERATIONS, "Alltoallw", "Gatherv", "Scatterv", "Reduce_scatter", "Allgatherv")
OPS = (MPI.SUM, MPI.MAX, MPI.PROD)


def arguments(comm: Any, operation: str, n: int, number: int) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the arguments of a call within a group, and the arrays that it writes."""
    r, p = comm.rank, comm.size
    root, counts = number % p, [(number // (i + 1)) % 4 for i in range(p)]
    mine, out, big = np.arange(n) / (r + 3), np.zeros(n), np.zeros(n * p)
    full, total, op = np.arange(n * p) / (r + 2), np.zeros(sum(counts)), OPS[number // 11 % 3]
    own, part = np.full(counts[r], r / 3), np.zeros(counts[r])
    at_root = r == root
    pairs = [(r + i + number) % 3 for i in range(p)]
    to_each, from_each = np.arange(sum(pairs)) / (r + 1), np.zeros(sum(pairs))
    return {
        "Barrier": ((), []),
        "Bcast": ((mine, root), [mine]),
        "Gather": ((mine, big if at_root else None, root), [big]),
        "Scatter": ((full if at_root else None, out, root), [out]),
        "Allgather": ((mine, big), [big]),
        "Alltoall": ((full, big), [big]),
        "Reduce": ((mine, out, op, root), [out]),
        "Allreduce": ((mine, out, op), [out]),
        "Reduce_scatter_block": ((full, out, op), [out]),
        "Reduce_scatter": ((np.arange(sum(counts)) / (r + 1), part, counts, op), [part]),
        "Allgatherv": ((own, [total, counts]), [total]),
        "Alltoallv": (([to_each, pairs], [from_each, pairs]), [from_each]),
        "Gatherv": ((own, [total, counts] if at_root else None, root), [total]),
        "Scatterv": (([np.arange(float(sum(counts))), counts] if at_root else None, part, root), [part]),
    }[operation]


def persistent(comm: Any, n: int, number: int) -> Any:
    """A persistent call, started several times: the rank waits at once, or after some time, or tests; operands change."""
    operation = OPERATIONS[number // 13 % len(OPERATIONS)]
    given, written = arguments(comm, operation, n, number)
    request = getattr(comm, f"{operation}_init")(*given)
    found = []
    for i in range(1 + number // 3 % 4):
        fakempi.compute(3e-7 * (number // 7 % 2) * ((comm.rank * i + number) % 3))
        request.Start()
        if number // 17 % 4 == 1:
            fakempi.compute(5e-7 * (comm.rank % 3))
        for _ in range(100 if number // 17 % 4 == 2 else 0):  # bounded, because another rank may have failed
            if request.Test():
                break
            fakempi.compute(3e-7)
        request.Wait()
        found.append(([array.tobytes() for array in written], MPI.Wtime()))
        if given and type(given[0]) is np.ndarray:
            given[0][...] = given[0] * 1.5 + i
    request.Free()
    return found


def two_persistent(comm: Any, n: int, number: int) -> Any:
    """Two persistent calls at a time, started and completed in an order that depends on the rank, and a blocking one."""
    both = [OPERATIONS[number // k % len(OPERATIONS)] for k in (13, 191)]
    calls = [arguments(comm, operation, n, number + i) for i, operation in enumerate(both)]
    requests = [getattr(comm, f"{each}_init")(*given) for each, (given, _) in zip(both, calls, strict=True)]
    for i in range(2):
        if number // 5 % 2:
            MPI.Prequest.Startall(requests)
        else:
            for request in requests[:: 1 if (number + comm.rank) % 2 else -1]:
                request.Start()
        if number // 19 % 3 == 0:
            comm.Allreduce(np.full(n, 1 / (comm.rank + i + 1)), np.zeros(n))
        for request in requests[:: 1 if (number // 2 + comm.rank) % 2 else -1]:
            request.Wait()
    for request in requests:
        request.Free()
    return [array.tobytes() for _, written in calls for array in written], MPI.Wtime()


def nonblocking(comm: Any, n: int, number: int) -> Any:
    """A nonblocking call of any operation, for which the rank waits at once, twice."""
    operation = OPERATIONS[number // 13 % len(OPERATIONS)]
    found = []
    for i in range(2):
        given, written = arguments(comm, operation, n, number + i)
        getattr(comm, f"I{operation.lower()}")(*given).Wait()
        found.append(([array.tobytes() for array in written], MPI.Wtime()))
    return found


def between_arguments(inter: Any, side: int, operation: str, n: int, number: int) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the arguments of a call between two groups, and the arrays that it writes."""
    r, p, q = inter.rank, inter.size, inter.remote_size
    leads = number // 3 % 2 == side  # whether the root is in this group
    rank = number // 23 % (p if leads else q)
    at_root, is_leaf = leads and r == rank, not leads
    root = rank if is_leaf else MPI.ROOT if at_root else MPI.PROC_NULL
    mine, theirs = (n, number % 4) if side == 0 else (number % 4, n)
    x, op = np.arange(mine) / (r + 3 + side), OPS[number // 11 % 3]
    operand, result = np.arange(n) / (r + 2 + side), np.zeros(n)
    counts = [[(number // (i + 1)) % 4 for i in range(size)] for size in (p, q)]
    pairs = [(r + i + number) % 3 for i in range(q)]
    n_all = number // 5 % 20  # elements of a reduce_scatter: the blocks of a group are cut where its ranks differ
    cuts = [0, *sorted(number // (7 * i + 2) % (n_all + 1) for i in range(p - 1)), n_all]
    shares = [end - start for start, end in pairwise(cuts)]
    blocks = pairs, [8 * sum(pairs[:i]) for i in range(q)], [MPI.DOUBLE] * q
    into, part, total = np.zeros(theirs * q), np.zeros(counts[0][r]), np.zeros(sum(counts[1]))
    block, whole, from_each = np.zeros(n * q), np.arange(n * q) / (r + 2), np.zeros(sum(pairs))
    return {
        "Barrier": ((), []),
        "Bcast": ((operand, root), [operand]),
        "Gather": ((operand, block if at_root else None, root), [block]),
        "Scatter": ((whole if at_root else None, result, root), [result]),
        "Allgather": ((x, into), [into]),
        "Alltoall": ((np.resize(x, mine * q) if mine else np.zeros(0), into), [into]),
        "Reduce": ((operand, result if at_root else None, op, root), [result]),
        "Allreduce": ((operand, result, op), [result]),
        "Reduce_scatter_block": ((np.arange(n * p * q) / (r + 2), block, op), [block]),
        "Allgatherv": ((np.full(counts[0][r], r / 3), [total, counts[1]]), [total]),
        "Alltoallv": (([np.arange(sum(pairs)) / (r + 1), pairs], [from_each, pairs]), [from_each]),
        "Alltoallw": (([np.arange(sum(pairs)) / (r + 1), *blocks], [from_each, *blocks]), [from_each]),
        "Reduce_scatter": ((np.arange(n_all) / (r + 2 + side), share := np.zeros(shares[r]), shares, op), [share]),
        "Gatherv": ((np.full(counts[0][r], r / 3), [total, counts[1]] if at_root else None, root), [total]),
        "Scatterv": (([np.arange(float(len(total))), counts[1]] if at_root else None, part, root), [part]),
    }[operation]


def between_groups(comm: Any, n: int, number: int) -> Any:
    """Calls on an intercommunicator, of any sizes and operations: blocking, nonblocking or persistent."""
    if comm.size < 2:
        return None
    cut = 1 + number // 29 % (comm.size - 1)
    side = int(comm.rank >= cut)
    inter = comm.Split(side, comm.rank).Create_intercomm(0, comm, 0 if side else cut)
    found = []
    for i in range(1 + number // 7 % 3):
        operation = BETWEEN[(number // 13 + i) % len(BETWEEN)]
        given, written = between_arguments(inter, side, operation, n, number + i)
        fakempi.compute(4e-7 * (number // 31 % 2) * ((comm.rank * (i + 1) + number) % 3))
        if number // 37 % 4 == 0:
            getattr(inter, f"I{operation.lower()}")(*given).Wait()
        elif number // 37 % 4 == 1:
            request = getattr(inter, f"{operation}_init")(*given)
            for _ in range(2):
                request.Start()
                request.Wait()
            request.Free()
        else:
            getattr(inter, operation)(*given)
        found.append(([array.tobytes() for array in written], MPI.Wtime()))
        if given and type(given[0]) is np.ndarray:
            given[0][...] = -1.0  # the call is over, and others may not have left it
    return found


def between_two(comm: Any, n: int, number: int) -> Any:
    """Calls on two intercommunicators and on their groups, while ranks exchange messages; NaNs and zeros of both signs."""
    if comm.size < 4:
        return None
    side = comm.rank % 2
    local = comm.Split(side, comm.rank)
    inter, other = (local.Create_intercomm(0, comm, 1 - side, tag) for tag in (1, 2))
    values = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.0])
    mine, outs = values[(np.arange(n) * 3 + comm.rank * (number % 5 + 1)) % 7], [np.zeros(n) for _ in range(4)]
    op = (MPI.MAX, MPI.MIN, MPI.SUM)[number // 7 % 3]
    requests = [comm.Irecv(outs[3], (comm.rank - 1) % comm.size, 5), comm.Isend(mine, (comm.rank + 1) % comm.size, 5)]
    fakempi.compute(2e-7 * (number // 3 % 2) * (comm.rank % 3))
    inter.Allreduce(mine, outs[0], op)
    local.Allreduce(mine, outs[1], op)
    for each in (inter, other)[:: 1 if number % 2 else -1]:
        each.Barrier()
    root = number % local.size if side else MPI.ROOT if local.rank == number % local.size else MPI.PROC_NULL
    if inter.size == inter.remote_size:
        other.Reduce(mine, outs[2] if root == MPI.ROOT else None, op, root)
        other.bcast("x" * n if root == MPI.ROOT else None, root)
    MPI.Request.Waitall(requests)
    return [out.tobytes() for out in outs], inter.allgather(comm.rank), MPI.Wtime()


def dying_between(comm: Any, n: int, number: int) -> Any:
    """A rank dies before a call between two groups; the others catch the error."""
    if comm.size < 4:
        return None
    side = comm.rank % 2
    inter = comm.Split(side, comm.rank).Create_intercomm(0, comm, 1 - side)
    try:
        if comm.rank == number % comm.size:
            fakempi.compute(1e-6 * (number // 5 % 3))
            fakempi.die()
        inter.Barrier()
        inter.Allgather(np.ones(n), np.zeros(n * inter.remote_size))
    except MPI.Exception as error:
        return str(error), MPI.Wtime()
    return MPI.Wtime()


Started = Callable[[Any, int, int], Any]
STARTED: dict[str, Started] = {
    f"{each.__name__} {i}": each
    for i in range(3)
    for each in (persistent, two_persistent, nonblocking, between_groups, between_two)
} | {"between_groups 3": between_groups, "dying_between": dying_between}
"""A step is chosen as often as it is listed."""
