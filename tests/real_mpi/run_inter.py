"""Run under mpiexec: every algorithm between two groups, against numpy and against mpi4py's own collective.

mpiexec -n 5 python tests/real_mpi/run_inter.py 2     (2 + 3 processes)

Every case runs a second time with synchronous sends, so that an algorithm that relies on buffering hangs. Our Part.ROOT
and Part.PROC_NULL become MPI.ROOT and MPI.PROC_NULL for the native call.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mpi4py import MPI

from collectives import CATALOGUE, Algorithm, Case
from collectives.between.groups import Part
from collectives.between.multi_partite import allgatherv_multi_partite
from collectives.verification.cases import PAIRED, REDUCING, ROOTED
from collectives.verification.ops import ops_of
from collectives.verification.side import Side
from collectives.verification.two_groups import check, prepare
from tests.real_mpi.asking import finish

OPS = ops_of(MPI)
ROOTS = {Part.ROOT: MPI.ROOT, Part.PROC_NULL: MPI.PROC_NULL}
TYPES = {2: MPI.SHORT, 8: MPI.DOUBLE, 16: MPI.C_DOUBLE_COMPLEX}
SIZES = ((3, 3), (0, 5), (7, 0), (1, 4096), (30000, 11))


class Synchronous:
    """A communicator whose sends wait for their receives."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.Get_rank, self.Get_size = comm.Get_rank, comm.Get_size
        self.Send = self.Ssend = comm.Ssend
        self.Isend = self.Issend = comm.Issend
        self.Recv, self.Irecv = comm.Recv, comm.Irecv

    def Get_remote_size(self) -> int:
        return int(self.comm.Get_remote_size())

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int) -> None:
        request = self.comm.Issend(sendbuf, dest, sendtag)
        self.comm.Recv(recvbuf, source, recvtag)
        request.Wait()


def cases(operation: str, p: int, q: int) -> Iterator[Case]:
    """Equal, empty and long ones; rising, falling, and with holes; every root; ops in order and in any order."""
    for number, case in enumerate(sized(operation, p, q)):
        # The op that is not commutative shows the order of operands in float64.
        for commutative in (True, False) if operation in REDUCING else (True,):
            yield replace(case, root=number % p if operation in ROOTED else 0, commutative=commutative)


