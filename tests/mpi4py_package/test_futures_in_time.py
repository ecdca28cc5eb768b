"""Tasks of all lengths for any number of workers, in modelled time: who is idle first gets the next."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.mpi4py.futures import MPICommExecutor, as_completed


def scheduled(lengths: list[int], workers: int) -> list[int]:
    """When tasks are done that are begun in order, each by whoever is idle first."""
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
    """When each task is done, as rank 0 sees it, and its result."""
    with MPICommExecutor(comm) as executor:
        if executor is None:
            return None
        futures = [executor.submit(work, length) for length in lengths]
        return [(MPI.Wtime(), future.result()) for future in as_completed(futures)]
    return None


@settings(max_examples=12)
@given(lengths=st.lists(st.integers(1, 5), max_size=12), nprocs=st.integers(1, 5))
def test_tasks_end_when_a_list_schedule_says(lengths: list[int], nprocs: int) -> None:
    """Where messages are free, to the moment, on both carriers."""
    ends = scheduled(lengths, max(1, nprocs - 1))
    for carrier in ("greenlets", "threads"):
        run = fakempi.run(tasks, nprocs, lengths, cost=fakempi.Free(), carrier=carrier)
        assert sorted(run.returns[0]) == sorted(zip(map(float, ends), lengths, strict=True))
        assert run.time == max(ends, default=0)
