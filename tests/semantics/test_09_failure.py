"""Rule 9: a failing rank ends the run. The others are unwound, nothing is left, the first failure is reported."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import fakempi
from fakempi import MPI, Hockney, compute, phantom
from fakempi.core.kernel.loop import ENDED_LIMIT


@pytest.fixture(autouse=True)
def threads_left() -> Iterator[set[threading.Thread]]:
    """After each of these tests there are the same threads as before, and those that the test lists here."""
    before, left = set(threading.enumerate()), set[threading.Thread]()
    yield left
    assert set(threading.enumerate()) - before == left


def failure(main: Callable[..., Any], nprocs: int, backend: Any, **options: Any) -> fakempi.RankError:
    """The error of a run that fails."""
    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(main, nprocs, backend=backend, **options)
    return caught.value


# -- the error ----------------------------------------------------------------------------------------------------


def test_the_caller_gets_rank_exception_and_traceback(backend: Any) -> None:
    """The full one: down to the line that raised."""

    def inner() -> None:
        raise KeyError("nothing there")

    def main(comm: Any) -> None:
        compute(1)
        if comm.rank == 2:
            inner()
        comm.recv(source=2)

    error = failure(main, 4, backend)
    assert error.rank == 2
    assert error.exception is error.__cause__
    assert isinstance(error.exception, KeyError)
    assert [frame.name for frame in traceback.extract_tb(error.exception.__traceback__)][-2:] == ["main", "inner"]
    assert str(error) == "rank 2 failed with KeyError: 'nothing there'"
    assert error.others == []


def test_the_first_failure_in_modeled_time_is_reported(backend: Any) -> None:
    """Not the lowest rank; ranks that would have failed later do not."""

    def main(comm: Any) -> None:
        compute(10 - comm.rank)
        raise ValueError(f"I am {comm.rank}")

    error = failure(main, 4, backend)
    assert (error.rank, str(error.exception), error.others) == (3, "I am 3", [])


def test_failures_during_cleanup_are_listed_as_others(backend: Any) -> None:
    """With their ranks, after the first."""

    def main(comm: Any) -> None:
        try:
            if comm.rank == 1:
                compute(1)
                raise ValueError("first")
            comm.recv(source=1)
        finally:
            if comm.rank in (0, 3):
                raise OSError(f"cleaning up {comm.rank}")

    error = failure(main, 4, backend)
    assert (error.rank, str(error.exception)) == (1, "first")
    assert [(rank, str(other)) for rank, other in error.others] == [(0, "cleaning up 0"), (3, "cleaning up 3")]
    assert str(error).splitlines() == [
        "rank 1 failed with ValueError: first",
        "  also rank 0: OSError: cleaning up 0",
        "  also rank 3: OSError: cleaning up 3",
    ]


def test_an_mpi_error_is_a_failure_like_any_other(backend: Any) -> None:
    """With its class and its message."""
    error = failure(lambda comm: comm.send("x", 7), 2, backend)
    assert isinstance(error.exception, MPI.Exception)
    assert error.exception.Get_error_class() == MPI.ERR_RANK
    assert str(error.exception) == "send on rank 0: dest 7 is not in 0..1: the communicator has 2 ranks."


def test_a_caught_error_does_not_end_the_run(backend: Any) -> None:
    """The rank continues."""

    def main(comm: Any) -> str:
        try:
            comm.send("x", 99)
        except MPI.Exception:
            return str(comm.sendrecv("fine", 1 - comm.rank, source=1 - comm.rank))
        return "not refused"

    assert fakempi.run(main, 2, backend=backend).returns == ["fine", "fine"]


# -- the others are unwound ---------------------------------------------------------------------------------------

WAITING: dict[str, Callable[[Any], Any]] = {
    "receiving": lambda comm: comm.recv(source=0),
    "sending": lambda comm: comm.Ssend(b"x", 0),
    "computing": lambda comm: compute(1000),
    "probing": lambda comm: comm.Probe(0),
    "waiting for any": lambda comm: MPI.Request.Waitany([comm.irecv(source=0), comm.irecv(source=1)]),
    "waiting for all": lambda comm: MPI.Request.Waitall([comm.irecv(source=0), comm.irecv(source=1)]),
    "splitting": lambda comm: comm.Split(0),
    "polling": lambda comm: [comm.Iprobe(0) for _ in range(1000)],
    "in the middle of a transfer": lambda comm: comm.Sendrecv(
        phantom(10**12), comm.rank ^ 3, 0, phantom(10**12), comm.rank ^ 3
    ),
}


@pytest.mark.parametrize("how", WAITING)
def test_all_others_are_unwound_wherever_they_are(backend: Any, how: str) -> None:
    """Their finally blocks and context managers run, in the order of ranks, and their `else` parts do not."""
    log: list[int] = []

    def main(comm: Any) -> None:
        if comm.rank == 0:
            compute(1e-3)
            raise ValueError
        try:
            WAITING[how](comm)
            log.append(-1)
        finally:
            log.append(comm.rank)

    assert failure(main, 3, backend, cost=Hockney(eager_limit=10**15)).rank == 0
    assert log == [1, 2]


def test_a_rank_that_has_not_started_never_starts(backend: Any) -> None:
    """Rank 0 fails at once."""
    log: list[int] = []

    def main(comm: Any) -> None:
        log.append(comm.rank)
        raise ValueError

    failure(main, 3, backend)
    assert log == [0]


def test_cleanup_may_compute_and_communication_raises(backend: Any) -> None:
    """A finally block that waits for a message does not hang."""
    log: list[str] = []

    def main(comm: Any) -> None:
        if comm.rank == 0:
            compute(1)
            raise ValueError
        try:
            comm.recv(source=0)
        finally:
            compute(5)
            log.append("computed")
            try:
                comm.send("goodbye", 0)
            finally:
                log.append("refused")

    failure(main, 2, backend)
    assert log == ["computed", "refused"]


LOOPS: dict[str, Callable[[Any], Any]] = {
    "recv": lambda comm: comm.recv(source=0),
    "send": lambda comm: comm.send("x", 0),
    "Ssend": lambda comm: comm.Ssend(b"x", 0),
    "Probe": lambda comm: comm.Probe(0),
    "Iprobe": lambda comm: comm.Iprobe(0),
    "wait": lambda comm: comm.irecv(source=0).wait(),
    "Split": lambda comm: comm.Split(0),
}


@pytest.mark.parametrize("call", LOOPS)
def test_a_loop_that_catches_every_exception_does_not_hang_the_run(
    backend: Any, call: str, threads_left: set[threading.Thread]
) -> None:
    """The rank is unwound a limited number of times, then given up; the others are unwound as usual."""
    refused, over, log = 0, False, []

    def main(comm: Any) -> None:
        nonlocal refused, over
        if comm.rank == 0:
            compute(1e-4)
            over = True
            raise ValueError
        try:
            while comm.rank == 1 and refused < 10 * ENDED_LIMIT:
                try:
                    LOOPS[call](comm)
                except BaseException:
                    refused += 1
                else:
                    refused += over
            comm.recv(source=0)
        finally:
            log.append(comm.rank)

    before = set(threading.enumerate())
    assert failure(main, 3, backend).rank == 0
    threads_left |= set(threading.enumerate()) - before
    assert refused <= ENDED_LIMIT + 1
    assert log[-1:] == [2]
    assert len(threads_left) <= (backend == "threads")
    assert all(thread.daemon for thread in threads_left)


# -- ways to end --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [None, 0, False])
def test_sys_exit_with_success_ends_one_rank(backend: Any, code: Any) -> None:
    """The others continue; its return value is None."""

    def main(comm: Any) -> str:
        compute(1)
        if comm.rank == 1:
            sys.exit(code)
        compute(1)
        return "done"

    run = fakempi.run(main, 3, backend=backend)
    assert (run.returns, run.clocks) == (["done", None, "done"], [2, 1, 2])


@pytest.mark.parametrize("code", [3, "words", True])
def test_sys_exit_with_an_error_code_ends_the_run(backend: Any, code: Any) -> None:
    """Like an exception."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            sys.exit(code)
        comm.recv(source=1)

    error = failure(main, 2, backend)
    assert error.rank == 1
    assert isinstance(error.exception, SystemExit)
    assert error.exception.code == code


