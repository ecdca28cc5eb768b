"""A ring of Sendrecv of 8-byte numpy buffers as a script, against the same as a function, per message, in the same run.

    python benchmarks/scripts.py [ranks [modules]]

The difference is what it costs that every rank has its own `__main__`, streams, arguments and modules. `modules` is how many
of its own a rank has imported beside its script. It is CPU time that is measured.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fakempi
from fakempi.script import program

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
"""From ranks, rounds and a carrier to the seconds that the first rank has measured."""


def as_script(folder: Path, modules: int) -> Measure:
    """What runs the ring as a script."""
    script, out = folder / "work.py", folder / "seconds"
    for number in range(modules):
        (folder / f"module_{number}.py").write_text("")

    def measure(ranks: int, rounds: int, carrier: str) -> float:
        script.write_text(SCRIPT.format(modules=modules, rounds=rounds, out=str(out)))
        fakempi.run(program([str(script)]), ranks, carrier=carrier)
        return float(out.read_text())

    return measure


def as_function() -> Measure:
    """What runs it as a function."""
    namespace: dict[str, Any] = {}
    exec(RING, namespace)
    return lambda ranks, rounds, carrier: float(fakempi.run(namespace["ring"], ranks, rounds, carrier=carrier).returns[0])


def compare(ranks: int, modules: int, repeats: int = 9) -> list[tuple[str, float, float]]:
    """(carrier, seconds per message of a script, of a function): the best of several repeats, taken in turns."""
    rows: list[tuple[str, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        script, function = as_script(Path(folder), modules), as_function()
        for carrier, messages in (("greenlets", 60_000), ("threads", 10_000)):
            rounds = max(3, messages // ranks)
            pairs = [(script(ranks, rounds, carrier), function(ranks, rounds, carrier)) for _ in range(repeats)]
            one, other = (min(column) / (ranks * rounds) for column in zip(*pairs, strict=True))
            rows.append((carrier, one, other))
    return rows


if __name__ == "__main__":
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    modules = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(f"{'carrier':10} {'ranks':>6} {'modules':>8} {'us/message, script':>19} {'function':>9} {'ratio':>6}")
    for carrier, script, function in compare(ranks, modules):
        us = f"{script * 1e6:19.2f} {function * 1e6:9.2f}"
        print(f"{carrier:10} {ranks:6} {modules:8} {us} {script / function:6.2f}")
