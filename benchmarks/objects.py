"""What Python objects cost: megabytes per second from a rank to another, and to three others at once, small and large.

    python benchmarks/objects.py [bytes ...]

Beside what is usual, the same with `MPI.pickle` set to the standard library's functions, which puts all memory into the
pickle and takes it out again; the ratio of both is the last column. CPU time of all ranks, the best of several.
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
    "list of numbers": lambda nbytes: [float(i) for i in range(min(nbytes, 1_000_000) // 9)],  # no memory to leave out
}


def sent(comm: Any, obj: Any) -> Any:
    """From rank 0 to rank 1."""
    return comm.send(obj, 1) if comm.rank == 0 else comm.recv(source=0) if comm.rank == 1 else None


CALLS = {"send": (2, sent), "bcast": (4, lambda comm, obj: comm.bcast(obj))}


def program(comm: Any, call: Callable[[Any, Any], Any], obj: Any, times: int, plain: bool) -> float:
    """Seconds for so many calls, after one."""
    if plain:
        MPI.pickle.__init__(pickle.dumps, pickle.loads)  # type: ignore[misc]
    call(comm, obj)
    comm.Barrier()
    start = process_time()
    for _ in range(times):
        call(comm, obj)
    comm.Barrier()
    return process_time() - start


def seconds(call: str, obj: Any, times: int, repeats: int = 3) -> list[float]:
    """Per call: as usual, and with everything in the pickle; in turns."""
    ranks, function = CALLS[call]
    best = [float("inf")] * 2
    for _ in range(repeats):
        for plain in (False, True):
            run = fakempi.run(program, ranks, function, obj, times, plain)
            best[plain] = min(best[plain], max(run.returns) / times)
    return best


def line(name: str, nbytes: int, work: int = 1_000_000) -> str:
    """One row of the table, by calls of so many bytes in all."""
    obj, text = OBJECTS[name](nbytes), f"{name:18}{nbytes:>12}"
    for call in CALLS:
        usual, plain = (max(each, 1e-9) for each in seconds(call, obj, max(1, work // (nbytes + 4_000))))
        text += f"{nbytes / usual / 1e6:12.1f}{nbytes / plain / 1e6:10.1f}{usual / plain:7.2f}"
    return text


if __name__ == "__main__":
    print(f"{'MB/s':18}{'bytes':>12}" + "".join(f"{call:>12}{'plain':>10}{'ratio':>7}" for call in CALLS))
    for size in [int(each) for each in sys.argv[1:]] or SIZES:
        for each in OBJECTS:
            print(line(each, size))
