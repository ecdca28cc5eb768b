"""Ratios of CPU times with limits, so that a cost cannot double unseen: `.ci/full` runs this.

    python benchmarks/guard.py          prints every ratio with its limit; exit code 1 if one is above its limit

Both times of a ratio are measured alternately in this run, and each is the minimum of several samples, so that other
processes on the machine matter little. A limit is about twice the ratio of a quiet machine (x86-64, Python 3.11).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

from bare import greenlet_switch
from calls import per_call
from ring import per_message

import fakempi

REPEATS = 5
HELLO = "from mpi4py import MPI\nprint(MPI.COMM_WORLD.rank)\n"


def switch() -> float:
    """Seconds of a bare switch in a ring of 1,024 greenlets."""
    return greenlet_switch(1024, 100_000, process_time)


def call(name: str, fused: str, ranks: int = 1024) -> Callable[[], float]:
    """Seconds of a collective call of 8 bytes, per rank, fused or emulated."""
    return lambda: per_call(name, ranks, 20 if fused == "auto" else 3, 1, fused=fused)


def message(trace: bool) -> float:
    """Seconds of a message in a ring of 1,024 ranks."""
    return per_message(1024, 20, "greenlets", clock=process_time, trace=trace)


def empty_run() -> float:
    """Seconds of a run of four ranks that do nothing."""
    start = process_time()
    for _ in range(20):
        fakempi.run(_nothing, 4)
    return (process_time() - start) / 20


def _nothing(comm: Any) -> None:
    pass


def command(directory: str, *words: str) -> Callable[[], float]:
    """Seconds of CPU time of a Python process that finds its bytecode in a directory, where the first process writes it.

    Without bytecode, as after `PYTHONDONTWRITEBYTECODE=1` in a fresh clone, compiling all modules takes a second.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": directory, "PYTHONDONTWRITEBYTECODE": ""}

    def measured() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, capture_output=True, timeout=120, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return measured


def ratios(script: str, directory: str) -> dict[str, tuple[Callable[[], float], Callable[[], float], float]]:
    """Measurements: name -> the time, the time it is divided by, and the limit of their ratio."""
    numpy = command(directory, "-c", "import numpy")
    return {
        "Sendrecv / switch": (lambda: message(False), switch, 28),
        "Sendrecv with trace=True / without": (lambda: message(True), lambda: message(False), 2.6),
        "Barrier, fused / emulated": (call("Barrier", "auto"), call("Barrier", "never"), 0.3),
        "Allreduce, fused / emulated": (call("Allreduce", "auto"), call("Allreduce", "never"), 0.15),
        "Bcast, fused / emulated": (call("Bcast", "auto"), call("Bcast", "never"), 1.2),
        "Allgather, fused / emulated": (call("Allgather", "auto", 256), call("Allgather", "never", 256), 0.3),
        "Allreduce, fused / switch": (call("Allreduce", "auto"), switch, 60),
        "a run of 4 ranks / switch": (empty_run, switch, 1800),
        "fakempi --help / import numpy": (command(directory, "-m", "fakempi", "--help"), numpy, 0.9),
        "fakempi run -n 4 hello.py / import numpy": (
            command(directory, "-m", "fakempi", "run", "-n", "4", script), numpy, 6
        ),
    }


def least_ratio(time: Callable[[], float], divisor: Callable[[], float]) -> float:
    """The ratio of the least of several alternating samples."""
    pairs = [(time(), divisor()) for _ in range(REPEATS)]
    return min(one for one, _ in pairs) / min(other for _, other in pairs)


if __name__ == "__main__":
    above = 0
    with tempfile.TemporaryDirectory() as directory:
        hello = Path(directory, "hello.py")
        hello.write_text(HELLO, encoding="utf-8")
        for name, (time, divisor, limit) in ratios(str(hello), directory).items():
            found = least_ratio(time, divisor)
            above += found > limit
            print(f"{name:44} {found:8.2f}   limit {limit:g}{'   TOO SLOW' if found > limit else ''}", flush=True)
    print(f"{above} ratios above their limits")
    sys.exit(bool(above))
