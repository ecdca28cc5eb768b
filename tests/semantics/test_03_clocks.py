"""Rule 3: clocks are per rank, and advance when an operation completes or a rank computes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import fakempi
from fakempi import MPI, Hockney, compute, phantom

UNIT = Hockney(t_s=0, t_w=1)


def test_clocks_start_at_zero_and_stay_there_if_nothing_takes_time(backend: Any) -> None:
    """Python code costs nothing."""
    run = fakempi.run(lambda comm: sum(range(1000)), 3, backend=backend)
    assert (run.clocks, run.time) == ([0, 0, 0], 0)


def test_compute_moves_the_clock_of_the_rank_that_computes(backend: Any) -> None:
    """Of no other rank; the time of the run is the largest clock."""

    def main(comm: Any) -> float:
        compute(comm.rank * 2)
        compute(0.5)
        return MPI.Wtime()

    run = fakempi.run(main, 4, backend=backend)
    assert run.returns == run.clocks == [0.5, 2.5, 4.5, 6.5]
    assert run.time == 6.5


@pytest.mark.parametrize("seconds", [-1, float("nan"), Fraction(-1, 2)])
def test_negative_and_invalid_times_are_rejected(seconds: Any) -> None:
    """The error names the call and the rank."""
    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(lambda comm: compute(seconds), 1)
    assert isinstance(caught.value.exception, ValueError)
    assert str(caught.value.exception) == f"compute on rank 0: cannot compute for {seconds!r} seconds."


def test_computing_for_no_time_changes_nothing(backend: Any) -> None:
    """Not even the order of ranks."""
    log: list[int] = []

    def main(comm: Any) -> None:
        for _ in range(2):
            compute(0)
            log.append(comm.rank)

    fakempi.run(main, 2, backend=backend)
    assert log == [0, 0, 1, 1]


def test_a_send_and_its_receive_complete_together(backend: Any) -> None:
    """The one that was called first waits."""

    def main(comm: Any) -> float:
        compute(10 * comm.rank)
        if comm.rank == 0:
            comm.Ssend(phantom(7), 1)
        else:
            comm.Recv(phantom(7), 0)
        return MPI.Wtime()

    assert fakempi.run(main, 2, cost=UNIT, backend=backend).returns == [17, 17]


def test_a_receive_of_an_arrived_message_takes_no_time(backend: Any) -> None:
    """The clock does not go back to the arrival either."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            comm.Send(phantom(7), 1)
        else:
            compute(100)
            comm.Recv(phantom(7), 0)
        return MPI.Wtime()

    assert fakempi.run(main, 2, cost=UNIT, backend=backend).returns == [7, 100]


def test_starting_an_operation_takes_no_time_and_waiting_takes_the_rest(backend: Any) -> None:
    """Computation hides communication."""

    def main(comm: Any) -> list[float]:
        other, times = 1 - comm.rank, []
        requests = [comm.Irecv(phantom(100), other), comm.Isend(phantom(100), other)]
        times.append(MPI.Wtime())
        compute(60)
        times.append(MPI.Wtime())
        MPI.Request.Waitall(requests)
        times.append(MPI.Wtime())
        MPI.Request.Waitall(requests)
        times.append(MPI.Wtime())
        return times

    assert fakempi.run(main, 2, cost=UNIT, backend=backend).returns == [[0, 60, 100, 100]] * 2


def test_waiting_for_any_ends_with_the_first_and_for_all_with_the_last(backend: Any) -> None:
    """Each at its own time."""

    def main(comm: Any) -> Any:
        if comm.rank:
            compute(10 * comm.rank)
            comm.Send(phantom(5), 0)
            return None
        requests = [comm.Irecv(phantom(5), source) for source in (3, 1, 2)]
        first = MPI.Request.Waitany(requests), MPI.Wtime()
        some = MPI.Request.Waitsome(requests), MPI.Wtime()
        MPI.Request.Waitall(requests)
        return first, some, MPI.Wtime()

    assert fakempi.run(main, 4, cost=UNIT, backend=backend).returns[0] == ((1, 15), ([2], 25), 35)


def test_waitany_returns_the_first_end_although_another_end_was_known_first(backend: Any) -> None:
    """The long message starts at 0 and ends at 100, the short one starts at 10 and ends at 15."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            requests = [comm.Irecv(phantom(100), 1), comm.Isend(phantom(5), 2)]
            return MPI.Request.Waitany(requests), MPI.Wtime()
        if comm.rank == 1:
            comm.Send(phantom(100), 0)
        else:
            compute(10)
            comm.Recv(phantom(5), 0)
        return None

    cost = Hockney(t_s=0, t_w=1, eager_limit=0)
    assert fakempi.run(main, 3, cost=cost, backend=backend).returns[0] == (1, 15)


def test_waitany_waits_for_an_end_that_is_known_already(backend: Any) -> None:
    """Two eager sends, one after the other through the port: the second call waits for the second."""

    def main(comm: Any) -> Any:
        if comm.rank:
            return None
        requests = [comm.Isend(phantom(100), 1), comm.Isend(phantom(5), 1)]
        seen = [(MPI.Request.Waitany(requests), MPI.Wtime()) for _ in range(2)]
        return seen, MPI.Request.Waitany(requests) == MPI.UNDEFINED

    assert fakempi.run(main, 2, cost=UNIT, backend=backend).returns[0] == ([(0, 100), (1, 105)], True)


def test_a_rank_that_never_waits_for_its_request_ends_before_the_transfer(backend: Any) -> None:
    """Its clock is unaffected, and the run's time is the largest clock, not the last transfer."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Isend(phantom(50), 1)
        else:
            comm.Recv(phantom(50), 0)

    run = fakempi.run(main, 2, cost=UNIT, backend=backend)
    assert (run.clocks, run.time) == ([0, 50], 50)


def test_times_have_the_type_of_the_cost_models_numbers(backend: Any) -> None:
    """Integers stay integers and Fractions stay exact."""

    def main(comm: Any, seconds: Any) -> None:
        compute(seconds)
        comm.Sendrecv(phantom(3), 1 - comm.rank, 0, phantom(3), 1 - comm.rank)

    whole = fakempi.run(main, 2, 2, cost=Hockney(5, 1), backend=backend)
    seventh: Any = Fraction(1, 7)
    exact: Any = fakempi.run(main, 2, Fraction(1, 3), cost=Hockney(seventh, seventh), backend=backend)
    assert (whole.time, type(whole.time)) == (10, int)
    assert (exact.time, type(exact.time)) == (Fraction(1, 3) + 4 * seventh, Fraction)


def test_a_run_with_exact_numbers_can_be_displayed(backend: Any) -> None:
    """With a fixed number of digits."""
    third: Any = Fraction(1, 3)
    run = fakempi.run(lambda comm: compute(third), 2, backend=backend)
    assert repr(run) == "<Run: 2 ranks, time 0.333333 s, 0 messages, 0 bytes>"


def test_wtime_is_in_seconds(backend: Any) -> None:
    """Wtime is a float, like mpi4py's, and a start-up time is seen as it was given."""

    def main(comm: Any) -> tuple[str, float]:
        comm.Sendrecv(b"", 1 - comm.rank, 0, bytearray(0), 1 - comm.rank)
        return type(MPI.Wtime()).__name__, MPI.Wtime()

    assert fakempi.run(main, 2, cost=Hockney(t_s=2e-6), backend=backend).returns == [("float", 2e-6)] * 2
