"""The cost per message of a ring of Sendrecv as a script, relative to the same ring as a function, in the same run.

    python benchmarks/scripts.py [ranks [modules]]

The difference is the cost of a private `__main__`, streams, arguments and modules for every rank. `modules` is the number of
private modules that a rank imports other than its script. The times are CPU times.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fakempi
from fakempi.isolation import Program

RING = """
from time import process_time
import numpy as np

def ring(comm, rounds):
    size, rank = comm.Get_size(), comm.Get_rank()
    right, left = (rank + 1) % size, (rank - 1) % size
    mine, other = np.zeros(1), np.zeros(1)
    comm.Sendrecv(mine, right, 0, other, left, 0)
    start = process_time()
    for _ in range(rounds):
        comm.Sendrecv(mine, right, 0, other, left, 0)
    return process_time() - start
"""

SCRIPT = RING + """
from mpi4py import MPI
for number in range({modules}):
    __import__(f"module_{{number}}")
seconds = ring(MPI.COMM_WORLD, {rounds})
if MPI.COMM_WORLD.rank == 0:
    with open({out!r}, "w") as file:
        file.write(repr(seconds))
"""

Measure = Callable[[int, int, str], float]
"""Function of ranks, rounds and backend that returns the seconds measured by rank 0."""


def as_script(directory: Path, modules: int) -> Measure:
    """A function that runs the ring as a script."""
    script, out = directory / "work.py", directory / "seconds"
    for number in range(modules):
        (directory / f"module_{number}.py").write_text("")

    def measure(ranks: int, rounds: int, backend: str) -> float:
        script.write_text(SCRIPT.format(modules=modules, rounds=rounds, out=str(out)))
        fakempi.run(Program([str(script)]), ranks, backend=backend)
        return float(out.read_text())

    return measure


def as_function() -> Measure:
    """A function that runs the ring as a function."""
    namespace: dict[str, Any] = {}
    exec(RING, namespace)
    return lambda ranks, rounds, backend: float(fakempi.run(namespace["ring"], ranks, rounds, backend=backend).returns[0])


def compare(ranks: int, modules: int, repeats: int = 9) -> list[tuple[str, float, float]]:
    """(backend, seconds per message of a script, of a function): the minimum of several repeats, measured alternately."""
    rows: list[tuple[str, float, float]] = []
    with tempfile.TemporaryDirectory() as directory:
        script, function = as_script(Path(directory), modules), as_function()
        for backend, messages in (("greenlets", 60_000), ("threads", 10_000)):
            rounds = max(3, messages // ranks)
            pairs = [(script(ranks, rounds, backend), function(ranks, rounds, backend)) for _ in range(repeats)]
            script_time, function_time = (min(times) / (ranks * rounds) for times in zip(*pairs, strict=True))
            rows.append((backend, script_time, function_time))
    return rows


if __name__ == "__main__":
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    modules = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(f"{'backend':10} {'ranks':>6} {'modules':>8} {'µs/message, script':>19} {'function':>9} {'ratio':>6}")
    for backend, script, function in compare(ranks, modules):
        times = f"{script * 1e6:19.2f} {function * 1e6:9.2f}"
        print(f"{backend:10} {ranks:6} {modules:8} {times} {script / function:6.2f}")