def test_abort_ends_the_run(backend: Any) -> None:
    """With its error code, although the rank catches the exception and continues."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            try:
                comm.Abort(7)
            except BaseException:
                comm.recv(source=0)
        comm.recv(source=1)

    error = failure(main, 3, backend)
    assert error.rank == 1
    assert str(error) == "rank 1 failed with Aborted: Abort(7) was called"


def test_a_keyboard_interrupt_in_a_rank_is_raised_in_the_caller(backend: Any) -> None:
    """Not wrapped: Ctrl-C ends programs, including those that catch our errors."""
    log = []

    def main(comm: Any) -> None:
        if comm.rank == 1:
            raise KeyboardInterrupt
        try:
            comm.recv(source=1)
        finally:
            log.append(comm.rank)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 3, backend=backend)
    assert log == [0]


@pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to oneself there")
def test_ctrl_c_reaches_a_rank_that_computes_and_never_waits(backend: Any) -> None:
    """The signal ends it and all others."""
    log: list[Any] = []

    def main(comm: Any) -> None:
        try:
            if comm.rank == 1:
                for _ in range(10**6):
                    pass  # now the thread that receives signals waits
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(10**10):  # minutes: longer than the signal takes
                    pass
                log.append("to the end")
            comm.recv(source=1)
        finally:
            log.append(comm.rank)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the workers of xdist ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            fakempi.run(main, 2, backend=backend)
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(log) == [0, 1]


@pytest.mark.parametrize("kind", [GeneratorExit, BaseException, StopIteration, RecursionError])
def test_every_exception_type_is_a_failure(backend: Any, kind: type[BaseException]) -> None:
    """Including those that have a meaning elsewhere."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            raise kind("odd")

    error = failure(main, 2, backend)
    assert (error.rank, type(error.exception)) == (1, kind)


