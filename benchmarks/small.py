"""What small things cost: importing fakempi beyond numpy, and a run of four ranks.

    python benchmarks/small.py
"""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter
from typing import Any

import fakempi

IMPORT = """
from time import perf_counter
import numpy
start = perf_counter()
import fakempi
front = perf_counter() - start
fakempi.run, fakempi.MPI
print(front, perf_counter() - start)
"""


def shift(comm: Any) -> Any:
    """Everybody sends a number to the right."""
    return comm.sendrecv(comm.rank, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)


def best(carrier: str, repeats: int = 100) -> float:
    """The quickest of many runs of four ranks, in seconds."""
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        fakempi.run(shift, 4, carrier=carrier)
        seconds.append(perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    outputs = [subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True).stdout for _ in range(5)]
    front, everything = (min(float(output.split()[i]) for output in outputs) for i in (0, 1))
    print(f"import fakempi                    {front * 1e3:8.2f} ms beyond numpy")
    print(f"import fakempi and all its rooms  {everything * 1e3:8.2f} ms beyond numpy")
    for carrier in ("greenlets", "threads"):
        print(f"run of 4 ranks, {carrier:10}        {best(carrier) * 1e3:8.2f} ms")
