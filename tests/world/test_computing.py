"""`run(computing=...)` charges measured CPU time to ranks' clocks; what is measured is not compared with any figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI, Free, Hockney
from tests.script.harness import play


def work(comm: Any, amounts: list[int]) -> tuple[float, float]:
    """Compute, each rank so much; what it took by the rank's clock, and the clock after all have met."""
    comm.Barrier()
    start = MPI.Wtime()
    sum(range(amounts[comm.rank]))
    took = MPI.Wtime() - start
    comm.Barrier()
    return took, MPI.Wtime() - start


def test_computing_takes_time_if_asked_for(carrier: str) -> None:
    """And none otherwise; who has little to do waits for who has much."""
    assert fakempi.run(work, 2, [10, 20], cost=Free(), carrier=carrier).time == 0
    result = fakempi.run(work, 2, [10, 200_000], cost=Free(), carrier=carrier, computing=1.0)
    (little, until), (much, _) = result.returns
    assert 0 < little < much <= result.time
    assert until > little


def test_a_factor_makes_it_longer(carrier: str) -> None:
    """Ten thousand times as long is longer, however much two runs differ."""
    once, often = (fakempi.run(work, 1, [50_000], cost=Free(), carrier=carrier, computing=f).time for f in (1, 1e4))
    assert often > once


def test_a_factor_of_nothing_is_as_if_it_were_not_there(carrier: str) -> None:
    """The same run, to the last digit, and no method is wrapped."""
    before = MPI.Intracomm.Barrier
    plain = fakempi.run(work, 3, [9, 9, 9], carrier=carrier)
    zero = fakempi.run(work, 3, [9, 9, 9], carrier=carrier, computing=0)
    assert plain.clocks == zero.clocks
    assert repr(plain) == repr(zero)
    assert MPI.Intracomm.Barrier is before


def test_a_run_says_that_it_was_measured(carrier: str) -> None:
    """For it is another one next time."""
    result = fakempi.run(work, 2, [1, 1], carrier=carrier, computing=2.5)
    assert " s with measured computing times 2.5, " in repr(result)
    assert result.computing == 2.5


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (-1, "^run: computing must be a factor of at least 0, not -1.$"),
        (float("nan"), "^run: computing must be a factor of at least 0, not nan.$"),
        (float("inf"), "^run: computing must be a factor of at least 0, not inf.$"),
        ("1", "^run: computing must be a factor such as 1.0, not '1'.$"),
        (True, "^run: computing must be a factor such as 1.0, not True.$"),
    ],
)
def test_factors_that_make_no_sense_are_refused(factor: Any, words: str) -> None:
    """Before anything starts."""
    with pytest.raises((TypeError, ValueError), match=words):
        fakempi.run(work, 1, [1], computing=factor)


def test_methods_are_as_they_were_after_the_run(carrier: str) -> None:
    """Whatever became of it; also of a run within a run."""

    def main(comm: Any) -> None:
        assert MPI.Request.Waitall.__func__.__wrapped__  # type: ignore[attr-defined]
        if comm.rank == 0:
            fakempi.run(work, 2, [1, 1], carrier=carrier, computing=1)
        comm.Barrier()
        assert comm.Send.__func__.__wrapped__
        raise KeyError

    def methods() -> list[Any]:
        kinds = (MPI.Comm, MPI.Intracomm, MPI.Intercomm, MPI.Cartcomm, MPI.Request, MPI.Prequest, MPI.Message)
        return [value for kind in kinds for base in kind.__mro__ for value in vars(base).values()]

    before = methods()
    with pytest.raises(fakempi.RankError):
        fakempi.run(main, 2, carrier=carrier, computing=1)
    assert methods() == before


def test_modelled_computing_is_added_to_what_is_measured(carrier: str) -> None:
    """Each once: a modelled second is a second, and what ranks do meanwhile is their own."""

    def main(comm: Any) -> float:
        start = MPI.Wtime()
        fakempi.compute(1000)
        return MPI.Wtime() - start

    result = fakempi.run(main, 3, cost=Hockney(), carrier=carrier, computing=1.0)
    assert all(1000 < took < 2000 for took in result.returns)


def test_what_is_computed_after_the_last_call_counts(carrier: str) -> None:
    """And it shows in the trace as computing, as does all that is charged."""

    def main(comm: Any) -> None:
        sum(range(10_000))

    result = fakempi.run(main, 2, carrier=carrier, computing=1.0, trace=True)
    assert all(clock > 0 for clock in result.clocks)
    assert result.trace is not None
    assert result.trace.measure().computing == pytest.approx(result.clocks)


def test_background_work_and_requests_are_calls_too(carrier: str) -> None:
    """Results are what they are without it; whoever waits in a call that is not wrapped is not charged for others."""

    def main(comm: Any) -> Any:
        MPI.Attach_buffer(bytearray(10_000))
        comm.bsend(comm.rank, (comm.rank + 1) % comm.size)
        request = comm.iallreduce(comm.rank) if hasattr(comm, "iallreduce") else comm.Ibarrier()
        got = comm.recv()
        request.wait()
        MPI.Detach_buffer()
        return got

    assert fakempi.run(main, 4, carrier=carrier, computing=3.0).returns == [3, 0, 1, 2]


def test_clocks_of_a_script_agree_with_wtime_where_computing_is_charged(tmp_path: Path, carrier: str) -> None:
    """It is not counted twice, nor are others' turns counted: two readings enclose what Wtime says in between."""
    script = """
    import time
    last = 0.0
    for k in range(20):
        comm.Barrier()
        outer, start = time.time(), MPI.Wtime()
        sum(range(1000 * (comm.rank + 1)))
        time.sleep(comm.rank)
        end, after = MPI.Wtime(), time.time()
        assert end - start > comm.rank
        assert after - outer >= (end - start) - 1e-3
        assert outer >= last
        last = after
    """
    play(tmp_path, script, 3, carrier, computing=1.0)


def test_what_waits_for_the_real_clock_ends(tmp_path: Path, carrier: str) -> None:
    """A time-out that is waited for without computing, as an event loop does."""
    script = """
    import threading, time
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        threading.Event().wait(0.005)
    """
    play(tmp_path, script, 1, carrier, computing=1.0)
