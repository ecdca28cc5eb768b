"""Fixed costs: importing fakempi without numpy, a run of four ranks, and a run of `explore`.

    python benchmarks/small.py
"""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter, process_time
from typing import Any

from schedules import ticks

import fakempi

IMPORT = """
from time import perf_counter
import numpy
start = perf_counter()
import fakempi
package = perf_counter() - start
fakempi.run, fakempi.MPI
print(package, perf_counter() - start)
"""


def shift(comm: Any) -> Any:
    """Send a number to the right."""
    return comm.sendrecv(comm.rank, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)


def best(backend: str, repeats: int = 100) -> float:
    """Seconds of the fastest of many runs of four ranks."""
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        fakempi.run(shift, 4, backend=backend)
        seconds.append(perf_counter() - start)
    return min(seconds)


def explored(runs: int = 300) -> float:
    """CPU seconds of a run of four ranks with 12 messages in a search, including the runs that end early."""
    start = process_time()
    found = fakempi.explore(ticks, 4, runs=runs, strict=False)
    return (process_time() - start) / (found.runs + found.ended_early)


if __name__ == "__main__":
    outputs = [subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True).stdout for _ in range(5)]
    package, everything = (min(float(output.split()[i]) for output in outputs) for i in (0, 1))
    print(f"import fakempi                    {package * 1e3:8.2f} ms without numpy")
    print(f"import fakempi, run and MPI       {everything * 1e3:8.2f} ms without numpy")
    for backend in ("greenlets", "threads"):
        print(f"run of 4 ranks, {backend:10}        {best(backend) * 1e3:8.2f} ms")
    print(f"explore, a run with 12 messages   {min(explored() for _ in range(5)) * 1e3:8.2f} ms")
