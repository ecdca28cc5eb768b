"""How many runs it takes to see all schedules of small programs: all of them, and those that can show something new.

    python benchmarks/schedules.py

Counted are runs with infinite buffering; `more than` is where the count was given up. `reduced` leaves out what is nothing
new, by races, equal messages and choices that never meet; `states` in addition goes on from no state twice. The last
column is what one steered run costs, against the same run in modelled time.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import fakempi
from fakempi import MPI, Free

ANY = MPI.ANY_SOURCE
MOST = 3000


def collect(comm: Any) -> Any:
    """Rank 0 receives from anybody, once from each."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(comm.size - 1)]
    return comm.send(comm.rank, 0)


def equal(comm: Any) -> Any:
    """The same, of messages that nobody can tell apart."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(comm.size - 1)]
    return comm.send("done", 0)


def ticks(comm: Any) -> Any:
    """The same, of which everybody sends four."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(4 * (comm.size - 1))]
    return [comm.send("tick", 0) for _ in range(4)]


def pairs(comm: Any) -> Any:
    """Every third rank receives from the two behind it."""
    first = comm.rank - comm.rank % 3
    if comm.rank == first:
        return [comm.recv(source=ANY) for _ in range(2)]
    return comm.send(comm.rank, first)


def chained(comm: Any) -> Any:
    """As pairs, and then all of them report to rank 0."""
    got = pairs(comm)
    return comm.gather(got)


def farm(comm: Any) -> Any:
    """Four tasks for whoever asks."""
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
    """Rank 1 sends to 0 what it gets from anybody; so do others, of their own."""
    if comm.rank == 0:
        return [comm.recv(source=ANY) for _ in range(comm.size - 2)]
    got = comm.recv(source=ANY) if comm.rank == 1 else comm.rank
    return comm.send(got, 1 if comm.rank == comm.size - 1 else 0)


def waits(comm: Any) -> Any:
    """Requests from all others, in the order in which they end."""
    if comm.rank:
        return comm.send(comm.rank, 0)
    requests = [comm.irecv(source=source) for source in range(1, comm.size)]
    return [MPI.Request.waitany(requests)[0] for _ in requests]


def independent_requests(comm: Any) -> Any:
    """As pairs, with Waitany."""
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
    """Runs until all is seen."""
    found = fakempi.explore(main, p, runs=MOST, buffering="infinite", strict=False, **how)
    tried = found.runs + found.ended_early
    return f"{tried:,}" if found.part == 1 else f"more than {tried:,}"


def cost(main: Callable[[Any], Any], p: int, repeats: int = 30) -> float:
    """CPU time of a steered run, as a multiple of one in modelled time."""
    times = {}
    for name, options in (("plain", {"cost": Free()}), ("steered", {"decisions": "i:0"})):
        best = float("inf")
        for _ in range(repeats):
            start = process_time()
            fakempi.run(main, p, **options)  # type: ignore[arg-type]
            best = min(best, process_time() - start)
        times[name] = best
    return times["steered"] / times["plain"]


if __name__ == "__main__":
    print(f"{'program':22}{'ranks':>6}{'all':>18}{'reduced':>18}{'states':>9}{'a run costs':>14}")
    for main, p in CASES:
        every, reduced, states = count(main, p, reduce=False), count(main, p, states=False), count(main, p)
        factor = f"{cost(main, p):.1f} times"
        print(f"{main.__name__:22}{p:>6}{every:>18}{reduced:>18}{states:>9}{factor:>14}")
