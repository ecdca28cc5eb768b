"""Run under mpiexec: every algorithm between two groups, compared with numpy and with mpi4py's collective.

mpiexec -n 5 python tests/real_mpi/run_inter.py 2+3 1+4 (2 and 3 processes, then 1 and 4)

Every case runs a second time with synchronous sends, so that an algorithm that relies on buffering hangs. RootRole.ROOT and
RootRole.PROC_NULL become MPI.ROOT and MPI.PROC_NULL for the native call.
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
from collectives.inter_patterns.groups import RootRole
from collectives.inter_patterns.multi_partite import allgatherv_multi_partite
from collectives.verification.cases import PAIRED, REDUCING, ROOTED
from collectives.verification.group_side import GroupSide
from collectives.verification.inter_calls import check, prepare
from collectives.verification.reduction_ops import ops_of
from tests.real_mpi.processes import finish, on_parts

OPS = ops_of(MPI)
ROOTS = {RootRole.ROOT: MPI.ROOT, RootRole.PROC_NULL: MPI.PROC_NULL}
TYPES = {2: MPI.SHORT, 8: MPI.DOUBLE, 16: MPI.C_DOUBLE_COMPLEX}
SIZES = ((3, 3), (0, 5), (7, 0), (1, 4096), (30000, 11))
LONG = 2000
"""Elements of long blocks of reductions, whose op is a function of Python, and of blocks of different sizes."""


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
    """Equal, empty and long blocks; increasing, decreasing, with holes; every root; commutative and noncommutative ops.
    """
    for number, case in enumerate(sized(operation, p, q)):
        # The noncommutative op shows the order of operands in float64.
        for commutative in (True, False) if operation in REDUCING else (True,):
            yield replace(case, root=number % p if operation in ROOTED else 0, commutative=commutative)


def sized(operation: str, p: int, q: int) -> Iterator[Case]:
    def rising(n: int) -> tuple[int, ...]:
        return tuple(range(n))

    def holes(n: int) -> tuple[int, ...]:
        return tuple(LONG * (i % 2) for i in range(n))

    def filled_with_9(n: int) -> tuple[int, ...]:
        return (9,) * n

    def zeros(n: int) -> tuple[int, ...]:
        return (0,) * n

    spreads = ((rising, rising), (holes, rising), (filled_with_9, filled_with_9), (filled_with_9, zeros), (holes, holes))
    if operation == "barrier":
        yield Case(p, q=q)
    elif operation == "reduce_scatter":
        for total in (0, 1, 50, LONG):
            ends = (total, *zeros(p - 1)), (*zeros(q - 1), total)
            yield Case(p, counts=ends[0], q=q, counts_b=ends[1], itemsize=8)
            yield Case(p, counts=(total * q,) * p, q=q, counts_b=(total * p,) * q, itemsize=2)
    elif operation == "reduce_scatter_block":
        for unit in (0, lcm(p, q), LONG // p // q * lcm(p, q)):
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
            if operation in REDUCING:
                m = min(m, LONG)
            if operation == "allreduce":
                m_b = m  # MPI requires equal totals in both groups
            yield Case(p, m * itemsize, q=q, m_b=m_b * itemsize, itemsize=itemsize)


def native(inter: Any, operation: str, case: Case, in_a: bool) -> Any:
    """The result of the same call by mpi4py's collective."""
    call = prepare(operation, GroupSide(case, in_a, inter.Get_rank()), OPS)
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
    """The consecutive blocks of one array, in the form of mpi4py's Alltoallw."""
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
    """An allgatherv among as many groups as possible, compared with numpy."""
    rank, ranks = world.Get_rank(), range(world.Get_size())
    for groups in range(1, world.Get_size() + 1):
        numbers, counts = [each % groups for each in ranks], [3 + 1000 * (each % 3) for each in ranks]
        blocks = [np.full(counts[each], each, np.int32) for each in ranks]
        others = [block for each, block in enumerate(blocks) if numbers[each] != numbers[rank]]
        expected = np.concatenate([*others, np.empty(0, np.int32)])
        recvbuf = np.full(expected.size, -1, np.int32)
        allgatherv_multi_partite(world, blocks[rank], recvbuf, counts, numbers)
        np.testing.assert_array_equal(recvbuf, expected)


def main(world: Any, p: int) -> int:
    """Run everything and count."""
    in_a, q = world.Get_rank() < p, world.Get_size() - p
    local = world.Split(0 if in_a else 1, world.Get_rank())
    inter = local.Create_intercomm(0, world, p if in_a else 0)
    several_groups(world)
    algorithms, passed = [a for a in CATALOGUE if a.kind == "inter"], 0
    for algorithm in algorithms:
        for case in cases(algorithm.operation, p, q):
            if "first" in algorithm.parameters:
                case = replace(case, parameters={"first": True})
            if algorithm.why_unsupported(case) is None:  # some do not keep rank order and need commutative ops
                attempt(algorithm, inter, local, case, in_a)
                passed += 1
    everywhere = world.allgather(passed)
    if world.Get_rank() == 0:
        print(f"{p} + {q}: {len(algorithms)} algorithms, {min(everywhere)} cases passed", flush=True)
    inter.Free()
    local.Free()
    return 0


if __name__ == "__main__":
    groups = [tuple(map(int, word.split("+"))) for word in sys.argv[1:]]
    finish(lambda: max([on_parts([p + q], lambda world, p=p: main(world, p)) for p, q in groups]))  # type: ignore[misc]