def sized(operation: str, p: int, q: int) -> Iterator[Case]:
    def rising(n: int) -> tuple[int, ...]:
        return tuple(range(n))

    def holes(n: int) -> tuple[int, ...]:
        return tuple(9000 * (i % 2) for i in range(n))

    def nines(n: int) -> tuple[int, ...]:
        return (9,) * n

    def zeros(n: int) -> tuple[int, ...]:
        return (0,) * n

    spreads = ((rising, rising), (holes, rising), (nines, nines), (nines, zeros), (holes, holes))
    if operation == "barrier":
        yield Case(p, q=q)
    elif operation == "reduce_scatter":
        for total in (0, 1, 50, 20000):
            ends = (total, *zeros(p - 1)), (*zeros(q - 1), total)
            yield Case(p, counts=ends[0], q=q, counts_b=ends[1], itemsize=8)
            yield Case(p, counts=(total * q,) * p, q=q, counts_b=(total * p,) * q, itemsize=2)
    elif operation == "reduce_scatter_block":
        for unit in (0, lcm(p, q), 1000 * lcm(p, q)):
            yield Case(p, unit // p * 8, q=q, m_b=unit // q * 8, itemsize=8)
    elif operation in PAIRED:
        for a, b in spreads:
            yield Case(p, q=q, traffic=(a(q),) * p, traffic_b=(b(p),) * q, itemsize=8)
    elif operation in ("gatherv", "scatterv"):
        for _, b in spreads:
            yield Case(p, q=q, counts_b=b(q), itemsize=2)
    elif operation == "allgatherv":
        for a, b in spreads:
            yield Case(p, counts=a(p), q=q, counts_b=b(q), itemsize=16)
    else:
        for number, (m, m_b) in enumerate(SIZES):
            itemsize = (8, 2, 16)[number % 3]
            if operation == "allreduce":
                m_b = m  # MPI wants both groups to have as much
            yield Case(p, m * itemsize, q=q, m_b=m_b * itemsize, itemsize=itemsize)


def native(inter: Any, operation: str, case: Case, in_a: bool) -> Any:
    """The same call by mpi4py's own collective; its result."""
    call = prepare(operation, Side(case, in_a, inter.Get_rank()), OPS)
    args, kwargs = list(call.args), dict(call.kwargs)
    if "root" in kwargs:
        kwargs["root"] = ROOTS.get(kwargs["root"], kwargs["root"])
    if operation in ("gatherv", "allgatherv"):
        sendbuf, recvbuf, counts = args
        args = [sendbuf, None if recvbuf is None else [recvbuf, list(counts)]]
    elif operation == "scatterv":
        sendbuf, recvbuf, counts = args
        args = [None if sendbuf is None else [sendbuf, list(counts)], recvbuf]
    elif operation == "alltoallv":
        args = [[args[0], args[2]], [args[1], args[3]]]
    elif operation == "alltoallw":
        args = [_as_message(blocks, case.itemsize) for blocks in args]
    getattr(inter, operation.capitalize())(*args, **kwargs)
    return call.result


def _as_message(blocks: list[Any], itemsize: int) -> list[Any]:
    """The blocks, which lie one after the other in one array, as mpi4py's Alltoallw wants them."""
    whole = blocks[0].base if blocks[0].base is not None else blocks[0]
    counts = [block.size for block in blocks]
    places = [int(place) * itemsize for place in np.cumsum([0, *counts[:-1]])]
    return [whole, counts, places, [TYPES[itemsize]] * len(blocks)]


def attempt(algorithm: Algorithm, inter: Any, local: Any, case: Case, in_a: bool) -> None:
    """One case, twice, and the native call."""
    got = check(algorithm, inter, local, case, in_a, OPS)
    check(algorithm, Synchronous(inter), Synchronous(local), case, in_a, OPS)
    own = native(inter, algorithm.operation, case, in_a)
    np.testing.assert_array_equal(got.result, own, err_msg=f"{algorithm!r} and mpi4py in {case}")


def several_groups(world: Any) -> None:
    """An allgatherv among as many groups as there may be, against numpy."""
    rank, ranks = world.Get_rank(), range(world.Get_size())
    for groups in range(1, world.Get_size() + 1):
        numbers, counts = [each % groups for each in ranks], [3 + 1000 * (each % 3) for each in ranks]
        blocks = [np.full(counts[each], each, np.int32) for each in ranks]
        others = [block for each, block in enumerate(blocks) if numbers[each] != numbers[rank]]
        expected = np.concatenate([*others, np.empty(0, np.int32)])
        recvbuf = np.full(expected.size, -1, np.int32)
        allgatherv_multi_partite(world, blocks[rank], recvbuf, counts, numbers)
        np.testing.assert_array_equal(recvbuf, expected)


def main(p: int) -> int:
    """Try everything and count."""
    world: Any = MPI.COMM_WORLD
    in_a, q = world.Get_rank() < p, world.Get_size() - p
    local = world.Split(0 if in_a else 1, world.Get_rank())
    inter = local.Create_intercomm(0, world, p if in_a else 0)
    several_groups(world)
    algorithms, passed = [a for a in CATALOGUE if a.kind == "inter"], 0
    for algorithm in algorithms:
        for case in cases(algorithm.operation, p, q):
            if "first" in algorithm.parameters:
                case = replace(case, parameters={"first": True})
            if algorithm.fits(case) is None:  # some keep to no order and want ops that commute
                attempt(algorithm, inter, local, case, in_a)
                passed += 1
    everywhere = world.allgather(passed)
    if world.Get_rank() == 0:
        print(f"{p} + {q}: {len(algorithms)} algorithms, {min(everywhere)} cases passed", flush=True)
    return 0


if __name__ == "__main__":
    finish(lambda: main(int(sys.argv[1])))
