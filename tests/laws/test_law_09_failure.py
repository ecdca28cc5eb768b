"""Law 9: a failing rank ends the run. The others are unwound, nothing is left, and the first failure is told."""

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
from fakempi.kernel.loop import REFUSALS


@pytest.fixture(autouse=True)
def left_standing() -> Iterator[set[threading.Thread]]:
    """After each of these tests there are the same threads as before, and those that the test has put here."""
    before, left = set(threading.enumerate()), set[threading.Thread]()
    yield left
    assert set(threading.enumerate()) - before == left


def failure(main: Callable[..., Any], nprocs: int, carrier: str, **options: Any) -> fakempi.RankError:
    """What comes out of a run that fails."""
    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(main, nprocs, carrier=carrier, **options)
    return caught.value


# -- what the caller gets -----------------------------------------------------------------------------------------


def test_the_caller_gets_rank_exception_and_traceback(carrier: str) -> None:
    """The true one: down to the line that raised."""

    def inner() -> None:
        raise KeyError("nothing there")

    def main(comm: Any) -> None:
        compute(1)
        if comm.rank == 2:
            inner()
        comm.recv(source=2)

    error = failure(main, 4, carrier)
    assert error.rank == 2
    assert error.exception is error.__cause__
    assert isinstance(error.exception, KeyError)
    assert [frame.name for frame in traceback.extract_tb(error.exception.__traceback__)][-2:] == ["main", "inner"]
    assert str(error) == "rank 2 failed with KeyError: 'nothing there'"
    assert error.others == []


def test_the_first_to_fail_in_virtual_time_is_the_one(carrier: str) -> None:
    """Not the lowest rank; those that would have failed later never do."""

    def main(comm: Any) -> None:
        compute(10 - comm.rank)
        raise ValueError(f"I am {comm.rank}")

    error = failure(main, 4, carrier)
    assert (error.rank, str(error.exception), error.others) == (3, "I am 3", [])


def test_failures_in_cleaning_up_are_listed_as_others(carrier: str) -> None:
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

    error = failure(main, 4, carrier)
    assert (error.rank, str(error.exception)) == (1, "first")
    assert [(rank, str(other)) for rank, other in error.others] == [(0, "cleaning up 0"), (3, "cleaning up 3")]
    assert str(error).splitlines() == [
        "rank 1 failed with ValueError: first",
        "  also rank 0: OSError: cleaning up 0",
        "  also rank 3: OSError: cleaning up 3",
    ]


def test_an_mpi_error_is_a_failure_like_any_other(carrier: str) -> None:
    """With its class and its sentence."""
    error = failure(lambda comm: comm.send("x", 7), 2, carrier)
    assert isinstance(error.exception, MPI.Exception)
    assert error.exception.Get_error_class() == MPI.ERR_RANK
    assert str(error.exception) == "send on rank 0: dest 7 is not in 0..1: the communicator has 2 ranks."


def test_an_error_that_is_caught_ends_nothing(carrier: str) -> None:
    """The rank goes on."""

    def main(comm: Any) -> str:
        try:
            comm.send("x", 99)
        except MPI.Exception:
            return str(comm.sendrecv("fine", 1 - comm.rank, source=1 - comm.rank))
        return "not refused"

    assert fakempi.run(main, 2, carrier=carrier).returns == ["fine", "fine"]


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
def test_all_others_are_unwound_wherever_they_are(carrier: str, how: str) -> None:
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

    assert failure(main, 3, carrier, cost=Hockney(eager_limit=10**15)).rank == 0
    assert log == [1, 2]


def test_a_rank_that_has_not_started_never_does(carrier: str) -> None:
    """Rank 0 fails at once."""
    log: list[int] = []

    def main(comm: Any) -> None:
        log.append(comm.rank)
        raise ValueError

    failure(main, 3, carrier)
    assert log == [0]


def test_cleaning_up_may_compute_and_is_told_when_it_communicates(carrier: str) -> None:
    """A finally block that waits for a message that cannot come does not hang."""
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
                log.append("told")

    failure(main, 2, carrier)
    assert log == ["computed", "told"]


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
def test_a_loop_that_catches_everything_does_not_hang_the_run(
    carrier: str, call: str, left_standing: set[threading.Thread]
) -> None:
    """The rank is told so often, and then left where it stands; the others are unwound as usual."""
    told, over, log = 0, False, []

    def main(comm: Any) -> None:
        nonlocal told, over
        if comm.rank == 0:
            compute(1e-4)
            over = True
            raise ValueError
        try:
            while comm.rank == 1 and told < 10 * REFUSALS:
                try:
                    LOOPS[call](comm)
                except BaseException:
                    told += 1
                else:
                    told += over
            comm.recv(source=0)
        finally:
            log.append(comm.rank)

    before = set(threading.enumerate())
    assert failure(main, 3, carrier).rank == 0
    left_standing |= set(threading.enumerate()) - before
    assert told <= REFUSALS + 1
    assert log[-1:] == [2]
    assert len(left_standing) <= (carrier == "threads")
    assert all(thread.daemon for thread in left_standing)


