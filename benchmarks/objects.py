"""The cost of Python objects: megabytes per second from one rank to another (send) and to three others (bcast).

    python benchmarks/objects.py [bytes ...]

By default, large buffers are sent out of band, next to the pickle. In the second column of each call, `MPI.pickle` has the
functions of the standard library, which copy all data into the pickle (in band) and out again. The third column is the ratio
of the two times. Times are CPU times of all ranks, the minimum of several samples.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

import fakempi
from fakempi import MPI

SIZES = [1_000, 1_000_000, 100_000_000]
OBJECTS: dict[str, Callable[[int], Any]] = {
    "array": lambda nbytes: np.ones(nbytes // 8),
    "array, a column": lambda nbytes: np.ones((nbytes // 8, 2))[:, 0],
    "dict of arrays": lambda nbytes: {"step": 1, "a": np.ones(nbytes // 16), "b": [np.ones(nbytes // 16)]},
    "bytearray": bytearray,
    "list of numbers": lambda nbytes: [float(i) for i in range(min(nbytes, 1_000_000) // 9)],  # has no buffers
}


def sent(comm: Any, obj: Any) -> Any:
    """Send an object from rank 0 to rank 1."""
    return comm.send(obj, 1) if comm.rank == 0 else comm.recv(source=0) if comm.rank == 1 else None


CALLS = {"send": (2, sent), "bcast": (4, lambda comm, obj: comm.bcast(obj))}


def program(comm: Any, call: Callable[[Any, Any], Any], obj: Any, times: int, in_band: bool) -> float:
    """CPU seconds of `times` calls, after a first one."""
    if in_band:
        MPI.pickle.__init__(pickle.dumps, pickle.loads)  # type: ignore[misc]
    call(comm, obj)
    comm.Barrier()
    start = process_time()
    for _ in range(times):
        call(comm, obj)
    comm.Barrier()
    return process_time() - start


def seconds(call: str, obj: Any, times: int, repeats: int = 3) -> list[float]:
    """Seconds per call by default, and with all data in the pickle, measured alternately."""
    ranks, function = CALLS[call]
    best = [float("inf")] * 2
    for _ in range(repeats):
        for in_band in (False, True):
            run = fakempi.run(program, ranks, function, obj, times, in_band)
            best[in_band] = min(best[in_band], max(run.returns) / times)
    return best


def line(name: str, nbytes: int, work: int = 1_000_000) -> str:
    """A row of the table, from calls with about this number of bytes in total."""
    obj, text = OBJECTS[name](nbytes), f"{name:18}{nbytes:>12}"
    for call in CALLS:
        default, in_band = (max(each, 1e-9) for each in seconds(call, obj, max(1, work // (nbytes + 4_000))))
        text += f"{nbytes / default / 1e6:12.1f}{nbytes / in_band / 1e6:10.1f}{default / in_band:7.2f}"
    return text


if __name__ == "__main__":
    print(f"{'MB/s':18}{'bytes':>12}" + "".join(f"{call:>12}{'in band':>10}{'ratio':>7}" for call in CALLS))
    for size in [int(each) for each in sys.argv[1:]] or SIZES:
        for each in OBJECTS:
            print(line(each, size))
