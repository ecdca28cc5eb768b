"""Rule 2, polling: time-outs expire, and a livelock is reported only if ranks return to an earlier state."""

from __future__ import annotations

import gc
import itertools
import sys
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi.diagnostics import polling

FREE_ROUNDS = polling.FREE_ROUNDS


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limit for counted polling loops."""
    monkeypatch.setattr(polling, "MAX_ROUNDS", 3 * FREE_ROUNDS)


def test_a_time_out_by_the_modeled_clock_ends(backend: Any) -> None:
    """Although nothing else can happen: each unsuccessful poll takes a microsecond."""

    def main(comm: Any) -> int:
        start, polls = MPI.Wtime(), 0
        while MPI.Wtime() - start < 1e-3:
            polls += not comm.Iprobe()
        return polls

    run = fakempi.run(main, 2, backend=backend)
    assert 1e-3 <= run.time < 1.002e-3
    assert run.returns == [2001, 2001]  # a thousand of them took no time


def test_the_cost_of_an_unsuccessful_poll_can_be_set(backend: Any) -> None:
    """Any number; a Fraction stays exact."""

    def main(comm: Any) -> None:
        for _ in range(FREE_ROUNDS + 10):
            assert not comm.Iprobe()

    third: Any = Fraction(1, 3)
    assert fakempi.run(main, 1, backend=backend, poll_cost=third).time == 9 * third
    assert fakempi.run(main, 1, backend=backend, poll_cost=0).time == 0


@pytest.mark.parametrize("poll", [-1e-6, float("nan"), float("inf")])
def test_an_invalid_poll_cost_is_rejected(poll: float) -> None:
    """It must be a finite number and not negative."""
    with pytest.raises(MPI.Exception, match=rf"^run: poll_cost must be a finite number of seconds, not {poll!r}\.$"):
        fakempi.run(lambda comm: None, 1, poll_cost=poll)
    with pytest.raises(MPI.Exception, match=r"^run: poll_cost must be a number of seconds, not 'a while'\.$"):
        fakempi.run(lambda comm: None, 1, poll_cost="a while")  # type: ignore[arg-type]


def test_a_time_out_of_an_hour_ends_quickly_and_is_exact_to_a_thousandth() -> None:
    """The longer the wait, the longer a round."""

    def main(comm: Any) -> None:
        while MPI.Wtime() < 3600:
            comm.Iprobe()

    assert 3600 <= fakempi.run(main, 1).time < 3604


def test_time_outs_expire_where_floats_are_coarse() -> None:
    """So late that adding a microsecond does not change the number."""

    def main(comm: Any) -> None:
        fakempi.compute(1e15)
        while MPI.Wtime() < 1e15 + 10:
            comm.Iprobe()

    assert fakempi.run(main, 1).time >= 1e15 + 10


def test_a_thread_of_a_rank_waits_for_the_clock(backend: Any) -> None:
    """While its rank waits for the thread, and the other rank for a message."""

    def main(comm: Any) -> None:
        def wait() -> None:
            start = MPI.Wtime()
            while MPI.Wtime() - start < 1e-4:
                comm.Iprobe()
            comm.send("late", 1 - comm.rank)

        if comm.rank:
            comm.recv(source=0)
        else:
            thread = threading.Thread(target=wait)
            thread.start()
            thread.join()

    assert 1e-4 < fakempi.run(main, 2, backend=backend).time < 1.1e-4


def test_a_time_out_by_the_real_clock_ends(backend: Any) -> None:
    """Its value is visible to the program only; the call is detected."""

    def main(comm: Any) -> str:
        end = time.monotonic() + 0.02
        while time.monotonic() < end:
            comm.Iprobe()
        return "in time"

    assert fakempi.run(main, 1, backend=backend).returns == ["in time"]
    assert sys.getprofile() is None


def counts_in_a_local(comm: Any) -> None:
    """A number."""
    polls = 0
    while polls < 2 * FREE_ROUNDS:
        comm.Iprobe()
        polls += 1


def counts_in_a_list(comm: Any) -> None:
    """Its length."""
    polls: list[Any] = []
    while len(polls) < 2 * FREE_ROUNDS:
        polls.append(comm.Iprobe())


def counts_in_an_object(comm: Any) -> None:
    """An attribute of an attribute."""

    class Holds:
        polls = 0

    outer = Holds()
    outer.inner = Holds()  # type: ignore[attr-defined]
    while outer.inner.polls < 2 * FREE_ROUNDS:  # type: ignore[attr-defined]
        comm.Iprobe()
        outer.inner.polls += 1  # type: ignore[attr-defined]


def counts_in_an_array(comm: Any) -> None:
    """All elements, one of them, or a few of many."""
    polls = np.zeros(1000)
    while polls[500] < 2 * FREE_ROUNDS:
        comm.Iprobe()
        polls[500] += 1


def works_on_a_large_array(comm: Any) -> None:
    """In place."""
    work = np.zeros(300_000, np.int16)
    while work[0] < FREE_ROUNDS + 100:
        comm.Iprobe()
        work += 1


total = 0


def counts_in_a_global(comm: Any) -> None:
    """A global variable of the module."""
    global total
    total = 0
    while total < 2 * FREE_ROUNDS:
        comm.Iprobe()
        total += 1


def counts_in_a_caller(comm: Any) -> None:
    """Passes it on to no function."""

    def looks() -> None:
        comm.Iprobe()

    polls = 0
    while polls < 2 * FREE_ROUNDS:
        looks()
        polls += 1


def counts_in_a_generator(comm: Any) -> None:
    """A generator that returns the next value."""

    def numbers() -> Any:
        number = 0
        while True:
            number += 1
            yield number < 2 * FREE_ROUNDS

    more = numbers()
    while next(more):
        comm.Iprobe()


def has_an_iterator(comm: Any) -> None:
    """The counter is on the stack only, where it cannot be seen."""
    for _ in itertools.repeat(None, 2 * FREE_ROUNDS):
        comm.Iprobe()


def has_a_comprehension(comm: Any) -> None:
    """The variable is not visible from Python 3.12 on."""
    assert not any([comm.Iprobe() for _ in range(2 * FREE_ROUNDS)])


def is_driven_by_c(comm: Any) -> None:
    """There is no Python loop around it."""
    assert not any(map(comm.Iprobe, itertools.repeat(MPI.ANY_SOURCE, 2 * FREE_ROUNDS)))


@pytest.mark.quick(4)
@pytest.mark.parametrize("main", [
    counts_in_a_local, counts_in_a_list, counts_in_an_object, counts_in_an_array, works_on_a_large_array, counts_in_a_global,
    counts_in_a_caller, counts_in_a_generator, has_an_iterator, has_a_comprehension, is_driven_by_c,
])  # fmt: skip
def test_a_counted_polling_loop_ends(main: Callable[[Any], None]) -> None:
    """A finite program, wherever the counter is."""
    assert fakempi.run(main, 1).time > 0


def test_a_rank_that_polls_several_requests_in_turn_is_detected(backend: Any) -> None:
    """It is in another line each time, and then in the same: the reported time is the one at which nothing could happen.
    """

    def main(comm: Any) -> None:
        requests = [comm.irecv(source=0, tag=tag) for tag in range(5)]
        while not (requests[0].test()[0] or requests[1].test()[0] or comm.Iprobe(tag=7) or requests[2].test()[0]):
            pass

    words = r"^livelock at t = 0 s: 3 of 3 ranks poll without success or are blocked, and nothing can change that\."
    with pytest.raises(fakempi.LivelockError, match=words):
        fakempi.run(main, 3, backend=backend)


def test_callbacks_of_the_garbage_collector_are_ignored() -> None:
    """They are called at any time, and may read a clock."""

    def look(phase: str, info: Any) -> None:
        time.perf_counter()

    def main(comm: Any) -> None:
        while not comm.Iprobe():
            gc.collect(0)

    gc.callbacks.append(look)
    try:
        message = r"^livelock at t = 0 s: the only rank polls without success or is blocked, and"
        with pytest.raises(fakempi.LivelockError, match=message):
            fakempi.run(main, 1)
    finally:
        gc.callbacks.remove(look)


def test_an_endless_counted_loop_is_reported_with_its_count(backend: Any, low_limit: None) -> None:
    """It may have a limit that cannot be known."""

    def main(comm: Any) -> None:
        polls = 0
        while not comm.Iprobe():
            polls += 1

    with pytest.raises(fakempi.LivelockError) as caught:
        fakempi.run(main, 2, backend=backend)
    assert str(caught.value).splitlines()[0] == (
        "livelock at t = 0.002 s: 2 of 2 ranks poll without success or are blocked: "
        "3,000 polls in a row found nothing, and no other rank can run."
    )


def test_a_loop_that_reads_clocks_endlessly_is_reported(low_limit: None) -> None:
    """However late it is by then."""

    def main(comm: Any) -> None:
        while not comm.Iprobe():
            MPI.Wtime()

    with pytest.raises(fakempi.LivelockError, match="3,000 polls in a row found nothing"):
        fakempi.run(main, 1)


def test_after_three_modeled_years_polling_is_reported() -> None:
    """This takes a moment of real time."""

    def main(comm: Any) -> None:
        while not comm.Iprobe():
            MPI.Wtime()

    with pytest.raises(fakempi.LivelockError, match=r"^livelock at t = 1\.00\d+e\+08 s: .* 27,\d\d\d polls in a row"):
        fakempi.run(main, 1)


def test_polls_cost_no_time_while_something_else_can_happen(backend: Any) -> None:
    """Thousands of polls, and the modeled time is unchanged."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            while not comm.Iprobe():
                pass
        else:
            for _ in range(3 * FREE_ROUNDS):
                fakempi.compute(1)
            comm.send("x", 0)
        return MPI.Wtime()

    cost = fakempi.Hockney(t_s=1, t_w=0)
    assert fakempi.run(main, 2, backend=backend, cost=cost).clocks == [3 * FREE_ROUNDS + 1] * 2


def test_a_message_restarts_the_count_of_polls(backend: Any) -> None:
    """The next thousand polls take no time either."""

    def main(comm: Any) -> None:
        for _ in range(3):
            for _ in range(FREE_ROUNDS // 2):
                comm.Iprobe(tag=9)
            comm.sendrecv("x", 1 - comm.rank, source=1 - comm.rank)

    assert fakempi.run(main, 2, backend=backend, cost=fakempi.ZeroCost()).time == 0


def test_a_profiler_of_the_program_is_kept() -> None:
    """It gets the same events."""
    calls = []

    def main(comm: Any) -> None:
        while not comm.Iprobe():
            pass

    def profiler(*event: Any) -> None:
        calls.append(1)

    sys.setprofile(profiler)
    try:
        with pytest.raises(fakempi.LivelockError):
            fakempi.run(main, 1)
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)
