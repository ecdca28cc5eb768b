"""Measures of a trace."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import collectives
import fakempi
from fakempi import MPI, Hockney, compute, phantom
from fakempi.trace.measures import Measures

UNIT = Hockney(t_s=0, t_w=1, eager_limit=0)


def measured(main: Any, ranks: int, cost: Any = UNIT, **options: Any) -> Measures:
    """The measures of a run."""
    trace = fakempi.run(main, ranks, cost=cost, trace=True, **options).trace
    assert trace is not None
    return trace.measure()


@given(p=st.integers(1, 20), name=st.sampled_from(["ring", "bruck"]))
def test_rounds_equal_those_that_the_algorithm_claims(p: int, name: str) -> None:
    """One count of rounds from the transfers, one from the claim."""
    algorithm = collectives.find("allgather", name)

    def main(comm: Any) -> None:
        algorithm.run(comm, fakempi.phantom(8), fakempi.phantom(8 * p))

    run = fakempi.run(main, p, cost=Hockney(1.0, 1.0, eager_limit=0), trace=True)
    assert run.rounds == algorithm.rounds(collectives.Case(p=p, m=8))
    assert run.trace is not None
    assert run.trace.measure().rounds == run.rounds


def test_transfers_that_do_not_wait_for_each_other_are_one_round() -> None:
    """Two pairs that exchange at the same time."""

    def main(comm: Any) -> None:
        other = comm.rank ^ 1
        comm.Sendrecv(fakempi.phantom(9), other, 0, fakempi.phantom(9), other, 0)

    assert fakempi.run(main, 4, trace=True).rounds == 1


def test_sent_and_received_amounts_are_known_by_rank() -> None:
    """Messages and bytes, without a trace and with one."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Send(fakempi.phantom(10), 1)
            comm.Send(fakempi.phantom(5), 2)
        else:
            comm.Recv(fakempi.phantom(10), 0)

    run = fakempi.run(main, 3)
    assert run.sent == [(2, 15), (0, 0), (0, 0)]
    assert run.received == [(0, 0), (1, 10), (1, 5)]
    assert (run.messages, run.bytes) == (2, 15)
    found = measured(main, 3)
    assert list(zip(*(column.tolist() for column in found.sent), strict=True)) == run.sent
    assert list(zip(*(column.tolist() for column in found.received), strict=True)) == run.received
    assert (found.messages, found.bytes) == (2, 15)
    assert found.matrix()[0].tolist() == [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert found.matrix()[1].tolist() == [[0, 10, 5], [0, 0, 0], [0, 0, 0]]
    assert found.matrix([[0], [1, 2]])[1].tolist() == [[0, 15], [0, 0]]
    assert found.matrix([[0], [2]])[1].tolist() == [[0, 5], [0, 0]]


def test_rounds_need_a_trace() -> None:
    """Nothing is counted without a request."""
    with pytest.raises(MPI.Exception, match=r"^rounds are counted from the trace: run\(\.\.\., trace=True\)\.$"):
        fakempi.run(lambda comm: None, 1).rounds  # noqa: B018


def test_busy_idle_and_computing_time_by_rank() -> None:
    """And derived values: imbalance, the lower bound, and the distance to it."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            compute(6)
            comm.Send(phantom(4), 1)
        elif comm.rank == 1:
            comm.Recv(phantom(4), 0)

    found = measured(main, 3)
    assert found.computing.tolist() == [6, 0, 0]
    assert found.communicating.tolist() == [4, 4, 0]
    assert found.idle.tolist() == pytest.approx([0, 6, 10])
    assert found.imbalance == pytest.approx(10 / (14 / 3) - 1)
    assert (found.lower_bound, found.slowdown) == (6, 10 / 6)


def test_a_ring_is_optimal() -> None:
    """All ports are always busy."""
    found = measured(lambda comm: collectives.find("allgather", "ring").run(comm, phantom(5), phantom(35)), 7)
    assert (found.slowdown, found.imbalance, found.rounds) == (1, 0, 6)
    assert found.idle.tolist() == [0] * 7


def test_messages_by_phase() -> None:
    """The outermost region counts, by the sender's rank."""

    def main(comm: Any) -> None:
        with fakempi.region("first"), fakempi.region("inside"):
            comm.Sendrecv(phantom(3), comm.rank ^ 1, 0, phantom(3), comm.rank ^ 1, 0)
        if comm.rank == 0:
            comm.Send(phantom(9), 1)
        else:
            comm.Recv(phantom(9), 0)

    phases = measured(main, 2).phases
    assert {name: (counts.tolist(), sizes.tolist()) for name, (counts, sizes) in phases.items()} == {
        "": ([1, 0], [9, 0]),
        "first": ([1, 1], [3, 3]),
    }


def test_the_critical_path_of_a_chain() -> None:
    """Computing, a message, computing, a message: other ranks are not on it."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            compute(5)
            comm.Send(phantom(2), 1)
        elif comm.rank == 1:
            comm.Recv(phantom(2), 0)
            compute(3)
            comm.Send(phantom(4), 2)
        else:
            compute(6)
            comm.Recv(phantom(4), 1)

    path = measured(main, 3).critical_path
    assert [(step.kind, step.source, step.dest, step.start, step.end) for step in path] == [
        ("compute", 0, 0, 0, 5),
        ("transfer", 0, 1, 5, 7),
        ("compute", 1, 1, 7, 10),
        ("transfer", 1, 2, 10, 14),
    ]


def test_the_critical_path_passes_a_late_receiver_or_a_busy_port() -> None:
    """First the receiver computes; then two messages arrive one after the other."""

    def main(comm: Any) -> None:
        if comm.rank:
            comm.Send(phantom(comm.rank), 0)
        else:
            compute(10)
            requests = [comm.Irecv(phantom(source), source) for source in (1, 2)]
            MPI.Request.Waitall(requests)

    path = measured(main, 3).critical_path
    assert [(step.kind, step.source, step.start, step.end) for step in path] == [
        ("compute", 0, 0, 10),
        ("transfer", 1, 10, 11),
        ("transfer", 2, 11, 13),
    ]


STEPS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=6)


@given(st.integers(1, 6), STEPS, st.sampled_from([0, 1 << 20]))
def test_the_critical_path_reaches_from_the_start_to_the_end(ranks: int, steps: list[tuple[int, int]], eager: int) -> None:
    """Without a gap."""

    def main(comm: Any) -> None:
        for seconds, kind in steps:
            compute((seconds * (1 + comm.rank)) % 11)
            if kind == 0:
                comm.Sendrecv(phantom(5), (comm.rank + 1) % comm.size, 0, phantom(5), (comm.rank - 1) % comm.size, 0)
            elif kind < 3:
                comm.Allreduce(phantom(8), phantom(8))
            else:
                comm.Bcast(phantom(8), root=seconds % comm.size)

    found = measured(main, ranks, Hockney(1, 1, eager_limit=eager))
    path = found.critical_path
    assert all(one.end == two.start for one, two in pairwise(path))
    assert (path[0].start, path[-1].end) == (0, found.time) if path else found.time == 0
    assert all(step.kind != "wait" for step in path)


def test_a_run_without_time_can_be_measured() -> None:
    """No division by zero."""
    found = measured(lambda comm: None, 2)
    assert (found.imbalance, found.slowdown, found.rounds, found.critical_path) == (0, 1, 0, [])
    assert sum(seconds for seconds, _ in found.waits.values()) == 0
