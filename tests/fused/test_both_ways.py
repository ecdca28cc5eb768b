"""A run gives the same results fused and unfused, whatever ranks do while others wait, and however the run ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI, Hockney
from fakempi.errors import DeadlockError, RankError, RunError, RunTimeoutError
from fakempi.extensions.fused import rendezvous
from fakempi.extensions.monitoring import monitor


@pytest.fixture(autouse=True)
def _small_calls_are_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of few ranks are fused too."""
    monkeypatch.setattr(rendezvous, "FEWEST", 2)


def record(program: Callable[..., Any], p: int, fused: Any, **options: Any) -> Any:
    """The outcome of a run, or how it fails; the program receives a list for its own records."""
    log: list[Any] = []
    try:
        run = fakempi.run(program, p, log, fused=fused, **options)
    except RunError as error:
        return type(error), str(error), list(map(str, error.findings)), log
    return run.returns, run.clocks, run.sent, run.received, list(map(str, run.findings)), log


def both_ways(program: Callable[..., Any], p: int = 4, **options: Any) -> Any:
    """The record of a run, which is the same fused and unfused."""
    found = record(program, p, "auto", **options)
    assert found == record(program, p, "never", **options)
    return found


def test_ranks_that_end_without_calling_are_named_at_the_time_of_the_last_one(backend: Any) -> None:
    """The report has the time of the last rank that ended."""

    def main(comm: Any, log: list[Any]) -> None:
        fakempi.compute(1e-6 * (4, 2, 1, 5)[comm.rank])
        if comm.rank == 2:
            comm.Allreduce(np.zeros(1), np.zeros(1))

    kind, report, *_ = both_ways(main, backend=backend)
    assert kind is DeadlockError
    assert "deadlock at t = 5e-06 s: 1 of 4 ranks is blocked" in report
    assert "rank 2: Allreduce(waits for ranks 0-1 and 3) at test_both_ways.py:" in report


@pytest.mark.parametrize("late", [0.0, 3e-6])
def test_a_rank_dies_while_others_wait(late: float, backend: Any) -> None:
    """They learn of it after a while, and go on without it."""

    def main(comm: Any, log: list[Any]) -> Any:
        fakempi.compute(late * (comm.rank == 1))
        try:
            if comm.rank == 1:
                fakempi.die()
            comm.Barrier()
        except MPI.Exception as error:
            log.append(str(error))
        return comm.Shrink().allreduce(comm.rank), MPI.Wtime()

    returns, *_, log = both_ways(main, backend=backend)
    assert [each and each[0] for each in returns] == [5, None, 5, 5]
    assert log[0] == "Barrier on rank 0: rank 1 has died."


def test_a_communicator_is_revoked_while_others_wait() -> None:
    """Ranks that wait get an error, and so do later calls."""

    def main(comm: Any, log: list[Any]) -> float:
        world = comm.Dup()
        comm.Barrier()
        fakempi.compute(2e-6 * comm.rank)
        try:
            if comm.rank == 3:
                comm.Revoke()
            comm.Barrier()
        except MPI.Exception as error:
            log.append(str(error))
        world.Barrier()
        return MPI.Wtime()

    *_, log = both_ways(main)
    assert sorted(log) == [f"Barrier on rank {rank}: the communicator was revoked." for rank in range(4)]


def test_a_function_of_the_programs_is_called_at_its_own_time() -> None:
    """Ranks that compute meanwhile may see what it does."""

    def main(comm: Any, log: list[Any]) -> None:
        def add(one: Any, two: Any, datatype: Any) -> None:
            log.append((comm.rank, MPI.Wtime()))
            np.frombuffer(two)[...] += np.frombuffer(one)

        for i in range(4 * (comm.rank == 3)):
            fakempi.compute(1e-6)
            log.append(("still computes", i))
        op = MPI.Op.Create(add, commute=True)
        comm.Allreduce(np.ones(1), np.zeros(1), op)
        op.Free()

    *_, log = both_ways(main)
    assert log.index(("still computes", 3)) > next(i for i, (who, _) in enumerate(log) if who == 1)


def test_messages_of_fused_calls_count_for_a_race() -> None:
    """A fused barrier orders the two messages, so no race is reported."""

    def main(comm: Any, log: list[Any]) -> None:
        if comm.rank == 0:
            comm.Recv(np.zeros(1), MPI.ANY_SOURCE)
            fakempi.compute(1e-3)
        elif comm.rank == 1:
            comm.Send(np.zeros(1), 0)
        elif comm.rank == 2:
            fakempi.compute(2e-6)
            request = comm.Isend(np.zeros(1), 0)
        fakempi.compute(1e-5)
        comm.Barrier()
        if comm.rank == 0:
            comm.Recv(np.zeros(1), MPI.ANY_SOURCE)
        elif comm.rank == 2:
            fakempi.compute(1e-3)
            request.Wait()

    assert both_ways(main, cost=Hockney(eager_limit=0))[4] == []


