"""Speed-up by worker processes: `explore`, `verify` and `sweep` on 1, 2, ... processes, relative to no worker.

    python benchmarks/workers.py [processes] [repetitions]

For each row, the program runs without an executor and on each number of worker processes in turn, and the shortest wall time
of several repetitions counts. On a machine that does other work the wall times mean little. The last column does not depend
on it much: the CPU time of the calling process without workers, divided by that with workers, is the speed-up that any
number of workers can reach at most. Each row also compares the results, which must be equal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import fakempi
from collectives import find, verify
from fakempi import MPI
from fakempi.compare import sweep
from fakempi.errors.plurals import counted


def collect(comm: Any, each: int, loop: int) -> Any:
    """Every rank computes for a while and sends messages to rank 0, which receives them from any source."""
    for _ in range(loop):
        pass
    if comm.rank:
        return [comm.send((comm.rank, i), dest=0) for i in range(each)]
    status = MPI.Status()
    return sorted(comm.recv(source=MPI.ANY_SOURCE, status=status) for _ in range(each * (comm.size - 1)))


def explored(executor: Executor | None, each: int, loop: int, runs: int) -> Any:
    """Return the result of a search."""
    found = fakempi.explore(collect, 4, each, loop, runs=runs, executor=executor)
    return str(found), found.runs, found.ended_early


def verified(executor: Executor | None) -> Any:
    """Return the result of a verification."""
    return verify(find("allgather", "ring"), ranks=8, cases=100, executor=executor)


def swept(executor: Executor | None) -> Any:
    """Return the result of a sweep, by emulation."""
    return sweep("allreduce", [24, 32], [8, 8192], cost="hockney:eager_limit=0", measure=True, executor=executor)


ROWS: dict[str, Callable[[Executor | None], Any]] = {
    "explore, 200 short runs": lambda executor: explored(executor, 2, 0, 200),
    "explore, 60 runs that compute": lambda executor: explored(executor, 2, 500_000, 60),
    "verify": verified,
    "sweep": swept,
}


def measured(do: Callable[[Executor | None], Any], executor: Executor | None) -> tuple[float, float, Any]:
    """Return wall time, CPU time of this process, and the result."""
    start, used = time.perf_counter(), time.process_time()
    result = do(executor)
    return time.perf_counter() - start, time.process_time() - used, result


def main(processes: int, repetitions: int) -> None:
    """Print the table."""
    counts = range(1, processes + 1)
    pools = [ProcessPoolExecutor(count, mp_context=get_context("spawn")) for count in counts]
    for pool, count in zip(pools, counts, strict=True):
        list(pool.map(time.sleep, [0.2] * count))  # starts the processes
        fakempi.explore(collect, 3, 1, 0, executor=pool)  # imports
    heads = [counted(count, "worker") for count in counts]
    print(f"{'speed-up (wall time)':32}" + "".join(f"{head:>12}" for head in heads) + f"{'at most':>12}")
    for name, do in ROWS.items():
        best: dict[Executor | None, tuple[float, float]] = {}
        for _ in range(repetitions):
            alone = None
            for pool in (None, *pools):
                wall, cpu, result = measured(do, pool)
                alone = result if pool is None else alone
                assert result == alone, f"{name}: the results differ"
                before = best.get(pool, (wall, cpu))
                best[pool] = min(before[0], wall), min(before[1], cpu)
        ratios = "".join(f"{best[None][0] / best[pool][0]:12.2f}" for pool in pools)
        print(f"{name:32}{ratios}{best[None][1] / max(best[pools[-1]][1], 1e-3):12.1f}")
    for pool in pools:
        pool.shutdown()


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*given, *(2, 3)[len(given) :])