# -- ways to end --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [None, 0, False])
def test_sys_exit_with_success_ends_one_rank(carrier: str, code: Any) -> None:
    """The others go on; it has returned nothing."""

    def main(comm: Any) -> str:
        compute(1)
        if comm.rank == 1:
            sys.exit(code)
        compute(1)
        return "done"

    run = fakempi.run(main, 3, carrier=carrier)
    assert (run.returns, run.clocks) == (["done", None, "done"], [2, 1, 2])


@pytest.mark.parametrize("code", [3, "words", True])
def test_sys_exit_with_failure_ends_the_run(carrier: str, code: Any) -> None:
    """As an exception does."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            sys.exit(code)
        comm.recv(source=1)

    error = failure(main, 2, carrier)
    assert error.rank == 1
    assert isinstance(error.exception, SystemExit)
    assert error.exception.code == code


def test_abort_ends_the_run(carrier: str) -> None:
    """With its error code, though the rank catches it and goes on."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            try:
                comm.Abort(7)
            except BaseException:
                comm.recv(source=0)
        comm.recv(source=1)

    error = failure(main, 3, carrier)
    assert error.rank == 1
    assert str(error) == "rank 1 failed with Aborted: Abort(7) was called"


def test_a_keyboard_interrupt_in_a_rank_is_the_callers(carrier: str) -> None:
    """Not wrapped: Ctrl-C ends programs, also those that catch our errors."""
    log = []

    def main(comm: Any) -> None:
        if comm.rank == 1:
            raise KeyboardInterrupt
        try:
            comm.recv(source=1)
        finally:
            log.append(comm.rank)

    with pytest.raises(KeyboardInterrupt):
        fakempi.run(main, 3, carrier=carrier)
    assert log == [0]


@pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to oneself there")
def test_ctrl_c_reaches_a_rank_that_computes_and_never_waits(carrier: str) -> None:
    """The user's signal ends it, and all others."""
    log: list[Any] = []

    def main(comm: Any) -> None:
        try:
            if comm.rank == 1:
                for _ in range(10**6):
                    pass  # by now the thread that gets signals is asleep
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(10**10):  # minutes: more than it can take to be told
                    pass
                log.append("to the end")
            comm.recv(source=1)
        finally:
            log.append(comm.rank)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the workers of xdist ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            fakempi.run(main, 2, carrier=carrier)
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(log) == [0, 1]


@pytest.mark.parametrize("kind", [GeneratorExit, BaseException, StopIteration, RecursionError])
def test_whatever_is_raised_is_a_failure(carrier: str, kind: type[BaseException]) -> None:
    """Also what has a meaning elsewhere."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            raise kind("odd")

    error = failure(main, 2, carrier)
    assert (error.rank, type(error.exception)) == (1, kind)


def test_a_failure_inside_a_run_inside_a_rank(carrier: str) -> None:
    """Comes out of both, each with its rank."""

    def inner(comm: Any) -> None:
        if comm.rank == 2:
            raise ValueError("deep down")
        comm.recv(source=2)

    def outer(comm: Any) -> None:
        if comm.rank == 1:
            fakempi.run(inner, 4, carrier=carrier)
        comm.recv(source=1)

    error = failure(outer, 2, carrier)
    assert error.rank == 1
    assert isinstance(error.exception, fakempi.RankError)
    assert (error.exception.rank, str(error.exception.exception)) == (2, "deep down")


def test_a_failure_inside_a_run_may_be_caught_by_its_rank(carrier: str) -> None:
    """Which goes on with its own."""

    def outer(comm: Any) -> str:
        with pytest.raises(fakempi.RankError):
            fakempi.run(lambda inner: 1 // 0, 3, carrier=carrier)
        with pytest.raises(fakempi.DeadlockError):
            fakempi.run(lambda inner: inner.recv(source=inner.rank), 3, carrier=carrier)
        return str(comm.sendrecv("fine", 1 - comm.rank, source=1 - comm.rank))

    assert fakempi.run(outer, 2, carrier=carrier).returns == ["fine", "fine"]


def test_a_model_that_raises_leaves_nothing_behind(carrier: str) -> None:
    """Also where it is asked between two ranks' turns, when a queue moves on."""

    class Broken(fakempi.CostModel):
        asked = 0

        def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
            self.asked += 1
            return 5, 5, 5 // (2 - self.asked)

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
        fakempi.run(main, 2, cost=Broken(), carrier=carrier)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert sorted(log) == [0, 1]
