"""Law 2, polling ends: time-outs do, and a livelock is called only where ranks come back to where they were."""

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
from fakempi.mpi.evidence import polling

FREE = polling.FREE


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less patience with those who count."""
    monkeypatch.setattr(polling, "MOST", 3 * FREE)


def test_a_time_out_by_the_modelled_clock_ends(carrier: str) -> None:
    """Though nothing else can happen: each vain poll takes a microsecond."""

    def main(comm: Any) -> int:
        start, polls = MPI.Wtime(), 0
        while MPI.Wtime() - start < 1e-3:
            polls += not comm.Iprobe()
        return polls

    run = fakempi.run(main, 2, carrier=carrier)
    assert 1e-3 <= run.time < 1.002e-3
    assert run.returns == [2001, 2001]  # a thousand of them took no time


def test_what_a_vain_poll_takes_can_be_said(carrier: str) -> None:
    """Any number; a fraction stays one."""

    def main(comm: Any) -> None:
        for _ in range(FREE + 10):
            assert not comm.Iprobe()

    third: Any = Fraction(1, 3)
    assert fakempi.run(main, 1, carrier=carrier, poll=third).time == 9 * third
    assert fakempi.run(main, 1, carrier=carrier, poll=0).time == 0


@pytest.mark.parametrize("poll", [-1e-6, float("nan"), float("inf")])
def test_a_vain_poll_takes_a_time_that_makes_sense(poll: float) -> None:
    """Not negative, a number, finite."""
    with pytest.raises(MPI.Exception, match=rf"^run: poll must be a finite number of seconds, not {poll!r}\.$"):
        fakempi.run(lambda comm: None, 1, poll=poll)
    with pytest.raises(MPI.Exception, match=r"^run: poll must be a number of seconds, not 'a while'\.$"):
        fakempi.run(lambda comm: None, 1, poll="a while")  # type: ignore[arg-type]


def test_an_hour_takes_a_moment_and_a_thousandth_too_much() -> None:
    """The longer it lasts, the longer a round."""

    def main(comm: Any) -> None:
        while MPI.Wtime() < 3600:
            comm.Iprobe()

    assert 3600 <= fakempi.run(main, 1).time < 3604


def test_time_outs_end_where_floats_are_coarse() -> None:
    """So late that a microsecond more is the same number."""

    def main(comm: Any) -> None:
        fakempi.compute(1e15)
        while MPI.Wtime() < 1e15 + 10:
            comm.Iprobe()

    assert fakempi.run(main, 1).time >= 1e15 + 10


def test_a_thread_of_a_rank_waits_for_the_clock(carrier: str) -> None:
    """While its rank waits for it, and the other rank for a message."""

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

    assert 1e-4 < fakempi.run(main, 2, carrier=carrier).time < 1.1e-4


def test_a_time_out_by_the_real_clock_ends(carrier: str) -> None:
    """Which nobody but the program sees; that somebody looks at it is seen."""

    def main(comm: Any) -> str:
        end = time.monotonic() + 0.02
        while time.monotonic() < end:
            comm.Iprobe()
        return "in time"

    assert fakempi.run(main, 1, carrier=carrier).returns == ["in time"]
    assert sys.getprofile() is None


def counts_in_a_local(comm: Any) -> None:
    """A number."""
    polls = 0
    while polls < 2 * FREE:
        comm.Iprobe()
        polls += 1


def counts_in_a_list(comm: Any) -> None:
    """Its length."""
    polls: list[Any] = []
    while len(polls) < 2 * FREE:
        polls.append(comm.Iprobe())


def counts_in_an_object(comm: Any) -> None:
    """An attribute of an attribute."""

    class Holds:
        polls = 0

    outer = Holds()
    outer.inner = Holds()  # type: ignore[attr-defined]
    while outer.inner.polls < 2 * FREE:  # type: ignore[attr-defined]
        comm.Iprobe()
        outer.inner.polls += 1  # type: ignore[attr-defined]


def counts_in_an_array(comm: Any) -> None:
    """All elements, one of them, or few of many."""
    polls = np.zeros(1000)
    while polls[500] < 2 * FREE:
        comm.Iprobe()
        polls[500] += 1


def works_on_a_large_array(comm: Any) -> None:
    """In place."""
    work = np.zeros(300_000, np.int16)
    while work[0] < FREE + 100:
        comm.Iprobe()
        work += 1


total = 0


def counts_in_a_global(comm: Any) -> None:
    """Of the module."""
    global total
    total = 0
    while total < 2 * FREE:
        comm.Iprobe()
        total += 1


def counts_in_a_caller(comm: Any) -> None:
    """Which passes it on to nobody."""

    def looks() -> None:
        comm.Iprobe()

    polls = 0
    while polls < 2 * FREE:
        looks()
        polls += 1


def counts_in_a_generator(comm: Any) -> None:
    """Which is asked for the next."""

    def numbers() -> Any:
        number = 0
        while True:
            number += 1
            yield number < 2 * FREE

    more = numbers()
    while next(more):
        comm.Iprobe()


def has_an_iterator(comm: Any) -> None:
    """In hand, where nobody sees it."""
    for _ in itertools.repeat(None, 2 * FREE):
        comm.Iprobe()


def has_a_comprehension(comm: Any) -> None:
    """Its variable is seen by nobody from Python 3.12 on."""
    assert not any([comm.Iprobe() for _ in range(2 * FREE)])


def is_driven_by_c(comm: Any) -> None:
    """No loop of Python's is around it."""
    assert not any(map(comm.Iprobe, itertools.repeat(MPI.ANY_SOURCE, 2 * FREE)))


