"""Pools of processes on every rank: functions and classes are those of the rank that has the pool."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", ["Pool", "once", "Executor"])
@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="the script is not importable by a new process")
def test_functions_and_classes_of_pools_belong_to_the_rank(tmp_path: Path, backend: Any, kind: str) -> None:
    """Sent to workers and back, from the script and from a module next to it, while other ranks run."""
    siblings = {"shapes.py": "class Shape:\n    def __init__(self, rank): self.rank = rank\n"}
    play(tmp_path, SCRIPT, 3, backend, kind, siblings=siblings)
