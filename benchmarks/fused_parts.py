"""The parts of the cost of a fused collective call: microseconds per rank and call, and multiples of a bare switch.

    python benchmarks/fused_parts.py [ranks ...]      1,024 ranks by default, 8 bytes, CPU time

Parts that the last rank does for all ranks are measured in the run, by a wrapper around each function. Parts of each rank
are too short for that: the comparison of buffers is measured alone, in a loop in which everything is in the caches.
The rest is call matching, entering and leaving the call, and everything that memory outside the caches adds.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from time import process_time
from timeit import repeat
from typing import Any

import numpy as np
from bare import greenlet_switch
from calls import CALLS, per_call

from fakempi import MPI
from fakempi.extensions.fused.rendezvous import FusedService
from fakempi.extensions.fused.results import Results
from fakempi.mpi.collective.forms import Form

NUMBER = 100_000
ONCE_PER_CALL: dict[str, tuple[Any, str]] = {
    "start of waiting, and its end": (FusedService, "_starts_waiting"),
    "times of all ranks": (FusedService, "_outcome"),
    "ports of all ranks": (FusedService, "_use_ports"),
    "results": (Results, "compute"),
}
NAMES = ("Barrier", "Allreduce", "Bcast")


def alone(function: Callable[[], object]) -> float:
    """Microseconds of a function, measured in a loop."""
    return min(repeat(function, number=NUMBER, repeat=3, timer=process_time)) / NUMBER * 1e6


def measured(name: str, ranks: int, calls: int = 30) -> tuple[float, Counter[str]]:
    """Microseconds of a call per rank, and of the parts that are done once per call."""
    parts: Counter[str] = Counter()
    originals = {part: getattr(*place) for part, place in ONCE_PER_CALL.items()}

    def timed(part: str) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            start = process_time()
            try:
                return originals[part](*args)
            finally:
                parts[part] += (process_time() - start) / (calls + 4) / ranks * 1e6  # type: ignore[assignment]  # a float

        return run

    total = per_call(name, ranks, calls, 5) * 1e6
    for part, (owner, attribute) in ONCE_PER_CALL.items():
        setattr(owner, attribute, timed(part))
    per_call(name, ranks, calls, 1)
    for part, (owner, attribute) in ONCE_PER_CALL.items():
        setattr(owner, attribute, originals[part])
    return total, parts


def of_each_rank(name: str, ranks: int) -> dict[str, float]:
    """Microseconds of the parts of each rank that can be measured alone."""
    mine, others = np.ones(1), np.ones(1 if name in ("Bcast", "Barrier") else ranks)
    result = others[:1]

    class Nothing:
        def __getattr__(self, _: str) -> Callable[..., None]:
            return lambda *args: None

    nothing = Nothing()
    found = {"the program and its buffers": alone(lambda: CALLS[name](nothing, mine, others))}
    if name == "Allreduce":
        first = Form(combines=True).first(mine, result, MPI.SUM, None, 0, ranks)
        found["comparison of the buffers"] = alone(lambda: first.arrays(mine, result, MPI.SUM, None, 1, True))
        found["the result is written"] = alone(lambda: result.__setitem__(..., mine))
    return found


if __name__ == "__main__":
    for p in [int(each) for each in sys.argv[1:]] or [1024]:
        switch = min(greenlet_switch(p, NUMBER, process_time) for _ in range(5)) * 1e6
        print(f"{f'{p} ranks':34} {'us':>7} {'switches':>9}")
        for call in NAMES:
            whole, once = measured(call, p)
            rows = {"a switch": switch, **of_each_rank(call, p), **once}
            print(f"{call:34} {whole:7.2f} {whole / switch:9.1f}")
            for part, time in {**rows, "the rest": whole - sum(rows.values())}.items():
                print(f"    {part:30} {time:7.2f} {time / switch:9.1f}", flush=True)
