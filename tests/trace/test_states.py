"""States of ranks over time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, Hockney, compute, phantom
from fakempi.trace.rounds import depths
from fakempi.trace.states import COMMUNICATING, COMPUTING, IDLE, all_busy, all_work, covered, shares, unions

UNIT = Hockney(t_s=0, t_w=1, eager_limit=0)

stretch = st.tuples(st.integers(0, 40), st.integers(0, 9)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(stretch, max_size=12), st.lists(st.integers(0, 50), min_size=2, max_size=8, unique=True).map(sorted))
def test_covered_time_is_counted_once(spans: list[tuple[int, int]], edges: list[int]) -> None:
    """Compared with a count of seconds."""
    starts, ends = (np.array([span[i] for span in spans], dtype=float) for i in (0, 1))
    seconds = {second for start, end in spans for second in range(start, end)}
    expected = [sum(second in seconds for second in range(*pair)) for pair in pairwise(edges)]
    found = covered(unions(np.zeros(len(spans), int), starts, ends), np.array(edges, dtype=float), np.zeros(1, int), 1)[0]
    assert found * np.diff(edges) == pytest.approx(expected)


def test_communicating_computing_and_idle_time() -> None:
    """Exact to the second."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            compute(2)
            comm.Send(phantom(3), 1)
            compute(5)
        elif comm.rank == 1:
            comm.Recv(phantom(3), 0)

    trace = fakempi.run(main, 3, cost=UNIT, trace=True).trace
    assert trace is not None
    edges = np.arange(0.0, 12.0)
    found = shares(trace, edges, [[0], [1], [2]])
    states = ["".join("bygx"[int(cell.argmax()) if cell.sum() else 3] for cell in row) for row in found]
    assert states == ["ggbbbgggggx", "yybbbyyyyyx", "yyyyyyyyyyx"]
    folded = shares(trace, np.array([0.0, 10.0]), [[0, 1], [2]])
    assert folded[:, 0] == pytest.approx(np.array([[0.3, 0.35, 0.35], [0, 1, 0]]))


def test_computing_during_a_transfer_is_computing() -> None:
    """The message is transferred in the background."""

    def main(comm: Any) -> None:
        other = 1 - comm.rank
        requests = [comm.Isend(phantom(10), other), comm.Irecv(phantom(10), other)]
        compute(4)
        MPI.Request.Waitall(requests)

    trace = fakempi.run(main, 2, cost=UNIT, trace=True).trace
    assert trace is not None
    (row,) = shares(trace, np.array([0.0, trace.time]), [[0, 1]])
    assert np.allclose(row[0], [0.6, 0, 0.4])
    assert (COMMUNICATING, IDLE, COMPUTING) == (0, 1, 2)


@given(st.integers(1, 6), st.lists(st.floats(0, 3), min_size=1, max_size=5), st.integers(1, 7))
@example(1, [5e-324], 2)  # the smallest float has no half, so two of the three edges coincide
def test_shares_add_up_to_one_until_the_end(ranks: int, work: list[float], columns: int) -> None:
    """For each rank, wherever the interval between two edges has a length."""

    def main(comm: Any) -> None:
        for index, seconds in enumerate(work):
            compute(seconds * (1 + comm.rank) / (1 + index))
            comm.Allreduce(phantom(8), phantom(8))

    trace = fakempi.run(main, ranks, cost=Hockney(1, 1), trace=True).trace
    assert trace is not None
    if trace.time:
        edges = np.linspace(0, trace.time, columns + 1)
        found = shares(trace, edges, [[rank] for rank in range(ranks)])
        assert np.allclose(found.sum(axis=2)[:, np.diff(edges) > 0], 1)
        assert np.isfinite(found).all()


def test_values_that_every_picture_needs_are_computed_once() -> None:
    """Busy times, computing times, and lengths of message chains: for one trace, always the same arrays."""
    trace = fakempi.run(lambda comm: comm.allgather(comm.rank), 5, trace=True).trace
    assert trace is not None
    for ask in (all_busy, all_work, depths):
        assert ask(trace) is ask(trace)
