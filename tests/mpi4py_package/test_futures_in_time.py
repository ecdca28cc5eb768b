"""Tasks of any length for any number of workers, in modeled time: the first idle worker gets the next task."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.isolation.mpi4py.futures import MPICommExecutor, as_completed


def scheduled(lengths: list[int], workers: int) -> list[int]:
    """The end times of tasks that are started in order, each by the first idle worker."""
    free, ends = [0] * workers, []
    for length in lengths:
        ends.append(heappop(free) + length)
        heappush(free, ends[-1])
    return ends


def work(length: int) -> int:
    """A task; returns its length."""
    fakempi.compute(length)
    return length


def tasks(comm: Any, lengths: list[int]) -> list[tuple[float, int]] | None:
    """The end time of each task, as rank 0 sees it, and its result."""
    with MPICommExecutor(comm) as executor:
        if executor is None:
            return None
        futures = [executor.submit(work, length) for length in lengths]
        return [(MPI.Wtime(), future.result()) for future in as_completed(futures)]
    return None


@settings(max_examples=12)
@given(lengths=st.lists(st.integers(1, 5), max_size=12), nprocs=st.integers(1, 5))
def test_tasks_end_at_the_times_of_a_list_schedule(lengths: list[int], nprocs: int) -> None:
    """Exactly, if messages are free, on both backends."""
    ends = scheduled(lengths, max(1, nprocs - 1))
    backends: list[Any] = ["greenlets", "threads"]
    for backend in backends:
        run = fakempi.run(tasks, nprocs, lengths, cost=fakempi.ZeroCost(), backend=backend)
        assert sorted(run.returns[0] or []) == sorted(zip(map(float, ends), lengths, strict=True))
        assert run.time == max(ends, default=0)
