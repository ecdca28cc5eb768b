"""`run(cpu_scale=...)` charges measured CPU time to ranks' clocks; measured values are not compared with figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI, Hockney, ZeroCost
from tests.isolation.harness import play


def work(comm: Any, amounts: list[int]) -> tuple[float, float]:
    """Compute a different amount on each rank; return the elapsed time of the rank, and its clock after a barrier.
    """
    comm.Barrier()
    start = MPI.Wtime()
    sum(range(amounts[comm.rank]))
    took = MPI.Wtime() - start
    comm.Barrier()
    return took, MPI.Wtime() - start


def test_computing_takes_time_if_requested(backend: Any) -> None:
    """And none otherwise; a rank with little work waits for one with much."""
    assert fakempi.run(work, 2, [10, 20], cost=ZeroCost(), backend=backend).time == 0
    result = fakempi.run(work, 2, [10, 200_000], cost=ZeroCost(), backend=backend, cpu_scale=1.0)
    (little, until), (much, _) = result.returns
    assert 0 < little < much <= result.time
    assert until > little


def test_a_larger_factor_takes_longer(backend: Any) -> None:
    """A factor of ten thousand is longer, for any difference between two runs."""
    once, often = (fakempi.run(work, 1, [50_000], cost=ZeroCost(), backend=backend, cpu_scale=f).time for f in (1, 1e4))
    assert often > once


def test_a_factor_of_zero_has_no_effect(backend: Any) -> None:
    """The same run, exactly, and no method is wrapped."""
    before = MPI.Intracomm.Barrier
    plain = fakempi.run(work, 3, [9, 9, 9], backend=backend)
    zero = fakempi.run(work, 3, [9, 9, 9], backend=backend, cpu_scale=0)
    assert plain.clocks == zero.clocks
    assert repr(plain) == repr(zero)
    assert MPI.Intracomm.Barrier is before


def test_a_run_reports_that_it_was_measured(backend: Any) -> None:
    """It will differ next time."""
    result = fakempi.run(work, 2, [1, 1], backend=backend, cpu_scale=2.5)
    assert " s with measured CPU time times 2.5, " in repr(result)
    assert result.cpu_scale == 2.5


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (-1, "^run: cpu_scale must be a factor of at least 0, not -1.$"),
        (float("nan"), "^run: cpu_scale must be a factor of at least 0, not nan.$"),
        (float("inf"), "^run: cpu_scale must be a factor of at least 0, not inf.$"),
        ("1", "^run: cpu_scale must be a factor such as 1.0, not '1'.$"),
        (True, "^run: cpu_scale must be a factor such as 1.0, not True.$"),
    ],
)
def test_invalid_factors_are_rejected(factor: Any, words: str) -> None:
    """Before the run starts."""
    with pytest.raises((TypeError, ValueError), match=words):
        fakempi.run(work, 1, [1], cpu_scale=factor)


def test_methods_are_restored_after_the_run(backend: Any) -> None:
    """For any outcome; also after a nested run."""

    def main(comm: Any) -> None:
        assert MPI.Request.Waitall.__func__.__wrapped__  # type: ignore[attr-defined]
        if comm.rank == 0:
            fakempi.run(work, 2, [1, 1], backend=backend, cpu_scale=1)
        comm.Barrier()
        assert comm.Send.__func__.__wrapped__
        raise KeyError

    def methods() -> list[Any]:
        kinds = (MPI.Comm, MPI.Intracomm, MPI.Intercomm, MPI.Cartcomm, MPI.Request, MPI.Prequest, MPI.Message)
        bases = (base for kind in kinds for base in kind.__mro__ if base.__module__.startswith("fakempi"))
        return [value for base in bases for value in vars(base).values()]  # Python adds __annotations__ to typing.Generic

    before = methods()
    with pytest.raises(fakempi.RankError):
        fakempi.run(main, 2, backend=backend, cpu_scale=1)
    assert methods() == before


def test_modeled_computing_is_added_to_measured_time(backend: Any) -> None:
    """Each once: a modeled second is a second, and ranks are measured separately."""

    def main(comm: Any) -> float:
        start = MPI.Wtime()
        fakempi.compute(1000)
        return MPI.Wtime() - start

    result = fakempi.run(main, 3, cost=Hockney(), backend=backend, cpu_scale=1.0)
    assert all(1000 < took < 2000 for took in result.returns)


def test_computing_after_the_last_call_counts(backend: Any) -> None:
    """The trace has it as computing, like all charged time."""

    def main(comm: Any) -> None:
        sum(range(10_000))

    result = fakempi.run(main, 2, backend=backend, cpu_scale=1.0, trace=True)
    assert all(clock > 0 for clock in result.clocks)
    assert result.trace is not None
    assert result.trace.measure().computing == pytest.approx(result.clocks)


def test_nonblocking_calls_and_requests_are_measured_too(backend: Any) -> None:
    """Results are the same as without; a rank that waits in a call that is not wrapped is not charged for others."""

    def main(comm: Any) -> Any:
        MPI.Attach_buffer(bytearray(10_000))
        comm.bsend(comm.rank, (comm.rank + 1) % comm.size)
        request = comm.iallreduce(comm.rank) if hasattr(comm, "iallreduce") else comm.Ibarrier()
        got = comm.recv()
        request.wait()
        MPI.Detach_buffer()
        return got

    assert fakempi.run(main, 4, backend=backend, cpu_scale=3.0).returns == [3, 0, 1, 2]


def test_clocks_of_a_script_agree_with_wtime_if_computing_is_charged(tmp_path: Path, backend: Any) -> None:
    """It is not counted twice, and time of other ranks is not counted: two readings enclose Wtime in between."""
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
    play(tmp_path, script, 3, backend, cpu_scale=1.0)


def test_waits_for_the_real_clock_end(tmp_path: Path, backend: Any) -> None:
    """A time-out without computing, as in an event loop."""
    script = """
    import threading, time
    end = time.monotonic() + 0.02
    waits = 0
    while time.monotonic() < end:
        threading.Event().wait(0.005)
        waits += 1
    assert waits <= 5, waits
    """
    play(tmp_path, script, 1, backend, cpu_scale=1.0)