@pytest.mark.parametrize("main", [
    counts_in_a_local, counts_in_a_list, counts_in_an_object, counts_in_an_array, works_on_a_large_array, counts_in_a_global,
    counts_in_a_caller, counts_in_a_generator, has_an_iterator, has_a_comprehension, is_driven_by_c,
])  # fmt: skip
def test_who_polls_so_many_times_in_vain_ends(main: Callable[[Any], None]) -> None:
    """A finite program, wherever it counts."""
    assert fakempi.run(main, 1).time > 0


def test_who_polls_for_many_things_in_turn_is_seen_to_come_back(carrier: str) -> None:
    """It is in another line each time, and after some rounds in the same: the time is that at which nothing could happen."""

    def main(comm: Any) -> None:
        requests = [comm.irecv(source=0, tag=tag) for tag in range(5)]
        while not (requests[0].test()[0] or requests[1].test()[0] or comm.Iprobe(tag=7) or requests[2].test()[0]):
            pass

    words = r"^livelock at t = 0 s: 3 of 3 ranks poll in vain or wait, and nothing else can happen\."
    with pytest.raises(fakempi.LivelockError, match=words):
        fakempi.run(main, 3, carrier=carrier)


def test_what_the_garbage_collector_calls_counts_for_nothing() -> None:
    """It comes at any moment, and who has asked to be told may look at a clock."""

    def look(phase: str, info: Any) -> None:
        time.perf_counter()

    def main(comm: Any) -> None:
        while not comm.Iprobe():
            gc.collect(0)

    gc.callbacks.append(look)
    try:
        with pytest.raises(fakempi.LivelockError, match=r"^livelock at t = 0 s: 1 of 1 ranks polls in vain or waits, and"):
            fakempi.run(main, 1)
    finally:
        gc.callbacks.remove(look)


def test_who_counts_for_ever_is_told_what_is_known(carrier: str, soon: None) -> None:
    """It may have a number in mind, which nobody can know."""

    def main(comm: Any) -> None:
        polls = 0
        while not comm.Iprobe():
            polls += 1

    with pytest.raises(fakempi.LivelockError) as caught:
        fakempi.run(main, 2, carrier=carrier)
    assert str(caught.value).splitlines()[0] == (
        "livelock at t = 0.002 s: 2 of 2 ranks poll in vain or wait: "
        "3,000 polls in a row found nothing, and nobody else can do anything."
    )


def test_who_looks_at_clocks_for_ever_is_told_so_too(soon: None) -> None:
    """However late it is by then."""

    def main(comm: Any) -> None:
        while not comm.Iprobe():
            MPI.Wtime()

    with pytest.raises(fakempi.LivelockError, match="3,000 polls in a row found nothing"):
        fakempi.run(main, 1)


def test_after_three_years_no_time_out_is_expected_any_more() -> None:
    """Which takes a moment."""

    def main(comm: Any) -> None:
        while not comm.Iprobe():
            MPI.Wtime()

    with pytest.raises(fakempi.LivelockError, match=r"^livelock at t = 1\.00\d+e\+08 s: .* 27,\d\d\d polls in a row"):
        fakempi.run(main, 1)


def test_time_stands_still_while_something_else_can_happen(carrier: str) -> None:
    """Thousands of polls, and the modelled time is what it always was."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            while not comm.Iprobe():
                pass
        else:
            for _ in range(3 * FREE):
                fakempi.compute(1)
            comm.send("x", 0)
        return MPI.Wtime()

    cost = fakempi.Hockney(t_s=1, t_w=0)
    assert fakempi.run(main, 2, carrier=carrier, cost=cost).clocks == [3 * FREE + 1] * 2


def test_a_message_after_a_thousand_vain_polls_starts_the_count_again(carrier: str) -> None:
    """The next thousand take no time either."""

    def main(comm: Any) -> None:
        for _ in range(3):
            for _ in range(FREE // 2):
                comm.Iprobe(tag=9)
            comm.sendrecv("x", 1 - comm.rank, source=1 - comm.rank)

    assert fakempi.run(main, 2, carrier=carrier, cost=fakempi.Free()).time == 0


def test_ones_own_profiler_is_left_alone() -> None:
    """It sees what it sees."""
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
