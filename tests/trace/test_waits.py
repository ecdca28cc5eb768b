"""Wait states, each provoked and measured to the second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, Hockney, compute, phantom
from fakempi.trace.record import Trace
from fakempi.trace.waits import MEANINGS, STATES, waits

UNIT = Hockney(t_s=0, t_w=1, eager_limit=0)


def traced(main: Any, ranks: int, **options: Any) -> Trace:
    """The trace of a run."""
    trace = fakempi.run(main, ranks, trace=True, **{"cost": UNIT, **options}).trace
    assert trace is not None
    return trace


def wait_states(main: Any, ranks: int, **options: Any) -> dict[str, float]:
    """The seconds of the existing states, without those of ended ranks."""
    states = traced(main, ranks, **options).measure().waits
    return {state: seconds for state, (seconds, _) in states.items() if seconds and state != "ended early"}


def test_a_late_sender() -> None:
    """The receiver waits from its receive to the send."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            compute(7)
            comm.Send(phantom(3), 1)
        else:
            compute(2)
            comm.Recv(phantom(3), 0)

    assert wait_states(main, 2) == {"late sender": 5}


def test_a_late_receiver() -> None:
    """The sender waits from its send to the receive, if the message is synchronous."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Send(phantom(3), 1)
        else:
            compute(4)
            comm.Recv(phantom(3), 0)

    assert wait_states(main, 2) == {"late receiver": 4}
    assert wait_states(main, 2, cost=Hockney(0, 1)) == {}


def test_port_contention() -> None:
    """Two send to one: the second waits for the first."""

    def main(comm: Any) -> None:
        if comm.rank:
            comm.Send(phantom(10), 0)
        else:
            requests = [comm.Irecv(phantom(10), source) for source in (1, 2)]
            MPI.Request.Waitall(requests)

    assert wait_states(main, 3) == wait_states(main, 3, cost=Hockney(0, 1)) == {"port contention": 10}


@pytest.mark.parametrize(
    ("call", "algorithm", "state", "seconds"),
    [
        (lambda comm: comm.Barrier(), {"barrier": "dissemination"}, "wait at barrier", 10 + 20),
        (lambda comm: comm.Allreduce(phantom(1), phantom(1)), {"allreduce": "recursive_doubling"}, "wait at N x N", 28),
        (lambda comm: comm.Bcast(phantom(1), root=2), {"bcast": "linear"}, "late broadcast", 10 + 20),
        (lambda comm: comm.Reduce(phantom(1), phantom(1)), {"reduce": "linear"}, "early reduce", 10),
    ],
)
def test_waits_for_late_ranks_in_a_collective(call: Any, algorithm: Any, state: str, seconds: float) -> None:
    """Ranks 0, 1 and 2 call after 0, 10 and 20 seconds. In the allreduce 0 and 1 have a second to exchange meanwhile."""

    def main(comm: Any) -> None:
        compute(10 * comm.rank)
        call(comm)

    assert wait_states(main, 3, algorithms=algorithm)[state] == seconds


def test_the_root_of_a_communicator_with_another_order_is_found() -> None:
    """Rank 0 of it is the last of the world."""

    def main(comm: Any) -> None:
        turned = comm.Split(0, -comm.rank)
        compute(10 * comm.rank)
        turned.Bcast(phantom(1), root=0)

    assert wait_states(main, 3)["late broadcast"] == 30


def test_a_rank_that_has_ended_waits_for_the_end_of_the_run() -> None:
    """No message is the reason."""
    states = traced(lambda comm: compute(5 * comm.rank), 3).measure().waits
    assert {state: seconds for state, (seconds, _) in states.items() if seconds} == {"ended early": 15}


def test_waiting_is_charged_to_the_waiting_line() -> None:
    """The receiver's, if the sender is late."""

    def main(comm: Any) -> None:
        compute(9 * comm.rank)
        if comm.rank:
            comm.Send(phantom(3), 0)
        else:
            comm.Recv(phantom(3), 1)

    trace = traced(main, 2)
    ((call, seconds),) = trace.measure().waits["late sender"][1].items()
    assert (trace.calls[call].name, seconds) == ("Recv", 9)


STEPS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=6)


@given(st.integers(1, 6), STEPS, st.sampled_from([0, 1 << 20]))
def test_every_idle_moment_has_one_reason(ranks: int, steps: list[tuple[int, int]], eager: int) -> None:
    """All waits of a rank add up to its idle time, and do not overlap."""

    def main(comm: Any) -> None:
        for seconds, kind in steps:
            compute((seconds * (1 + comm.rank)) % 11)
            right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
            if kind == 0:
                comm.Sendrecv(phantom(5), right, 0, phantom(5), left, 0)
            elif kind == 1:
                comm.Allreduce(phantom(8), phantom(8))
            elif kind == 2:
                comm.Ibarrier().Wait()
            elif kind == 3:
                comm.Reduce(phantom(8), phantom(8), root=seconds % comm.size)
            else:
                comm.Dup().Barrier()

    trace = traced(main, ranks, cost=Hockney(1, 1, eager_limit=eager))
    seconds = [0.0] * ranks
    reached = [0.0] * ranks
    for wait in waits(trace):
        assert wait.state in STATES
        assert wait.state != "other"
        assert reached[wait.rank] <= wait.start < wait.end
        reached[wait.rank] = wait.end
        seconds[wait.rank] += wait.end - wait.start
    assert seconds == pytest.approx(trace.measure().idle.tolist())


def test_the_documentation_lists_every_state_with_its_meaning() -> None:
    """In the same words and order."""
    page = (Path(__file__).parents[2] / "docs" / "read_a_timeline.md").read_text(encoding="utf-8")
    rows = page.partition("| wait state | meaning | in Scalasca |\n|---|---|---|\n")[2].partition("\n\n")[0]
    assert [tuple(row.split(" | ")[:2]) for row in rows.splitlines()] == [
        (f"| {state}", meaning) for state, meaning in MEANINGS.items()
    ]


def test_every_state_is_explained_in_a_line() -> None:
    """Of a terminal with 80 columns."""
    assert all(len(f"{state}: {meaning}") <= 80 for state, meaning in MEANINGS.items())