def test_threads_and_runs_of_ranks_go_on_meanwhile(backend: Any) -> None:
    """A rank starts a thread, another one a separate run; a third has a message to wait for."""

    def main(comm: Any, log: list[Any]) -> Any:
        fakempi.compute(1e-6 * comm.rank)
        if comm.rank == 1:

            def aside() -> None:
                fakempi.compute(5e-6)
                log.append(MPI.Wtime())

            thread = threading.Thread(target=aside)
            thread.start()
            comm.Barrier()
            thread.join()
            return None
        inner = fakempi.run(lambda comm: comm.Barrier(), 3, fused="auto").time if comm.rank == 2 else None
        comm.Barrier()
        return inner, MPI.Wtime()

    both_ways(main, backend=backend)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_who_is_interrupted_ends_the_run_though_others_wait(error: type[BaseException], backend: Any) -> None:
    """With what interrupted it, and all `finally` blocks run."""

    def main(comm: Any, log: list[Any]) -> None:
        try:
            for _ in range(2):
                comm.Barrier()
                fakempi.compute(1e-6 * comm.rank)
            if comm.rank == 3:
                raise error("now")
            comm.Barrier()
        finally:
            log.append(comm.rank)

    logs = []
    for fused in ("auto", "never"):
        log: list[Any] = []
        with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else RankError):
            fakempi.run(main, 4, log, fused=fused, backend=backend)
        logs.append(log)
    assert logs[0] == logs[1]
    assert sorted(logs[0]) == [0, 1, 2, 3]


def test_a_run_that_only_calls_collectives_ends_when_its_time_is_up(
    backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though no message is ever sent; its report names the rank that has not called."""

    def endless(comm: Any) -> None:
        while True:
            comm.Barrier()

    def computes(comm: Any) -> None:
        while comm.rank == 3:
            late.append(True)  # the others are in their call: now, and not before, the time is up
            fakempi.compute(1e-6)
        comm.Barrier()

    with pytest.raises(RunTimeoutError, match=r"not done after 0\.05 s"):
        fakempi.run(endless, 4, fused="auto", backend=backend, timeout=0.05)
    late: list[bool] = []
    monkeypatch.setattr(monitor, "monotonic", lambda: 1000 + monotonic() if late else 0.0)
    with pytest.raises(RunTimeoutError, match=r"ranks 0-2: Barrier\(waits for rank 3\) at test_both_ways\.py:"):
        fakempi.run(computes, 4, fused="auto", backend=backend, timeout=0.05)


def test_windows_probes_and_polls_between_calls_see_the_same_ports() -> None:
    """The time at which a port is free includes the messages of fused calls."""

    def main(comm: Any, log: list[Any]) -> Any:
        rank, p, mine = comm.rank, comm.size, np.full(8, float(comm.rank))
        window = MPI.Win.Create(np.zeros(8 * p), comm=comm)
        for _ in range(3):
            comm.Alltoall(np.arange(2.0 * p), np.zeros(2 * p))
            window.Lock(0)
            window.Put(mine, 0, rank * 8)
            window.Unlock(0)
            request = comm.Isend(mine, (rank + 1) % p)
            while not comm.Iprobe((rank - 1) % p):
                fakempi.compute(1e-7)
            log.append((rank, MPI.Wtime()))
            comm.Barrier()
            comm.Recv(np.zeros(8), (rank - 1) % p)
            request.Wait()
        window.Free()
        return MPI.Wtime()

    for cost in (Hockney(), Hockney(eager_limit=0)):
        both_ways(main, cost=cost)


@pytest.mark.parametrize(
    "options", [{"seed": 3}, {"kill": {1: 1.0}}, {"strict": True}, {"check_buffers": True}, {"trace": True}], ids=str
)
def test_runs_that_are_looked_at_closely_are_the_same(options: dict[str, Any]) -> None:
    """With a seed, a later failure, checks of buffers, or a trace."""

    def main(comm: Any, log: list[Any]) -> float:
        for i in range(3):
            fakempi.compute(1e-6 * (comm.rank * i % 3))
            comm.Allreduce(np.ones(2), np.zeros(2))
            log.append(comm.rank)
        return MPI.Wtime()

    both_ways(main, **options)
