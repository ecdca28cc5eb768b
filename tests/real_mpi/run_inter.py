"""Run under mpiexec: every allgather and allgatherv between two groups, against numpy and against mpi4py's own.

mpiexec -n 5 python tests/real_mpi/run_inter.py 2     (2 + 3 processes)
"""

from __future__ import annotations

import sys
import traceback
from typing import Any

import numpy as np
from mpi4py import MPI

from collectives import CATALOGUE, Case

KINDS = ("float64", "int16", "complex128")
GATHERING = ("allgather", "allgatherv")


def block(in_a: bool, rank: int, size: int, dtype: str) -> Any:
    """What a rank has to give."""
    return ((np.arange(size) * 7 + rank * 31 + (3 if in_a else 5)) % 100).astype(dtype)


def cases(operation: str, p: int, q: int) -> list[Case]:
    """Equal, empty and long ones; rising, falling, and with holes."""
    if operation == "allgather":
        sizes = ((3, 3), (0, 5), (7, 0), (1, 4096), (70000, 11))
        return [Case(p, a, q=q, m_b=b) for a, b in sizes]
    rising, holes = (lambda n: tuple(range(n))), (lambda n: tuple(40000 * (i % 2) for i in range(n)))
    same = (lambda n: (9,) * n), (lambda n: (0,) * n)
    return [
        Case(p, counts=a(p), q=q, counts_b=b(q))
        for a, b in ((rising, rising), (holes, rising), (same[0], same[0]), (same[0], same[1]), (holes, holes))
    ]


def main(p: int) -> int:
    """Try everything and count."""
    world: Any = MPI.COMM_WORLD
    in_a = world.Get_rank() < p
    local = world.Split(0 if in_a else 1, world.Get_rank())
    inter = local.Create_intercomm(0, world, p if in_a else 0)
    rank, passed = local.Get_rank(), 0
    for algorithm in [a for a in CATALOGUE if a.kind == "inter" and a.operation in GATHERING]:
        more = {"first": in_a} if "first" in algorithm.parameters else {}
        for number, case in enumerate(cases(algorithm.operation, p, world.Get_size() - p)):
            dtype = KINDS[number % len(KINDS)]
            own, other = case.groups if in_a else case.groups[::-1]
            mine = block(in_a, rank, own.layout.size(rank), dtype)
            sizes = [other.layout.size(r) for r in range(other.p)]
            expected = np.concatenate([block(not in_a, r, size, dtype) for r, size in enumerate(sizes)])
            got, native = np.zeros_like(expected), np.zeros_like(expected)
            counts = () if other.counts is None else (other.counts,)
            algorithm.run(inter, local, mine, got, *counts, **more)
            np.testing.assert_array_equal(got, expected, err_msg=f"{algorithm!r} in {case}")
            inter.Allgatherv(mine, (native, sizes))
            np.testing.assert_array_equal(got, native, err_msg=f"{algorithm!r} in {case}")
            passed += 1
    everywhere = world.allgather(passed)
    if world.Get_rank() == 0:
        print(f"{p} + {world.Get_size() - p}: {min(everywhere)} passed", flush=True)
    return 0


if __name__ == "__main__":
    try:
        status = main(int(sys.argv[1]))
    except BaseException:
        traceback.print_exc()
        MPI.COMM_WORLD.Abort(1)
    sys.exit(status)
