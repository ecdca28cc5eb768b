"""Pools of processes on every rank: functions and classes are those of the rank that has the pool."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.packages import needs
from tests.isolation.harness import play

SCRIPT = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import Pool
import shapes

class Point:
    def __init__(self, x): self.x = x
    class Inner: pass

rank = comm.rank
def square(point): return Point(point.x * point.x + rank), shapes.Shape(rank), Point.Inner()

points = [Point(i) for i in range(4)]
make = {"Pool": lambda: Pool(2), "once": lambda: Pool(1, maxtasksperchild=1), "Executor": lambda: ProcessPoolExecutor(2)}
import sys
with make[sys.argv[1]]() as pool:
    later = [pool.submit(square, point) for point in points] if sys.argv[1] == "Executor" else (
        [pool.apply_async(square, (point,)) for point in points])
    comm.Barrier()
    found = [one.result() if sys.argv[1] == "Executor" else one.get() for one in later]
for point, (result, shape, inner) in zip(points, found):
    assert type(result) is Point
    assert result.x == point.x ** 2 + rank
    assert type(inner) is Point.Inner
    assert type(shape) is shapes.Shape and shape.rank == rank
"""


WITH_DILL = """
import dill, multiprocess, sys

class Point:
    def __init__(self, x): self.x = x

rank = comm.rank
def square(x): return Point(x * x + rank)

lock = open(__file__)  # a variable that cannot be pickled
if __name__ == "__main__":
    with multiprocess.get_context(sys.argv[1]).Pool(1) as pool:
        comm.Barrier()
        assert [one.x for one in pool.map(square, [1, 2])] == [1 + rank, 4 + rank]
        assert pool.map(lambda x: x + 1, [1, 2]) == [2, 3]
    assert dill.loads(dill.dumps(square))(1).x == 1 + rank
    comm.Barrier()
    lock.close()
"""

COMMUNICATORS = """
from multiprocessing import get_context

def of(comm): return comm.rank, comm.size

with get_context("fork").Pool(1) as pool:
    assert pool.map(of, [comm, MPI.COMM_SELF]) == [(comm.rank, comm.size), (0, 1)]
"""

SPAWNED = """
from multiprocessing import get_context

class Point: pass

if __name__ == "__main__":
    with get_context("spawn").Pool(1) as pool:
        assert type(pool.apply(Point)) is Point
"""


@pytest.mark.slow
def test_multiprocess_finds_the_functions_of_the_rank(tmp_path: Path, backend: Any) -> None:
    """dill, with which it pickles, stores `__main__` when it is imported: that of the rank that imports it first."""
    needs("multiprocess")
    play(tmp_path, WITH_DILL, 2, backend, "fork")


def test_communicators_are_sent_to_workers(tmp_path: Path, backend: Any) -> None:
    """The thread that pickles them belongs to no rank."""
    play(tmp_path, COMMUNICATORS, 2, backend)


@pytest.mark.slow
def test_results_of_spawned_workers_have_the_classes_of_the_rank(tmp_path: Path, backend: Any) -> None:
    """Such a worker calls the script `__mp_main__`."""
    play(tmp_path, "import sys; sys.argv[0] = __file__\n" + SPAWNED, 2, backend)


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", ["Pool", "once", "Executor"])
@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="the script is not importable by a new process")
def test_functions_and_classes_of_pools_belong_to_the_rank(tmp_path: Path, backend: Any, kind: str) -> None:
    """Sent to workers and back, from the script and from a module next to it, while other ranks run."""
    siblings = {"shapes.py": "class Shape:\n    def __init__(self, rank): self.rank = rank\n"}
    play(tmp_path, SCRIPT, 3, backend, kind, siblings=siblings)