def test_a_failure_inside_a_run_inside_a_rank(backend: Any) -> None:
    """Both errors have their ranks."""

    def inner(comm: Any) -> None:
        if comm.rank == 2:
            raise ValueError("deep down")
        comm.recv(source=2)

    def outer(comm: Any) -> None:
        if comm.rank == 1:
            fakempi.run(inner, 4, backend=backend)
        comm.recv(source=1)

    error = failure(outer, 2, backend)
    assert error.rank == 1
    assert isinstance(error.exception, fakempi.RankError)
    assert (error.exception.rank, str(error.exception.exception)) == (2, "deep down")


def test_a_failure_inside_a_nested_run_may_be_caught_by_its_rank(backend: Any) -> None:
    """The rank continues."""

    def outer(comm: Any) -> str:
        with pytest.raises(fakempi.RankError):
            fakempi.run(lambda inner: 1 // 0, 3, backend=backend)
        with pytest.raises(fakempi.DeadlockError):
            fakempi.run(lambda inner: inner.recv(source=inner.rank), 3, backend=backend)
        return str(comm.sendrecv("fine", 1 - comm.rank, source=1 - comm.rank))

    assert fakempi.run(outer, 2, backend=backend).returns == ["fine", "fine"]


def test_a_model_that_raises_leaves_nothing_behind(backend: Any) -> None:
    """Also if it is called between two ranks, when a queue advances."""

    class Broken(fakempi.CostModel):
        requested = 0

        def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
            self.requested += 1
            return 5, 5, 5 // (2 - self.requested)

    log = []

    def main(comm: Any) -> None:
        try:
            if comm.rank == 0:
                MPI.Request.waitall([comm.isend(i, 1) for i in range(3)])
            else:
                for _ in range(3):
                    comm.recv(source=0)
        finally:
            log.append(comm.rank)

    with pytest.raises(fakempi.RunError, match=r"^cost model Broken: transfer\(0, 1, 5\) raised Zero") as caught:
        fakempi.run(main, 2, cost=Broken(), backend=backend)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert sorted(log) == [0, 1]
