"""Number of runs needed to explore all schedules of small programs, with and without reductions.

    python benchmarks/schedules.py

Runs are counted with infinite buffering; "more than" marks a count that was stopped. `reduced` omits equivalent schedules,
by races, equal messages and independent choices; `states` also stops at states that were reached before. The last column is
the CPU time of one explored run relative to the same run in modeled time.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import fakempi
from fakempi import MPI, ZeroCost

ANY = MPI.ANY_SOURCE
MAXIMUM = 3000


def collect(comm: Any) -> Any:
    """Rank 0 receives once from each other rank, with wildcards."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(comm.size - 1)]
    return comm.send(comm.rank, 0)


def equal(comm: Any) -> Any:
    """The same with identical messages."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(comm.size - 1)]
    return comm.send("done", 0)


def ticks(comm: Any) -> Any:
    """The same with four messages of each rank."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(4 * (comm.size - 1))]
    return [comm.send("tick", 0) for _ in range(4)]


def pairs(comm: Any) -> Any:
    """Every third rank receives from the next two ranks."""
    first = comm.rank - comm.rank % 3
    if comm.rank == first:
        return [comm.recv(source=ANY) for _ in range(2)]
    return comm.send(comm.rank, first)


def chained(comm: Any) -> Any:
    """Like `pairs`, followed by a gather to rank 0."""
    got = pairs(comm)
    return comm.gather(got)


def farm(comm: Any) -> Any:
    """Rank 0 sends four tasks to the ranks that request them."""
    if comm.rank:
        comm.send(None, 0)
        while (task := comm.recv(source=0)) is not None:
            comm.send(task, 0)
        return None
    status, tasks, results, working = MPI.Status(), list(range(4)), [], comm.size - 1
    while working:
        results.append(comm.recv(source=ANY, status=status))
        working -= not tasks
        comm.send(tasks.pop() if tasks else None, status.source)
    return results


def relay(comm: Any) -> Any:
    """Rank 1 forwards a message of the last rank to rank 0; the other ranks send to rank 0 directly."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(comm.size - 2)]
    got = comm.recv(source=ANY) if comm.rank == 1 else comm.rank
    return comm.send(got, 1 if comm.rank == comm.size - 1 else 0)


def waits(comm: Any) -> Any:
    """Rank 0 waits for requests in the order of completion."""
    if comm.rank:
        return comm.send(comm.rank, 0)
    requests = [comm.irecv(source=source) for source in range(1, comm.size)]
    return [MPI.Request.waitany(requests)[0] for _ in requests]


def independent_requests(comm: Any) -> Any:
    """Like `pairs`, with Waitany."""
    first = comm.rank - comm.rank % 3
    if comm.rank != first:
        return comm.send(comm.rank, first)
    requests = [comm.irecv(source=first + 1), comm.irecv(source=first + 2)]
    return [MPI.Request.waitany(requests)[0] for _ in requests]


CASES: list[tuple[Callable[[Any], Any], int]] = [
    (collect, 4), (collect, 6), (equal, 6), (equal, 9), (ticks, 3), (ticks, 4), (pairs, 6), (pairs, 9), (pairs, 30),
    (chained, 6), (farm, 3), (farm, 4), (relay, 4), (relay, 5), (waits, 5), (independent_requests, 6),
    (independent_requests, 30),
]  # fmt: skip


def count(main: Callable[[Any], Any], p: int, **how: bool) -> str:
    """Number of runs until the search is complete."""
    found = fakempi.explore(main, p, runs=MAXIMUM, buffering="infinite", collectives="minimal", strict=False, **how)
    tried = found.runs + found.ended_early
    return f"{tried:,}" if found.part == 1 else f"more than {tried:,}"


def cost(main: Callable[[Any], Any], p: int, repeats: int = 30) -> float:
    """CPU time of a run with a schedule, relative to a run in modeled time."""
    times = {}
    for name, options in (("plain", {"cost": ZeroCost()}), ("scheduled", {"schedule": "i:0"})):
        best = float("inf")
        for _ in range(repeats):
            start = process_time()
            fakempi.run(main, p, **options)  # type: ignore[arg-type]
            best = min(best, process_time() - start)
        times[name] = best
    return times["scheduled"] / times["plain"]


if __name__ == "__main__":
    print(f"{'program':22}{'ranks':>6}{'all':>18}{'reduced':>18}{'states':>9}{'cost per run':>14}")
    for main, p in CASES:
        every, reduced, states = count(main, p, reduce=False), count(main, p, states=False), count(main, p)
        factor = f"{cost(main, p):.1f} x"
        print(f"{main.__name__:22}{p:>6}{every:>18}{reduced:>18}{states:>9}{factor:>14}")
