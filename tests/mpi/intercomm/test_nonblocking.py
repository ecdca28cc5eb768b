"""Nonblocking and persistent collectives between two groups: the same code in a child task."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.runs import run
from tests.mpi.collective.calls import nonblocking
from tests.mpi.intercomm.calls import SIZES, Setting, calls, joined, phantoms, run_joined

EXACT = fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0)


# -- nonblocking ---------------------------------------------------------------------------------------------------


@pytest.mark.quick(2)
@pytest.mark.parametrize(("p", "q"), SIZES)
def test_each_gives_the_result_of_the_blocking_call(backend: Any, p: int, q: int) -> None:
    """One after the other."""

    def main(inter: Any, side: int) -> Any:
        wrong = []
        for name, args, read, expected in calls(Setting(p, q, 1, q - 1), side, inter.rank):
            request = getattr(inter, nonblocking(name))(*args)
            assert type(request) is MPI.Request
            request.Wait()
            if read() != expected:
                wrong.append(name)
        return wrong

    assert run_joined(main, p, q, backend) == [[]] * (p + q)


@pytest.mark.quick(2)
@pytest.mark.parametrize(("p", "q"), SIZES)
def test_several_at_once(backend: Any, p: int, q: int) -> None:
    """Completed in a different order than started."""

    def main(inter: Any, side: int) -> Any:
        pending = list(calls(Setting(p, q, 0, p - 1), side, inter.rank))
        requests = [getattr(inter, nonblocking(call.name))(*call.args) for call in pending]
        MPI.Request.Waitall(requests[::-1])
        return [call.name for call in pending if call.read() != call.expected]

    assert run_joined(main, p, q, backend) == [[]] * (p + q)


def test_nonblocking_calls_take_the_time_of_blocking_ones() -> None:
    """If nothing is done meanwhile."""

    def main(inter: Any, side: int, wait: bool) -> Any:
        for name, args in phantoms(Setting(3, 5), side, inter.rank):
            if wait:
                getattr(inter, nonblocking(name))(*args).Wait()
            else:
                getattr(inter, name)(*args)
        return MPI.Wtime()

    times = [run(lambda comm, wait=wait: main(*joined(comm, 3), wait), 8, cost=EXACT) for wait in (False, True)]
    assert times[0] == times[1]


def test_work_and_an_allgather_overlap() -> None:
    """The call takes the longer of the two times."""

    def main(comm: Any, work: int) -> Any:
        request = joined(comm, 2)[0].Iallgather(fakempi.phantom(80), fakempi.phantom(160))
        fakempi.compute(work)
        request.Wait()

    alone, short, long = (fakempi.run(main, 4, work, cost=EXACT).time for work in (0, 1, 10_000))
    assert 1 < alone < 10_000
    assert (short, long) == (alone, 10_000)


def test_an_idle_rank_of_the_roots_group_need_not_wait() -> None:
    """Its request is complete when it is created."""

    def main(inter: Any, side: int) -> Any:
        part = 1 if side else (MPI.ROOT if inter.rank == 1 else MPI.PROC_NULL)
        inter.Ibcast(None if part == MPI.PROC_NULL else np.zeros(3), part).Wait()
        return MPI.Wtime()

    assert run_joined(main, 2, 2, cost=EXACT)[0] == 0


# -- persistent ----------------------------------------------------------------------------------------------------


@pytest.mark.quick(2)
@pytest.mark.parametrize(("p", "q"), SIZES)
def test_each_can_be_started_again(backend: Any, p: int, q: int) -> None:
    """With the same result."""

    def main(inter: Any, side: int) -> Any:
        wrong = []
        for name, args, read, expected in calls(Setting(p, q, 1, 0), side, inter.rank):
            request = getattr(inter, f"{name}_init")(*args, info=MPI.INFO_NULL)
            assert type(request) is MPI.Prequest
            for _ in range(2):
                request.Start()
                request.Wait()
                if read() != expected:
                    wrong.append(name)
            request.Free()
        return wrong

    assert run_joined(main, p, q, backend) == [[]] * (p + q)


def test_each_start_uses_the_current_data(backend: Any) -> None:
    """Prepared in one order, started in another, with groups of different sizes."""

    def main(inter: Any, side: int) -> Any:
        mine, into, total = np.zeros(1), np.zeros(inter.remote_size), np.zeros(1)
        requests = [inter.Allgather_init(mine, into), inter.Allreduce_init(mine, total)]
        found = []
        for turn in range(3):
            mine[0] = 100 * turn + 10 * side + inter.rank
            MPI.Prequest.Startall(requests if side else requests[::-1])
            MPI.Request.Waitall(requests)
            found.append((into.tolist(), float(total[0])))
        return found

    def heard(side: int) -> Any:
        blocks = [[100 * turn + 10 * side + rank for rank in range((2, 3)[side])] for turn in range(3)]
        return [(block, sum(block)) for block in blocks]

    assert run_joined(main, 2, 3, backend) == [heard(1)] * 2 + [heard(0)] * 3


# -- missing ranks -------------------------------------------------------------------------------------------------


def test_a_report_names_the_ranks_that_have_not_called(backend: Any) -> None:
    """On either side."""

    def main(comm: Any) -> None:
        inter, _ = joined(comm, 2)
        if comm.rank not in (1, 4):
            inter.Allgather(np.zeros(1), np.zeros(inter.remote_size))

    with pytest.raises(fakempi.DeadlockError, match=r"ranks 0 and 2-3: Allgather\(waits for ranks 1 and 4\)"):
        run(main, 5, backend)


def test_a_report_names_the_ranks_that_have_not_started(backend: Any) -> None:
    """A persistent call that all have prepared."""

    def main(comm: Any) -> None:
        inter, _ = joined(comm, 2)
        request = inter.Barrier_init()
        if comm.rank != 3:
            request.Start()
            request.Wait()

    with pytest.raises(fakempi.DeadlockError, match=r"waits for rank 3"):
        run(main, 5, backend)
